"""The content of a streamed message: pieces of text, and lists of parts (Mistral)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolflow.formats.plain import plain

_ONCE = frozenset({"role", "name", "id", "type", "tool_call_id", "object", "status"})


def merged(name: str, values: Sequence[Any]) -> Any:
    """What the pieces of one field are together.

    Args:
        name: The field's name. A name, an id and the like are told, not sent in pieces.
        values: Its values in the order of the stream.

    Returns:
        One text of texts, one list of lists, one object of objects; of all else the latest value.
        Content in texts and lists is one list of parts. ``None`` where nothing came.
    """
    given = [value for value in values if value is not None]
    if not given:
        return None
    if name in _ONCE:
        return next((value for value in reversed(given) if value), given[-1])
    kinds = {type(value) for value in given}
    if kinds == {str}:
        return "".join(given) or ("" if name != "content" else None)
    if kinds == {dict}:
        fields: dict[str, list[Any]] = {}
        for value in given:
            for key, item in value.items():
                fields.setdefault(key, []).append(item)
        return {key: merged(key, items) for key, items in fields.items()}
    if kinds <= {list, str} and (name == "content" or kinds == {list}):
        return list(_joined(_parts(given)))
    return given[-1]


def _parts(pieces: Sequence[Any]) -> Iterator[Any]:
    for piece in pieces:
        if isinstance(piece, str):
            if piece:
                yield {"type": "text", "text": piece}
        elif isinstance(piece, list | tuple):
            yield from map(plain, piece)
        else:
            yield piece


def _joined(parts: Iterator[Any]) -> Iterator[Any]:
    """Parts of text, or of thinking, that follow each other as one part each."""
    run: list[Any] = []
    for part in parts:
        if run and not _continues(run[-1], part):
            yield _one(run)
            run = []
        run.append(part)
    if run:
        yield _one(run)


def _continues(before: Any, part: Any) -> bool:
    kind = _kind(part)
    return kind is not None and kind == _kind(before) and before.keys() == part.keys()


def _kind(part: Any) -> str | None:
    """``text`` or ``thinking`` for a part with nothing else in it that could differ."""
    if not isinstance(part, dict):
        return None
    if part.get("type") == "text" and isinstance(part.get("text"), str) and len(part) == 2:
        return "text"
    if part.get("type") == "thinking" and isinstance(part.get("thinking"), list):
        return "thinking"
    return None


def _one(run: list[Any]) -> Any:
    kind = _kind(run[0])
    if len(run) == 1 or kind is None:
        return run[0]
    if kind == "text":
        return {**run[-1], "text": "".join(part["text"] for part in run)}
    inner = [item for part in run for item in part["thinking"]]
    return {**run[-1], "thinking": list(_joined(iter(inner)))}
