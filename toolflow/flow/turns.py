"""From a stage to its turn, and from the outcomes of that to what later stages see (spec 13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.flow.load import Stage, StageCall
from toolflow.model.outcome import Outcome
from toolflow.model.turn import Call, Turn, call_names
from toolflow.policy import ExpressionError

_GROUP = "foreach"  # in a call's `extra`: the name of the call that was made for each item
_LISTS: tuple[type, ...] = (
    list,
    tuple,
    range,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)
_KINDS = ((bool, "true or false"), (str, "text"), (int | float, "a number"), (Mapping, "a mapping"))


def kind_of(value: object) -> str:
    """What a value is, in a word that shows nothing of it, since it may be a secret."""
    if value is None:
        return "nothing"
    kinds = (word for kind, word in _KINDS if isinstance(value, kind))
    return next(kinds, "a list" if _is_list(value) else "something else")


def _is_list(value: object) -> bool:
    return isinstance(value, _LISTS)


def turn_of_stage(stage: Stage, names: Mapping[str, Any]) -> Turn:
    """The turn of a stage that is written as calls, its expressions worked out.

    A call whose items or arguments cannot be worked out settles and does not run.

    Args:
        stage: The stage.
        names: What its expressions may use.
    """
    calls: list[Call] = []
    for call in stage.calls:
        calls += _made(call, len(calls), names)
    unique = tuple(replace(c, id=n) for c, n in zip(calls, call_names(calls), strict=True))
    message = {"calls": [{"id": c.id, "tool": c.tool, "args": dict(c.args)} for c in unique]}
    return Turn(stage.id, unique, message=message, carries_ids=False)


def _made(call: StageCall, first: int, names: Mapping[str, Any]) -> Iterator[Call]:
    """The calls that one entry of a stage makes."""
    if call.foreach is None:
        yield _with_args(Call(first, call.name, call.spec.tool), call, names)
        return
    try:
        items = _items(call.foreach(names))
    except (ExpressionError, TypeError) as error:
        problem = f"Could not tell for which items the call is made: {error}"
        yield Call(first, call.name, call.spec.tool, problem=problem)
        return
    for place, item in enumerate(items):
        name = f"{call.name}-{place + 1}"
        made = Call(first + place, name, call.spec.tool, extra={_GROUP: call.name})
        yield _with_args(made, call, {**names, "item": item})


def _items(value: Any) -> Sequence[Any]:
    if not _is_list(value):
        raise TypeError(f"foreach gives {kind_of(value)}. Use a list.")
    return list(value)


def _with_args(made: Call, call: StageCall, names: Mapping[str, Any]) -> Call:
    try:
        return replace(made, args=call.args(names))
    except ExpressionError as error:
        return replace(made, problem=f"Could not work out the arguments: {error}")


def values_of(stage: Stage, turn: Turn, outcomes: Iterable[Outcome | None]) -> dict[str, Any]:
    """What later stages see of a stage.

    Args:
        stage: The stage.
        turn: Its turn.
        outcomes: How its calls settled, in call order.

    Returns:
        The values of calls that are ok, by name; for ``foreach`` the list of all its values, with
        ``None`` for those that are not ok.
    """
    unknown = {call.id for call in turn.calls if call.problem is not None}
    lists = {call.name for call in stage.calls if call.foreach is not None} - unknown
    values: dict[str, Any] = {name: [] for name in lists}
    for call, outcome in zip(turn.calls, outcomes, strict=True):
        group = call.extra.get(_GROUP)
        ok = outcome is not None and outcome.ok
        if group is not None:
            values.setdefault(group, []).append(outcome.value if ok and outcome else None)
        elif ok and outcome is not None:
            values[call.id] = outcome.value
    return values
