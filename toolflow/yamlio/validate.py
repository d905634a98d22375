"""Checking a document against a pydantic model, with every problem at its place, in our words.

pydantic finds the problems; what it says is not shown: it names branches of unions, Python types
and error codes. A model says in its own validators what is allowed, by raising ``ValueError`` with
a sentence ("Use true, false or a {{ template }}."); the path and the value are put before it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from toolflow.errors import ConfigError, DocumentError, Problem
from toolflow.yamlio.document import Document, Path

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

T = TypeVar("T", bound="BaseModel")

_SHOWN = 60

# pydantic's error type -> what is allowed.
_ALLOWED = {
    "bool_type": "true or false",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "finite_number": "a number",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "none_required": "null",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}


def validate(document: Document, model: type[T], *, error: type[DocumentError] = ConfigError) -> T:
    """Check a document against a model.

    Args:
        document: The document.
        model: A pydantic model.
        error: The error to raise.

    Returns:
        The model's instance.

    Raises:
        DocumentError: As ``error``, with every problem at its line and column, in text order.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - heavy: loaded with the first model

    try:
        return model.model_validate(document.value)
    except ValidationError as found:
        problems = _problems(document, found.errors(include_url=False), model)
    raise error(problems) from None


def show(value: Any) -> str:
    """A value as a message names it: short, on one line.

    Args:
        value: Anything that a document can hold.
    """
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]}...{text[-1]}"


def path_text(path: Path) -> str:
    """A path as people write it: ``rules[2].safe``; the root is ``The document``.

    Args:
        path: Keys and indexes from the root.
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "a").isalnum():
            text += f".{step}" if text else step
        else:
            text += f"[{show(step)}]"
    return text or "The document"


def _problems(
    document: Document, errors: Iterable[ErrorDetails], model: type[BaseModel]
) -> list[Problem]:
    grouped: dict[Path, list[ErrorDetails]] = {}
    for item in errors:
        grouped.setdefault(_real_path(document.value, item), []).append(item)
    problems = []
    for path, items in grouped.items():
        deeper = any(other != path and other[: len(path)] == path for other in grouped)
        if deeper and all(item["type"] in _ALLOWED for item in items):
            continue  # another branch of the union fits better, and says what is wrong inside
        problems.append(_problem(document, path, items, model))
    return sorted(problems, key=lambda p: (p.line or 0, p.column or 0))


def _real_path(value: Any, item: ErrorDetails) -> Path:
    """The steps of pydantic's location that are steps of the document: no branches of unions."""
    path: list[str | int] = []
    for step in item["loc"]:
        if isinstance(value, list):
            fits = isinstance(step, int) and step < len(value)
        else:
            fits = isinstance(value, dict) and step in value
        if fits:
            value = value[step]
            path.append(step)
    if item["type"] == "missing":
        path.append(item["loc"][-1])
    return tuple(path)


def _problem(
    document: Document, path: Path, items: list[ErrorDetails], model: type[BaseModel]
) -> Problem:
    first = items[0]
    kind, name = first["type"], path_text(path)
    if kind == "missing":
        return document.problem(path[:-1], f"{name} is missing.", code="missing")
    if kind == "extra_forbidden":
        message = f"{name} is not a known field. {_near(str(path[-1]), _fields(model, path[:-1]))}"
        return document.problem(path, message, code="unknown_field", key=True)
    allowed = " ".join(dict.fromkeys(_allowed(items)))
    return document.problem(path, f"{name} is {show(first['input'])}. {allowed}")


def _allowed(items: list[ErrorDetails]) -> list[str]:
    said = [str(item["ctx"]["error"]) for item in items if item["type"] == "value_error"]
    if said:
        return said
    uses = [use for use in map(_use, items) if use]
    if uses:
        return [f"Use {' or '.join(dict.fromkeys(uses))}."]
    return [f"{item['msg'].rstrip('.')}." for item in items]


def _use(item: ErrorDetails) -> str | None:
    kind, context = item["type"], item.get("ctx", {})
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        number = "an integer" if isinstance(item["input"], int) else "a number"
        return f"{number} of {words} {context[name]}"
    if kind == "literal_error":
        return str(context["expected"])
    if kind == "too_short":
        return f"at least {context['min_length']} of them"
    if kind == "too_long":
        return f"at most {context['max_length']} of them"
    if kind == "string_too_short":
        return "text that is not empty"
    return _ALLOWED.get(kind)


def _near(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    return f"Did you mean {near[0]!r}?" if near else f"Use one of: {', '.join(known)}."


def _fields(model: type[BaseModel], path: Path) -> tuple[str, ...]:
    """The names of the fields that the mapping at a path may have, in the model's order."""
    models = [model]
    for step in path:
        inner = [
            found
            for outer in models
            for name, field in outer.model_fields.items()
            if step in (name, field.alias)
            for found in _models(field.annotation)
        ]
        models = inner or models  # an index, or a key of a free mapping: the model stays
    names = [f.alias or name for found in models for name, f in found.model_fields.items()]
    return tuple(dict.fromkeys(names))


def _models(annotation: Any) -> list[type[BaseModel]]:
    from pydantic import BaseModel  # noqa: PLC0415 - heavy, see above

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models(part)]
