"""The warnings of a policy, in the order of its text (spec 4; documented by code in the reference).

A warning is never about what might be: shadowed rules are shadowed for certain, expressions fail
for every sample. Rules of bases are left to the bases, but for what the policy makes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from toolflow.errors import Problem
from toolflow.model import ToolSpec
from toolflow.policy.cases import run_cases
from toolflow.policy.guesses import reading
from toolflow.policy.lint.names import arguments_of
from toolflow.policy.lint.reach import unreachable
from toolflow.policy.lint.values import Text, always_fails, texts_of
from toolflow.policy.policy import Policy
from toolflow.policy.rules import Rule, RuleBook
from toolflow.policy.servernames import is_pattern

_LISTED = 8


def lint_policy(
    policy: Policy, tools: Sequence[ToolSpec] | None = None, *, complete: bool = True
) -> tuple[Problem, ...]:
    """What is odd about a policy that loads.

    Args:
        policy: The policy.
        tools: The tools that there are, where that is known.
        complete: Whether there are no others.

    Returns:
        Warnings, in the order of the text, each with its place and its code.
    """
    if not policy.members:
        return ()
    linter = _Linter(policy, tools, complete=complete)
    found = sorted(linter.found(), key=lambda each: (each.line or 0, each.column or 0))
    return tuple(replace(each, severity="warning") for each in found)


class _Linter:
    def __init__(self, policy: Policy, tools: Sequence[ToolSpec] | None, *, complete: bool) -> None:
        self._policy = policy
        self._tools = tools
        self._complete = complete and tools is not None
        self._servers = {spec.server for spec in tools or ()}
        self._own = policy.members[0]
        self._rules = [rule for rule in policy.settings.book.rules if rule.base is None]

    def found(self) -> Iterator[Problem]:
        """Every warning."""
        yield from self._unreachable()
        for rule in self._rules:
            yield from self._rule(rule)
        yield from self._unused_resources()
        yield from self._trust()
        yield from self._cases()

    def _problem(self, rule: Rule, path: Sequence[str | int], said: str, code: str) -> Problem:
        whole = ("rules", rule.index, *path)
        return self._own.document.problem(whole, said, code=code)

    def _unreachable(self) -> Iterator[Problem]:
        for rule, earlier in unreachable(self._policy.settings.book):
            name = f"rules[{rule.index}]"
            said = f"{name} can never match: its when is false. Leave it out, or give a condition."
            if earlier:
                names = " and ".join(f"rules[{each.index}] (line {each.line})" for each in earlier)
                said = (
                    f"{name} can never match: {names}, without a when, "
                    f"{'comes' if len(earlier) == 1 else 'come'} first for all its calls. "
                    "Put it before, or leave it out."
                )
            yield self._problem(rule, (), said, "unreachable_rule")

    def _rule(self, rule: Rule) -> Iterator[Problem]:
        about = self._about(rule)
        yield from self._unknown_tools(rule)
        yield from self._safe_writers(rule, about)
        for text in texts_of(rule):
            unknown = list(self._unknown_arguments(rule, text, about))
            yield from unknown
            yield from self._masked_keys(rule, text)
            whole = about if self._knows_all(rule, about) else ()
            fault = None if unknown else always_fails(text, rule, whole)
            if fault is not None:
                said = f"{_path(rule, text)} can never be worked out. {fault}"
                yield self._problem(rule, text.path, said, "always_fails")

    def _about(self, rule: Rule) -> list[ToolSpec]:
        """The known tools that a rule may be about."""
        book = RuleBook([rule])
        return [spec for spec in self._tools or () if book.about(spec.name, spec.server)]

    def _unknown_tools(self, rule: Rule) -> Iterator[Problem]:
        if self._tools is None or not self._complete or not self._lists(rule):
            return
        known = sorted({spec.name for spec in self._tools})
        for place, name in enumerate(rule.tools or ()):
            alone = RuleBook([replace(rule, tools=(name,))])
            if not any(alone.about(spec.name, spec.server) for spec in self._tools):
                said = f"No known tool is named {name!r}. {_near(name, known)}"
                yield self._problem(rule, ("tool", place), said, "unknown_tool")

    def _lists(self, rule: Rule) -> bool:
        """Whether tools of the rule's servers are known, if it names servers."""
        return rule.servers is None or not self._servers.isdisjoint(rule.servers)

    def _safe_writers(self, rule: Rule, about: Sequence[ToolSpec]) -> Iterator[Problem]:
        if rule.safe is not True or rule.writes is not None or rule.reads:
            return
        named = [ToolSpec(name) for name in rule.tools or () if not is_pattern(name)]
        known = {spec.name for spec in about}
        for spec in (*about, *(each for each in named if each.name not in known)):
            if spec.writes is None and (why := _writes(spec)) is not None:
                said = (
                    f"rules[{rule.index}] says safe of {spec.name!r}, which seems to write "
                    f"({why}), and names no key. Say what it writes, writes: [] if nothing."
                )
                yield self._problem(rule, ("safe",), said, "safe_writer")

    def _unknown_arguments(
        self, rule: Rule, text: Text, about: Sequence[ToolSpec]
    ) -> Iterator[Problem]:
        known = _arguments(about)
        if known is None or not self._knows_all(rule, about):
            return
        for name in sorted(arguments_of(text.expression) - known):
            tools = ", ".join(sorted(spec.name for spec in about)[:_LISTED])
            said = (
                f"{_path(rule, text)} names the argument {name!r}, which no tool that the rule is "
                f"about ({tools}) has. {_near(name, sorted(known))}"
            )
            yield self._problem(rule, text.path, said, "unknown_argument")

    def _knows_all(self, rule: Rule, about: Sequence[ToolSpec]) -> bool:
        """Whether every tool that a rule may be about is known."""
        names = {spec.name for spec in about}
        return self._complete or (rule.tools is not None and names.issuperset(rule.tools))

    def _masked_keys(self, rule: Rule, text: Text) -> Iterator[Problem]:
        if text.path[0] not in {"reads", "writes"}:
            return
        for name in sorted(filter(self._policy.redactor.names_it, arguments_of(text.expression))):
            said = (
                f"{_path(rule, text)} is made of {name!r}, which redact names; keys are shown, so "
                "calls with it do not run. Make the key of other arguments."
            )
            yield self._problem(rule, text.path, said, "masked_key")

    def _unused_resources(self) -> Iterator[Problem]:
        used = {name for rule in self._policy.settings.book.rules for name in rule.uses or ()}
        used |= {name for spec in self._tools or () for name in spec.uses}
        for name in self._own.file.limits.resources:
            if name not in used and not name.startswith("mcp:"):
                said = f"No rule uses the resource {name!r}. Name it under uses, or leave it out."
                path = ("limits", "resources", name)
                yield self._own.document.problem(path, said, code="unused_resource", key=True)

    def _trust(self) -> Iterator[Problem]:
        for member in self._policy.members[1:]:
            more = sorted(set(member.file.trust.annotations) - self._policy.settings.trusted)
            if more:
                said = (
                    f"The base {member.name!r} trusts {', '.join(more)}, and trust is not taken "
                    "over. Name under trust.annotations whom this policy trusts."
                )
                yield self._own.document.problem(("extends",), said, code="trust_of_base")

    def _cases(self) -> Iterator[Problem]:
        for place, result in enumerate(run_cases(self._policy).results):
            if not result.ok:
                why = result.error or "; ".join(map(str, result.differences))
                said = f"{result.name} does not hold: {why}. See toolflow test."
                yield self._own.document.problem(("cases", place), said, code="failing_case")


def _writes(spec: ToolSpec) -> str | None:
    """Why a tool seems to write, or ``None``."""
    reads, why = reading(spec)
    return why if reads is False else None


def _arguments(tools: Iterable[ToolSpec]) -> frozenset[str] | None:
    """The arguments that any of some tools has; ``None`` where one may have any."""
    found: set[str] = set()
    some = False
    for spec in tools:
        schema = spec.parameters or {}
        known = schema.get("properties")
        open_ = schema.get("additionalProperties", False) is not False
        if not isinstance(known, dict) or open_ or "patternProperties" in schema:
            return None
        some = True
        found |= {str(name) for name in known}
    return frozenset(found) if some else None


def _near(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {near[0]!r}?"
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return f"There are {', '.join(known[:_LISTED])}{more}." if known else "There are none."


def _path(rule: Rule, text: Text) -> str:
    field, *place = text.path
    return f"rules[{rule.index}].{field}{f'[{place[0]}]' if place else ''}"
