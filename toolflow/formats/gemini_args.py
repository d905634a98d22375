"""Arguments of a Gemini call that come value by value, each under its JSON path.

Source: the reference of ``PartialArg`` (Vertex AI) and RFC 9535, of which only paths to one value
are of use here. Texts come in pieces; the piece without ``willContinue`` is the last. Whatever does
not fit together (a path that was there already, a list with a gap, a text without its end) makes no
arguments at all: nothing is guessed (spec 3.5).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from toolflow.formats.arguments import MAX_DEPTH
from toolflow.formats.base import quoted, shown

Steps = tuple[str | int, ...]
_STEP = re.compile(
    r"""\.([^.\[\]'"\s]+) | \[(\d{1,9})\] | \['((?:[^'\\]|\\.)*)'\] | \["((?:[^"\\]|\\.)*)"\]""",
    re.VERBOSE,
)


class UnfitError(ValueError):
    """The pieces make no arguments. Its text is the problem, a sentence."""


def assembled(pieces: Sequence[Any]) -> dict[str, Any]:
    """Put the pieces of the arguments of one call together.

    Args:
        pieces: Every ``partialArgs`` entry of the call, in the order in which they came.

    Returns:
        The arguments.

    Raises:
        UnfitError: If they do not fit together.
    """
    whole = _Whole()
    for number, piece in enumerate(pieces):
        try:
            whole.add(piece)
        except UnfitError as error:
            raise UnfitError(f"Piece {number + 1} of the arguments {error}") from None
    if whole.texts:
        path = next(iter(whole.texts))
        raise UnfitError(f"The text of {quoted(_written(path))} in the arguments has no end.")
    return whole.args


@dataclass(slots=True)
class _Whole:
    args: dict[str, Any] = field(default_factory=dict)
    texts: dict[Steps, tuple[Any, Any, list[str]]] = field(default_factory=dict)

    def add(self, piece: Any) -> None:
        if not isinstance(piece, dict):
            raise UnfitError(f"is {shown(piece)}. Use an object with a path and a value.")
        path = _path(piece.get("jsonPath", piece.get("json_path")))
        goes_on = piece.get("willContinue", piece.get("will_continue")) is True
        value = _value(piece)
        if path in self.texts:
            self._go_on(path, value, goes_on=goes_on)
        elif value is not _NOTHING:
            parent, key = self._place(path)
            parent[key] = value
            if goes_on and isinstance(value, str):
                self.texts[path] = (parent, key, [value])
        elif not goes_on:
            raise UnfitError(f"has no value for {quoted(_written(path))}. Use one.")

    def _go_on(self, path: Steps, value: Any, *, goes_on: bool) -> None:
        parent, key, texts = self.texts[path]
        if value is not _NOTHING:
            if not isinstance(value, str):
                raise UnfitError(f"is {shown(value)} within the text of {quoted(_written(path))}.")
            texts.append(value)
        if not goes_on:
            parent[key] = "".join(texts)
            del self.texts[path]

    def _place(self, path: Steps) -> tuple[Any, Any]:
        """The object or list that the value goes into, and its place there."""
        inside: Any = self.args
        for step, following in pairwise(path):
            if not _has(inside, step):
                _reserve(inside, step, path)
                inside[step] = [] if isinstance(following, int) else {}
            inside = inside[step]
        if _has(inside, path[-1]):
            raise UnfitError(f"is a second value for {quoted(_written(path))}.")
        _reserve(inside, path[-1], path)
        return inside, path[-1]


class _Nothing:
    """Stands for a piece without a value; ``None`` is one."""


_NOTHING = _Nothing()


def _value(piece: dict[str, Any]) -> Any:
    text = piece.get("stringValue", piece.get("string_value"))
    number = piece.get("numberValue", piece.get("number_value"))
    truth = piece.get("boolValue", piece.get("bool_value"))
    if text is not None:
        return _of_type(text, str, "text")
    if number is not None:
        return _of_type(number, (int, float), "a number")
    if truth is not None:
        return _of_type(truth, bool, "true or false")
    return None if "nullValue" in piece or "null_value" in piece else _NOTHING


def _of_type(value: Any, kind: type | tuple[type, ...], name: str) -> Any:
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise UnfitError(f"is {shown(value)}. Use {name}.")


def _has(inside: Any, step: str | int) -> bool:
    if isinstance(inside, dict):
        return step in inside
    return isinstance(inside, list) and isinstance(step, int) and step < len(inside)


def _reserve(inside: Any, step: str | int, path: Steps) -> None:
    """Make room for a value; a list only grows by its next place, so that it cannot explode."""
    if isinstance(inside, dict) and isinstance(step, str):
        return
    if isinstance(inside, list) and step == len(inside):
        inside.append(None)
        return
    raise UnfitError(f"has the path {quoted(_written(path))}, which does not fit the ones before.")


def _path(text: Any) -> Steps:
    steps: list[str | int] = []
    end = 1
    while isinstance(text, str) and text.startswith("$") and end < len(text):
        found = _STEP.match(text, end)
        if found is None or len(steps) >= MAX_DEPTH:
            break
        steps.append(_step(found))
        end = found.end()
    if not steps or end < len(text) or not isinstance(steps[0], str):
        raise UnfitError(f"has the path {shown(text)}. Use one such as '$.a.b[0]'.")
    return tuple(steps)


def _step(found: re.Match[str]) -> str | int:
    name, index, single, double = found.groups()
    if name is not None:
        return name
    if index is not None:
        return int(index)
    text = double if single is None else single.replace("\\'", "'").replace('"', '\\"')
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        raise UnfitError(
            f"has the path step {quoted(found.group())}, which cannot be read."
        ) from None


def _written(path: Steps) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
