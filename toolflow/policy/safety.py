"""Is a call safe? Only where somebody says exactly ``True`` (spec 4.1, 4.2)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from toolflow.model import ToolSpec, Verdict
from toolflow.model.tool import Args
from toolflow.policy.effects import ShellEffects
from toolflow.policy.expressions import Expression, ExpressionError, Names, shorten
from toolflow.policy.hints import hint
from toolflow.policy.keys import discard
from toolflow.policy.rules import Rule

NOBODY = "nobody declared it safe"


def condition(
    value: bool | Expression | None,  # noqa: FBT001 - what a rule says, no flag
    names: Names,
) -> bool | str:
    """The value of a rule's condition.

    Args:
        value: The condition; ``None`` holds always.
        names: What its names stand for.

    Returns:
        ``True``, ``False``, or why it is neither. What ``shell_effects`` gives is true where the
        command only reads.
    """
    found = _worked_out(value, names)
    return found.reads_only if isinstance(found, ShellEffects) else found


def _worked_out(
    value: bool | Expression | None,  # noqa: FBT001 - what a rule says, no flag
    names: Names,
) -> bool | str | ShellEffects:
    if value is None:
        return True
    if isinstance(value, bool):
        return value
    try:
        found = value(names)
    except ExpressionError as error:
        return f"cannot be worked out: {error}"
    if found is True or found is False:
        return found
    if isinstance(found, bool | ShellEffects):
        return found
    return f"gives {shown(found)}, neither true nor false"


def verdict_of(
    rule: Rule | None, spec: ToolSpec | None, args: Args, names: Names, *, trusted: bool
) -> Verdict:
    """Decide between safe and exclusive: the rule, else the tool, else a trusted hint.

    Args:
        rule: The rule that matched, or ``None``.
        spec: The tool's declaration, or ``None``.
        args: The arguments as parsed.
        names: What the names in the rule stand for.
        trusted: Whether the policy trusts the tool's server.
    """
    if rule is not None and rule.safe is not None:
        if rule.general and rule.servers is not None and rule.writes is None:
            against = _own_no(spec, args)
            if against is not None:
                return _verdict("exclusive", f"{against}, whatever {rule.name} says", rule)
        if rule.verdict is not None:
            return rule.verdict
        found = _worked_out(rule.safe, names)
        if isinstance(found, str):
            return _verdict("exclusive", f"{rule.name}: safe {found}", rule)
        if isinstance(found, ShellEffects):
            return _of_effects(found, rule)
        return rule.by_arguments[found]
    if spec is not None and spec.safe is not None:
        return _verdict(*_declared(spec.safe, args), rule)
    if spec is not None and trusted and hint(spec.hints, "readOnlyHint") is True:
        return _verdict("safe", f"its trusted server {spec.server!r} says it only reads", rule)
    said = NOBODY if rule is None else f"{rule.name} does not say safe, and neither does the tool"
    return _verdict("exclusive", said, rule)


def in_doubt(rule: Rule, reason: str) -> Verdict:
    """The verdict where a rule's ``when`` is neither true nor false: exclusive (spec 4.2)."""
    return _verdict("exclusive", f"{rule.name}: when {reason}", rule)


def shown(value: object) -> str:
    """A value for a reason, short."""
    if isinstance(value, str):
        return shorten(value)
    return str(value)[:40] if isinstance(value, int | float) else f"a {type(value).__name__}"


def _of_effects(effects: ShellEffects, rule: Rule) -> Verdict:
    """A command's own reason stands in the verdict: which part of it writes (fault 58)."""
    kind: Literal["safe", "exclusive"] = "safe" if effects.reads_only else "exclusive"
    return _verdict(kind, f"{rule.name} says {kind}: {effects.reason.rstrip('.')}", rule)


def _own_no(spec: ToolSpec | None, args: Args) -> str | None:
    """Why the tool itself is against what is said of its whole server (conformance 11)."""
    if spec is None:
        return None
    if hint(spec.hints, "readOnlyHint") is False:
        return "the tool's own hint says that it does not only read"
    if spec.safe is not None:
        kind, reason = _declared(spec.safe, args)
        return reason if kind == "exclusive" else None
    return None


def _declared(
    safe: bool | Callable[[Args], object],  # noqa: FBT001 - what a tool says, no flag
    args: Args,
) -> tuple[Literal["safe", "exclusive"], str]:
    found: object = safe
    if callable(safe):
        try:
            found = safe(args)
        except Exception as error:  # noqa: BLE001 - a tool author's function may raise anything
            said = str(error).splitlines()
            first = said[0][:200] if said else ""
            return "exclusive", f"the tool's own predicate raised {type(error).__name__}: {first}"
        if inspect.isawaitable(found):
            discard(found)
            return "exclusive", "the tool's own predicate is async, so it says nothing in time"
    if found is True:
        return "safe", "the tool declares itself safe"
    if found is False:
        return "exclusive", "the tool declares itself not safe"
    return "exclusive", f"the tool's own predicate gives {shown(found)}, neither true nor false"


def _verdict(kind: Literal["safe", "exclusive"], reason: str, rule: Rule | None) -> Verdict:
    if rule is None:
        return _shared(kind, reason, None, None, None)
    return _shared(kind, reason, rule.index, rule.line, rule.base)


@lru_cache(maxsize=1024)
def _shared(
    kind: Literal["safe", "exclusive"],
    reason: str,
    rule: int | None,
    line: int | None,
    base: str | None,
) -> Verdict:
    """One value for all calls with the same verdict."""
    return Verdict(kind, reason, rule, line, None, base)
