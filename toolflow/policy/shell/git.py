"""``git``: its subcommands and their forms.

What git's own configuration makes it run (an external difference, ``textconv``, ``fsmonitor``, a
pager) is taken to read only; a setting that the line itself gives with ``-c`` is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolflow.policy.shell import gittables as tables
from toolflow.policy.shell.lexer import Word
from toolflow.policy.shell.options import Given, allowed, names_of, sort_words
from toolflow.policy.shell.report import Places, Report

_BEFORE: Final = frozenset(("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"))
_LISTS_REFS: Final = names_of("--list --contains --no-contains --points-at --merged --no-merged")

_NO_MORE: Final = "--end-of-options"  # no word after it passes that begins with a dash anyway


def judge_git(words: Sequence[Word], _places: Places, report: Report) -> None:
    """Judge the words after ``git``."""
    at = 0
    while at < len(words) and words[at].option:
        if words[at].text == "-C" and at + 1 < len(words) and words[at + 1].one:
            at += 2
        elif words[at].text in _BEFORE:
            at += 1
        elif words[at].text in ("--version", "-v") and len(words) == at + 1:
            return
        else:
            report.not_understood(f"'git' is not known to only read with {words[at]}")
            return
    if at == len(words) or words[at].text is None:
        report.not_understood("which command of 'git' it is cannot be told")
        return
    name, rest = words[at].text or "", words[at + 1 :]
    if not _judge(name, rest, report) and name != "version":
        report.reads_unknown(f"where the repository of 'git {name[:40]}' begins cannot be told")


def _judge(name: str, words: Sequence[Word], report: Report) -> bool:
    """Whether something was said against it."""
    if name in tables.READS:
        return _options(name, words, tables.READS[name], report)
    if name in tables.FORMS:
        return _form(name, words, report)
    judges = {"branch": _branch, "tag": _branch, "config": _config, "symbolic-ref": _symbolic}
    if name in judges:
        return judges[name](name, words, report)
    return _against(f"'git {name[:40]}' is not known to only read", report)


def _against(clause: str, report: Report) -> bool:
    report.not_understood(clause)
    return True


def _options(
    name: str, words: Sequence[Word], spelled: str, report: Report, *, operands: bool = True
) -> bool:
    given = sort_words([word for word in words if word.text != _NO_MORE], allowed(spelled))
    odd = given.odd
    if odd is None and not operands and given.operands:
        odd = given.operands[0]
    odd = odd or _signed(given)
    return odd is not None and _against(_odd(name, odd), report)


def _signed(given: Given) -> Word | None:
    """A format that shows the signature of a commit or tag: it runs what checks it."""
    formats = (value for _, value in given.values)
    return next((word for word in formats if "%G" in word.raw or "signature" in word.raw), None)


def _odd(name: str, word: Word) -> str:
    return f"'git {name}' is not known to only read with {word}"


def _form(name: str, words: Sequence[Word], report: Report) -> bool:
    """A subcommand with subcommands of its own, such as ``git stash list``."""
    forms = tables.FORMS[name]
    first = words[0].text if words and not words[0].option else ""
    form = first if first is not None else "$"
    if form not in forms:
        shown = str(words[0]) if words else "nothing"
        return _against(f"'git {name}' changes things, or may, with {shown}", report)
    whole, rest = f"{name} {form}".strip(), words[1:] if form else words
    return _options(whole, rest, forms[form], report, operands=bool(form))


def _branch(name: str, words: Sequence[Word], report: Report) -> bool:
    """``git branch`` and ``git tag``: an operand names what to make, unless they list."""
    spelled = tables.BRANCH if name == "branch" else tables.TAG
    given = sort_words(words, allowed(spelled))
    odd = given.odd or _signed(given)
    if odd is not None:
        return _against(_odd(name, odd), report)
    lists = given.names & _LISTS_REFS or (name == "tag" and "-l" in given.names)
    if given.operands and not lists:  # before git 2.19 -l of branch was something else
        return _against(f"'git {name}' may make {given.operands[0]}", report)
    return False


def _config(name: str, words: Sequence[Word], report: Report) -> bool:
    """``git config``: one name reads a setting, two words set it."""
    given = sort_words(words, allowed(tables.CONFIG))
    if given.odd is not None:
        return _against(_odd(name, given.odd), report)
    operands = [word.text for word in given.operands]
    lists = bool(given.names & {"-l", "--list"}) and not operands
    gets = bool(given.names & tables.CONFIG_GETS)
    plain = len(operands) == 1 and (operands[0] == "list" or "." in (operands[0] or ""))
    if lists or gets or plain or (len(operands) == 2 and operands[0] == "get"):
        return False
    shown = str(given.operands[0]) if operands else "nothing"
    return _against(f"'git config' may set something with {shown}", report)


def _symbolic(name: str, words: Sequence[Word], report: Report) -> bool:
    given = sort_words(words, allowed("-q --quiet --short --recurse --no-recurse"))
    if given.odd is not None or len(given.operands) != 1 or not given.operands[0].one:
        odd = given.odd or (given.operands[-1] if given.operands else None)
        return _against(f"'git {name}' may set something with {odd}", report)
    return False
