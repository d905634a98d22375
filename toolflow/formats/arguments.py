"""The arguments of a call: parsed once, strictly, and never guessed (spec 3.5).

Arguments come as JSON text (Chat) or as JSON values (Anthropic, plain calls). Both end as a fresh
``dict`` of JSON values, or as a sentence that says what is wrong; nothing raises. A fresh value,
since a tool that changes its arguments must not change the message that goes into the transcript.

Refused beside what is no JSON object: NaN and infinities, halves of surrogate pairs, integers and
nestings that cannot be written again. Each would crash a later stage, far from its cause.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from toolflow.formats.base import dotted
from toolflow.model.turn import EMPTY, Call

MAX_DEPTH = 100
MAX_INTEGER = 10**4300  # what Python itself writes as decimal digits
_BLANKS = " \t\n\r"
_HELP = "Give one JSON object."
CUT_SHORT = "The message was cut off before the arguments of this call came. " + _HELP
"""The problem of a call of which nothing but its name is there; it must not run with ``{}``."""
_PLACE = ("arguments",)
_GAP = re.compile(r"[ \t\n\r,]*")
_SIMPLE = frozenset({bool, type(None)})


class Arguments(NamedTuple):
    """What became of the arguments of a call.

    Attributes:
        args: The parsed arguments; empty where there is a problem.
        raw: The text as received where there is a problem, else ``None``.
        problem: A sentence: what is wrong and where; else ``None``.
    """

    args: Mapping[str, Any]
    raw: str | None = None
    problem: str | None = None


NONE = Arguments(EMPTY)


class _UnfitError(ValueError):
    """A value that JSON cannot hold, or that we do not take. Its text is the problem."""


def parse(value: object) -> Arguments:
    """Read the arguments of a call.

    Args:
        value: JSON text, or a JSON-like object. Absent (``None``) and blank text mean ``{}``.

    Returns:
        The arguments, or the raw text and the problem. Never raises.
    """
    if isinstance(value, str):
        return parse_text(value)
    if value is None:
        return NONE
    try:
        if isinstance(value, Mapping):
            return Arguments(_object(value))
        problem = f"The arguments are {_kind(value)}, not an object. {_HELP}"
    except (_UnfitError, RecursionError) as error:
        problem = _sentence(error)
    return Arguments(EMPTY, _as_raw(value), problem)


def arguments_text(call: Call) -> str:
    """The arguments of a call as JSON text; as it was received where it could not be read."""
    return call.raw if call.raw is not None else json.dumps(call.args, ensure_ascii=False)


def parse_text(text: str) -> Arguments:
    """Read the argument text of a call (see `parse`)."""
    try:
        args, end = _DECODER.raw_decode(text)
        if end == len(text) and type(args) is dict:
            return Arguments(_object(args) if _suspicious(text) else args)
    except (ValueError, RecursionError):
        pass  # found again, and told, on the slow path
    stripped = text.strip(_BLANKS)
    if not stripped:
        return NONE
    try:
        return Arguments(_strict(stripped, len(text) - len(text.lstrip(_BLANKS))))
    except (ValueError, RecursionError) as error:
        return Arguments(EMPTY, text, _sentence(error))


def _strict(text: str, offset: int) -> dict[str, Any]:
    """Parse text without blanks around it; ``offset`` characters stood before it."""
    try:
        value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        where = f"{error.msg.removesuffix(' at')} at character {error.pos + offset + 1}"
        raise _UnfitError(f"The arguments are not JSON ({where}). {_HELP}") from None
    if end < len(text):
        raise _UnfitError(_glued(text, value, end, offset))
    if type(value) is not dict:
        raise _UnfitError(f"The arguments are {_kind(value)}, not an object. {_HELP}")
    return _object(value)


def _glued(text: str, value: object, end: int, offset: int) -> str:
    """The sentence for text that goes on after its first value."""
    second = end = _after_gap(text, end)
    values = [value]
    try:
        while end < len(text):
            value, end = _DECODER.raw_decode(text, end)
            values.append(value)
            end = _after_gap(text, end)
    except (ValueError, RecursionError):
        values = [value]
    if len(values) == 1:
        rest = ascii(text[second : second + 20] or text[-1])
        found = f"more after the first value, from character {second + offset + 1}: {rest}"
        return f"The arguments field holds {found}. {_HELP}"
    number = "two" if len(values) == 2 else str(len(values))
    noun = "objects" if all(type(item) is dict for item in values) else "values"
    at = f"the second begins at character {second + offset + 1}"
    return f"The arguments are {number} {noun} in one field; {at}. {_HELP}"


def _after_gap(text: str, end: int) -> int:
    found = _GAP.match(text, end)
    return found.end() if found else end


def _suspicious(text: str) -> bool:
    """Whether parsed text has to be looked at again: it may be deep or hold half characters."""
    return "\\u" in text or not text.isascii() or text.count("{") + text.count("[") > MAX_DEPTH


def _object(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A fresh copy of an object; one that only holds simple values is not walked."""
    fresh = dict(value)
    for key, item in fresh.items():
        kind = type(item)
        if type(key) is str and key.isascii():
            if kind is str:
                if item.isascii():
                    continue
            elif kind in _SIMPLE or (kind is int and -MAX_INTEGER < item < MAX_INTEGER):
                continue
        return {_key(k, _PLACE): _copy(v, (*_PLACE, k), 1) for k, v in fresh.items()}
    return fresh


def _copy(value: Any, path: tuple[str | int, ...], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise _UnfitError(f"The arguments are nested more than {MAX_DEPTH} deep. Nest them less.")
    if isinstance(value, Mapping):
        return {_key(k, path): _copy(v, (*path, k), depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(v, (*path, i), depth + 1) for i, v in enumerate(value)]
    return _leaf(value, path)


def _leaf(value: Any, path: tuple[str | int, ...]) -> Any:
    if isinstance(value, str):
        return _whole(value, path)
    if isinstance(value, bool | None):
        return value
    if isinstance(value, int):
        if not -MAX_INTEGER < value < MAX_INTEGER:
            raise _UnfitError(f"{dotted(path)} is an integer of more than 4300 digits. Shorten it.")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _UnfitError(f"{dotted(path)} is {value}, which JSON does not have. Use a number.")
        return value
    raise _UnfitError(f"{dotted(path)} is a {type(value).__name__}. Use JSON values.")


def _key(key: Any, path: tuple[str | int, ...]) -> str:
    if isinstance(key, str):
        return _whole(key, path)
    raise _UnfitError(f"{dotted(path)} has a key of type {type(key).__name__}. Use text.")


def _whole(text: str, path: tuple[str | int, ...]) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _UnfitError(
                f"{dotted(path)} holds half of a surrogate pair. Use whole characters."
            ) from None
    return text


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "no JSON"


def _sentence(error: Exception) -> str:
    if isinstance(error, _UnfitError):
        return str(error)
    if isinstance(error, RecursionError):
        return f"The arguments are nested more than {MAX_DEPTH} deep. Nest them less."
    return f"The arguments hold an integer of more than 4300 digits. {_HELP}"


def _as_raw(value: object) -> str:
    try:
        return json.dumps(value, default=lambda other: f"<{type(other).__name__}>")
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def _no_constant(name: str) -> NoReturn:
    raise _UnfitError(f"The arguments hold {name}, which JSON does not have. Use a number.")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _UnfitError("The arguments hold a number that is too large. Use a smaller one.")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
