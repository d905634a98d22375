"""Running a flow: each stage is compiled and run like a model's turn, when its needs are met."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio

from toolflow.compiler import Plan
from toolflow.engine import Engine
from toolflow.flow.load import Flow, Stage
from toolflow.flow.past import NO_PAST, Past
from toolflow.flow.servers import open_servers
from toolflow.flow.toolset import toolbox_of, workspace_root
from toolflow.flow.turns import kind_of, turn_of_stage, values_of
from toolflow.locks import LockStore, keeping, open_store
from toolflow.model.plan import PlanData
from toolflow.model.recording import Recording
from toolflow.model.turn import Turn
from toolflow.policy import ExpressionError, KeyFilters
from toolflow.recording.checkpoint import turn_of
from toolflow.recording.journal import Journal, JournalTurn, result_of
from toolflow.recording.result import RunResult
from toolflow.runtime.approvals import Approver
from toolflow.runtime.control import Control
from toolflow.runtime.events import Sink

Planned = Callable[[Stage, PlanData], object]
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class StageResult:
    """What became of a stage.

    Attributes:
        stage: The stage's name.
        status: ``done``, ``paused``, ``aborted`` or ``skipped``.
        run: The run of its calls; ``None`` where there was none.
        reason: Why there was none.
        started_at: When it began, as ISO 8601 text.
        ok: Whether every call is ok; without a run, whether its condition could be worked out.
    """

    stage: str
    status: Literal["done", "paused", "aborted", "skipped"]
    run: RunResult | None = None
    reason: str | None = None
    started_at: str | None = None
    ok: bool = True


@dataclass(frozen=True, slots=True)
class FlowResult:
    """What became of a flow.

    Attributes:
        flow: The flow.
        stages: Its stages in the order of the file; those that a pause kept from running are not
            in it.
        folder: The folder that its workspace tools worked in, or ``None``.
    """

    flow: Flow
    stages: tuple[StageResult, ...]
    folder: Path | None = None

    @property
    def status(self) -> Literal["done", "paused", "aborted"]:
        """How the flow ended."""
        states = {stage.status for stage in self.stages}
        return "aborted" if "aborted" in states else "paused" if "paused" in states else "done"

    @property
    def ok(self) -> bool:
        """Whether it is done, every call is ok, and every condition could be worked out."""
        return self.status == "done" and all(stage.ok for stage in self.stages)

    def __str__(self) -> str:
        """How every stage ended, and what became of its calls: lines for people."""
        lines: list[str] = []
        for stage in self.stages:
            lines.append(f"{stage.stage}: {stage.status}")
            if stage.run is not None:
                lines += stage.run.call_lines()
            else:
                lines[-1] += f", {stage.reason}"
        return "\n".join(lines)

    @property
    def recording(self) -> Recording:
        """The recording of the flow: one turn a stage that ran."""
        turns = tuple(
            stage.run.recorded(started_at=stage.started_at)
            for stage in self.stages
            if stage.run is not None
        )
        return Recording(
            turns,
            source={
                "format": "flow",
                "name": self.flow.name,
                "cwd": str((self.folder or self.flow.folder).resolve()),
            },
            policy=self.flow.policy.text,
            policy_digest=self.flow.policy.digest,
        )


@dataclass(slots=True)
class _Run:
    flow: Flow
    engine: Engine
    options: dict[str, Any]
    planned: Planned
    control: Control
    past: Past
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: dict[str, StageResult] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)  # by a failure, or by a stage that they need
    ended: dict[str, anyio.Event] = field(default_factory=dict)
    error: Exception | None = None

    def names(self, stage: Stage) -> dict[str, Any]:
        """What expressions of a stage may use: results of the stages that come before it."""
        names: Iterable[str] = sorted(stage.uses or ())
        if stage.uses is None:
            before = self.flow.before(stage.id)
            names = (each.id for each in self.flow.stages if each.id in before)
        results = {name: self.values[name] for name in names if name in self.values}
        return {"results": results, "_keys": KeyFilters(self.engine.cwd)}


async def run_flow(
    flow: Flow,
    *,
    out: str | Path,
    on_event: Sink | None = None,
    on_plan: Planned = lambda _stage, _plan: None,
    approver: Approver | None = None,
    control: Control | None = None,
    pool: int | None = None,
    locks: LockStore | None = None,
    journal: Journal | None = None,
    past: Past = NO_PAST,
) -> FlowResult:
    """Run a flow. Stages without a path between them run side by side and share the locks.

    Args:
        flow: The flow.
        out: The folder of this run, where a copied workspace goes.
        on_event: Called with every event of every stage.
        on_plan: Called with a stage and its plan, before the stage runs.
        approver: Who answers questions; without one, the flow pauses at the first question.
        control: The handle with which to interrupt or abort.
        pool: How many calls of one stage run at once, instead of what the policy says.
        locks: Where keys and resources are taken, instead of where the flow says. Keys with
            ``hold: run`` stay held to the end of the flow.
        journal: Where it is written as it goes.
        past: What an earlier process made of it: stages that are done keep their results, one that
            paused or whose process died goes on.

    Returns:
        What became of every stage.

    Raises:
        FlowError: If its tools cannot be put together, or an MCP server does not start.
    """
    root = workspace_root(flow, Path(out))
    store = locks if locks is not None else open_store(flow.locks or "memory")
    tools = toolbox_of(flow, root)
    engine = Engine(tools, policy=flow.policy, cwd=root or flow.folder, pool=pool, locks=store)
    control = control or Control()
    options = {"on_event": on_event or (), "approver": approver, "journal": journal}
    run = _Run(flow, engine, options, on_plan, control, past)
    run.ended = {stage.id: anyio.Event() for stage in flow.stages}
    async with open_servers(flow, root, tools, control) as opened:
        if not opened:
            why = "it was aborted while the servers started"
            stages = tuple(StageResult(s.id, "aborted", reason=why) for s in flow.stages)
            return FlowResult(flow, stages, root)
        with keeping((f"{flow.name}, flow {next(_numbers)}",)):
            async with anyio.create_task_group() as tasks:
                for stage in flow.stages:
                    tasks.start_soon(_stage, run, stage)
    if run.error is not None:
        raise run.error
    stages = tuple(run.results[s.id] for s in flow.stages if s.id in run.results)
    return FlowResult(flow, stages, root)


async def _stage(run: _Run, stage: Stage) -> None:
    for need in stage.needs:
        await run.ended[need].wait()
    try:
        if run.error is None and all(_is_over(run.results.get(need)) for need in stage.needs):
            run.results[stage.id] = await _stage_result(run, stage)
    except Exception as error:  # noqa: BLE001  # the first one is raised, stages that run finish
        run.error = run.error or error
    finally:
        run.ended[stage.id].set()


def _is_over(result: StageResult | None) -> bool:
    return result is not None and result.status in {"done", "skipped"}


async def _stage_result(run: _Run, stage: Stage) -> StageResult:
    earlier = run.past.turns.get(stage.id)
    if earlier is not None:  # it had begun, whatever the file says now
        return await _go_on(run, stage, earlier)
    skipped = _skipped(run, stage)
    if skipped is not None:
        return skipped
    given = stage.turn if stage.turn is not None else turn_of_stage(stage, run.names(stage))
    plan = given if isinstance(given, Plan) else run.engine.plan(given)
    turn = turn_of(given) if isinstance(given, Plan) else given
    run.planned(stage, plan)
    started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    result = await run.engine.run(plan, control=run.control, **run.options)
    return _over(run, stage, turn, result, started_at)


def _skipped(run: _Run, stage: Stage) -> StageResult | None:
    """Why a stage does not run; ``None``: it does. What others see of it is empty."""
    run.values[stage.id] = {}
    stopped = next((need for need in stage.needs if need in run.stopped), None)
    if stopped is not None:
        run.stopped.add(stage.id)
        return StageResult(stage.id, "skipped", reason=f"stage {stopped!r} was stopped by an error")
    try:
        wanted = stage.when(run.names(stage))
    except ExpressionError as error:
        why = f"its condition fails: {error}"
        return StageResult(stage.id, "skipped", reason=why, ok=False)
    if wanted is True:
        return None
    odd = "" if wanted is False else f", but {kind_of(wanted)}"
    return StageResult(stage.id, "skipped", reason=f"its condition is not true{odd}")


def _over(
    run: _Run, stage: Stage, turn: Turn, result: RunResult, started_at: str | None
) -> StageResult:
    run.values[stage.id] = values_of(stage, turn, result.outcomes)
    if any(
        outcome is not None and not outcome.ok and call.terms.on_error == "stop"
        for call, outcome in zip(result.report.calls, result.outcomes, strict=True)
    ):
        run.stopped.add(stage.id)
    return StageResult(stage.id, result.status, result, started_at=started_at, ok=result.ok)


async def _go_on(run: _Run, stage: Stage, earlier: JournalTurn) -> StageResult:
    """A stage that an earlier process had begun."""
    if not earlier.unfinished:
        return _over(run, stage, earlier.turn, result_of(earlier), earlier.started_at)
    checkpoint = earlier.repair().checkpoint
    answers = run.past.answers.get(stage.id, {})
    run.planned(stage, checkpoint.plan)
    go_on = partial(run.engine.resume, checkpoint, answers, pool=run.past.pool)
    result = await go_on(control=run.control, **run.options)
    return _over(run, stage, earlier.turn, result, earlier.started_at)
