"""What makes two plans the same run, as one digest (spec 5.3).

The fingerprint covers what decides how the turn runs and what the model gets: names, tools,
arguments, verdicts, keys, terms, questions, nodes, gates, edges and limits. Words are left out
that only tell people why (reasons of calls that run, rule numbers and lines, labels, causes,
notices), and so are the digests of policy and turn: a policy with a new comment makes a new
digest, and the same plan. The reason of a settled call is what the model gets, so it counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from toolflow.errors import PlanError, Problem
from toolflow.model.batch import CallPlan, Terms
from toolflow.model.digest import digest
from toolflow.model.plan import PlanData
from toolflow.model.turn import Turn

_BLOCK = 256


def fingerprint(plan: PlanData) -> str:
    """The fingerprint of a plan, as 64 hexadecimal digits.

    Args:
        plan: The plan; the fingerprint that it carries is not looked at.

    Raises:
        PlanError: If the arguments cannot be written as JSON.
    """
    limits, terms = plan.limits, _Terms()
    calls = (_call(call, terms.number(call.terms)) for call in plan.calls)
    edges = ([edge.kind, edge.before, edge.after] for edge in plan.edges)
    return _digest(
        [
            [plan.turn_id, plan.message_id, plan.source, plan.approvals],
            [limits.pool, limits.resources],
            _blocks(calls, plan.turn_id),
            terms.listed,
            [[node.id, node.kind, node.calls] for node in plan.nodes],
            [[gate.name, gate.key] for gate in plan.gates],
            _blocks(edges, plan.turn_id),
        ],
        plan.turn_id,
    )


def turn_digest(turn: Turn) -> str:
    """The digest of a turn: its calls as received, whatever message they came in.

    Args:
        turn: The turn.

    Raises:
        PlanError: If the arguments cannot be written as JSON.
    """
    calls = ([call.id, call.tool, call.args, call.raw] for call in turn.calls)
    return _digest([turn.carries_ids, _blocks(calls, turn.id)], turn.id)


def _blocks(values: Iterable[list[Any]], turn_id: str) -> list[Any]:
    """The values, or where they are many, digests of a few hundred each: that saves memory."""
    source = iter(values)
    block = list(islice(source, _BLOCK))
    digests = []
    while len(block) == _BLOCK:
        digests.append(_digest(block, turn_id))
        block = list(islice(source, _BLOCK))
    return [digests, block]


class _Terms:
    """The different terms of a plan, which calls name by their place: most calls share a few."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._known: dict[int, int] = {}

    @property
    def listed(self) -> list[tuple[Any, ...]]:
        """The facts of all terms, each once, by place."""
        return list(self._numbers)

    def number(self, terms: Terms) -> int:
        """The place of these terms."""
        number = self._known.get(id(terms))
        if number is None:
            number = self._numbers.setdefault(_facts(terms), len(self._numbers))
            self._known[id(terms)] = number
        return number


def _call(call: CallPlan, terms: int) -> list[Any]:
    verdict = call.verdict
    reason = verdict.reason if verdict.kind == "settled" else None
    return [
        call.name,
        call.id,
        call.tool,
        call.args,
        verdict.kind,
        verdict.status,
        reason,
        call.reads,
        call.writes,
        terms,
        call.ask,
    ]


def _facts(terms: Terms) -> tuple[Any, ...]:
    uses = tuple(sorted(terms.uses.items()))
    # 120 and 120.0 seconds are one timeout.
    timeout = None if terms.timeout is None else float(terms.timeout)
    return uses, timeout, terms.hold, terms.stop, terms.on_error, terms.idempotent


def _digest(value: object, turn_id: str) -> str:
    try:
        return digest(value)
    except RecursionError:
        message = "The arguments of a call are nested too deep. Use at most some hundred levels."
    except (TypeError, ValueError) as error:
        message = f"The arguments of a call cannot be written as JSON: {error}."
    raise PlanError(Problem(message, turn_id, code="arguments")) from None
