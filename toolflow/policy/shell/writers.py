"""Commands that write, for the sake of a good answer: what they write, and the reason.

Nothing here can make a line reading. A command that is missing is not understood, which is as
good a verdict, but tells less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from toolflow.policy.expressions import shorten
from toolflow.policy.shell.lexer import Word
from toolflow.policy.shell.options import allowed, names_of, sort_words
from toolflow.policy.shell.report import Places, Report

Judge = Callable[[Sequence[Word], Places, Report], None]

WRAPPERS: Final = names_of(
    "bash builtin busybox chroot chrt dash doas env eval exec expect fish flock ionice ksh nice "
    "nohup nsenter parallel pkexec script setarch setsid sh source ssh stdbuf strace su sudo "
    "taskset time timeout trap unshare watch xargs zsh ."
)


@dataclass(frozen=True, slots=True)
class Writer:
    """A command whose operands are written.

    Attributes:
        name: Its name.
        options: The options with which it writes no more than its operands.
        reads: Whether it only reads all operands but the last.
    """

    name: str
    options: str = ""
    reads: bool = False

    def __call__(self, words: Sequence[Word], places: Places, report: Report) -> None:
        """Judge the words after the name."""
        given = sort_words(words, allowed(self.options))
        operands = given.operands
        understood = given.odd is None and all(word.text is not None for word in operands)
        if not understood or len(operands) < 1 + self.reads:
            report.changes_unknown(f"'{self.name}' changes files{_with(words)}")
            return
        written = operands[-1:] if self.reads else operands
        report.changes(f"'{self.name}' changes {', '.join(map(str, written[:3]))}")
        for word in operands[:-1] if self.reads else ():
            report.read(word, places)
        for word in written:
            report.write(word, places)


def _plainly(name: str, changes: str) -> Judge:
    """A command that changes something, whatever its words are."""

    def judge(words: Sequence[Word], _places: Places, report: Report) -> None:
        report.changes_unknown(f"'{name}' changes {changes}{_with(words)}")

    return judge


def _with(words: Sequence[Word]) -> str:
    shown = " ".join(word.raw for word in words)
    return f" with {shorten(shown)}" if shown else ""


WRITERS: Final[dict[str, Judge]] = {
    "cp": Writer("cp", "-fnpuv", reads=True),
    "chmod": _plainly("chmod", "permissions"),
    "chown": _plainly("chown", "owners"),
    "dd": _plainly("dd", "files"),
    "ln": _plainly("ln", "links"),
    "mkdir": Writer("mkdir", "-v"),
    "mv": Writer("mv", "-fnuv"),
    "rm": Writer("rm", "-rRfdv --recursive --force --verbose"),
    "rmdir": Writer("rmdir", "-v"),
    "tee": Writer("tee", "-ai --append"),
    "touch": Writer("touch", "-acm"),
    "unlink": Writer("unlink"),
}


def _output(name: str, letter: str, words: Sequence[Word], places: Places, report: Report) -> bool:
    """An option that names the file to write; whether it is there, and all else is known."""
    for place, word in enumerate(words):
        text = word.text or ""
        if text in (f"-{letter}", "--output") and place + 1 < len(words):
            target = words[place + 1]
        elif text.startswith("--output=") or (text[:2] == f"-{letter}" and len(text) > 2):
            value = text.partition("=")[2] if text[1] == "-" else text[2:]
            target = Word(word.raw, value, value)
        else:
            continue
        report.changes_unknown(f"'{name}' writes a file with {word}")
        report.write(target, places)
        return True
    return False


OUTPUTS: Final[dict[str, Callable[[Sequence[Word], Places, Report], bool]]] = {
    "sort": partial(_output, "sort", "o"),
    "tree": partial(_output, "tree", "o"),
    "diff": partial(_output, "diff", "\0"),
}
