"""The batch: a turn whose calls are classified (spec 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolflow.errors import UsageError
from toolflow.model.mask import Masks
from toolflow.model.turn import EMPTY, Notice, Turn
from toolflow.model.value import quick

Kind = Literal["safe", "exclusive", "settled"]
Hold = Literal["call", "turn", "run"]
Stop = Literal["before", "after"]
OnError = Literal["continue", "stop"]


@quick
@dataclass(frozen=True, slots=True)
class Verdict:
    """How a call may run, and who said so.

    Attributes:
        kind: ``safe`` (beside other safe calls), ``exclusive`` (alone in its turn) or ``settled``
            (answered without running).
        reason: A sentence: why. For a settled call it is the text that the model gets.
        rule: The index of the rule that matched, counted from 0, or ``None``.
        line: The line of that rule in the policy file, or ``None``.
        status: For a settled call the status of its outcome, such as ``invalid_id`` or
            ``denied``; else ``None``.
        base: The base that the rule stands in, where the policy takes it over from one.
    """

    kind: Kind
    reason: str
    rule: int | None = None
    line: int | None = None
    status: str | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """The conditions under which a call runs. Calls of one rule share one value.

    Attributes:
        uses: Units of scarce resources, by name.
        timeout: Seconds that the body may take; ``None`` for no limit.
        hold: How long the call's lock keys are held.
        stop: A stop point before or after the call, or ``None``.
        on_error: Whether a failure makes later calls settle as skipped.
        idempotent: Whether running the call twice is as good as once.
    """

    uses: Mapping[str, int] = EMPTY
    timeout: float | None = None
    hold: Hold = "call"
    stop: Stop | None = None
    on_error: OnError = "continue"
    idempotent: bool = False


DEFAULT_TERMS = Terms()


@quick
@dataclass(frozen=True, slots=True)
class CallPlan:
    """One call with all that was decided about it.

    Attributes:
        index: Its place in the turn, counted from 0.
        name: Its unique readable name in the turn (see `call_names`).
        id: The provider's id; made unique where the policy says ``ids: renumber``.
        tool: The tool's name, resolved (blanks stripped, alias applied).
        args: The arguments as JSON values.
        verdict: How it may run.
        reads: Keys taken shared, sorted; ``None`` where nobody declared any.
        writes: Keys taken exclusively, sorted; ``None`` where nobody declared any.
        terms: The conditions under which it runs.
        ask: The question that a person must answer before it runs, or ``None``.
        label: The short text that people see for it.
        parsed: The arguments as validated, for the body; not part of the plan's identity.
    """

    index: int
    name: str
    id: str
    tool: str
    args: Mapping[str, Any]
    verdict: Verdict
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    terms: Terms = DEFAULT_TERMS
    ask: str | None = None
    label: str = ""
    parsed: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a run.

    Attributes:
        pool: How many calls of one turn run at once; an integer of at least 1.
        resources: Process-wide capacities of scarce resources, by name; integers of at least 1.

    Raises:
        UsageError: If a bound is not such an integer (a ``bool`` is none).
    """

    pool: int = 10
    resources: Mapping[str, int] = EMPTY

    def __post_init__(self) -> None:
        for name, value in (("pool", self.pool), *self.resources.items()):
            if type(value) is not int or value < 1:
                raise UsageError(f"limits: {name} is {value!r}. Use an integer of at least 1.")


@dataclass(frozen=True, slots=True)
class Batch:
    """A classified turn: what the compiler makes a plan of.

    Attributes:
        turn: The turn.
        calls: Its calls in order, each with its verdict.
        limits: Bounds in force.
        approvals: ``inline`` (each question where its call stands) or ``first`` (all before
            anything runs).
        policy_digest: The digest of the policy that decided.
        notices: What was odd: stripped names, renumbered ids, aliases.
        redactor: What masks the secrets of the policy, or ``None``.
    """

    turn: Turn
    calls: tuple[CallPlan, ...]
    limits: Limits = field(default_factory=Limits)
    approvals: Literal["inline", "first"] = "inline"
    policy_digest: str = ""
    notices: tuple[Notice, ...] = ()
    redactor: Masks | None = field(default=None, compare=False, repr=False)
