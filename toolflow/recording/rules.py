"""Classifying the turns of a recording again: with which policy, which tools, which limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from toolflow.compiler import Plan, compile_plan
from toolflow.compiler.compile import resource_problems
from toolflow.errors import DivergenceError, DocumentError, ReplayError, UsageError
from toolflow.model.batch import Batch, CallPlan, Limits
from toolflow.model.plan import PlanData
from toolflow.model.recording import Fact, RecordedTurn, Recording
from toolflow.model.tool import Catalog
from toolflow.policy import Policy, load_policy
from toolflow.policy.redact import holds_masks
from toolflow.recording.compare import call_differences
from toolflow.recording.declared import RecordedCatalog, bare_catalog, declared_catalog
from toolflow.recording.drive import diverged


class Rules:
    """The policy of a replay, and everything else that decides about calls.

    Args:
        recording: The recording.
        policy: Another policy than the recording's own.
        tools: The tools, where they are at hand.
        cwd: The folder that relative paths start from.
        pool: Another pool.
        resources: Other capacities of resources, by name; those not named stay.

    Raises:
        ReplayError: If the recording's own policy cannot be used.
    """

    def __init__(
        self,
        recording: Recording,
        policy: Policy | None,
        tools: Catalog | None,
        *,
        cwd: str | None,
        pool: int | None,
        resources: Mapping[str, int] | None = None,
    ) -> None:
        own = _own_policy(recording)
        self._policy = policy if policy is not None else own
        # Only the policy that decided then says what the tools added; an edited text does not.
        candidates = [each for each in (own, policy) if each is not None]
        digest = recording.policy_digest
        self._own = next((p for p in candidates if digest in ("", p.digest)), None)
        self._tools = tools
        self._pool = pool
        self._resources = dict(resources or {})
        source = recording.source
        folder = source.get("cwd")
        self._cwd = cwd if cwd is not None else folder if isinstance(folder, str) else None
        servers = source.get("servers")
        self._servers: Mapping[str, str] = servers if isinstance(servers, Mapping) else {}
        self._last: tuple[RecordedTurn, RecordedCatalog, frozenset[int]] | None = None

    def plan(self, recorded: RecordedTurn) -> Plan:
        """The plan of a recorded turn as it is now.

        Raises:
            DivergenceError: If it cannot be compiled any more: a call needs more of a resource
                than there is.
        """
        if recorded.plan is not None and any(n.code == "edited" for n in recorded.plan.notices):
            return self._edited(recorded, recorded.plan)
        batch = self._batch(recorded)
        for index, text in resource_problems(batch.calls, batch.limits):
            name = batch.calls[index].name
            raise diverged(name, "it can run", f"it cannot ({text.rstrip('.')})")
        return compile_plan(batch)

    def _edited(self, recorded: RecordedTurn, plan: PlanData) -> Plan:
        """A plan that was edited by hand before it was run: no policy makes it."""
        limits = self._bounds(plan.limits)
        values = {field.name: getattr(plan, field.name) for field in fields(PlanData)}
        return Plan(**{**values, "limits": limits, "turn": recorded.turn})

    def change_differences(
        self, recorded: RecordedTurn, fact: Fact, calls: Sequence[CallPlan]
    ) -> Iterator[DivergenceError]:
        """A call was classified again in the run: what the policy says otherwise now.

        Args:
            recorded: The turn.
            fact: Any fact.
            calls: The calls as they are before it.
        """
        then = fact.data.get("call")
        if self._policy is None or not isinstance(then, CallPlan) or self._stands(then):
            return
        yield from call_differences(then, self._again(recorded, calls[fact.call], then.args))

    def changed(self, recorded: RecordedTurn, call: CallPlan, args: Mapping[str, Any]) -> CallPlan:
        """A call decided about anew with other arguments, as after a before-hook (spec 6.4).

        Args:
            recorded: Its turn.
            call: The call as it is planned.
            args: The other arguments.

        Raises:
            UsageError: If no policy is known.
        """
        if self._policy is None:
            raise UsageError(
                "The recording knows its policy by digest only, so other arguments cannot be "
                "classified. Name a policy."
            )
        if recorded.plan is None:
            tools = self._tools
            return self._policy.reclassify(call, recorded.turn, args, tools, cwd=self._cwd)
        return self._again(recorded, call, args)

    def _batch(self, recorded: RecordedTurn) -> Batch:
        turn, plan = recorded.turn, recorded.plan
        if self._policy is None:
            if plan is None:
                return self._limited(load_policy(None).classify(turn, self._tools, cwd=self._cwd))
            batch = Batch(turn, plan.calls, plan.limits, plan.approvals, plan.policy_digest)
            return self._limited(batch)
        if plan is None:
            return self._limited(self._policy.classify(turn, self._tools, cwd=self._cwd))
        batch = self._policy.classify(turn, self._catalog(recorded), cwd=self._cwd)
        batch = replace(batch, limits=self._limits(plan))
        if self._tools is None:
            batch = replace(batch, calls=self._as_tools_said(recorded, plan, batch.calls))
        batch = replace(batch, calls=self._as_masked(plan, batch.calls))
        if _may_have_changed(recorded):
            batch = replace(batch, calls=self._as_changed(recorded, plan, batch.calls))
        return self._limited(batch)

    def _limited(self, batch: Batch) -> Batch:
        return replace(batch, limits=self._bounds(batch.limits))

    def _bounds(self, limits: Limits) -> Limits:
        """Limits with those that the caller asked for."""
        if self._pool is None and not self._resources:
            return limits
        pool = limits.pool if self._pool is None else self._pool
        return Limits(pool, {**limits.resources, **self._resources})

    def _limits(self, plan: PlanData) -> Limits:
        """The limits now: what the run itself set aside from its policy stays as it was."""
        assert self._policy is not None
        own, now = self._own, self._policy.limits
        if own is None:
            return now
        if own.digest == self._policy.digest:
            return plan.limits
        pool = now.pool if plan.limits.pool == own.limits.pool else plan.limits.pool
        return Limits(pool, now.resources)

    def _catalog(self, recorded: RecordedTurn) -> Catalog:
        return self._tools if self._tools is not None else self._known(recorded)[0]

    def _known(self, recorded: RecordedTurn) -> tuple[RecordedCatalog, frozenset[int]]:
        """The tools as the turn shows them, and the calls that a tool itself settled."""
        if self._last is None or self._last[0] is not recorded:  # one turn at a time is asked for
            self._last = (recorded, *self._declared(recorded))
        return self._last[1], self._last[2]

    def _declared(self, recorded: RecordedTurn) -> tuple[RecordedCatalog, frozenset[int]]:
        assert recorded.plan is not None
        calls = recorded.plan.calls
        changed = [fact.data["call"] for fact in recorded.facts if "call" in fact.data]
        checked = {call.index for call in recorded.turn.calls if call.problem is None}
        bare = bare_catalog([*calls, *changed], self._servers, checked)
        own = self._own
        if own is None:
            pairs: list[tuple[CallPlan, CallPlan | None]] = [(c, None) for c in (*calls, *changed)]
        else:
            alone = own.classify(recorded.turn, bare, cwd=self._cwd).calls
            pairs = list(zip(calls, alone, strict=False))
            pairs += [
                (call, own.reclassify(alone[call.index], recorded.turn, call.args, bare))
                for call in changed
            ]
        settled = frozenset(call.index for call, other in pairs if _settled_by_tool(call, other))
        return declared_catalog(bare, pairs), settled

    def _as_tools_said(
        self, recorded: RecordedTurn, plan: PlanData, calls: Sequence[CallPlan]
    ) -> tuple[CallPlan, ...]:
        """Calls that a tool's absence or its schema settled: without the tools that stands."""
        found = list(calls)
        by_tool = self._known(recorded)[1]
        for then, now in zip(plan.calls, calls, strict=False):
            if then.index in by_tool and then.tool == now.tool and then.args == now.args:
                status = now.verdict.status
                if status is None or status == then.verdict.status:
                    found[then.index] = then
        return tuple(found)

    def _as_masked(self, plan: PlanData, calls: Sequence[CallPlan]) -> tuple[CallPlan, ...]:
        """Calls with masked arguments: the policy that saw the real ones decided, and it stands."""
        if not plan.masked or not self._is_own:
            return tuple(calls)
        found = list(calls)
        for then, now in zip(plan.calls, calls, strict=False):
            if then.name in plan.masked and (then.tool, then.args) == (now.tool, now.args):
                found[now.index] = then
        return tuple(found)

    @property
    def _is_own(self) -> bool:
        own, now = self._own, self._policy
        return own is not None and now is not None and own.digest == now.digest

    def _stands(self, then: CallPlan) -> bool:
        """Whether a call that a hook changed has masked arguments, and the same policy decides."""
        return (
            self._is_own
            and self._policy is not None
            and holds_masks(then.args, self._policy.redactor)
        )

    def _as_changed(
        self, recorded: RecordedTurn, plan: PlanData, calls: Sequence[CallPlan]
    ) -> tuple[CallPlan, ...]:
        """A resumed run begins with the arguments that hooks had left."""
        found = list(calls)
        for then, now in zip(plan.calls, calls, strict=False):
            if then.args != now.args and now.verdict.kind != "settled":
                found[now.index] = self._again(recorded, now, then.args)
        return tuple(found)

    def _again(self, recorded: RecordedTurn, call: CallPlan, args: Mapping[str, Any]) -> CallPlan:
        assert self._policy is not None
        return self._policy.reclassify(
            call, recorded.turn, args, self._catalog(recorded), cwd=self._cwd
        )


def _own_policy(recording: Recording) -> Policy | None:
    if recording.policy is None:
        empty = load_policy(None)
        return empty if recording.policy_digest == empty.digest else None
    text = recording.policy if recording.policy.endswith("\n") else f"{recording.policy}\n"
    try:
        return load_policy(text)
    except DocumentError as error:
        problem = error.problems[0]
        raise ReplayError(f"The policy in the recording cannot be used: {problem}") from error


def _settled_by_tool(call: CallPlan, alone: CallPlan | None) -> bool:
    """Whether it was the tool (its absence, its schema, its keys) that settled a call."""
    if call.verdict.kind != "settled":
        return False
    if call.verdict.status == "unknown_tool":
        return True
    if alone is None:
        return call.verdict.rule is None and call.verdict.status in {"failed", "invalid_arguments"}
    return alone.verdict.kind != "settled"


def _may_have_changed(recorded: RecordedTurn) -> bool:
    """Whether the run began where a paused one with hooks had stopped."""
    setup = recorded.facts[0].data if recorded.facts and recorded.facts[0].kind == "setup" else {}
    resumed = any(setup.get(name) for name in ("settled", "passed", "approved", "prepared"))
    return resumed or bool(setup.get("hooks"))
