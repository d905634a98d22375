"""The doctor for session logs: what the reader could not pair, and calls that cannot be run.

A log is what an agent wrote down, not what a provider is sent: results may stand between the lines
of a message or in another order, and ids need not be those of a provider. So the places of results
are no matter here, only that each call has one. The last turn is told like the others, since a log
does not say whether its session goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from toolflow.formats.base import quoted
from toolflow.formats.doctor import Report
from toolflow.formats.session import Session
from toolflow.model import Notice, RecordedTurn, call_names

_FAULTS = frozenset(
    {
        "no_result",
        "result_without_call",
        "doubled_result",
        "doubled_id",
        "broken_line",
        "unreadable",
    }
)


def examine_session(session: Session) -> Report:
    """Look whether every call of a log has its one result.

    Args:
        session: The log; it is read to its end.

    Returns:
        What was found; ``line`` is the line of a finding, where it is known.

    Raises:
        TurnError: If the log cannot be read.
    """
    turns = calls = results = 0
    found: list[Notice] = []
    for recorded in session:
        turns += 1
        calls += len(recorded.turn.calls)
        results += sum(outcome is not None for outcome in recorded.outcomes)
        found += _of_turn(recorded)
    found += [notice for notice in session.notices if notice.code in _FAULTS]
    messages = int(session.source["messages"])
    return Report(session.format.name, messages, turns, calls, results, tuple(found))


def _of_turn(recorded: RecordedTurn) -> Iterator[Notice]:
    turn = recorded.turn
    holders = Counter(call.id for call in turn.calls)
    for call, name in zip(turn.calls, call_names(turn.calls), strict=True):
        if turn.carries_ids and holders[call.id] > 1:
            text = f"{holders[call.id]} calls of the turn have the id {quoted(call.id)}."
            yield Notice("doubled_id", f"{text} Give each its own.", turn=turn.id, call=name)
        if call.problem is not None:
            yield Notice("unreadable_arguments", call.problem, turn=turn.id, call=name)
