"""Expressions that always fail: worked out for sample arguments, in the sandbox and nothing else.

Keys of files and hosts are not looked up for samples: a stand-in takes what the filters take and
gives a text, so that no disk is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from toolflow.errors import UsageError
from toolflow.model import ToolSpec
from toolflow.policy.effects import ShellEffects
from toolflow.policy.expressions import Expression, ExpressionError
from toolflow.policy.keyfilters import KeyFilters
from toolflow.policy.lint.names import uses_name
from toolflow.policy.lint.samples import samples_of
from toolflow.policy.rules import Rule
from toolflow.policy.safety import shown

_TURN = {"id": "turn-1", "message_id": "message-1", "source": "main", "format": "calls"}


class Text(NamedTuple):
    """An expression of a rule.

    Attributes:
        path: Where it stands in the rule.
        expression: What stands there.
        condition: Whether only true and false count.
    """

    path: tuple[str | int, ...]
    expression: Expression
    condition: bool


def texts_of(rule: Rule) -> Iterator[Text]:
    """The expressions of a rule.

    Args:
        rule: The rule.
    """
    for field in ("when", "safe", "ask", "deny", "show"):
        value = getattr(rule, field)
        if isinstance(value, Expression):
            yield Text((field,), value, field in {"when", "safe"})
    for field in ("reads", "writes"):
        for place, key in enumerate(getattr(rule, field) or ()):
            yield Text((field, place), key, condition=False)


def always_fails(text: Text, rule: Rule, tools: Iterable[ToolSpec]) -> str | None:
    """Why an expression fails whatever the arguments are, as far as samples tell.

    Args:
        text: The expression.
        rule: Its rule.
        tools: The tools that the rule is about, as far as they are known.

    Returns:
        What is wrong, or ``None`` where it works out at least once, or nobody can tell.
    """
    if text.expression.constant or uses_name(text.expression, "shell_effects"):
        return None
    said = None
    for names in _names(text.expression, rule, list(tools)):
        said = _fault(text, names)
        if said is None:
            return None
    return said


def _names(
    expression: Expression, rule: Rule, tools: list[ToolSpec]
) -> Iterator[Mapping[str, Any]]:
    """What the names in an expression may stand for; nothing where that is not known."""
    needs_args = uses_name(expression, "args")
    specs = tools or [ToolSpec(name) for name in (rule.tools or ("tool",))]
    for spec in specs:
        samples = samples_of(spec.parameters) if needs_args else [{}]
        if needs_args and not samples:
            samples = [{}] if _has_no_arguments(spec) else []
            if not samples:
                return  # its arguments are not known, so neither is what would become of them
        for args in samples:
            yield {
                "args": args,
                "tool": spec.name,
                "server": spec.server or next(iter(rule.servers or ()), None),
                "cwd": "/work",
                "turn": _TURN,
                "_keys": _SampleKeys("/work"),
            }


def _has_no_arguments(spec: ToolSpec) -> bool:
    known = (spec.parameters or {}).get("properties")
    return isinstance(known, Mapping) and not known


def _fault(text: Text, names: Mapping[str, Any]) -> str | None:
    try:
        value = text.expression(names)
    except ExpressionError as error:
        return f"It fails: {str(error).rstrip('.')}."
    except RecursionError:
        return None
    if text.condition and not isinstance(value, bool | ShellEffects):
        return f"It gives {shown(value)}, neither true nor false."
    return None


class _SampleKeys(KeyFilters):
    """The own filters without a disk: they refuse what the real ones refuse by its kind."""

    def apply(self, name: str, value: Any) -> Any:
        """A text instead of a key."""
        if isinstance(value, list | tuple):
            return [self.apply(name, item) for item in value]
        if not isinstance(value, str):
            raise UsageError(f"{shown(value)} has no key")
        return f"/repo/{value}"
