"""The first difference between what was recorded and what is now, named by its call.

The order of the questions is the order in which people think: are these the calls, may they run as
they might, do the same ones wait for each other? Words that tell people why (reasons of calls that
run, labels, rule numbers) may differ: they change nothing about the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from toolflow.errors import DivergenceError
from toolflow.model.batch import CallPlan, Limits, Terms
from toolflow.model.plan import Edge, PlanData
from toolflow.model.turn import Call, Turn
from toolflow.recording.drive import diverged
from toolflow.recording.show import shown

_ABSENT = object()


def turn_differences(recorded: Turn, now: Turn) -> Iterator[DivergenceError]:
    """Calls that are not the recorded ones in the message as it is read now, in call order.

    Args:
        recorded: The turn in the recording.
        now: The turn as read from its message again.
    """
    for before, after in zip(recorded.calls, now.calls, strict=False):
        yield from _calls_differ(before, after)
    yield from _number_differs(recorded.calls, now.calls)


def plan_differences(recorded: PlanData, now: PlanData) -> Iterator[DivergenceError]:
    """The differences of two plans that show in a run, the limits of the run aside.

    Args:
        recorded: The plan in the recording.
        now: The plan as compiled now.
    """
    for before, after in zip(recorded.calls, now.calls, strict=False):
        yield from call_differences(before, after)
    yield from _number_differs(recorded.calls, now.calls)
    yield from _edges_differ(recorded, now)


def call_differences(recorded: CallPlan, now: CallPlan) -> Iterator[DivergenceError]:
    """The differences of a call that show in a run.

    Args:
        recorded: The call in the recording.
        now: The call as it is now.
    """
    name = recorded.name
    if recorded.tool != now.tool:
        yield diverged(name, f"tool {recorded.tool}", now.tool)
    yield from _args_differ(name, recorded.tool, recorded.args, now.args)
    for what in ("id", "name"):
        before, after = getattr(recorded, what), getattr(now, what)
        if before != after:
            yield diverged(name, f"{what} {before!r}", repr(after), kind="ids")
    yield from _verdict_differs(recorded, now)
    yield from _keys_differ(recorded, now)


def limits_text(plan: PlanData, other: PlanData) -> str:
    """What of the bounds of a plan is not the same in another plan, as short text."""
    parts = [
        f"limits.{name} {'none' if value is None else value}"
        for name, value in _bounds(plan.limits, other.limits)
    ]
    if plan.approvals != other.approvals:
        parts.append(f"approvals {plan.approvals}")
    return ", ".join(parts) or "the same limits"


def _bounds(limits: Limits, other: Limits) -> Iterator[tuple[str, int | None]]:
    if limits.pool != other.pool:
        yield "pool", limits.pool
    for name in sorted({*limits.resources, *other.resources}):
        units = limits.resources.get(name)
        if units != other.resources.get(name):
            yield f"resources.{name}", units


def _calls_differ(recorded: Call, now: Call) -> Iterator[DivergenceError]:
    name = recorded.id or f"call-{recorded.index + 1}"
    if recorded.tool != now.tool:
        yield diverged(name, f"tool {recorded.tool}", now.tool)
    # The reader of a stream that broke off knew of a call's problem what its message does not show.
    known_better = recorded.problem is not None and now.problem is None
    if not known_better:
        if recorded.raw != now.raw:
            yield diverged(name, f"arguments {shown(recorded.raw)}", shown(now.raw))
        yield from _args_differ(name, recorded.tool, recorded.args, now.args)
    if recorded.id != now.id:
        yield diverged(name, f"id {recorded.id!r}", repr(now.id), kind="ids")


def _number_differs(
    recorded: Sequence[Call | CallPlan], now: Sequence[Call | CallPlan]
) -> Iterator[DivergenceError]:
    if len(recorded) > len(now):
        gone = recorded[len(now)]
        yield diverged(gone.id, f"a call of {gone.tool}", "there is no such call")
    if len(recorded) < len(now):
        new = now[len(recorded)]
        yield diverged(new.id, "no such call", f"there is a call of {new.tool}")


def _args_differ(
    call: str, tool: str, recorded: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[DivergenceError]:
    if same(recorded, now):
        return
    path, before, after = first_difference(recorded, now)
    where = path_text(path)
    if before is _ABSENT:
        yield diverged(call, f"{tool} without {where}", f"{where} {shown(after)}")
    elif after is _ABSENT:
        yield diverged(call, f"{tool} {where} {shown(before)}", f"no {where}")
    else:
        yield diverged(
            call, f"{tool} {where} {shown(before, after)}", f"{where} {shown(after, before)}"
        )


def first_difference(recorded: Any, now: Any) -> tuple[tuple[str | int, ...], Any, Any]:
    """Where two unequal JSON values differ first, and both values there.

    Args:
        recorded: A JSON value.
        now: Another one.

    Returns:
        Keys and indexes to the place, and what stands there in each; an object that is equal to
        nothing where there is none.
    """
    path: list[str | int] = []
    while True:
        step = _step(recorded, now)
        if step is None:
            return tuple(path), recorded, now
        path.append(step)
        recorded, now = _at(recorded, step), _at(now, step)


def path_text(path: Sequence[str | int]) -> str:
    """A path as people write it: ``edits[2].old``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "arguments"


