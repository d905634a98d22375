"""Reading a flow file: its shape, its expressions, its graph, all problems at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from toolflow import yamlio
from toolflow.compiler import Plan
from toolflow.errors import FlowError, Problem, ToolflowError
from toolflow.flow.references import (
    call_name,
    reference_problems,
    upstream,
    used_stages,
)
from toolflow.flow.schema import CallSpec, FlowSpec, StageSpec, Tools
from toolflow.flow.templates import Template, compile_template, is_single
from toolflow.formats import read_turn
from toolflow.model.turn import Turn
from toolflow.policy import Policy, load_policy
from toolflow.policy.shelf import SHIPPED, is_shipped, no_such_policy, shipped_names
from toolflow.yamlio import Document

Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class StageCall:
    """A call of a stage, its expressions compiled.

    Attributes:
        spec: The call as written.
        name: Its id, or one made of tool and place.
        args: Its arguments.
        foreach: The items for which it is made, or ``None``.
    """

    spec: CallSpec
    name: str
    args: Template
    foreach: Template | None


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a flow, its expressions compiled.

    Attributes:
        id: Its name.
        needs: Names of the stages before it.
        when: Whether it is to run.
        calls: Its calls.
        line: Its line in the flow file, or ``None``.
        turn: What it runs instead: the turn of a provider's message, a turn, or the plan of one.
        uses: The stages whose results it names; ``None``: it may use those of all before it.
        spec: The stage as written; ``None`` for one that was not read from a file.
    """

    id: str
    needs: tuple[str, ...]
    when: Template
    calls: tuple[StageCall, ...]
    line: int | None
    turn: Turn | Plan | None = None
    uses: frozenset[str] | None = frozenset()
    spec: StageSpec | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow file that holds together.

    Attributes:
        name: The flow's name.
        description: What it is for.
        folder: The folder that its paths are relative to.
        policy: Its policy.
        tools: Where its tools come from.
        stages: Its stages in the order of the file, each behind those that it needs.
        source: The file's name.
        document: The file as read, for messages.
        locks: Where keys are taken, for `toolflow.locks.open_store`; ``None``: nothing is said.
    """

    name: str
    description: str
    folder: Path
    policy: Policy
    tools: Tools
    stages: tuple[Stage, ...]
    source: str
    document: Document
    locks: str | None = None

    def before(self, stage: str) -> frozenset[str]:
        """The stages whose results a stage may use: those that it needs, directly or not.

        Args:
            stage: The stage's name.
        """
        return upstream({each.id: each.needs for each in self.stages}, stage)


def load_flow(source: str | Path) -> Flow:
    """Read a flow file and check everything that can be checked without running it.

    Args:
        source: The file's path.

    Returns:
        The flow.

    Raises:
        FlowError: With every problem of the flow file.
        PolicyError: With every problem of its policy.
    """
    path = Path(source)
    document = yamlio.load_file(path, error=FlowError)
    spec = yamlio.validate(document, FlowSpec, error=FlowError)
    problems: list[Problem] = []
    messages = _messages(document, spec, problems)
    stages = tuple(_stages(document, spec, messages, problems))
    problems += _graph_problems(document, stages)
    needs = {stage.id: stage.needs for stage in stages}
    problems += reference_problems(document, spec, needs, messages)
    if problems:
        raise FlowError(sorted(problems, key=lambda each: (each.line or 0, each.column or 0)))
    return Flow(
        name=spec.name,
        description=spec.description,
        folder=path.parent,
        policy=_policy(document, spec.policy, path.parent),
        tools=spec.tools,
        stages=stages,
        source=str(path),
        document=document,
        locks=_locks(spec.locks, path.parent),
    )


def _policy(document: Document, policy: str | dict[str, Any] | None, folder: Path) -> Policy:
    if not isinstance(policy, str):
        return load_policy(policy, folder=folder)
    if is_shipped(policy):
        name = policy.removeprefix(SHIPPED)
        if name not in shipped_names():
            raise FlowError(document.problem(("policy",), no_such_policy(name)))
        return load_policy(policy)
    if not (folder / policy).is_file():
        said = f"policy is {policy!r}, and there is no such file beside the flow."
        raise FlowError(document.problem(("policy",), said))
    return load_policy(folder / policy)


def _locks(where: str | None, folder: Path) -> str | None:
    return where if where in {None, "memory", "machine"} else str(folder / str(where))


def _messages(document: Document, spec: FlowSpec, problems: list[Problem]) -> dict[str, Turn]:
    """The turns of the stages with a provider's message, by stage."""
    turns: dict[str, Turn] = {}
    for place, stage in enumerate(spec.stages):
        if stage.message is not None:
            try:
                turns[stage.id] = read_turn(stage.message, turn_id=stage.id)
            except ToolflowError as error:
                said = f"the message of stage {stage.id!r} cannot be read: {error}"
                problems.append(document.problem(("stages", place, "message"), said))
    return turns


