"""``sed`` and ``awk``: commands that are given a program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolflow.policy.shell.lexer import Word
from toolflow.policy.shell.options import Given, allowed, sort_words
from toolflow.policy.shell.report import Places, Report

# A regular expression of sed up to its slash. Brackets have to hold no slash and no backslash:
# there the versions of sed differ about where the expression ends.
_BRACKET: Final = r"\[\^?+\]?+(?:\[:[a-z]++:\]|[^\]\[/\\\n])*+\]"
_REGEX: Final = rf"(?:[^/\\\n\[]|\\[^\n]|{_BRACKET})*+"
_ADDRESS: Final = rf"(?:\d++(?:~\d++)?+|\$|/{_REGEX}/I?+)"
_REACH: Final = rf"(?:{_ADDRESS}(?:\s*+,\s*+(?:{_ADDRESS}|[+~]\d++))?+\s*+)?+"
_SUBSTITUTE: Final = rf"s/{_REGEX}/(?:[^/\\\n]|\\[^\n])*+/[gpiI\d]*+"
# The same with other signs around: then without brackets and escapes.
_OTHER_SIGNS: Final = r"s([|,#:@!%+])[\w .*^$=/-]*+\1[\w .&/=-]*+\1[gpiI\d]*+"
_COMMAND: Final = rf"{_REACH}(?:!\s*+)?+(?:[pdqQ=lnNDPhHgGx{{}}]|{_SUBSTITUTE}|{_OTHER_SIGNS})"
_SED: Final = re.compile(rf"[\s;]*+(?:{_COMMAND}(?=[\s;}}]|(?<=[{{}}])|\Z)[\s;]*+)*+", re.ASCII)
_SED_OPTIONS: Final = allowed(
    "-nErsuz -e= --quiet --silent --expression= --regexp-extended --separate --unbuffered "
    "--null-data --posix --sandbox --debug"
)
_IN_PLACE: Final = re.compile(r"-[a-zA-Z]*[iI].*|--in-place(?:=.*)?", re.DOTALL)

_AWK_OPTIONS: Final = allowed("-F= -v=")
# What can write, run, or read more files than are named. All of it needs one of these.
_AWK_ODD: Final = re.compile(r"[|>@]|system|getline|ARGV|ARGC|SYMTAB|PROCINFO")


def judge_sed(words: Sequence[Word], places: Places, report: Report) -> None:
    """``sed``: scripts of plain printing, deleting and replacing."""
    given = sort_words(words, _SED_OPTIONS)
    if given.odd is not None:
        _judge_in_place(given.odd, words, places, report)
        return
    scripts, files = _scripts(given)
    for script in scripts:
        if script.text is None or not _SED.fullmatch(script.text):
            report.not_understood(f"'sed' is not known to only read with {script}")
            return
    if not scripts:
        report.not_understood("the script of 'sed' is not followed")
    for file in files:
        if file.text != "-":
            report.read(file, places)


def _scripts(given: Given) -> tuple[list[Word], list[Word]]:
    """The scripts and the files: with ``-e`` all operands are files."""
    scripts = [value for _, value in given.values]
    return (scripts, given.operands) if scripts else (given.operands[:1], given.operands[1:])


def _judge_in_place(odd: Word, words: Sequence[Word], places: Places, report: Report) -> None:
    if odd.text is None or not _IN_PLACE.fullmatch(odd.text):
        report.not_understood(f"'sed' is not known to only read with {odd}")
        return
    report.changes_unknown(f"'sed' changes files in place with {odd}")
    operands = [word for word in words if not word.option and word.text is not None]
    for word in operands[1:]:  # the first is the script
        report.write(word, places)


def judge_awk(words: Sequence[Word], places: Places, report: Report) -> None:
    """``awk``: programs without output to files or commands, and without input but their files."""
    given = sort_words(words, _AWK_OPTIONS)
    program = given.operands[0] if given.operands else None
    if given.odd is not None or program is None:
        said = "nothing" if given.odd is None else str(given.odd)
        report.not_understood(f"'awk' is not known to only read with {said}")
        return
    text = program.text
    found = _AWK_ODD.search(text) if text is not None else None
    if text is None or found is not None:
        what = str(program) if found is None else f"{found[0]!r} in its program"
        report.not_understood(f"'awk' is not known to only read with {what}")
        return
    for file in given.operands[1:]:
        if file.text != "-" and not re.match(r"[A-Za-z_]\w*=", file.head, re.ASCII):
            report.read(file, places)
