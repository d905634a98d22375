"""Values with expressions inside: the arguments of a flow's calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolflow.policy.expressions import ExpressionError, compile_expression

Template = Callable[[Mapping[str, Any]], Any]
Found = list[tuple[tuple[str | int, ...], str]]


def compile_template(value: Any, names: tuple[str, ...]) -> tuple[Template, Found]:
    """Compile a JSON-like value whose texts may hold expressions.

    Args:
        value: The value; only texts inside it are looked at, keys of mappings are not.
        names: The names that expressions may use.

    Returns:
        A function from the names' values to the value, and the problems found, each with its path
        inside the value.
    """
    problems: Found = []
    return _compile(value, names, (), problems), problems


def _compile(
    value: Any, names: tuple[str, ...], path: tuple[str | int, ...], problems: Found
) -> Template:
    if isinstance(value, str):
        try:
            expression = compile_expression(value, names=names)
        except ExpressionError as error:
            problems.append((path, str(error)))
            return lambda _: value
        return expression if not expression.constant else lambda _: value
    if isinstance(value, Mapping):
        parts = {k: _compile(v, names, (*path, k), problems) for k, v in value.items()}
        return lambda given: {key: part(given) for key, part in parts.items()}
    if isinstance(value, list):
        items = [_compile(v, names, (*path, i), problems) for i, v in enumerate(value)]
        return lambda given: [item(given) for item in items]
    return lambda _: value


def is_single(text: str) -> bool:
    """Whether a text is exactly one expression, which gives a value; all other text gives text.

    Text that cannot be compiled counts as one: compiling it tells what is wrong.
    """
    try:
        return compile_expression(text, names=("results", "item")).single
    except ExpressionError:
        return True
