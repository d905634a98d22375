"""The engine: the front door for Python (spec 14).

It puts the parts together for one harness: tools, policy, lock store, hooks. A turn becomes a plan
(`Engine.plan`), a plan is run (`Engine.run`), a paused run goes on (`Engine.resume`), and one call
outside a turn waits in the same queues (`Engine.call`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolflow.compiler import Plan, compile_plan
from toolflow.compiler.compile import resource_problems
from toolflow.formats import read_turn
from toolflow.locks import default_store
from toolflow.locks.protocol import LockStore
from toolflow.model.batch import CallPlan, Limits, Verdict
from toolflow.model.outcome import Outcome
from toolflow.model.turn import Call, Turn
from toolflow.recording.checkpoint import Checkpoint, Given, turn_of
from toolflow.recording.conclude import only_outcome, stage_turn
from toolflow.recording.conduct import conduct, journal_for
from toolflow.recording.result import RunResult
from toolflow.recording.unmasking import runnable, with_turn
from toolflow.runtime.approvals import Approver
from toolflow.runtime.context import current_context
from toolflow.runtime.control import Control
from toolflow.runtime.events import Sink
from toolflow.runtime.executor import Executor
from toolflow.runtime.hooks import HookChain, Hooks, several
from toolflow.runtime.loops import in_own_loop
from toolflow.runtime.nesting import nested_tools, options_around
from toolflow.runtime.options import RunOptions, stops_of
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.transcript import Transcript

if TYPE_CHECKING:
    from toolflow.policy import Policy
    from toolflow.recording.journal import Journal


class Engine:
    """Plans and runs the tool calls of model turns.

    Args:
        tools: The tools.
        policy: A policy, the path of a policy file, YAML text, or a mapping; ``None``: every call
            is exclusive unless its tool declares otherwise.
        cwd: The folder against which relative paths in keys are resolved; the current one by
            default.
        locks: Where keys and resources are taken; the process-wide store by default, so that all
            engines of the process share them.
        hooks: Hooks around every call of every run.
        approver: Who answers questions while runs go on.
        pool: How many calls of one turn run at once, instead of what the policy says.
        parallel: ``False`` runs one call after the other; keys are still taken.
        grace: Seconds that a body may go on after its outcome was reported, before others stop
            waiting for what it holds.

    Raises:
        PolicyError: If the policy cannot be used.
        UsageError: If a bound is not allowed.
    """

    def __init__(
        self,
        tools: Toolbox | None = None,
        *,
        policy: Policy | str | Path | Mapping[str, Any] | None = None,
        cwd: str | Path | None = None,
        locks: LockStore | None = None,
        hooks: Hooks | Sequence[Hooks] = (),
        approver: Approver | None = None,
        pool: int | None = None,
        parallel: bool = True,
        grace: float = 5.0,
    ) -> None:
        from toolflow.policy import Policy, load_policy  # noqa: PLC0415  # needs pydantic, jinja2

        self.tools = tools if tools is not None else Toolbox()
        self.policy: Policy = policy if isinstance(policy, Policy) else load_policy(policy)
        self.cwd = str(cwd) if cwd is not None else None
        self.locks = locks if locks is not None else default_store()
        self.hooks = several(hooks)
        self.approver = approver
        self.grace = grace
        limits = self.policy.limits
        limits = limits if pool is None else Limits(pool, limits.resources)
        self.limits = limits if parallel else replace(limits, pool=1)

    def plan(self, turn: Turn | Any) -> Plan:
        """Compile a turn, before anything runs.

        Args:
            turn: A `Turn`, or a provider's message in any form that `read_turn` takes.

        Returns:
            The plan.

        Raises:
            TurnError: If the message cannot be read.
            PlanError: If a call asks for more of a resource than there is.
        """
        turn = turn if isinstance(turn, Turn) else read_turn(turn)
        tools, _ = nested_tools(self.tools, current_context())
        batch = self.policy.classify(turn, tools, cwd=self.cwd)
        same = batch.limits is self.limits
        return compile_plan(batch if same else replace(batch, limits=self.limits))

    async def run(
        self,
        plan: Plan | Turn | Any,
        *,
        transcript: Transcript | None = None,
        hooks: Hooks | Sequence[Hooks] = (),
        approver: Approver | None = None,
        on_event: Sink | Iterable[Sink] = (),
        control: Control | None = None,
        timeout: float | None = None,
        can_pause: bool = True,
        stop_at: Iterable[str] = (),
        step: bool = False,
        journal: Journal | str | Path | None = None,
    ) -> RunResult:
        """Run a plan, on asyncio or trio.

        Inside the body of a tool this is a nested turn: it takes the keys of its parent again
        without waiting, its events name the parent, and it cannot pause.

        Args:
            plan: The plan; a turn or a provider's message is planned first.
            transcript: Where the turn is committed, if anywhere.
            hooks: Hooks inside those of the engine.
            approver: Who answers questions, instead of the engine's.
            on_event: Called with every event.
            control: The handle with which to interrupt or abort.
            timeout: Seconds that the whole run may take, waiting included; then it is aborted.
            can_pause: Whether a question without an approver, a stop point or an interrupt pauses
                the run. If not, the question is declined and the stop point is passed.
            stop_at: Names of calls before which the run pauses.
            step: Pause before every call.
            journal: Where the run is written as it goes: an open journal, or a file's path.

        Returns:
            Outcomes, messages in the provider's form, events; for a paused run its questions and
            the checkpoint to resume from.

        Raises:
            UsageError: If ``stop_at`` names no call of the plan, or the plan came from a file and
                holds masked arguments.
            JournalError: If the journal cannot be written; its ``result`` tells what became of it.
            InternalError: If toolflow itself failed.
        """
        plan = plan if isinstance(plan, Plan) else self.plan(plan)
        around = {"on_event": on_event, "control": control, "can_pause": can_pause}
        stops = stops_of(plan, stop_at, step=step)
        options = self._options(hooks, approver, around, stops=stops, total=timeout)
        return await self._run(plan, options, transcript, journal)

    async def resume(
        self,
        checkpoint: Checkpoint,
        answers: Mapping[str, Any] | None = None,
        *,
        transcript: Transcript | None = None,
        hooks: Hooks | Sequence[Hooks] = (),
        approver: Approver | None = None,
        on_event: Sink | Iterable[Sink] = (),
        control: Control | None = None,
        timeout: float | None = None,
        pool: int | None = None,
        can_pause: bool = True,
        stop_at: Iterable[str] = (),
        step: bool = False,
        turn: Turn | Any = None,
        journal: Journal | str | Path | None = None,
    ) -> RunResult:
        """Go on with a paused run, in this process or another one (spec 8.5).

        Finished calls do not run again. A call that asked runs again and gets its answer.

        Args:
            checkpoint: Where it paused.
            answers: Answers by call name: to an interrupt any value, to all else ``True``,
                ``False`` or an `Answer`. Some or all; what is not answered goes on waiting.
            transcript: As for `run`.
            hooks: As for `run`.
            approver: As for `run`.
            on_event: As for `run`.
            control: As for `run`.
            timeout: Seconds for the rest of the run; what is left of its limit by default.
            pool: How many calls run at once, instead of what the checkpoint says.
            can_pause: As for `run`.
            stop_at: As for `run`.
            step: Pause before the next call again.
            turn: The turn that was paused, where arguments of its calls are masked in the file.
            journal: As for `run`; it may be the one of the run that paused or died.

        Returns:
            As for `run`, with the outcomes of the whole turn.

        Raises:
            CheckpointError: If an answer is for a call that does not wait for one; nothing runs.
            UsageError, JournalError: As for `run`.
        """
        if turn is not None and checkpoint.plan.masked:
            fresh = self.plan(turn)
            checkpoint = replace(checkpoint, plan=with_turn(checkpoint.plan, fresh))
        plan = runnable(checkpoint.plan, checkpoint.outcomes, self.policy.redactor)
        if pool is not None:
            plan = replace(plan, limits=Limits(pool, plan.limits.resources))
        given = checkpoint.answered(answers or {})
        around = {"on_event": on_event, "control": control, "can_pause": can_pause}
        options = self._options(
            hooks,
            approver,
            around,
            stops=stops_of(plan, stop_at, step=step) | checkpoint.stops,
            **given.options(),
            total=timeout if timeout is not None else checkpoint.timeout,
        )
        since = (checkpoint, given)
        return await self._run(plan, options, transcript, journal, since)

    async def call(
        self, tool: str, args: Mapping[str, Any] | None = None, **options: Any
    ) -> Outcome:
        """Run one call outside a turn; it waits in the same queues.

        Args:
            tool: The tool's name.
            args: Its arguments.
            **options: As for `run`.

        Returns:
            Its outcome.
        """
        turn = Turn("call", (Call(0, "call-1", tool, dict(args or {})),), carries_ids=False)
        result = await self.run(turn, **{"can_pause": False, **options})
        return only_outcome(result, tool)

    def run_sync(self, plan: Plan | Turn | Any, **options: Any) -> RunResult:
        """Do what `run` does, in an event loop of its own."""
        return in_own_loop(partial(self.run, plan, **options), "run")

    def resume_sync(
        self, checkpoint: Checkpoint, answers: Mapping[str, Any] | None = None, **options: Any
    ) -> RunResult:
        """Do what `resume` does, in an event loop of its own."""
        return in_own_loop(partial(self.resume, checkpoint, answers, **options), "resume")

    def call_sync(
        self, tool: str, args: Mapping[str, Any] | None = None, **options: Any
    ) -> Outcome:
        """Do what `call` does, in an event loop of its own."""
        return in_own_loop(partial(self.call, tool, args, **options), "call")

    def _options(
        self, hooks: Hooks | Sequence[Hooks], approver: Approver | None, around: Any, **more: Any
    ) -> RunOptions:
        chain = HookChain((*self.hooks, *several(hooks)))
        return options_around(chain, approver, self.approver, **around, grace=self.grace, **more)

    async def _run(
        self,
        plan: Plan,
        options: RunOptions,
        transcript: Transcript | None,
        journal: Journal | str | Path | None,
        since: tuple[Checkpoint, Given] | None = None,
    ) -> RunResult:
        plan = runnable(plan, options.outcomes, self.policy.redactor)
        tools, pinned = nested_tools(self.tools, current_context())
        turn = turn_of(plan)
        with journal_for(journal, self.policy, since) as writer:
            options = replace(
                options,
                messages=stage_turn(transcript, turn) if transcript is not None else (),
                reclassify=partial(self._reclassify, turn, tools),
                pinned=pinned,
                journal=writer,
            )
            executor = Executor(plan, tools, self.locks, options)
            return await conduct(executor, plan, turn, transcript, since=since and since[0])

    def _reclassify(
        self, turn: Turn, tools: Toolbox, call: CallPlan, args: Mapping[str, Any]
    ) -> CallPlan:
        fresh = self.policy.reclassify(call, turn, args, tools, cwd=self.cwd)
        for _, problem in resource_problems([fresh], self.limits):
            return replace(fresh, verdict=Verdict("settled", problem, status="failed"))
        return fresh
