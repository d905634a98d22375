"""Commands of the shell itself, and small ones with a grammar of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolflow.policy.shell.lexer import Word
from toolflow.policy.shell.options import allowed, sort_words
from toolflow.policy.shell.report import Places, Report

_FILE_TESTS: Final = frozenset("-" + letter for letter in "bcdefghkLnprsSuwxzGONt")
_JOINS: Final = frozenset(("-a", "-o", "!", "(", ")"))
_COMPARES: Final = frozenset(
    ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")
)
_ASSIGNS: Final = re.compile(r"%[^a-zA-Z%]*+[hjlLtz]*+n")  # with or without a length
_DATE: Final = allowed(
    "-uRj -I? -d= -v= --utc --universal --date= --iso-8601? --rfc-3339= --rfc-email"
)


def judge_nothing(words: Sequence[Word], places: Places, report: Report) -> None:
    """``true``, ``false`` and ``:`` look at nothing but patterns of file names."""
    judge_echo(words, places, report)


def judge_echo(words: Sequence[Word], places: Places, report: Report) -> None:
    """``echo``: whatever it is given, it prints; patterns are looked up in their folders."""
    for word in words:
        if word.glob:
            report.read(word, places)
        elif word.pattern:
            report.reads_unknown(f"which files {word} stands for cannot be told")


def judge_printf(words: Sequence[Word], places: Places, report: Report) -> None:
    """``printf``: with ``-v``, or ``%n`` in its format, it sets variables."""
    rest = words[1:] if words and words[0].text == "--" else words
    form = rest[0] if rest else None
    if form is None or form.text is None or form.option or _ASSIGNS.search(form.text):
        shown = "nothing" if form is None else str(form)
        report.not_understood(f"'printf' is not known to only print with {shown}")
        return
    judge_echo(rest[1:], places, report)


def judge_bracket(words: Sequence[Word], places: Places, report: Report) -> None:
    """``[ ... ]``."""
    if not words or words[-1].text != "]":
        report.not_understood("the test '[' does not end in ']'")
    else:
        judge_test(words[:-1], places, report)


def judge_test(words: Sequence[Word], places: Places, report: Report) -> None:
    """``test``: ``-v`` and ``-R`` are left out, which work out what stands in an index.

    An operand may be an unknown text where it stands between double quotes and is not alone, for
    then it cannot be taken for ``-v``.
    """
    if len(words) == 1 and words[0].one:
        return
    for place, word in enumerate(words):
        text = word.text
        if text in _JOINS or text in _COMPARES or text in _FILE_TESTS:
            continue
        before = words[place - 1].text if place else None
        if text is None and not (word.one and (before in _FILE_TESTS or before in _COMPARES)):
            report.not_understood(f"'test' may take {word} for an operator, which cannot be told")
            return
        if word.option and text is not None and not re.fullmatch(r"-\d+", text, re.ASCII):
            report.not_understood(f"'test' is not known to only read with {word}")
            return
        if before in _FILE_TESTS - {"-n", "-z", "-t"} or before in ("-nt", "-ot", "-ef"):
            report.read(word, places)


def judge_date(words: Sequence[Word], _places: Places, report: Report) -> None:
    """``date``: an operand that is no format sets the clock, and so does ``-d 1`` on BSD."""
    given = sort_words(words, _DATE)
    odd = [] if given.odd is None else [given.odd]
    odd += [value for _, value in given.values if (value.text or "0").isdecimal()]
    odd += [word for word in given.operands if word.head[:1] != "+" or not word.one]
    odd += given.operands[1:]
    if odd:
        report.not_understood(f"'date' may set the clock with {odd[0]}")


def judge_env(words: Sequence[Word], _places: Places, report: Report) -> None:
    """``env`` alone lists the variables; with words it runs a command."""
    if words:
        report.not_understood("'env' runs another command, which is not followed")


def judge_exit(words: Sequence[Word], _places: Places, report: Report) -> None:
    """``exit`` ends the line."""
    if len(words) > 1 or any(not (word.text or "").isdecimal() for word in words):
        report.not_understood(f"'exit' is not followed with {words[0]}")


def judge_command_builtin(words: Sequence[Word], _places: Places, report: Report) -> None:
    """``command -v name`` looks a command up; all else runs it."""
    if not words or words[0].text not in ("-v", "-V"):
        report.not_understood("'command' runs another command, which is not followed")
    elif any(word.option for word in words[1:]):
        report.not_understood("'command' is not followed with more options than one")
