"""What a stage takes from others: ``results.STAGE.CALL`` in its expressions (spec 13).

Only results of stages that come before count as there, by ``needs``, directly or not. A stage that
runs side by side may be over or not when an expression is worked out, so what it gave would be a
matter of luck.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolflow.compiler.faults import known
from toolflow.errors import Problem
from toolflow.flow.schema import CallSpec, FlowSpec, StageSpec
from toolflow.model.turn import Turn
from toolflow.policy.expressions import ExpressionError, compile_expression
from toolflow.policy.lint.names import paths_of, takes_whole
from toolflow.yamlio import Document

Where = tuple[str | int, ...]


def call_name(call: CallSpec, number: int) -> str:
    """The name of a call of a stage.

    Args:
        call: The call.
        number: Its place in the stage, counted from 1.
    """
    return call.id or f"{call.tool}-{number}"


def upstream(needs: Mapping[str, Sequence[str]], stage: str) -> frozenset[str]:
    """The stages that come before one, directly or not.

    Args:
        needs: What each stage needs; names that are no stage lead nowhere.
        stage: The stage.
    """
    found: set[str] = set()
    todo = list(needs.get(stage, ()))
    while todo:
        name = todo.pop()
        if name in needs and name not in found:
            found.add(name)
            todo += needs[name]
    return frozenset(found)


def reference_problems(
    document: Document,
    spec: FlowSpec,
    needs: Mapping[str, Sequence[str]],
    messages: Mapping[str, Turn],
) -> Iterator[Problem]:
    """What stages take from results that cannot be there.

    Args:
        document: The flow file.
        spec: The flow.
        needs: The stages that each needs.
        messages: The turns of stages with a provider's message, by stage.
    """
    calls = {stage.id: _call_names(stage, messages.get(stage.id)) for stage in spec.stages}
    for place, stage in enumerate(spec.stages):
        for where, text in texts_of(stage, ("stages", place)):
            for path in taken(text):
                wrong = _fault(path, stage.id, needs, calls)
                if wrong is not None:
                    yield document.problem(where, wrong)


def _call_names(stage: StageSpec, turn: Turn | None) -> frozenset[str]:
    if turn is not None:
        return frozenset(call.id for call in turn.calls)
    return frozenset(call_name(call, number) for number, call in enumerate(stage.calls, 1))


def texts_of(stage: StageSpec, where: Where = ()) -> Iterator[tuple[Where, str]]:
    """Every text of a stage that may hold expressions, with its place.

    Args:
        stage: The stage.
        where: Where it stands.
    """
    yield from _inside((*where, "when"), stage.when)
    for number, call in enumerate(stage.calls):
        here = (*where, "calls", number)
        yield from _inside((*here, "args"), call.args)
        yield from _inside((*here, "foreach"), call.foreach)


def _inside(where: Where, value: Any) -> Iterator[tuple[Where, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _inside((*where, key), inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _inside((*where, number), inner)


def taken(text: str) -> list[tuple[str, ...]]:
    """The stages and calls whose results a text names: ``(stage,)`` or ``(stage, call)``.

    Args:
        text: Text that may hold expressions; of one that cannot be compiled nothing is told.
    """
    try:
        expression = compile_expression(text, names=("results", "item"))
    except ExpressionError:
        return []  # told elsewhere
    paths = {path[:2] for path in paths_of(expression, "results")}
    longer = {path[:1] for path in paths if len(path) > 1}
    return sorted(paths - longer)


def used_stages(stage: StageSpec) -> frozenset[str] | None:
    """The stages whose results a stage names; ``None``: it uses ``results`` in another way too.

    Args:
        stage: The stage.
    """
    found: set[str] = set()
    for _, text in texts_of(stage):
        try:
            expression = compile_expression(text, names=("results", "item"))
        except ExpressionError:
            continue  # told elsewhere
        if takes_whole(expression, "results"):
            return None
        found |= {path[0] for path in paths_of(expression, "results")}
    return frozenset(found)


def _fault(
    path: tuple[str, ...],
    stage: str,
    needs: Mapping[str, Sequence[str]],
    calls: Mapping[str, frozenset[str]],
) -> str | None:
    named, spelled = path[0], ".".join(("results", *path))
    if named not in calls:
        before = known(sorted(upstream(needs, stage)), named)
        return f"{spelled}: there is no stage {named!r} before {stage!r}. {before}"
    if named == stage:
        return f"{spelled}: {named!r} is the stage itself. Use results of stages before it."
    if named not in needs[stage] and named not in upstream(needs, stage):
        circle = stage in upstream(needs, named)
        how = "Use results of stages before it." if circle else "Add it to its needs."
        return f"{spelled}: {named!r} does not come before {stage!r}. {how}"
    if len(path) > 1 and path[1] not in calls[named]:
        there = known(sorted(calls[named]), path[1])
        return f"{spelled}: stage {named!r} has no call {path[1]!r}. {there}"
    return None
