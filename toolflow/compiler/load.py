"""Reading a saved plan: its shape, then whether it holds together (spec 5.5).

A plan may have been edited by hand. One that holds together is taken, with its fingerprint worked
out anew and a notice that it was edited; of any other all problems are told, each in its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolflow.compiler.check_edges import check_edges, check_gates, check_order_of_keys
from toolflow.compiler.check_nodes import check_nodes, check_order
from toolflow.compiler.compile import make_nodes, resource_problems
from toolflow.compiler.faults import Fault
from toolflow.compiler.gates import in_place_order
from toolflow.compiler.plan import Plan
from toolflow.errors import PlanError
from toolflow.model.batch import CallPlan, Limits, Terms, Verdict
from toolflow.model.plan import Edge, Gate
from toolflow.model.turn import Notice
from toolflow.yamlio import Document, load, load_file, of_value, validate

if TYPE_CHECKING:
    from toolflow.compiler.schema import CallShape, EdgeShape, PlanShape


def load_plan(source: str | Path | Mapping[str, Any] | Document) -> Plan:
    """Load a saved plan.

    Args:
        source: A file's path; or text that holds a line feed or starts with ``{``, as YAML or
            JSON; or what `plan_data` gave; or a document.

    Returns:
        The plan. If its fingerprint is not the one that stands in the document, it carries a
        notice ``edited``.

    Raises:
        PlanError: If it cannot be read or does not hold together; every problem in its place.
    """
    document = _document(source)
    from toolflow.compiler.schema import PlanShape  # noqa: PLC0415 - heavy: pydantic

    shape = validate(document, PlanShape, error=PlanError)
    calls, faults = _calls(shape.calls)
    limits = Limits(shape.limits.pool, shape.limits.resources)
    gates = tuple(Gate(gate.name, gate.key) for gate in shape.gates)
    order, edges = _edges(shape.order, "order"), _edges(shape.edges, "key")
    faults += [
        Fault(("calls", i), text, "resource") for i, text in resource_problems(calls, limits)
    ]
    faults += check_gates([call.name for call in calls], gates)
    _refuse(document, faults)
    nodes = tuple(make_nodes(calls))
    faults += check_nodes(calls, [(node.id, node.calls) for node in shape.nodes])
    if not faults:
        faults += check_order(nodes, order)
    faults += check_edges(calls, nodes, gates, edges)
    _refuse(document, faults)
    _refuse(document, check_order_of_keys(calls, nodes, gates, edges))
    plan = Plan(
        turn_id=shape.turn,
        message_id=shape.message_id,
        source=shape.source,
        calls=calls,
        nodes=nodes,
        gates=gates,
        edges=(*sorted(order, key=_number), *in_place_order(edges, gates, [c.name for c in calls])),
        limits=limits,
        approvals=shape.approvals,
        policy_digest=shape.digests.policy,
        turn_digest=shape.digests.turn,
        masked=tuple(shape.masked),
        notices=tuple(Notice(n.code, n.message, n.line, n.turn, n.call) for n in shape.notices),
    )
    return _told(plan, shape)


def _document(source: str | Path | Mapping[str, Any] | Document) -> Document:
    if isinstance(source, Document):
        return source
    if isinstance(source, Mapping):
        return of_value(source, source="<plan>", error=PlanError)
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return load(source, source="<plan>", error=PlanError)
    return load_file(source, error=PlanError)


def _refuse(document: Document, faults: Iterable[Fault]) -> None:
    """Raise what was found, in the order of the text."""
    problems = [document.problem(path, text, code=code) for path, text, code in faults]
    if problems:
        raise PlanError(sorted(problems, key=lambda each: (each.line or 0, each.column or 0)))


def _calls(shapes: Iterable[CallShape]) -> tuple[tuple[CallPlan, ...], list[Fault]]:
    calls, faults = [], []
    names: dict[str, int] = {}
    for index, shape in enumerate(shapes):
        if shape.name in names:
            text = f"calls[{index}].name is {shape.name!r}, the name of calls[{names[shape.name]}]"
            faults.append(Fault(("calls", index, "name"), f"{text} already.", "doubled"))
        names[shape.name] = index
        args = shape.args
        if (args is None) == (shape.args_json is None):
            text = f"calls[{index}] needs its arguments: either args or args_json."
            faults.append(Fault(("calls", index), text))
        elif shape.args_json is not None:
            args = _from_json(shape.args_json)
            if args is None:
                text = f"calls[{index}].args_json is no JSON object."
                faults.append(Fault(("calls", index, "args_json"), text))
        if (shape.verdict == "settled") != (shape.status is not None):
            text = f"calls[{index}] has the verdict {shape.verdict} and the status {shape.status}."
            text += " A settled call has a status, and no other has one."
            faults.append(Fault(("calls", index, "verdict"), text))
        calls.append(_call(index, shape, args or {}))
    return tuple(calls), faults


def _call(index: int, shape: CallShape, args: Mapping[str, Any]) -> CallPlan:
    rule = None if shape.rule is None else shape.rule - 1
    return CallPlan(
        index=index,
        name=shape.name,
        id=shape.name if shape.id is None else shape.id,
        tool=shape.tool,
        args=args,
        verdict=Verdict(shape.verdict, shape.reason, rule, shape.line, shape.status, shape.base),
        reads=None if shape.reads is None else tuple(shape.reads),
        writes=None if shape.writes is None else tuple(shape.writes),
        terms=Terms(
            uses=shape.uses,
            timeout=shape.timeout,
            hold=shape.hold,
            stop=shape.stop,
            on_error=shape.on_error,
            idempotent=shape.idempotent,
        ),
        ask=shape.ask,
        label=shape.label,
    )


def _from_json(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _edges(shapes: Iterable[EdgeShape], kind: Literal["order", "key"]) -> list[Edge]:
    return [Edge(each.before, each.after, tuple(each.causes), kind) for each in shapes]


def _number(edge: Edge) -> int:
    return int(edge.before.rpartition("-")[2])


def _told(plan: Plan, shape: PlanShape) -> Plan:
    """The plan, with a notice if it is not the one that was saved."""
    stored = shape.digests.plan
    if not stored or stored == plan.fingerprint or any(n.code == "edited" for n in plan.notices):
        return plan
    text = f"The plan was edited: its fingerprint was {stored[:12]} and is {plan.fingerprint[:12]}."
    return replace(plan, notices=(*plan.notices, Notice("edited", text)))
