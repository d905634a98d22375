"""One command: which table or which special judge knows it, and what is said where none does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolflow.policy.shell import builtins, programs, writers
from toolflow.policy.shell.find import judge_find
from toolflow.policy.shell.git import judge_git
from toolflow.policy.shell.lexer import Word
from toolflow.policy.shell.options import Given, allowed, names_of, sort_words
from toolflow.policy.shell.readers import READERS, VERSIONS, Reader
from toolflow.policy.shell.report import Places, Report

_FOLDERS: Final = ("/bin/", "/usr/bin/")  # where a name means the command that everybody knows
_OWN: Final[dict[str, writers.Judge]] = {
    "[": builtins.judge_bracket,
    "awk": programs.judge_awk,
    "command": builtins.judge_command_builtin,
    "date": builtins.judge_date,
    "echo": builtins.judge_echo,
    "env": builtins.judge_env,
    "exit": builtins.judge_exit,
    "false": builtins.judge_nothing,
    "find": judge_find,
    "gawk": programs.judge_awk,
    "git": judge_git,
    "mawk": programs.judge_awk,
    "printf": builtins.judge_printf,
    "sed": programs.judge_sed,
    "test": builtins.judge_test,
    "true": builtins.judge_nothing,
    ":": builtins.judge_nothing,
    **writers.WRITERS,
}


def judge_command(name: str, words: Sequence[Word], places: Places, report: Report) -> None:
    """Judge one command.

    Args:
        name: Its name, as the shell sees it.
        words: The words after it.
        places: The folders that it may run in.
        report: Where to put what is found.
    """
    short = next((name[len(f) :] for f in _FOLDERS if name.startswith(f)), name)
    own, reader = _OWN.get(short), READERS.get(short)
    if len(words) == 1 and words[0].text in VERSIONS.get(short, ()):
        return
    if reader is not None:
        _judge_reader(short, reader, words, places, report)
    elif own is not None:
        own(words, places, report)
    elif short in writers.WRAPPERS:
        report.not_understood(f"{_shown(short)} runs another command, which is not followed")
    else:
        report.not_understood(f"the command {_shown(name)} is not known to only read")


def _judge_reader(
    name: str, reader: Reader, words: Sequence[Word], places: Places, report: Report
) -> None:
    given = sort_words(words, allowed(reader.options), free=reader.free)
    if given.odd is not None:
        writes = writers.OUTPUTS.get(name)
        if writes is None or not writes(words, places, report):
            report.not_understood(odd_option(name, given.odd))
        return
    if reader.most is not None and (
        len(given.operands) > reader.most or not all(word.one for word in given.operands)
    ):
        extra = given.operands[-1]
        report.not_understood(f"{_shown(name)} may write to, or change with, {extra}")
        return
    _reads(name, reader, given, places, report)


def _reads(name: str, reader: Reader, given: Given, places: Places, report: Report) -> None:
    for path in given.paths:
        report.read(path, places)
    for link in sorted(given.names & names_of(reader.follows)):
        report.reads_unknown(f"{_shown(name)} follows links with '{link}', to where is not known")
    if reader.operands == "texts":
        return
    operands = given.operands
    if reader.operands == "pattern" and not given.names & names_of(reader.given):
        operands = operands[1:]
    for operand in operands:
        if operand.text != "-":
            report.read(operand, places)
    here = reader.here == "*" or given.names & names_of(reader.here)
    if here and not operands:
        report.read_folder(places)


def odd_option(name: str, word: Word) -> str:
    """What is said of a word that an allow-list does not know."""
    if word.text is None:
        return f"{_shown(name)} may take {word} for an option, which cannot be told"
    return f"{_shown(name)} is not known to only read with {word}"


def _shown(name: str) -> str:
    return f"'{name[:40]}'"
