"""Why a call is what it is: the rules that were tried, each expression with its value (spec 4.1).

What is told comes from the same rules and the same expressions as the decision, worked out once
more; the decision itself is not made anew, but taken from the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from toolflow.model import Call, CallPlan, Catalog, Turn
from toolflow.policy.classify import Classifier, Known
from toolflow.policy.expressions import Expression, ExpressionError, Names
from toolflow.policy.policy import Policy
from toolflow.policy.rules import Condition, Rule
from toolflow.policy.safety import condition
from toolflow.policy.terms import SharedTerms

Match = Literal["matches", "does not match", "may match"]


@dataclass(frozen=True, slots=True)
class Value:
    """An expression and what it comes to for one call.

    Attributes:
        field: The rule's field: ``when``, ``safe``, ``reads[0]`` ...
        text: The expression as written.
        value: What it gives; ``None`` where it fails.
        error: Why it fails, or is not shown; or ``None``.
    """

    field: str
    text: str
    value: Any = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TriedRule:
    """A rule that was tried for a call.

    Attributes:
        number: Its place in the file, counted from 1.
        line: Its line, or ``None``.
        base: The base that it stands in, or ``None``.
        match: Whether it is about this call.
        values: Its expressions with their values: of a rule that does not match only ``when``.
    """

    number: int
    line: int | None
    base: str | None
    match: Match
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one call is what it is.

    Attributes:
        call: The call as decided.
        rules: The rules about its tool that were tried, in order; the last one decided, if any.
        others: How many rules the policy has that are about other tools.
    """

    call: CallPlan
    rules: tuple[TriedRule, ...]
    others: int


def explain(
    policy: Policy, turn: Turn, catalog: Catalog | None = None, *, cwd: str | None = None
) -> tuple[Explanation, ...]:
    """Say of each call of a turn why it is decided as it is.

    Args:
        policy: The policy.
        turn: The turn.
        catalog: The tools that are there, or ``None`` (see `Policy.classify`).
        cwd: The folder that relative paths start from.

    Returns:
        One explanation a call, in call order.

    Raises:
        UsageError: As `Policy.classify`.
    """
    batch = policy.classify(turn, catalog, cwd=cwd)
    classifier = Classifier(policy.settings, turn, catalog, cwd, SharedTerms(policy.settings))
    total = len(policy.settings.book.rules)
    explained = []
    for call, plan in zip(turn.calls, batch.calls, strict=True):
        known = classifier.known_of(call)
        decides = plan.verdict.kind != "settled" or plan.verdict.rule is not None
        tried = tuple(_tried(classifier, call, plan, known)) if decides else ()
        explained.append(Explanation(plan, tried, total - len(known.rules)))
    return tuple(explained)


class _Seen(NamedTuple):
    """What expressions see, and what people may see of it: without secrets."""

    whole: Names
    masked: Names


def _tried(classifier: Classifier, call: Call, plan: CallPlan, known: Known) -> Iterator[TriedRule]:
    args = plan.parsed if plan.parsed is not None else call.args
    whole = classifier.names_of(known, args)
    masked = {**whole, "args": classifier.settings.redactor.masked_args(args)}
    names = _Seen(whole, masked)
    for rule in known.rules:
        found = True if rule.when is None else condition(rule.when, names.whole)
        values = [] if rule.when is None else [_value("when", rule.when, names)]
        if found is False:
            yield _tried_rule(rule, "does not match", values)
            continue
        values += _values(rule, names)
        match: Match = "matches" if found is True else "may match"
        yield _tried_rule(rule, match, values)
        return


def _tried_rule(rule: Rule, match: Match, values: Sequence[Value]) -> TriedRule:
    return TriedRule(rule.index + 1, rule.line, rule.base, match, tuple(values))


def _values(rule: Rule, names: _Seen) -> Iterator[Value]:
    for field in ("deny", "safe"):
        text = getattr(rule, field)
        if text is not None:
            yield _value(field, text, names)
    for field in ("reads", "writes"):
        for place, key in enumerate(getattr(rule, field) or ()):
            yield _value(f"{field}[{place}]", key, names)
    for field in ("ask", "show"):
        text = getattr(rule, field)
        if text is not None:
            yield _value(field, text, names)


def _value(field: str, text: Condition, names: _Seen) -> Value:
    if isinstance(text, bool):
        return Value(field, str(text).lower(), text)
    whole, masked = _worked_out(text, names.whole), _worked_out(text, names.masked)
    if whole == masked or isinstance(whole[0], bool):
        return Value(field, text.text, *whole)
    return Value(field, text.text, error="it holds a secret, which is not shown")


def _worked_out(text: Expression, names: Names) -> tuple[Any, str | None]:
    try:
        return text(names), None
    except ExpressionError as error:
        return None, str(error)
