"""A recording read turn by turn, in memory that does not grow with it (spec 10.2).

Loading a recording is reading all of its turns, so there is one truth about what a turn is and what
is wrong with it. What differs: a large file that is broken somewhere (no YAML, a key twice) is
noticed when reading gets there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from toolflow import yamlio
from toolflow.errors import Problem, RecordingError
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.turn import Notice
from toolflow.recording.forms import read_notices
from toolflow.recording.reader import Reader
from toolflow.recording.sealing import sealed_in, unseal
from toolflow.recording.side_files import KEY as FILE_KEY
from toolflow.recording.side_files import fetched_turn
from toolflow.recording.turn_form import read_recorded_turn
from toolflow.yamlio import Document

VERSION: Final = 1
TURNS: Final = "turns"
_FIELDS: Final = ("version", "source", "policy_digest", "policy", "notices", TURNS)
_HELD: Final = 100  # corrupt turns that wait for one that is not
_TOLD: Final = 1000  # problems that are told one by one


class TurnSource(ABC):
    """A recording whose turns are read when they are asked for, as often as they are.

    It is a context manager; leaving it closes the file.

    Attributes:
        head: The recording without turns.
    """

    head: Recording
    _turns: Generator[RecordedTurn] | None = None

    @property
    @abstractmethod
    def notices(self) -> tuple[Notice, ...]:
        """Those of the recording, and of the turns read so far."""

    @property
    @abstractmethod
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with what was read so far."""

    @abstractmethod
    def _read(self) -> Generator[RecordedTurn]:
        """The turns; nothing was read before."""

    @abstractmethod
    def _begin(self) -> None:
        """Forget what was read."""

    def __iter__(self) -> Iterator[RecordedTurn]:
        """The turns in order, from the first one on.

        Raises:
            RecordingError: If the document cannot be read any further; if no turn of it could be
                used; where that was asked for, at the first turn with a problem.
            JournalError: If a turn of a journal cannot be made.
        """
        self.close()
        self._begin()
        self._turns = self._read()
        return self._turns

    def recording(self) -> Recording:
        """The whole recording, in memory.

        Raises:
            RecordingError: As iterating does.
            JournalError: As iterating does.
        """
        turns = tuple(self)
        return replace(self.head, turns=turns, notices=self.notices)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Read no further; the file is closed."""
        if self._turns is not None:
            self._turns.close()


class RecordingReader(TurnSource):
    """The turns of a recording, each read when it is asked for.

    Iterating begins with the first turn, as often as it is done. A turn in which something is wrong
    comes as far as it can be read, and what is wrong is in `notices`, as with `load_recording`.

    Args:
        listed: The document.
        path: The file that it comes from, beside which large results may be.
        strict: Whether a corrupt turn is an error.

    Attributes:
        head: The recording without turns: source, policy, digest, notices of its own.

    Raises:
        RecordingError: If what stands beside the turns cannot be used.
    """

    def __init__(self, listed: yamlio.Listed, path: Path | None, *, strict: bool = False) -> None:
        self._listed = listed
        self._path = path
        self._strict = strict
        is_whole = isinstance(listed, yamlio.Whole)
        self._flags = _flags(listed.head) if is_whole else None
        self.head = _read_head(listed.head)
        self._begin()

    def _begin(self) -> None:
        self._found: list[tuple[str, Problem]] = []
        self._more = 0
        self._count = self._good = 0

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the turns read so far; the first thousand of it."""
        return tuple(problem for _, problem in self._found)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices of the recording, and what is wrong with the turns read so far."""
        found = [Notice("corrupt_turn", p.message, p.line, turn) for turn, p in self._found]
        if self._more:
            found.append(Notice("corrupt_turn", f"{self._more:,} more problems are not told."))
        return (*self.head.notices, *found)

    def _read(self) -> Generator[RecordedTurn]:
        held: list[RecordedTurn] = []  # the first turns may be corrupt, and no other follows
        for item in self._listed:
            turn, problems = self._turn(item)
            if problems and self._strict:
                raise RecordingError(problems)
            self._note(turn.turn.id, problems)
            held.append(turn)
            if self._good or len(held) > _HELD:
                yield from held
                held.clear()
        if self._count and not self._good:
            raise RecordingError(self.problems)

    def _turn(self, item: Document) -> tuple[RecordedTurn, list[Problem]]:
        """A turn, and what is wrong with it."""
        has_files, is_sealed = self._flags or _flags(item)
        value, missing = item.value, list[Problem]()
        if has_files:
            value, missing = fetched_turn(value, self._count, self._path)
        if is_sealed:
            value = unseal(value)
        reader = Reader(item)
        turn = read_recorded_turn(reader, value, (TURNS, self._count))
        return turn, reader.problems + missing

    def _note(self, turn: str, problems: list[Problem]) -> None:
        self._count += 1
        self._good += not problems
        room = _TOLD - len(self._found)
        self._found += [(turn, problem) for problem in problems[:room]]
        self._more += len(problems[room:])


def open_recording(path: str | Path, *, strict: bool = False) -> RecordingReader:
    """Open a recording, to read its turns one after the other.

    However large the file is, memory holds one turn at a time. A small file is read at once.

    Args:
        path: The file, YAML or JSON.
        strict: Whether a corrupt turn is an error.

    Returns:
        The reader: a context manager, and an iterable of turns.

    Raises:
        RecordingError: If the file cannot be read, or what stands beside its turns cannot be used;
            every problem with its line and column.
    """
    listed = yamlio.open_list(path, TURNS, error=RecordingError)
    return RecordingReader(listed, Path(path), strict=strict)


def head_of(recording: Recording | TurnSource) -> Recording:
    """What a recording says beside its turns; in the turns of the value nobody should look."""
    return recording if isinstance(recording, Recording) else recording.head


def turns_of(recording: Recording | TurnSource) -> Iterator[RecordedTurn]:
    """The turns of a recording, from the first one on."""
    return iter(recording.turns if isinstance(recording, Recording) else recording)


def _read_head(document: Document) -> Recording:
    if _flags(document)[1]:
        document = replace(document, value=unseal(document.value))
    reader = Reader(document)
    data = reader.mapping(document.value, (), _FIELDS)
    version = reader.field(data, (), "version", int, 0)
    if type(data.get("version")) is int and version != VERSION:
        reader.problem(("version",), f"version is {version}. Use {VERSION}.")
    notices = read_notices(reader, data, ())
    head = Recording(
        (),
        reader.field(data, (), "source", dict, {}),
        reader.field(data, (), "policy", str, None),
        reader.field(data, (), "policy_digest", str, ""),
        notices,
    )
    reader.field(data, (), TURNS, list)
    if reader.problems:
        raise RecordingError(reader.problems)
    return head


def _flags(document: Document) -> tuple[bool, bool]:
    """Whether there may be side files and sealed values in a document; without text there may."""
    text = document.text
    return (True, True) if text == "" else (FILE_KEY in text, sealed_in(text))
