"""What can be told of a flow before it runs: its stages, and plans of those that depend on nothing.

A stage whose calls use results of others cannot be planned yet: rules and keys look at arguments.
Nor can one with tools of MCP servers, which are known once those have started.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolflow.compiler import Plan, compile_plan
from toolflow.flow.load import Flow, Stage
from toolflow.flow.references import used_stages
from toolflow.flow.toolset import toolbox_of
from toolflow.flow.turns import turn_of_stage
from toolflow.model.turn import Turn
from toolflow.policy import KeyFilters
from toolflow.runtime.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class CallOutline:
    """A call of a stage.

    Attributes:
        name: Its name.
        tool: Its tool.
        each: Whether it is made for each item of a list.
    """

    name: str
    tool: str
    each: bool = False


@dataclass(frozen=True, slots=True)
class StageOutline:
    """A stage before it runs.

    Attributes:
        id: Its name.
        needs: The stages right before it.
        when: Its condition as written; the empty text where it has none.
        calls: Its calls.
        plan: Its plan, where that is known already.
        waits: Why it is not known: a phrase.
    """

    id: str
    needs: tuple[str, ...]
    when: str
    calls: tuple[CallOutline, ...]
    plan: Plan | None = None
    waits: str = ""


def outline(flow: Flow) -> tuple[StageOutline, ...]:
    """Tell what is known of a flow before it runs. No tool runs, and no server starts.

    Args:
        flow: The flow.

    Returns:
        Its stages in the order of the file.

    Raises:
        FlowError: If a Python tool cannot be imported, or two tools have the same name.
    """
    spec = flow.tools.workspace
    folder = None if spec is None else flow.folder / spec.root
    tools = toolbox_of(flow, folder if folder is not None and folder.is_dir() else None)
    cwd = str((folder or flow.folder).resolve())
    return tuple(_outlined(flow, stage, tools, cwd) for stage in flow.stages)


def _outlined(flow: Flow, stage: Stage, tools: Toolbox, cwd: str) -> StageOutline:
    given = stage.turn if isinstance(stage.turn, Turn) else None
    calls = (
        tuple(CallOutline(call.id, call.tool) for call in given.calls)
        if given is not None
        else tuple(CallOutline(c.name, c.spec.tool, c.foreach is not None) for c in stage.calls)
    )
    when = _condition(stage)
    waits = _waits(flow, stage, calls, tools)
    if waits:
        return StageOutline(stage.id, stage.needs, when, calls, waits=waits)
    names = {"results": {}, "_keys": KeyFilters(cwd)}
    turn = given if given is not None else turn_of_stage(stage, names)
    plan = compile_plan(flow.policy.classify(turn, tools, cwd=cwd))
    return StageOutline(stage.id, stage.needs, when, calls, plan)


def _condition(stage: Stage) -> str:
    when = True if stage.spec is None else stage.spec.when
    return when if isinstance(when, str) else "" if when else "false"


def _waits(flow: Flow, stage: Stage, calls: tuple[CallOutline, ...], tools: Toolbox) -> str:
    """Why a stage has no plan yet; empty where it has one."""
    used = sorted(_used(flow, stage))
    if used:
        return f"its calls use results of {', '.join(used)}"
    if flow.tools.mcp and any(tools.find(call.tool) is None for call in calls):
        return "it has tools that are known once the MCP servers have started"
    return ""


def _used(flow: Flow, stage: Stage) -> frozenset[str]:
    """The stages whose results the calls of a stage use."""
    if stage.spec is None:
        return frozenset()
    used = used_stages(stage.spec.model_copy(update={"when": True}))
    return flow.before(stage.id) if used is None else used
