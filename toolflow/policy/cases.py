"""The policy's own tests: its ``cases`` are classified and held against what they expect (spec 4).

A case says of each call only what it cares about; what it leaves out is not looked at. Tools need
not exist: a call is of a tool that declares nothing, with the server and the hints that the case
gives it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolflow.errors import ToolflowError
from toolflow.model import Call, CallPlan, ToolSpec, Turn, Verdict
from toolflow.policy.policy import Policy
from toolflow.policy.rules import rule_name

if TYPE_CHECKING:
    from toolflow.policy.schema import CaseExpectation, CasePart

_KEYS = frozenset({"reads", "writes"})


@dataclass(frozen=True, slots=True)
class Difference:
    """What a call is, where a case expects something else.

    Attributes:
        call: The call's place in the case, counted from 1.
        tool: Its tool.
        field: What differs: ``verdict``, ``rule``, ``reads`` ...
        expected: What the case expects.
        found: What the policy says.
        reason: Why the policy says so.
    """

    call: int
    tool: str
    field: str
    expected: Any
    found: Any
    reason: str

    def __str__(self) -> str:
        return (
            f"call {self.call} ({self.tool}): {self.field} is {_shown(self.found)}, "
            f"expected {_shown(self.expected)} ({self.reason})"
        )


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of one case.

    Attributes:
        name: Its name; ``case 2`` where it has none.
        line: Its line in the file, or ``None``.
        differences: Where the policy says something else than it expects.
        rules: The rules that decided its calls: the base that each stands in, or ``None``, and
            its number there, counted from 1.
        error: Why it could not be tried, or ``None``.
    """

    name: str
    line: int | None
    differences: tuple[Difference, ...] = ()
    rules: frozenset[tuple[str | None, int]] = frozenset()
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the policy says what it expects."""
        return not self.differences and self.error is None


@dataclass(frozen=True, slots=True)
class BaseUse:
    """How many rules of a base decide a call of some case.

    Attributes:
        name: The base.
        used: How many do.
        rules: How many it has.
    """

    name: str
    used: int
    rules: int


@dataclass(frozen=True, slots=True)
class CasesReport:
    """What became of all cases of a policy.

    Attributes:
        results: One a case, in the order of the file.
        unused: The policy's own rules that decide no call of any case, counted from 1, with their
            lines.
        rules: How many rules the policy itself has.
        bases: What the cases use of its bases, which have cases of their own.
    """

    results: tuple[CaseResult, ...]
    unused: tuple[tuple[int, int | None], ...] = ()
    rules: int = 0
    bases: tuple[BaseUse, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every case holds."""
        return all(result.ok for result in self.results)

    @property
    def covered(self) -> float:
        """Which part of the rules decides a call of some case, from 0 to 1; 1 without rules."""
        return 1 - len(self.unused) / self.rules if self.rules else 1.0


def run_cases(policy: Policy) -> CasesReport:
    """Try every case of a policy.

    Args:
        policy: The policy.

    Returns:
        What became of each, and which rules decided nothing.
    """
    results = tuple(_run(policy, case, place) for place, case in enumerate(policy.cases))
    used = frozenset[tuple[str | None, int]]().union(*(result.rules for result in results))
    rules = [rule for rule in policy.settings.book.rules if rule.base is None]
    unused = tuple(
        (rule.index + 1, rule.line) for rule in rules if (None, rule.index + 1) not in used
    )
    counts = Counter(base for base, _ in used)
    bases = tuple(
        BaseUse(member.name, counts[member.name], len(member.file.rules))
        for member in policy.members
        if member.name is not None
    )
    return CasesReport(results, unused, len(rules), bases)


def _run(policy: Policy, case: CasePart, place: int) -> CaseResult:
    name = case.name or f"case {place + 1}"
    line = policy.members[0].document.where(("cases", place))[0]
    calls = tuple(
        Call(index, f"call-{index + 1}" if call.id is None else call.id, call.tool, call.args)
        for index, call in enumerate(case.turn)
    )
    turn = Turn("turn-1", calls)
    try:
        batch = policy.classify(turn, _Tools(case), cwd=case.cwd)
    except ToolflowError as error:
        return CaseResult(name, line, error=str(error))
    differences = [
        difference
        for number, (plan, expected) in enumerate(zip(batch.calls, case.expect, strict=True), 1)
        for difference in _differences(number, plan, expected)
    ]
    verdicts = (plan.verdict for plan in batch.calls)
    rules = frozenset((v.base, v.rule + 1) for v in verdicts if v.rule is not None)
    return CaseResult(name, line, tuple(differences), rules)


def _differences(number: int, plan: CallPlan, expected: CaseExpectation) -> Iterator[Difference]:
    verdict, terms = plan.verdict, plan.terms
    found: dict[str, Any] = {
        "verdict": verdict.kind,
        "rule": _rule(verdict),
        "status": verdict.status,
        "reads": plan.reads,
        "writes": plan.writes,
        "ask": plan.ask,
        "hold": terms.hold,
        "timeout": terms.timeout,
        "uses": dict(terms.uses),
        "idempotent": terms.idempotent,
    }
    for field in expected.model_fields_set:
        wanted, is_now = getattr(expected, field), found[field]
        if field in _KEYS:
            wanted = None if wanted is None else sorted(wanted)
            is_now = None if is_now is None else sorted(is_now)
        if wanted != is_now:
            yield Difference(number, plan.tool, field, wanted, is_now, verdict.reason)


def _rule(verdict: Verdict) -> int | str | None:
    """A rule as cases write it: its number, with the base that it stands in."""
    if verdict.rule is None or verdict.base is None:
        return None if verdict.rule is None else verdict.rule + 1
    return rule_name(verdict.rule, verdict.base)


class _Tools:
    """The tools of a case: every tool is there, with the server and hints that its calls give."""

    version = 0

    def __init__(self, case: CasePart) -> None:
        self._specs: dict[str, ToolSpec] = {}
        for call in case.turn:
            known = self._specs.get(call.tool)
            server = call.server if call.server is not None else known and known.server
            hints: Mapping[str, Any] = call.annotations or (known.hints if known else {})
            self._specs[call.tool] = ToolSpec(call.tool, server=server or None, hints=hints)

    def find(self, name: str) -> ToolSpec | None:
        return self._specs.get(name, ToolSpec(name)) if name else None

    def names(self) -> Sequence[str]:
        return sorted(self._specs)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "no keys"
    return str(value)
