"""A journal, read: its turns, how they go on, its recording. Reading changes no file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolflow.errors import JournalError
from toolflow.model.recording import Recording
from toolflow.model.turn import Notice
from toolflow.recording.crash import CrashRepair
from toolflow.recording.journal.recorded import recorded_turn
from toolflow.recording.journal.segments import VERSION, Line, lines_of, segments
from toolflow.recording.journal.state import TurnState, turn_state
from toolflow.recording.journal.turns import JournalTurn


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What is in a journal.

    Attributes:
        path: Its first file.
        created: When it was made, as ISO 8601 text.
        about: What its header says of the run.
        turns: The turns in the order in which they began; the rest of a turn that paused, or
            whose process died, is a turn of its own.
        policies: The texts of policies by digest; ``None`` where a policy has no text.
        over: How the last process that wrote it ended, in its own words; ``None`` where it died,
            still runs, or left nothing to say.
        notices: What was odd: torn and broken lines, turns whose beginning is missing.
    """

    path: Path
    created: str
    about: Mapping[str, Any]
    turns: tuple[JournalTurn, ...]
    policies: Mapping[str, str | None]
    over: str | None
    notices: tuple[Notice, ...]

    def repair(self) -> tuple[CrashRepair, ...]:
        """Where each unfinished turn goes on, in the order in which they began.

        Reading the journal again gives the same.
        """
        return tuple(turn.repair() for turn in self.turns if turn.unfinished)

    def recording(self, *, source: Mapping[str, Any] | None = None) -> Recording:
        """The recording of its turns, as `Recorder` makes it.

        Args:
            source: Where it comes from, beside what the journal's header says in ``source``.

        Returns:
            The recording; a turn that went on is in it twice, as it is when it was recorded.

        Raises:
            JournalError: If the facts of a turn cannot be read.
        """
        digest = self.turns[-1].plan.policy_digest if self.turns else ""
        turns = tuple(map(recorded_turn, self.turns))
        where = source_of(self.about) | dict(source or {})
        return Recording(turns, where, self.policies.get(digest), digest, self.notices)


def source_of(about: Mapping[str, Any]) -> dict[str, Any]:
    """Where the recording of a journal comes from, as far as its header says.

    Args:
        about: What the header says of the run.
    """
    own = about.get("source")
    return {"format": "toolflow", **(own if isinstance(own, Mapping) else {})}


