"""Judges the parts of a line: what each reads and writes, and in which folder it runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from toolflow.policy.shell.commands import judge_command
from toolflow.policy.shell.lexer import Word
from toolflow.policy.shell.options import names_of
from toolflow.policy.shell.report import START, Places, Report, either, joined
from toolflow.policy.shell.tree import Block, Chain, Command, Line, Not, Redirect

_NOWHERE: Final = "/dev/null"
_RESERVED: Final = names_of(
    "if then else elif fi for while until do done case esac in function select time coproc "
    "{ } ! [[ ]]"
)
# Variables before a command that change its language, its zone or its looks, and nothing else.
_SETTINGS: Final = re.compile(
    r"(?:(?:LC_[A-Z]+|LANG|LANGUAGE|TZ)=[\w.@:+-]*(?:/[\w+-]+)*"
    r"|(?:NO_COLOR|CLICOLOR|FORCE_COLOR|COLUMNS|LINES|GIT_OPTIONAL_LOCKS|GIT_TERMINAL_PROMPT)=\d*"
    r"|(?:GIT_PAGER|PAGER)=(?:cat)?|TERM=[\w-]*)",
    re.ASCII,
)

Ends = tuple[Places, Places]  # where the shell is after success, and after failure


def judge(line: Block, report: Report) -> None:
    """Judge every part of a line.

    Args:
        line: Its shape.
        report: Where to put what is found.
    """
    _Judge(report).block(line, START)


class _Judge:
    def __init__(self, report: Report) -> None:
        self._report = report

    def block(self, block: Block, start: Places) -> Ends:
        places, ends = start, (start, start)
        for part, sign in block.parts:
            if sign == "&":
                self._report.not_understood("'&' leaves a command running in the background")
            ends = self._line(part, places)
            if sign == "&":
                ends = (places, places)
            places = either(*ends)
        self._redirects(block.redirects, start)
        return (start, start) if block.apart else ends

    def _line(self, line: Line, start: Places) -> Ends:
        if isinstance(line, Command):
            return self._command(line, start)
        if isinstance(line, Block):
            return self.block(line, start)
        if isinstance(line, Chain):
            return self._chain(line, start)
        if isinstance(line, Not):
            good, bad = self._line(line.body, start)
            return bad, good
        for part in line.parts:
            self._line(part, start)
        return start, start

    def _chain(self, chain: Chain, start: Places) -> Ends:
        good, bad = self._line(chain.first, start)
        for operator, part in chain.rest:
            if operator == "&&":
                good, more = self._line(part, good)
                bad = either(bad, more)
            else:
                more, bad = self._line(part, bad)
                good = either(good, more)
        return good, bad

    def _command(self, command: Command, start: Places) -> Ends:
        self._redirects(command.redirects, start)
        for assignment in command.assignments:
            if not command.words or not _SETTINGS.fullmatch(assignment.text or ""):
                self._report.not_understood(f"the assignment {assignment} is not followed")
        if not command.words:
            return start, start
        name, *rest = command.words
        if name.text is None:
            self._report.not_understood(f"which command {name} stands for cannot be told")
        elif name.plain and name.text in _RESERVED:
            self._report.not_understood(f"the word {name} is not followed")
        elif name.text == "cd":
            return self._cd(rest, start), start
        else:
            judge_command(name.text, rest, start, self._report)
        return start, start

    def _cd(self, words: list[Word], start: Places) -> Places:
        """The folder after ``cd``: the last one is kept as written, ``..`` is not worked out.

        The shell goes up from a folder by its name, and files are found by where links lead, so
        what ``..`` stands for after a link is not known from the text.
        """
        if words and words[0].text == "--":
            words = words[1:]
        folder = words[0].text if len(words) == 1 and not words[0].option else None
        if folder in (None, "", "-") or ".." in folder.split("/"):
            return None
        return joined(start, folder)

    def _redirects(self, redirects: Iterable[Redirect], places: Places) -> None:
        for redirect in redirects:
            self._redirect(redirect, places)

    def _redirect(self, redirect: Redirect, places: Places) -> None:
        target, operator = redirect.target, redirect.operator
        if operator in (">&", "<&") and target.text in ("0", "1", "2", "-"):
            return
        if operator == "<<<":
            return
        if operator == "<":
            if target.text is None or target.text.startswith(("/dev/tcp", "/dev/udp")):
                self._report.not_understood(f"the redirection {redirect} is not followed")
            self._report.read(target, places)
        elif operator == "<&":
            self._report.not_understood(f"the redirection {redirect} is not followed")
        elif target.text != _NOWHERE or operator == "<>":
            self._report.changes(f"the redirection {redirect} writes {target}")
            self._report.write(target, places)
