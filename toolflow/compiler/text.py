"""The plan as plain text: what a policy author wants to see at a glance, without colour.

A pool is a box of single lines, a barrier one of double lines, and both are told in words as
well. Each call is one line: its name, what it does, what it touches. Below it stands who it waits
for, and why; calls it waits for by the same cause share a line. Settled calls come last.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolflow.compiler.columns import clean, pad, width
from toolflow.model.batch import CallPlan, Terms
from toolflow.model.plan import Edge, Node, PlanData

_NAME, _LABEL, _KEY, _SENTENCE, _VALUE = 24, 44, 60, 160, 32
_WIDE = 132
_LISTED = 3
_UNITS = ((3600, "h"), (60, "m"), (1, "s"))


def plan_text(plan: PlanData) -> str:
    """Write a plan for a terminal.

    Args:
        plan: The plan.

    Returns:
        Lines without control characters, the last without a line feed.
    """
    return "\n".join(line.rstrip() for line in _lines(plan))


def _lines(plan: PlanData) -> Iterator[str]:
    yield from _header(plan)
    view = _View(plan)
    order = {edge.after: edge for edge in plan.edges if edge.kind == "order"}
    for node in plan.nodes:
        if node.kind == "settled":
            continue
        yield f"  ▼  {_causes(order[node.id])}" if node.id in order else ""
        yield from view.pool(node) if node.kind == "pool" else view.barrier(node)
    settled = [plan.calls[node.calls[0]] for node in plan.nodes if node.kind == "settled"]
    if settled:
        yield from ("", "╶╶ settled: answered without running")
        for call in settled:
            yield f"   {view.head(call)}  {_settled(call)}"
    if plan.notices:
        yield ""
        yield from (f"!  {clean(notice.message, _SENTENCE)}" for notice in plan.notices)


def _header(plan: PlanData) -> Iterator[str]:
    name = clean(plan.turn_id, _LABEL)
    if plan.source != "main":
        name += f" of {clean(plan.source, _LABEL)}"
    kinds = [node.kind for node in plan.nodes]
    run = [_count(kinds.count(kind), kind) for kind in ("pool", "barrier") if kind in kinds]
    if "settled" in kinds:
        run.append(f"{kinds.count('settled')} settled")
    yield f"Plan of {name}: {_count(len(plan.calls), 'call')}" + (
        f" ({', '.join(run)})" if run else ""
    )
    yield " · ".join(_bounds(plan))


def _bounds(plan: PlanData) -> Iterator[str]:
    limits = plan.limits
    yield f"at most {limits.pool} at once" if limits.pool > 1 else "one at a time"
    for name, units in sorted(limits.resources.items()):
        yield f"{clean(name, _NAME)}: {units}"
    timeout = _common_timeout(plan)
    if timeout is not None:
        yield f"{_duration(timeout)} a call"
    if plan.approvals == "first":
        yield "all questions first"
    if plan.policy_digest:
        yield f"policy {clean(plan.policy_digest[:8], 8)}"
    if plan.fingerprint:
        yield f"plan {clean(plan.fingerprint[:8], 8)}"


class _View:
    """The lines of the nodes of one plan, in columns that fit all of its calls."""

    def __init__(self, plan: PlanData) -> None:
        self._plan = plan
        self._heads = [(clean(c.name, _NAME), clean(_label(c), _LABEL)) for c in plan.calls]
        self._name = max((width(name) for name, _ in self._heads), default=0)
        self._label = max((width(label) for _, label in self._heads), default=0)
        self._timeout = _common_timeout(plan)
        self._gates = {gate.name: gate.key for gate in plan.gates}
        self._waits: dict[str, list[Edge]] = {}
        for edge in plan.edges:
            if edge.kind == "key":
                self._waits.setdefault(edge.after, []).append(edge)

    def head(self, call: CallPlan) -> str:
        """The name and the label of a call, in columns."""
        name, label = self._heads[call.index]
        return f"{pad(name, self._name)}  {pad(label, self._label)}"

    def pool(self, node: Node) -> Iterator[str]:
        """The box of a pool."""
        yield f"┌─ {clean(node.id, _NAME)}: {self._told(node)}"
        drawn: set[str] = set()
        for index in node.calls:
            call = self._plan.calls[index]
            waits = self._waits.get(call.name, [])
            for line in self._new_gates(waits, drawn):
                yield f"│  {line}"
            line = f"│  {self.head(call)}  {self._facts(call)}"
            groups = list(_waiting(call, waits))
            if len(groups) == 1 and width(line) + width(groups[0]) < _WIDE:
                line += f"  ← after {groups.pop()}"
            yield line
            yield from (f"│     ← after {group}" for group in groups)
        yield "└─"

    def barrier(self, node: Node) -> Iterator[str]:
        """The box of a barrier."""
        call = self._plan.calls[node.calls[0]]
        yield f"╔═ {clean(node.id, _NAME)}: 1 call alone"
        yield f"║  {self.head(call)}  {self._facts(call)}"
        if call.verdict.reason:
            yield f"║     why alone: {clean(call.verdict.reason, _SENTENCE)}"
        yield "╚═"

    def _told(self, node: Node) -> str:
        count = len(node.calls)
        if count == 1:
            return "1 safe call"
        waiting = sum(self._plan.calls[index].name in self._waits for index in node.calls)
        told = f"{count} safe calls side by side"
        return f"{told}, {waiting} of them after others" if waiting else told

    def _new_gates(self, waits: Sequence[Edge], drawn: set[str]) -> list[str]:
        """The gates that a call waits for and that no line was written for, those before first."""
        found: list[str] = []
        stack = [edge.before for edge in reversed(waits) if edge.before in self._gates]
        while stack:
            name = stack.pop()
            if name in drawn:
                continue
            drawn.add(name)
            before = self._waits.get(name, [])
            stack.extend(edge.before for edge in before if edge.before in self._gates)
            names = _listed([edge.before for edge in before])
            key = clean(self._gates[name], _KEY, keep_end=True)
            found.append(f"◇ {clean(name, _NAME)} on {key}: opens after {names}")
        return found[::-1]

    def _facts(self, call: CallPlan) -> str:
        facts = [*_keys("reads", call.reads), *_keys("writes", call.writes)]
        facts += [f"uses {clean(k, _NAME)} {n}" for k, n in sorted(call.terms.uses.items())]
        if call.terms.timeout != self._timeout:
            timeout = call.terms.timeout
            facts.append("no timeout" if timeout is None else f"at most {_duration(timeout)}")
        facts += _terms(call.terms)
        if call.ask is not None:
            facts.append(f"asks: {clean(call.ask, _KEY)}")
        return " · ".join(facts)


def _terms(terms: Terms) -> Iterator[str]:
    if terms.hold != "call":
        yield f"keys held for the {terms.hold}"
    if terms.stop is not None:
        yield f"stops {terms.stop}"
    if terms.on_error == "stop":
        yield "a failure skips the rest"


def _keys(verb: str, keys: Sequence[str] | None) -> list[str]:
    if not keys:
        return []
    shown = [clean(key, _KEY, keep_end=True) for key in keys[:_LISTED]]
    if len(keys) > _LISTED:
        shown.append(f"{len(keys) - _LISTED} more")
    return [f"{verb} {', '.join(shown)}"]


def _waiting(call: CallPlan, waits: Sequence[Edge]) -> Iterator[str]:
    """Who a call waits for and why; where it has one key, the cause need not say it again."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for edge in waits:
        groups.setdefault(edge.causes, []).append(edge.before)
    keys = {*(call.reads or ()), *(call.writes or ())}
    known = f"key {keys.pop()} " if len(keys) == 1 else "\n"
    for causes, names in groups.items():
        yield f"{_listed(names)}: {_sentence([cause.removeprefix(known) for cause in causes])}"


