"""Reading a plan back from its line in a journal (`toolflow.recording.journal.plan_line`).

A journal is untrusted input like every other file: whatever is of the wrong kind is told, and
nothing of it is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from toolflow.compiler import Plan, compile_plan
from toolflow.errors import JournalError, ToolflowError
from toolflow.model.batch import DEFAULT_TERMS, Batch, CallPlan, Limits, Terms, Verdict
from toolflow.model.turn import EMPTY, Call, Notice, Turn
from toolflow.recording.journal.plan_line import OF_TERMS, OF_TURN
from toolflow.recording.turn_form import turn_from

_VERDICTS: Final = ("safe", "exclusive", "settled")


def plan_of(data: Mapping[str, Any], notice: Callable[[str, str], None]) -> Plan:
    """Read what `plan_fields` wrote.

    Args:
        data: The line.
        notice: Told of what is odd: a code and a sentence.

    Returns:
        The plan, with its turn.

    Raises:
        JournalError: If it is no such line.
    """
    try:
        return _whole(data["whole"]) if "whole" in data else _compiled(data, notice)
    except (ToolflowError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise JournalError(f"its plan cannot be read ({said})") from error


def _whole(data: Mapping[str, Any]) -> Plan:
    plan = turn_from(data).plan
    if not isinstance(plan, Plan):
        raise TypeError("there is no plan in it")
    return plan


def _compiled(data: Mapping[str, Any], notice: Callable[[str, str], None]) -> Plan:
    turn = _turn(data["of"], data["calls"])
    calls = _planned(data["planned"], turn)
    limits = Limits(data["limits"]["pool"], dict(data["limits"].get("resources", {})))
    approvals = data.get("approvals", "inline")
    digest = _text(data["policy"])
    if approvals not in {"inline", "first"}:
        raise ValueError(f"approvals is {approvals!r}")
    notices = tuple(_notice(each) for each in data.get("notices", ()))
    plan = compile_plan(Batch(turn, calls, limits, approvals, digest, notices))
    if plan.fingerprint != data.get("fingerprint") and not data.get("masked"):
        notice("other_plan", f"the plan of {turn.id} is compiled otherwise now than when it ran.")
    return plan


def _turn(data: Mapping[str, Any], columns: Mapping[str, Any]) -> Turn:
    tools, odd = columns["tools"], columns.get("odd", {})
    rows = zip(columns["ids"], columns["tool"], columns["args"], strict=True)
    calls = []
    for index, (name, tool, args) in enumerate(rows):
        own = odd.get(str(index), EMPTY)
        extra = _mapping(own.get("extra", EMPTY))
        raw, problem = _optional(own.get("raw")), _optional(own.get("problem"))
        calls.append(
            Call(index, _text(name), _text(tools[tool]), _mapping(args), raw, problem, extra)
        )
    fields = {name: data[name] for name in OF_TURN if name in data}
    for name in ("id", "format", "source"):
        _text(fields.get(name, ""))
    _optional(fields.get("message_id"))
    notices = tuple(_notice(each) for each in data.get("notices", ()))
    return Turn(calls=tuple(calls), notices=notices, **fields)


def _planned(data: Mapping[str, Any], turn: Turn) -> tuple[CallPlan, ...]:
    facts = [_read_facts(each) for each in data["facts"]]
    other = data.get("other", {})
    parsed: dict[int, Any] = {}
    calls = []
    rows = zip(turn.calls, data["fact"], data["labels"], strict=True)
    for call, place, label in rows:
        own = other.get(str(call.index), EMPTY)
        verdict, reads, writes, ask, terms = facts[place]
        if "parsed" in own:
            parsed[call.index] = own["parsed"]
        calls.append(
            CallPlan(
                call.index,
                _text(own.get("name", call.id)),
                _text(own.get("id", call.id)),
                _text(own.get("tool", call.tool)),
                _mapping(own.get("args", call.args)),
                verdict,
                reads,
                writes,
                terms,
                ask,
                _text(label),
            )
        )
    if len({call.name for call in calls}) < len(calls):
        raise ValueError("two calls have one name")
    return _with_parsed(tuple(calls), parsed)


def _with_parsed(calls: tuple[CallPlan, ...], parsed: dict[int, Any]) -> tuple[CallPlan, ...]:
    """Calls with their validated arguments."""
    return tuple(
        replace(call, parsed=parsed[call.index])
        if isinstance(parsed.get(call.index), dict)
        else call
        for call in calls
    )


def _read_facts(data: Mapping[str, Any]) -> tuple[Verdict, Any, Any, str | None, Terms]:
    if data["verdict"] not in _VERDICTS:
        raise ValueError(f"a verdict is {data['verdict']!r}")
    verdict = Verdict(
        data["verdict"],
        _text(data["reason"]),
        _count(data.get("rule")),
        _count(data.get("policy_line")),
        _optional(data.get("status")),
    )
    given = {name: data[name] for name in OF_TERMS if name in data}
    return (
        verdict,
        _keys(data, "reads"),
        _keys(data, "writes"),
        _optional(data.get("ask")),
        _terms(given),
    )


def _terms(given: Mapping[str, Any]) -> Terms:
    right = (
        given.get("hold", "call") in {"call", "turn", "run"}
        and given.get("stop") in {None, "before", "after"}
        and given.get("on_error", "continue") in {"continue", "stop"}
        and isinstance(given.get("idempotent", False), bool)
        and type(given.get("timeout", 0.0)) in {int, float}
        and all(type(count) is int and count >= 0 for count in given.get("uses", {}).values())
    )
    if not right:
        raise ValueError("the terms of a call are not allowed")
    return replace(DEFAULT_TERMS, **given) if given else DEFAULT_TERMS


def _keys(data: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    return None if data.get(name) is None else tuple(_text(key) for key in data[name])


def _notice(data: Mapping[str, Any]) -> Notice:
    return Notice(
        _text(data["code"]),
        _text(data["message"]),
        _count(data.get("line")),
        _optional(data.get("turn")),
        _optional(data.get("call")),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} stands where a text belongs")
    return value


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _count(value: Any) -> int | None:
    if not (value is None or type(value) is int):
        raise TypeError(f"{value!r} stands where a number belongs")
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} stands where a mapping belongs")
    return value
