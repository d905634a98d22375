"""The form of a plan in a recording: the compiler's own, with the facts of each call at the call.

A saved plan says of each call what it is and what was decided. In a recording the first stands at
the call already, and the second belongs beside it: that is what a reviewer looks for. What is left
(limits, pools, edges, digests) stands in the turn's ``plan``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolflow.compiler import FORMAT_VERSION, Plan, load_plan, plan_data
from toolflow.errors import PlanError
from toolflow.model.plan import PlanData
from toolflow.model.turn import Notice, Turn, call_names
from toolflow.policy.labels import default_label
from toolflow.recording.reader import Path, Reader
from toolflow.yamlio import Document

PLAN_FIELDS = (
    "approvals",
    "limits",
    "nodes",
    "gates",
    "order",
    "edges",
    "notices",
    "masked",
    "digests",
)
_OF_TURN = ("format_version", "turn", "message_id", "source", "calls")
_OF_CALL = ("name", "id", "tool", "args", "args_json")


def plan_parts(plan: PlanData, turn: Turn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A plan as data in two parts.

    Args:
        plan: The plan.
        turn: Its turn, of which nothing is said again.

    Returns:
        What belongs to the whole turn, and what belongs to each of its calls.

    Raises:
        PlanError: If arguments cannot be written.
    """
    data = plan_data(plan)
    whole = {name: value for name, value in data.items() if name not in _OF_TURN}
    calls = []
    for item, planned in zip(data["calls"], plan.calls, strict=True):
        call = turn.calls[planned.index]
        own = {name: value for name, value in item.items() if name not in _OF_CALL}
        if planned.label == default_label(planned.tool, planned.args):
            own.pop("label", None)
        elif not planned.label:
            own["label"] = ""
        if planned.id != call.id:
            own["id"] = planned.id
        if planned.tool != call.tool:
            own["tool"] = planned.tool
        if planned.args != call.args:
            own |= {name: item[name] for name in ("args", "args_json") if name in item}
        parsed = parsed_data(planned.parsed, planned.args)
        if parsed is not None:
            own["parsed"] = parsed
        calls.append(own)
    return whole, calls


def read_plan(
    reader: Reader,
    data: Mapping[str, Any],
    path: Path,
    turn: Turn,
    items: Sequence[tuple[Path, Mapping[str, Any]]],
) -> Plan | None:
    """Read the plan of a turn at a path.

    Args:
        reader: The document.
        data: The mapping of the turn.
        path: Its path.
        turn: The turn as read from it.
        items: The path and the mapping of each of its calls.

    Returns:
        The plan; ``None`` where there is none, or where it does not hold together.
    """
    if "plan" not in data:
        return None
    whole = reader.mapping(data["plan"], (*path, "plan"), PLAN_FIELDS)
    calls: list[dict[str, Any]] = []
    parsed: dict[int, Any] = {}
    for call, name, (place, item) in zip(turn.calls, call_names(turn.calls), items, strict=True):
        own = item.get("plan")
        if not isinstance(own, dict):
            reader.wrong((*place, "plan"), own, "Use a mapping.")
            return None
        merged = {"name": name, "id": call.id, "tool": call.tool, **own}
        if "parsed" in own:
            parsed[call.index] = merged.pop("parsed")
        if "args" not in own and "args_json" not in own:
            merged["args"] = call.args
        if "label" not in own and isinstance(merged["tool"], str):
            merged["label"] = default_label(merged["tool"], merged.get("args") or {})
        calls.append(merged)
    value = {
        "format_version": FORMAT_VERSION,
        "turn": turn.id,
        "message_id": turn.message_id,
        "source": turn.source,
        "calls": calls,
        **whole,
    }
    source = reader.document.source
    document = _PlanDocument(value, source, document=reader.document, path=path)
    try:
        plan = load_plan(document)
    except PlanError as error:
        reader.problems.extend(error.problems)
        return None
    return replace(
        plan, turn=turn, calls=_with_parsed(plan, parsed), notices=_recorded_notices(plan, whole)
    )


def _recorded_notices(plan: Plan, whole: Mapping[str, Any]) -> tuple[Notice, ...]:
    """The notices that were recorded: the loader's own about an edited plan would hide the edit."""
    return plan.notices[: len(whole.get("notices") or ())]


@dataclass(frozen=True, slots=True)
class _PlanDocument(Document):
    """A plan put together from a recording; its places are those of the recording."""

    document: Document | None = None
    path: Path = ()

    def where(self, path: Path, *, key: bool = False) -> tuple[int, int] | tuple[None, None]:
        assert self.document is not None
        if len(path) > 1 and path[0] == "calls":
            own = ("calls", path[1], "plan", *path[2:])
        else:
            own = ("plan", *path)
        return self.document.where((*self.path, *own), key=key)


def parsed_data(parsed: Mapping[str, Any] | None, args: Mapping[str, Any]) -> Any:
    """Validated arguments, where they say more than the arguments and JSON can hold them."""
    if parsed is None or parsed is args or parsed == args:
        return None
    try:
        return json.loads(json.dumps(dict(parsed), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


def _with_parsed(plan: Plan, parsed: Mapping[int, Any]) -> Any:
    if not parsed:
        return plan.calls
    return tuple(
        replace(call, parsed=parsed[call.index])
        if isinstance(parsed.get(call.index), dict)
        else call
        for call in plan.calls
    )