def _listed(names: Sequence[str]) -> str:
    """Names, of which long lists show the first ones and the last."""
    if len(names) > _LISTED + 2:
        shown = [clean(name, _NAME) for name in (*names[:_LISTED], names[-1])]
        return f"{', '.join(shown[:-1])} … {shown[-1]} ({len(names)} in all)"
    return ", ".join(clean(name, _NAME) for name in names)


def _causes(edge: Edge) -> str:
    return _sentence(edge.causes)


def _sentence(causes: Sequence[str]) -> str:
    return "; ".join(clean(cause, _SENTENCE) for cause in causes)


def _settled(call: CallPlan) -> str:
    status = call.verdict.status or "settled"
    return f"{clean(status, _NAME)}: {clean(call.verdict.reason, _SENTENCE)}"


def _label(call: CallPlan) -> str:
    return call.label or f"{call.tool} {_arguments(call.args)}"


def _arguments(args: Mapping[str, Any]) -> str:
    parts: list[str] = []
    for key, value in args.items():
        if len(parts) > _LISTED:
            break
        parts.append(f"{clean(str(key), _NAME)}={_value(value)}")
    return " ".join(parts)


def _value(value: Any) -> str:
    """A value in few columns; what is inside of lists and mappings is only counted."""
    if isinstance(value, str):
        return clean(value, _VALUE)
    if isinstance(value, Mapping):
        return f"{{{len(value)}}}"
    if isinstance(value, list | tuple):
        return f"[{len(value)}]"
    return clean(json.dumps(value, default=repr), _VALUE)


def _common_timeout(plan: PlanData) -> float | None:
    """The timeout of most calls that run; of equally many the longest."""
    counts: dict[float | None, int] = {}
    for call in plan.calls:
        if call.verdict.kind != "settled":
            counts[call.terms.timeout] = counts.get(call.terms.timeout, 0) + 1
    return max(counts, key=lambda each: (counts[each], each or 0), default=None)


def _duration(seconds: float) -> str:
    """Seconds in the notation of policies: ``500ms``, ``30s``, ``2m``, ``1h``."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:g}ms"
    for unit, letter in _UNITS:
        if seconds >= unit and seconds % unit == 0:
            return f"{seconds // unit:g}{letter}"
    return f"{seconds:g}s"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
