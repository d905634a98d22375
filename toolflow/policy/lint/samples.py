"""Sample arguments, made from a tool's JSON Schema: what a model might well send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_TEXTS: Final = (
    "a",
    "src/a.py",
    "/srv/a/b.txt",
    "one two three four five six",
    "https://example.com/a?b=c",
    "2024-01-31",
    "12",
    "a: 1, b: 2\nc = 3\n",
)
_NUMBERS: Final = (1, 0, 7, 100, -1, 3, 12, 2)
COUNT: Final = len(_TEXTS)
_DEPTH: Final = 6


def samples_of(parameters: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Sample arguments of a tool: some with all of them, some with the needed ones only.

    Args:
        parameters: The schema of its arguments.

    Returns:
        None where the schema names no arguments.
    """
    known = (parameters or {}).get("properties")
    if not isinstance(known, Mapping):
        return []
    needed = (parameters or {}).get("required")
    needed = needed if isinstance(needed, list) else []
    whole = [
        {str(name): _value(schema, number, 0) for name, schema in known.items()}
        for number in range(COUNT)
    ]
    return whole + [{name: args[name] for name in needed if name in args} for args in whole]


def _value(schema: Any, number: int, depth: int) -> Any:
    """A value that fits a schema, another one for each number."""
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return _TEXTS[number]
    if "const" in schema:
        return schema["const"]
    for name in ("enum", "examples"):
        if isinstance(schema.get(name), list) and schema[name]:
            return schema[name][number % len(schema[name])]
    for name in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return _value(schema[name][number % len(schema[name])], number, depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[number % len(kind)] if kind else None
    return _of_kind(str(kind).lower(), schema, number, depth)


def _of_kind(kind: str, schema: Mapping[str, Any], number: int, depth: int) -> Any:
    if kind == "boolean":
        return number % 2 == 0
    if kind in {"integer", "number"}:
        return _NUMBERS[number]
    if kind == "null":
        return None
    if kind == "array":
        return [_value(schema.get("items"), each, depth + 1) for each in range(number % 4)]
    if kind == "object" or "properties" in schema:
        inner = schema.get("properties")
        return {
            str(name): _value(each, number, depth + 1)
            for name, each in (inner.items() if isinstance(inner, Mapping) else ())
        }
    return _TEXTS[number]
