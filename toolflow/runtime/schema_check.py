"""A light check of arguments against a JSON Schema that came from elsewhere (spec 3.5).

Tools from a server or a file bring a JSON Schema and no Python types. The one who answers the
call checks in full; here only what makes a call plainly wrong is found early: types, missing and
unknown names, ``enum`` and ``const``, in nested objects and arrays too. Keywords that are not
known here never refuse anything, and nothing is filled in or converted.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolflow.model.tool import Args

_DEPTH = 32  # of schemas inside schemas; what lies deeper is not looked at
_SHOWN = 8  # faults that one sentence names

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list | tuple),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, float) and value.is_integer())
    ),
}


def schema_check(schema: Mapping[str, Any]) -> Callable[[Args], Args]:
    """Make the check of a call's arguments from a JSON Schema.

    Args:
        schema: A JSON Schema of an object; anything in it that makes no sense is passed over.

    Returns:
        A function that gives the arguments as they are, or raises ``ValueError`` with one
        sentence that names the bad ones.
    """

    def parse(args: Args) -> Args:
        faults = list(_faults(schema, args, (), _DEPTH))
        if faults:
            told = faults[:_SHOWN]
            if len(faults) > _SHOWN:
                told.append(f"{len(faults) - _SHOWN} more")
            raise ValueError(f"The arguments do not fit: {'; '.join(told)}.")
        return args

    return parse


def _faults(schema: Any, value: Any, where: tuple[str, ...], depth: int) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth == 0:
        if schema is False:
            yield f"{_name(where)} is unknown"
        return
    fault = _wrong(schema, value)
    if fault is not None:
        yield f"{_name(where)} is {reprlib.repr(value)}, but should be {fault}"
    elif isinstance(value, Mapping):
        yield from _object_faults(schema, value, where, depth)
    elif isinstance(value, list | tuple) and isinstance(schema.get("items"), Mapping):
        for index, item in enumerate(value):
            yield from _faults(schema["items"], item, (*where, str(index)), depth - 1)


def _object_faults(
    schema: Mapping[str, Any], value: Mapping[str, Any], where: tuple[str, ...], depth: int
) -> Iterator[str]:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list | tuple) else ():
        if name not in value:
            yield f"{_name((*where, str(name)))} is missing"
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    for name, item in value.items():
        if name in properties:
            yield from _faults(properties[name], item, (*where, name), depth - 1)
        elif closed:
            known = ", ".join(sorted(map(str, properties))) or "none"
            yield f"{_name((*where, name))} is unknown (known: {known})"


def _wrong(schema: Mapping[str, Any], value: Any) -> str | None:
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(kinds, list | tuple) and all(
        isinstance(kind, str) and kind in _TYPES and not _TYPES[kind](value) for kind in kinds
    ):
        return " or ".join(kinds) or None
    options = schema.get("enum")
    if isinstance(options, list | tuple) and value not in options:
        return f"one of {reprlib.repr(list(options))}"
    if "const" in schema and value != schema["const"]:
        return reprlib.repr(schema["const"])
    return None


def _name(where: tuple[str, ...]) -> str:
    return ".".join(where) or "the whole"
