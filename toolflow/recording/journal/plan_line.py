"""A plan as one line of a journal, written before its first body starts.

The form of recordings and checkpoints, made to be read by people, costs more than running the
calls. Here the calls stand as columns, and what calls of one rule have in common stands once;
nodes, gates and edges are worked out again by the compiler, and the plan's fingerprint tells
whether that gave the same plan. A plan that was edited by hand is none that the compiler makes, and
stands in the form of recordings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from pydantic_core import to_json

from toolflow.model.batch import DEFAULT_TERMS, CallPlan
from toolflow.model.plan import PlanData
from toolflow.model.recording import RecordedTurn
from toolflow.model.turn import EMPTY, Call, Turn
from toolflow.recording.forms import notice_data
from toolflow.recording.journal.masking import Masker
from toolflow.recording.plan_form import parsed_data
from toolflow.recording.turn_form import turn_data
from toolflow.runtime.jsonable import Writer

OF_TERMS: Final = ("uses", "timeout", "hold", "stop", "on_error", "idempotent")
OF_TURN: Final = ("id", "format", "message", "message_id", "source", "carries_ids", "extra")


def json_line(data: Mapping[str, Any]) -> str:
    """Data as one line of JSON; what JSON cannot hold is written as text."""
    try:  # three times as fast as `json`
        return to_json(data, inf_nan_mode="constants", fallback=_listed).decode() + "\n"
    except (TypeError, ValueError, RecursionError):  # half of a surrogate pair, for one
        written = Writer().write(data)
        return json.dumps(written, ensure_ascii=False, separators=(",", ":")) + "\n"


def _listed(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__}")


def plan_fields(plan: PlanData, turn: Turn, masker: Masker | None) -> dict[str, Any]:
    """What a line says of a plan.

    Args:
        plan: The plan.
        turn: Its turn.
        masker: What masks secrets, or ``None``.
    """
    masked: list[str] = []
    if masker is not None:
        masked, turn, plan = _masked(plan, turn, masker)
    if any(notice.code == "edited" for notice in plan.notices):
        whole = turn_data(RecordedTurn(turn, (None,) * len(turn.calls), plan=plan))
        return {"whole": whole, "masked": masked} if masked else {"whole": whole}
    of_turn = {
        name: getattr(turn, name) for name in OF_TURN if getattr(turn, name) != _DEFAULT[name]
    }
    data: dict[str, Any] = {
        "of": of_turn,
        "calls": _call_columns(turn.calls),
        "planned": _plan_columns(plan.calls, turn.calls),
        "limits": {
            "pool": plan.limits.pool,
            **({"resources": dict(plan.limits.resources)} if plan.limits.resources else {}),
        },
        "policy": plan.policy_digest,
        "fingerprint": plan.fingerprint,
    }
    if plan.approvals != "inline":
        data["approvals"] = plan.approvals
    if turn.notices:
        of_turn["notices"] = [notice_data(notice) for notice in turn.notices]
    if len(plan.notices) > len(turn.notices):
        data["notices"] = [notice_data(each) for each in plan.notices[len(turn.notices) :]]
    if masked:
        data["masked"] = masked
    return data


_DEFAULT: Final[Mapping[str, Any]] = {
    "id": None,
    "format": "calls",
    "message": None,
    "message_id": None,
    "source": "main",
    "carries_ids": True,
    "extra": EMPTY,
}


def _masked(plan: PlanData, turn: Turn, masker: Masker) -> tuple[list[str], Turn, PlanData]:
    """Turn and plan without secrets, and the names of calls whose arguments held some."""
    masker.learn(turn, [call.args for call in plan.calls])
    planned = tuple(map(masker.planned, plan.calls))
    names = [a.name for a, b in zip(plan.calls, planned, strict=True) if a.args != b.args]
    return names, masker.mask.turn(turn), _with_calls(plan, planned, masker)


def _with_calls(plan: PlanData, calls: tuple[CallPlan, ...], masker: Masker) -> PlanData:
    # As a plain value: a `Plan` would check its graph again.
    same = {each.name: getattr(plan, each.name) for each in fields(PlanData)}
    changed = {"calls": calls, "notices": masker.mask.notices(plan.notices)}
    return PlanData(**{**same, **changed})


def _call_columns(calls: Sequence[Call]) -> dict[str, Any]:
    tools: dict[str, int] = {}
    number = tools.setdefault
    data: dict[str, Any] = {
        "ids": [call.id for call in calls],
        "tool": [number(call.tool, len(tools)) for call in calls],
        "args": [call.args for call in calls],
    }
    data["tools"] = list(tools)
    odd = {
        call.index: {n: v for n in ("raw", "problem", "extra") if (v := getattr(call, n))}
        for call in calls
        if call.problem is not None or call.raw is not None or call.extra
    }
    if odd:
        data["odd"] = odd
    return data


def _plan_columns(planned: Sequence[CallPlan], calls: Sequence[Call]) -> dict[str, Any]:
    facts: list[dict[str, Any]] = []
    data: dict[str, Any] = {
        "facts": facts,
        "fact": _fact_column(planned, facts),
        "labels": [call.label for call in planned],
    }
    other = {
        call.index: own
        for call, sent in zip(planned, calls, strict=True)
        if (
            call.args is not sent.args
            or call.name is not sent.id
            or call.tool is not sent.tool
            or call.id is not sent.id
            or not (call.parsed is None or call.parsed == call.args)
        )
        and (own := _other(call, sent))
    }
    if other:
        data["other"] = other
    return data


def _fact_column(planned: Sequence[CallPlan], facts: list[dict[str, Any]]) -> list[int]:
    """For each call the place of what was decided about it; one behind the other often share it."""
    numbers: dict[Any, int] = {}
    column: list[int] = []
    add = column.append
    place, verdict, terms = -1, None, None
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    ask: str | None = None
    for call in planned:
        if not (
            call.verdict is verdict
            and call.terms is terms
            and call.reads == reads
            and call.writes == writes
            and call.ask == ask
        ):
            verdict, terms = call.verdict, call.terms
            reads, writes, ask = call.reads, call.writes, call.ask
            place = numbers.setdefault((id(verdict), id(terms), reads, writes, ask), len(facts))
            if place == len(facts):
                facts.append(_facts(call))
        add(place)
    return column


def _other(call: CallPlan, sent: Call) -> dict[str, Any]:
    """What the plan says otherwise of a call than the message."""
    own = {
        name: getattr(call, name)
        for name in ("id", "tool", "args")
        if getattr(call, name) != getattr(sent, name)
    }
    if call.name != sent.id:
        own["name"] = call.name
    parsed = parsed_data(call.parsed, call.args)
    return own if parsed is None else {**own, "parsed": parsed}


def _facts(call: CallPlan) -> dict[str, Any]:
    verdict, terms = call.verdict, call.terms
    data: dict[str, Any] = {"verdict": verdict.kind, "reason": verdict.reason}
    optional = (
        ("status", verdict.status),
        ("rule", verdict.rule),
        ("policy_line", verdict.line),
        ("reads", call.reads),
        ("writes", call.writes),
        ("ask", call.ask),
    )
    data |= {name: value for name, value in optional if value is not None}
    if terms is not DEFAULT_TERMS:
        for name in OF_TERMS:
            value = getattr(terms, name)
            if value != getattr(DEFAULT_TERMS, name):
                data[name] = dict(value) if name == "uses" else value
    return data
