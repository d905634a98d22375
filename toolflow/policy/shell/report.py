"""What is found out about a line, bit by bit, and the folders in which its commands may run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from toolflow.policy.effects import EVERYTHING, ONLY_READS, ShellEffects
from toolflow.policy.shell.lexer import Word

# The folders in which a command may run, as paths from where the line starts; an empty text is
# that place itself. None: anywhere.
Places = frozenset[str] | None
START: Final[Places] = frozenset(("",))
_MANY_PLACES: Final = 8
_MANY_PATHS: Final = 1_000
_MANY_SENTENCES: Final = 20


class Report:
    """Collects what the parts of a line do."""

    def __init__(self) -> None:
        self._reads: dict[str, None] = {}
        self._writes: dict[str, None] = {}
        self._faults: dict[str, None] = {}
        self._unknown: dict[str, None] = {}

    def not_understood(self, clause: str) -> None:
        """A part may do anything.

        Args:
            clause: What it is and where, such as ``the loop ... is not followed``.
        """
        sentence = _sentence(clause)
        self._faults[sentence] = self._unknown[sentence] = None
        self._reads[EVERYTHING] = self._writes[EVERYTHING] = None

    def reads_unknown(self, clause: str) -> None:
        """A part only reads, but which paths cannot be told."""
        self._unknown[_sentence(clause)] = None
        self._reads[EVERYTHING] = None

    def changes(self, clause: str) -> None:
        """A part changes something that is no path, or whose paths are told apart from this."""
        self._faults[_sentence(clause)] = None

    def changes_unknown(self, clause: str) -> None:
        """A part changes something, and which paths cannot be told."""
        self._faults[_sentence(clause)] = self._unknown[_sentence(clause)] = None
        self._reads[EVERYTHING] = self._writes[EVERYTHING] = None

    def read(self, word: Word, places: Places) -> None:
        """A part reads the path that a word stands for; a pattern stands for its folder."""
        for path in self._paths(word, places, "reads"):
            self._reads[path] = None

    def read_folder(self, places: Places) -> None:
        """A part reads the folder that it runs in."""
        for path in joined(places, ".") or ():
            self._reads[path] = None
        if places is None:
            self.reads_unknown("which folder the line reads after 'cd' cannot be told")

    def write(self, word: Word, places: Places) -> None:
        """A part writes the path that a word stands for."""
        for path in self._paths(word, places, "writes"):
            self._writes[path] = None

    def effects(self) -> ShellEffects:
        """What was found out, as a value."""
        faults = tuple(self._faults)
        unknown = tuple(self._unknown)[:_MANY_SENTENCES]
        reads, writes = _bounded(self._reads), _bounded(self._writes)
        return ShellEffects(not faults, reads, writes, unknown, (*faults, ONLY_READS)[0])

    def _paths(self, word: Word, places: Places, verb: str) -> Iterable[str]:
        path = word.text
        if path is None and word.glob:
            path = word.head.rpartition("/")[0] or ("/" if word.head[:1] == "/" else ".")
        if path is None:
            self._unknown[_sentence(f"which paths {word} stands for cannot be told")] = None
            return (EVERYTHING,)
        found = joined(places, path)
        if found is None:
            said = f"from which folder the line {verb} {word} after 'cd' cannot be told"
            self._unknown[_sentence(said)] = None
            return (EVERYTHING,)
        return sorted(found)


def joined(places: Places, path: str) -> Places:
    """A path from each of the places, as written; ``None`` where they are not known."""
    if path.startswith("/"):
        return frozenset((path,))
    if places is None:
        return None
    if path == ".":
        return frozenset(place or path for place in places)
    return frozenset(f"{place.rstrip('/')}/{path}" if place else path for place in places)


def either(one: Places, other: Places) -> Places:
    """The places of both."""
    if one is None or other is None or len(one | other) > _MANY_PLACES:
        return None
    return one | other


def _bounded(paths: Iterable[str]) -> tuple[str, ...]:
    found = tuple(paths)
    return found if len(found) <= _MANY_PATHS else (EVERYTHING,)


def _sentence(clause: str) -> str:
    text = clause.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
