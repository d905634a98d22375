"""Running a recording again: same plan, same order, same bytes, or a divergence (spec 10.3).

A pure function: no clock, no event loop, no tool. Every turn is read from its message, classified
and compiled again and compared with the recorded plan; a fresh scheduler is told the recorded
facts, and must decide what was recorded; the messages are written again and compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from toolflow.errors import DivergenceError
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.tool import Catalog
from toolflow.policy import Policy
from toolflow.recording.leniency import Judge, ignored_kinds
from toolflow.recording.replaying import ReplayedTurn, ReplayReport
from toolflow.recording.rules import Rules
from toolflow.recording.turn_reader import TurnSource, head_of, turns_of
from toolflow.recording.turn_replay import TurnReplay

_PREFIX = "Replay diverged at "


def replay(
    recording: Recording,
    *,
    policy: Policy | None = None,
    tools: Catalog | None = None,
    cwd: str | None = None,
    pool: int | None = None,
    resources: Mapping[str, int] | None = None,
    strict: bool = True,
    ignore: Iterable[str] = (),
) -> ReplayReport:
    """Run a recording again in virtual time, and compare.

    Turns without a recorded run (an imported log) are compiled and simulated with the durations
    that the log tells, and nothing is compared.

    Args:
        recording: The recording.
        policy: The policy to classify with; ``None`` for the recording's own. Where it holds no
            policy text, the recorded verdicts stand.
        tools: The tools, for what they declare about themselves. Without them, whatever the
            recorded policy alone does not give a call counts as declared by its tool.
        cwd: The folder that relative paths start from; the recording's own by default.
        pool: How many calls of one turn run at once, instead of what was recorded.
        resources: Capacities of resources by name, instead of what was recorded.
        strict: Whether the first divergence is raised. If not, each turn is replayed up to its
            first divergence, and the report tells them all.
        ignore: Kinds of differences to pass over: ``ids``, ``keys``, ``limits``, ``messages``,
            ``order``, ``terms``, ``text``, ``times``. What was passed over is in the report.

    Returns:
        What was compared, turn by turn, and which recorded outcomes were not used.

    Raises:
        DivergenceError: With ``strict``, at the first difference: what was recorded, what is now.
        ReplayError: If the recording's own policy cannot be used.
        UsageError: If a kind to pass over is unknown.
    """
    turns = replay_turns(
        recording,
        policy=policy,
        tools=tools,
        cwd=cwd,
        pool=pool,
        resources=resources,
        strict=strict,
        ignore=ignore,
    )
    return ReplayReport(tuple(turns), recording.notices)


def replay_turns(
    recording: Recording | TurnSource,
    *,
    policy: Policy | None = None,
    tools: Catalog | None = None,
    cwd: str | None = None,
    pool: int | None = None,
    resources: Mapping[str, int] | None = None,
    strict: bool = True,
    ignore: Iterable[str] = (),
) -> Iterator[ReplayedTurn]:
    """Run the turns of a recording again, each when it is asked for; nothing of them is kept.

    Args:
        recording: The recording, or the reader of one, of which no more than two turns are held.
        policy: As for `replay`, and so is everything else.
        tools: As for `replay`.
        cwd: As for `replay`.
        pool: As for `replay`.
        resources: As for `replay`.
        strict: As for `replay`.
        ignore: As for `replay`.

    Returns:
        The turns, in order.

    Raises:
        ReplayError: If the recording's own policy cannot be used.
        UsageError: If a kind to pass over is unknown.
        DivergenceError: While iterating, with ``strict``: at the first difference.
        RecordingError: While iterating, if the reader cannot go on.
    """
    kinds = ignored_kinds(ignore)
    rules = Rules(head_of(recording), policy, tools, cwd=cwd, pool=pool, resources=resources)
    return _replayed(turns_of(recording), rules, kinds, strict=strict)


def _replayed(
    turns: Iterator[RecordedTurn], rules: Rules, kinds: frozenset[str], *, strict: bool
) -> Iterator[ReplayedTurn]:
    first = list(islice(turns, 2))
    several = len(first) > 1
    while first:
        yield _replayed_turn(first.pop(0), rules, Judge(kinds), named=several, strict=strict)
    for recorded in turns:
        yield _replayed_turn(recorded, rules, Judge(kinds), named=several, strict=strict)


def _replayed_turn(
    recorded: RecordedTurn, rules: Rules, judge: Judge, *, named: bool, strict: bool
) -> ReplayedTurn:
    """Replay a turn; a divergence names it where there are several."""
    turn = TurnReplay(recorded, rules, judge).run()
    error = turn.divergence
    if error is not None and named:
        text = str(error).replace(_PREFIX, f"Replay diverged in {turn.id!r} at ", 1)
        error = DivergenceError(
            text,
            call=error.call,
            expected=error.expected,
            actual=error.actual,
            kind=error.kind,
        )
        turn = replace(turn, divergence=error)
    if error is not None and strict:
        raise error
    return turn
