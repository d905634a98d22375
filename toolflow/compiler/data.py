"""The plan as plain values and as text, made to be read and edited by hand (spec 5.5).

The document, version 1; what has its default is left out::

    format_version: 1
    turn: turn-1                     # message_id, source, approvals: where they are not the default
    limits: {pool: 10, resources: {subprocess: 2}}
    calls:                           # in call order
      - {name: a, tool: read_file, args: {path: a.txt}, verdict: safe, reason: ..., reads: [...]}
    nodes:                           # pools and barriers as they run, then settled calls
      - {id: pool-1, calls: [a, b]}
    gates:
      - {name: gate-1, key: "file:/repo/src/**"}
    order:                           # edges between neighbouring nodes
      - {before: pool-1, after: barrier-2, causes: [...]}
    edges:                           # edges between calls and gates of one pool
      - {before: a, after: b, causes: ["key file:/repo/a.txt write after read"]}
    notices: [...]
    masked: [a]                      # calls whose arguments are not shown, and cannot be run
    digests: {policy: ..., turn: ..., plan: ...}

Rules are counted from 1 there, as people count them; timeouts are seconds. Arguments that YAML
cannot hold (lone surrogates, numbers that are not finite, very deep nesting) stand as JSON text
under ``args_json``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from toolflow.compiler.masking import masked_plan
from toolflow.errors import PlanError, Problem, UsageError
from toolflow.model.batch import DEFAULT_TERMS, CallPlan, Terms
from toolflow.model.plan import Edge, PlanData
from toolflow.model.turn import Notice
from toolflow.yamlio import dump

FORMAT_VERSION = 1
_DEEP = 60
_SURROGATE = re.compile("[\ud800-\udfff]")


def plan_data(plan: PlanData) -> dict[str, Any]:
    """Write a plan as plain values.

    Args:
        plan: The plan.

    Returns:
        Dicts, lists, text, numbers, booleans and ``None``, in the order in which people read it.
        The plan's turn is not part of it.

    Raises:
        PlanError: If the arguments of a call cannot be written as JSON.
    """
    plan = masked_plan(plan)
    names = [call.name for call in plan.calls]
    limits = {"pool": plan.limits.pool, "resources": dict(sorted(plan.limits.resources.items()))}
    nodes = [{"id": n.id, "calls": [names[index] for index in n.calls]} for n in plan.nodes]
    fields: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "turn": plan.turn_id,
        "message_id": plan.message_id,
        "source": None if plan.source == "main" else plan.source,
        "approvals": None if plan.approvals == "inline" else plan.approvals,
        "limits": {key: value for key, value in limits.items() if value},
        "calls": [_call(call, plan.turn_id) for call in plan.calls],
        "nodes": nodes,
        "gates": [{"name": gate.name, "key": gate.key} for gate in plan.gates] or None,
        "order": list(_edges(plan.edges, "order")) or None,
        "edges": list(_edges(plan.edges, "key")) or None,
        "notices": [_notice(notice) for notice in plan.notices] or None,
        "masked": list(plan.masked) or None,
        "digests": {
            "policy": plan.policy_digest,
            "turn": plan.turn_digest,
            "plan": plan.fingerprint,
        },
    }
    return {key: value for key, value in fields.items() if value is not None}


def dump_plan(plan: PlanData, form: Literal["yaml", "json"] = "yaml") -> str:
    """Write a plan as text.

    Args:
        plan: The plan.
        form: ``yaml`` or ``json``.

    Returns:
        The text; equal plans give equal text. A plan whose names hold lone surrogates is written
        as JSON in both forms: JSON is YAML, and can escape them.

    Raises:
        PlanError: If the arguments of a call cannot be written as JSON.
        UsageError: If the form is another one.
    """
    if form not in {"yaml", "json"}:
        raise UsageError(f"The form is {form!r}. Use 'yaml' or 'json'.")
    data = plan_data(plan)
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    if _SURROGATE.search(text):
        return json.dumps(data, indent=2) + "\n"
    return text if form == "json" else dump(data)


def _call(call: CallPlan, turn_id: str) -> dict[str, Any]:
    verdict = call.verdict
    fields: dict[str, Any] = {
        "name": call.name,
        "id": None if call.id == call.name else call.id,
        "tool": call.tool,
        "args": None,
        "label": call.label or None,
        "verdict": verdict.kind,
        "status": verdict.status,
        "reason": verdict.reason,
        "rule": None if verdict.rule is None else verdict.rule + 1,
        "line": verdict.line,
        "base": verdict.base,
        "reads": None if call.reads is None else list(call.reads),
        "writes": None if call.writes is None else list(call.writes),
        "ask": call.ask,
        **_terms(call.terms),
    }
    try:
        fields["args"] = _plain(call.args, 0)
    except ValueError:
        fields["args_json"] = _as_json(call, turn_id)
    return {key: value for key, value in fields.items() if value is not None}


def _terms(terms: Terms) -> dict[str, Any]:
    """The terms that are not the default."""
    fields: dict[str, Any] = {}
    if terms.uses:
        fields["uses"] = dict(sorted(terms.uses.items()))
    if terms.timeout is not None:
        whole = float(terms.timeout).is_integer()
        fields["timeout"] = int(terms.timeout) if whole else terms.timeout
    for name in ("hold", "stop", "on_error", "idempotent"):
        value = getattr(terms, name)
        if value != getattr(DEFAULT_TERMS, name):
            fields[name] = value
    return fields


def _plain(value: Any, depth: int) -> Any:
    """A copy in dicts and lists.

    Raises:
        ValueError: If YAML cannot hold the value.
    """
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise ValueError("lone surrogate")
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not finite")
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth < _DEEP and isinstance(value, Mapping):
        return {_plain_key(key): _plain(inner, depth + 1) for key, inner in value.items()}
    if depth < _DEEP and isinstance(value, list | tuple):
        return [_plain(inner, depth + 1) for inner in value]
    raise ValueError("too deep, or no JSON value")


def _plain_key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError("key is not text")  # noqa: TRY004 - one error for all that YAML cannot hold
    _plain(key, 0)
    return key


def _as_json(call: CallPlan, turn_id: str) -> str:
    try:
        return json.dumps(call.args)
    except (TypeError, ValueError, RecursionError):
        message = f"The arguments of call {call.name!r} cannot be written as JSON."
        raise PlanError(Problem(message, turn_id, code="arguments")) from None


def _edges(edges: Iterable[Edge], kind: str) -> Iterator[dict[str, Any]]:
    for edge in edges:
        if edge.kind == kind:
            yield {"before": edge.before, "after": edge.after, "causes": list(edge.causes)}


def _notice(notice: Notice) -> dict[str, Any]:
    fields = {
        "code": notice.code,
        "message": notice.message,
        "line": notice.line,
        "turn": notice.turn,
        "call": notice.call,
    }
    return {key: value for key, value in fields.items() if value is not None}
