"""What a replay gives back: for every turn what was compared, and where it left the path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolflow.compiler import Plan
from toolflow.errors import DivergenceError
from toolflow.model.turn import Notice
from toolflow.recording.simulator import Simulation


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """One turn, replayed.

    Attributes:
        id: The turn's name.
        plan: The plan as compiled now; ``None`` where it could not be compiled.
        compared: What was compared with the record: ``plan``, ``run``, ``messages``, or nothing
            for a turn of an imported log.
        starts: Names of calls in the order in which the scheduler starts them.
        messages: The messages as written now; empty where the turn has not ended.
        simulation: The run in virtual time, where no run was recorded.
        unused: Names of calls whose recorded outcome was not used.
        divergence: Where it left the recorded path, or ``None``.
        ignored: Differences that the replay was told to pass over.
    """

    id: str
    plan: Plan | None
    compared: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    messages: tuple[Any, ...] = ()
    simulation: Simulation | None = None
    unused: tuple[str, ...] = ()
    divergence: DivergenceError | None = None
    ignored: tuple[DivergenceError, ...] = ()

    def __str__(self) -> str:
        """One line."""
        if self.divergence is not None:
            return f"{self.id}: {self.divergence}"
        calls = len(self.plan.calls) if self.plan is not None else 0
        head = f"{self.id}: {calls} {'call' if calls == 1 else 'calls'}"
        if not self.compared:
            what = "compiled and simulated, nothing to compare with"
        else:
            words = {"plan": "plan", "run": "order of starts", "messages": "committed bytes"}
            what = f"{_listed([words[each] for each in self.compared])} as recorded"
        if self.unused:
            what += f"; unused: {', '.join(self.unused)}"
        if self.ignored:
            counts = Counter(each.kind for each in self.ignored)
            what += f"; ignored: {', '.join(f'{kind} {n}' for kind, n in sorted(counts.items()))}"
        return f"{head}, {what}"


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A recording, replayed.

    Attributes:
        turns: Its turns in order.
        notices: What was odd about the recording; corrupt turns are among it.
    """

    turns: tuple[ReplayedTurn, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything was as recorded, and no turn was corrupt."""
        return not self.divergences and all(n.code != "corrupt_turn" for n in self.notices)

    @property
    def divergences(self) -> tuple[DivergenceError, ...]:
        """The first divergence of each turn that left the recorded path."""
        return tuple(turn.divergence for turn in self.turns if turn.divergence is not None)

    @property
    def unused(self) -> tuple[tuple[str, str], ...]:
        """Turn and call of every recorded outcome that was not used."""
        return tuple((turn.id, name) for turn in self.turns for name in turn.unused)

    def __str__(self) -> str:
        """One line a turn, and one for the whole."""
        same = sum(bool(turn.compared) for turn in self.turns)
        whole = whole_line(len(self.turns), same, len(self.divergences))
        return "\n".join([*map(str, self.turns), whole])


def whole_line(turns: int, compared: int, divergences: int) -> str:
    """What a replay found, on one line.

    Args:
        turns: How many turns there are.
        compared: In how many something was compared with the record.
        divergences: How many left the recorded path.
    """
    noun = f"{turns} {'turn' if turns == 1 else 'turns'}"
    if divergences:
        return f"{divergences} of {noun} left the recorded path."
    return f"{noun} replayed, {compared} of them compared: no divergence."


def report_data(report: ReplayReport) -> dict[str, Any]:
    """A report as JSON values.

    Args:
        report: The report of a replay.
    """
    return {
        "ok": report.ok,
        "turns": [replayed_data(turn) for turn in report.turns],
        "notices": [notice.message for notice in report.notices],
    }


def replayed_data(turn: ReplayedTurn) -> dict[str, Any]:
    """One turn of a report as JSON values."""
    return {
        "turn": turn.id,
        "compared": list(turn.compared),
        "starts": list(turn.starts),
        "unused": list(turn.unused),
        "divergence": _difference(turn.divergence),
        "ignored": [_difference(each) for each in turn.ignored],
    }


def _difference(error: DivergenceError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {
        "call": error.call,
        "recorded": str(error.expected),
        "now": str(error.actual),
        "kind": error.kind or None,
        "message": str(error),
    }


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
