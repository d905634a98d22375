"""Objects of provider SDKs become plain values: nothing of an SDK is imported for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolflow.errors import Problem, TurnError

_PLAIN = frozenset({dict, list, str, int, float, bool, type(None)})
_DUMPS = (
    {"mode": "json", "exclude_unset": True, "by_alias": True},
    {"mode": "json", "exclude_unset": True},
)


def plain(value: Any) -> Any:
    """A JSON-like value of anything that can give one of itself.

    Tried in order: ``model_dump`` (pydantic 2; only the fields that were received, under the names
    that the provider gives them), ``to_dict``, ``dict``. Mappings become dicts, other sequences
    lists; what is plain already is not copied.

    Args:
        value: A message, a block of one, or anything.

    Returns:
        The plain value, or the value itself where it has none of these methods.

    Raises:
        TurnError: If the object's own method fails.
    """
    if type(value) in _PLAIN:
        return value
    try:
        return _converted(value)
    except Exception as error:  # foreign code; what it raises cannot be known
        name = type(value).__name__
        raise TurnError(
            Problem(f"The {name} object could not be read ({type(error).__name__}). Give a dict.")
        ) from error


def _converted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return list(value)
    if callable(dump := getattr(value, "model_dump", None)):
        for options in _DUMPS:
            try:
                return dump(**options)
            except TypeError:  # not pydantic's own: it knows no such options
                continue
        return dump()
    for name in ("to_dict", "dict"):
        if callable(method := getattr(value, name, None)):
            return method()
    return value


def plain_items(items: list[Any]) -> list[Any]:
    """The list with every item plain; the same list where all are."""
    if all(type(item) in _PLAIN for item in items):
        return items
    return [plain(item) for item in items]


def plain_fields(message: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A message with the lists under some of its fields made plain; the same one where all are."""
    result = message
    for name in names:
        items = message.get(name)
        if type(items) is tuple:
            items = list(items)
        if type(items) is list:
            fresh = plain_items(items)
            if fresh is not message[name]:
                result = {**result, name: fresh}
    return result if isinstance(result, dict) else dict(result)


def text_of(value: Any) -> str:
    """The text, or the empty text for anything else."""
    return value if isinstance(value, str) else ""


def either(data: Any, name: str, snake: str) -> Any:
    """What an object holds under a name as JSON or as a Python SDK writes it."""
    value = data.get(name)
    return data.get(snake) if value is None else value