def _step(recorded: Any, now: Any) -> str | int | None:
    """The first key or index below which two values differ."""
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        return next(
            (key for key in (*recorded, *now) if not same(_at(recorded, key), _at(now, key))), None
        )
    if isinstance(recorded, list | tuple) and isinstance(now, list | tuple):
        longest = max(len(recorded), len(now))
        return next((i for i in range(longest) if not same(_at(recorded, i), _at(now, i))), None)
    return None


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: ``1``, ``1.0`` and ``true`` are three values."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def _at(value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return value.get(step, _ABSENT)
    return value[step] if step < len(value) else _ABSENT


def _verdict_differs(recorded: CallPlan, now: CallPlan) -> Iterator[DivergenceError]:
    before, after = recorded.verdict, now.verdict
    if before.kind != after.kind:
        yield diverged(recorded.name, _verdict(recorded), _verdict(now))
    elif before.kind == "settled":
        if before.status != after.status:
            yield diverged(recorded.name, f"status {before.status}", after.status)
        if before.reason != after.reason:
            words = f"reason {before.reason!r}", repr(after.reason)
            yield diverged(recorded.name, *words, kind="text")


def _verdict(call: CallPlan) -> str:
    return f"{call.verdict.kind} ({call.verdict.reason.rstrip('.')})"


def _keys_differ(recorded: CallPlan, now: CallPlan) -> Iterator[DivergenceError]:
    for what in ("reads", "writes"):
        before, after = getattr(recorded, what), getattr(now, what)
        if before != after:
            yield diverged(recorded.name, f"{what} {_keys(before)}", _keys(after), kind="keys")
    for field in fields(Terms):
        before, after = getattr(recorded.terms, field.name), getattr(now.terms, field.name)
        if before != after:
            words = f"{field.name} {_term(before)}", _term(after)
            yield diverged(recorded.name, *words, kind="terms")
    if recorded.ask != now.ask:
        asks = recorded.ask is not None and now.ask is not None
        words = f"question {_term(recorded.ask)}", _term(now.ask)
        yield diverged(recorded.name, *words, kind="text" if asks else "")


def _keys(keys: tuple[str, ...] | None) -> str:
    if keys is None:
        return "not declared"
    return ", ".join(keys) or "nothing"


def _term(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {units}" for name, units in sorted(value.items())) or "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _edges_differ(recorded: PlanData, now: PlanData) -> Iterator[DivergenceError]:
    names = dict(zip((c.name for c in now.calls), (c.name for c in recorded.calls), strict=False))
    before, after = _pairs(recorded.edges, {}), _pairs(now.edges, names)
    calls = {call.name for call in recorded.calls}
    for pair in sorted({*before, *after}, key=lambda pair: (pair[1] not in calls, pair)):
        if pair in before and pair in after:
            continue
        call = next((name for name in reversed(pair) if name in calls), None)
        waits = f"it waits for {pair[0]!r} ({'; '.join((before.get(pair) or after[pair]).causes)})"
        if pair in before:
            yield diverged(call, waits, "it does not", kind="keys")
        else:
            yield diverged(call, "no such wait", waits, kind="keys")
    for one, other in zip(recorded.nodes, now.nodes, strict=False):
        if one != other:
            yield diverged(None, f"node {one.id}", f"node {other.id}", what="the plan")


def _pairs(edges: Sequence[Edge], names: Mapping[str, str]) -> dict[tuple[str, str], Edge]:
    """The key edges by their ends, as the recorded plan names them."""
    return {
        (names.get(edge.before, edge.before), names.get(edge.after, edge.after)): edge
        for edge in edges
        if edge.kind == "key"
    }