@dataclass
class Reading:
    """What a journal tells, line by line. Mutable: it lives for one reading.

    Attributes:
        turns: The turns by number, in the order in which they began; see `over_turns`.
        policies: The texts of policies by digest.
        head: Its first header.
        notices: What was odd so far.
        continued: The numbers of turns whose rest is another turn.
        lost: The numbers of turns whose beginning is missing.
        given: The numbers of turns that were given away.
        digest: The digest of the policy of the last turn.
        over: How the last process ended.
    """

    turns: dict[int, TurnState] = field(default_factory=dict)
    policies: dict[str, str | None] = field(default_factory=dict)
    head: Mapping[str, Any] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    continued: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)
    given: set[int] = field(default_factory=set)
    digest: str = ""
    over: str | None = None

    def take(self, line: Line) -> None:
        """Take a line in; what cannot be used is noted."""
        data = line.data
        if data is None:
            self._damaged()
            return
        kind = data["line"]
        try:
            if kind == "journal":
                self._header(data)
            elif kind == "policy":
                self._policy(data)
            elif kind == "over":
                self.over = str(data.get("status"))
            elif kind == "plan":
                self._begin(line, data)
            else:
                self._of_turn(line, data)
        except JournalError as error:
            self._damaged()
            self._note("broken_line", f"this {kind} line cannot be read: {error}.", line)

    def over_turns(self) -> Iterator[TurnState]:
        """Give away the first turns, as far as no line can tell more of them.

        That is a turn with its last line, or whose rest another turn is. One whose process died
        may be anywhere among the others, so those that began later wait for it.
        """
        while self.turns:
            first = next(iter(self.turns.values()))
            if first.status == "open" and first.number not in self.continued:
                return
            self.given.add(first.number)
            del self.turns[first.number]
            yield first

    @property
    def about(self) -> Mapping[str, Any]:
        """What its header says of the run."""
        about = self.head.get("about")
        return about if isinstance(about, Mapping) else {}

    def _damaged(self) -> None:
        for state in self.turns.values():
            state.damaged = state.damaged or state.status == "open"

    def _note(self, code: str, said: str, line: Line) -> None:
        self.notices.append(Notice(code, f"{line.file}:{line.number}: {said}", line.number))

    def _header(self, data: Mapping[str, Any]) -> None:
        if data.get("version") != VERSION:
            raise JournalError(f"its version is {data.get('version')!r}. Use {VERSION}")
        self.head = self.head or data

    def _policy(self, data: Mapping[str, Any]) -> None:
        digest, text = data.get("digest"), data.get("text")
        if not isinstance(digest, str) or not (text is None or isinstance(text, str)):
            raise JournalError("its digest or its text is no text")
        self.policies[digest] = text

    def _begin(self, line: Line, data: Mapping[str, Any]) -> None:
        state = turn_state(data, lambda code, said: self._note(code, said, line))
        if state.base is not None and state.source == "main":
            before = [each for each in self.turns.values() if _goes_on(each, state)]
            self.continued.update(each.number for each in before[-1:])
        self.turns[state.number] = state
        self.digest = state.plan.policy_digest
        self.over = None

    def _of_turn(self, line: Line, data: Mapping[str, Any]) -> None:
        number = data.get("turn")
        state = self.turns.get(number) if type(number) is int else None
        if state is not None:
            state.tell(data)
        elif type(number) is not int:
            raise JournalError("it names no turn")
        elif number in self.given:
            kind = data["line"]
            self._note("broken_line", f"this {kind} line comes after the end of its turn.", line)
        elif number not in self.lost:
            self.lost.add(number)
            self._note("lost_turn", f"turn {number} is left out: its beginning is missing.", line)


def _goes_on(earlier: TurnState, later: TurnState) -> bool:
    """Whether a turn is the rest of another one that has not ended."""
    one, other = earlier.plan, later.plan
    same = one.turn_digest == other.turn_digest or "masked" in later.head
    unfinished = earlier.status in {"open", "paused", "failed"} and earlier.source == "main"
    return unfinished and one.turn_id == other.turn_id and same


def read_journal(path: str | Path) -> JournalContent:
    """Read a journal, whether it is being written or was left behind.

    Args:
        path: Its first file.

    Returns:
        What is in it. A last line that was not written to its end is left out, and so is a line
        that cannot be read; both are told in its notices, and cost no other call its result.

    Raises:
        JournalError: If it is not there, cannot be read, or is no journal.
    """
    path = Path(path)
    reading = Reading()
    for _ in read_lines(path, reading):
        pass
    created = reading.head.get("created")
    return JournalContent(
        path,
        created if isinstance(created, str) else "",
        reading.about,
        tuple(JournalTurn(s, s.number in reading.continued) for s in reading.turns.values()),
        reading.policies,
        reading.over,
        tuple(reading.notices),
    )


def read_lines(path: Path, reading: Reading) -> Iterator[None]:
    """Read a journal, with a pause after each line.

    Args:
        path: Its first file.
        reading: What its lines go into.

    Raises:
        JournalError: If it is not there, cannot be read, or is no journal.
    """
    files = segments(path)
    if not files:
        what = "a folder" if path.is_dir() else "not there"
        raise JournalError(f"{path}: this journal is {what}. Name the first file of a journal.")
    for number, file in files:
        for line in lines_of(file, reading.notices, last=number == files[-1][0]):
            reading.take(line)
            yield