def _stages(
    document: Document, spec: FlowSpec, messages: Mapping[str, Turn], problems: list[Problem]
) -> Iterator[Stage]:
    ids = [stage.id for stage in spec.stages]
    for place, stage in enumerate(spec.stages):
        where: Where = ("stages", place)
        if bool(stage.calls) == (stage.message is not None):
            problems.append(
                document.problem(where, f"stage {stage.id!r} needs calls or a message, not both.")
            )
        yield Stage(
            id=stage.id,
            needs=tuple(ids[max(place - 1, 0) : place] if stage.needs is None else stage.needs),
            when=_value(document, (*where, "when"), stage.when, "true or false", problems),
            calls=tuple(_calls(document, where, stage, problems)),
            line=document.where(where)[0],
            turn=messages.get(stage.id),
            uses=used_stages(stage),
            spec=stage,
        )


def _calls(
    document: Document, where: Where, stage: StageSpec, problems: list[Problem]
) -> Iterator[StageCall]:
    ids: dict[str, int] = {}
    for number, call in enumerate(stage.calls):
        here: Where = (*where, "calls", number)
        if call.id is not None and ids.setdefault(call.id, number) != number:
            problems.append(
                document.problem(
                    (*here, "id"),
                    f"stage {stage.id!r} has two calls with the id {call.id!r}. Ids are unique.",
                )
            )
        each = call.foreach
        item = () if each is None else ("item",)
        yield StageCall(
            spec=call,
            name=call_name(call, number + 1),
            args=_template(document, (*here, "args"), call.args, item, problems),
            foreach=None
            if each is None
            else _value(document, (*here, "foreach"), each, "a list", problems),
        )


def _value(
    document: Document, where: Where, value: Any, kind: str, problems: list[Problem]
) -> Template:
    """A template that is to give something else than text, so text has to be one expression."""
    if isinstance(value, str) and not is_single(value):
        said = f"{where[-1]} is {value!r}, which is text. Use {kind}, or one {{{{ expression }}}}."
        problems.append(document.problem(where, said))
    return _template(document, where, value, (), problems)


def _template(
    document: Document, where: Where, value: Any, names: tuple[str, ...], problems: list[Problem]
) -> Template:
    template, found = compile_template(value, ("results", *names))
    problems += [document.problem((*where, *path), message) for path, message in found]
    return template


def _graph_problems(document: Document, stages: tuple[Stage, ...]) -> Iterator[Problem]:
    names: dict[str, int] = {}
    for place, stage in enumerate(stages):
        if names.setdefault(stage.id, place) != place:
            yield document.problem(
                ("stages", place, "id"),
                f"two stages have the id {stage.id!r}. Ids of stages are unique.",
            )
    graph: Mapping[str, list[str]] = {stage.id: [] for stage in stages}
    for place, stage in enumerate(stages):
        for number, need in enumerate(stage.needs):
            if need in names:
                graph[stage.id].append(need)
                continue
            yield document.problem(
                ("stages", place, "needs", number),
                f"stage {stage.id!r} needs {need!r}, which is no stage. "
                f"Stages are {', '.join(names)}.",
            )
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        place = min(names[name] for name in error.args[1])
        yield document.problem(
            ("stages", place, "needs"), f"the stages need each other in a circle: {circle}."
        )
