"""``find``: its expression, word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolflow.policy.shell.lexer import Word
from toolflow.policy.shell.options import names_of
from toolflow.policy.shell.report import Places, Report

_ALONE: Final = names_of(
    "-print -print0 -ls -prune -quit -depth -d -empty -true -false -not -a -and -o -or -follow "
    "-mount -xdev -noleaf -daystart -readable -writable -executable -nouser -nogroup -warn "
    "-nowarn -ignore_readdir_race -noignore_readdir_race ( ) ! ,"
)
_WITH_VALUE: Final = names_of(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -mtime -mmin "
    "-ctime -cmin -atime -amin -newer -anewer -cnewer -newermt -newerct -newerat -newermm -size "
    "-perm -user -group -uid -gid -inum -links -maxdepth -mindepth -samefile -lname -ilname "
    "-fstype -regextype -used -printf"
)
_WRITES: Final = {
    "-delete": "removes what it finds",
    "-fprint": "writes a file",
    "-fprint0": "writes a file",
    "-fprintf": "writes a file",
    "-fls": "writes a file",
    "-exec": "runs another command",
    "-execdir": "runs another command",
    "-ok": "runs another command",
    "-okdir": "runs another command",
}

_LESS: Final = re.compile(r"-\d[\w.]*|-[ugoa]*[+=][rwxst]+", re.ASCII)


def judge_find(words: Sequence[Word], places: Places, report: Report) -> None:
    """Judge the words after ``find``: links, starting points, then tests and actions."""
    at = 0
    while at < len(words) and words[at].text in ("-H", "-L", "-P", "-E"):
        if words[at].text == "-L":
            report.reads_unknown("'find' follows links with '-L', to where is not known")
        at += 1
    first = at
    while at < len(words) and not _expression(words[at]):
        report.read(words[at], places)
        at += 1
    if at == first:
        report.read_folder(places)
    _judge_expression(words[at:], places, report)


def _judge_expression(words: Sequence[Word], places: Places, report: Report) -> None:
    rest = iter(words)
    for word in rest:
        text = word.text or ""
        if text in _WITH_VALUE:
            value = next(rest, None)
            if value is None or not _takes(value):
                report.not_understood(f"the value of 'find' {text} is not followed")
                return
            if text in ("-newer", "-samefile", "-anewer", "-cnewer"):
                report.read(value, places)
        elif text == "-follow":
            report.reads_unknown("'find' follows links with '-follow', to where is not known")
        elif text in _WRITES:
            report.not_understood(f"'find {text}' {_WRITES[text]}")
            return
        elif text not in _ALONE:
            report.not_understood(f"'find' is not known to only read with {word}")
            return


def _expression(word: Word) -> bool:
    return word.option or word.text in ("(", ")", "!", ",", "-")


def _takes(value: Word) -> bool:
    """Whether a word can only be the value of the test before it; ``-7`` and ``-u+x`` can."""
    if not value.option:
        return value.one or value.glob
    return value.text is not None and _LESS.fullmatch(value.text) is not None
