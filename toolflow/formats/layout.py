"""How results stand in the messages of a format: what takes them apart and puts them together.

`Format.steps` tells what a result says and whose it is, which is all that a reader of logs needs.
Whoever mends a conversation has to move results without changing them, so this says where one
begins and ends in its message. Three shapes cover every provider: blocks in the list of a message,
messages of their own, and JSON-RPC responses, so the formats share the builders below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Rule = Literal["first", "row", "free"]
Keys = tuple[str, ...]


class Piece(NamedTuple):
    """A part of a message that is not the model's.

    Attributes:
        value: A block of it, or the message itself where it has no blocks.
        is_result: Whether it is the result of a call.
    """

    value: Any
    is_result: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a provider wants results, and how they are moved. All values are plain.

    Attributes:
        rule: ``first``: in the one message straight after the turn, before all else in it;
            ``row``: in messages of their own, straight after the turn and after one another;
            ``free``: anywhere after the turn.
        cut: The pieces of a message that is not the model's, in order; it has as many results as
            `Format.steps` gives for it.
        joined: A message with other pieces than it had; at least one.
        takes: Whether results may be put into a message that is there.
        id_of: The id that stands in a result, as it stands there; ``None`` where there is none.
        with_id: A result with another id in it.
        alone: Whether nothing but results should be in the message of the results.
        text: Makes a piece of a text, for providers that refuse two messages of the model in a
            row: it stands for the results of a message that would be left out between them.
    """

    rule: Rule
    cut: Callable[[Any], list[Piece]]
    joined: Callable[[Any, list[Any]], Any]
    takes: Callable[[Any], bool]
    id_of: Callable[[Any], Any]
    with_id: Callable[[Any, Any], Any]
    alone: bool = False
    text: Callable[[str], Any] | None = None


def of_blocks(
    key: str,
    keys: Callable[[Any], Keys | None],
    text: Callable[[str], Any],
    *,
    alone: bool = False,
    alternating: bool = False,
) -> Layout:
    """The layout of a format whose results are blocks in the list of a user message.

    Args:
        key: The field with the list.
        keys: Where in a block the id of a result is, as keys from its top; ``None`` for a block
            that is no result.
        text: The block of a text, for messages that have a text in place of the list.
        alone: See `Layout`.
        alternating: Whether the provider refuses two messages of the model in a row.
    """

    def cut(message: Any) -> list[Piece]:
        content = message.get(key) if isinstance(message, dict) else None
        if isinstance(content, str):
            return [Piece(text(content), is_result=False)] if content.strip() else []
        if not isinstance(content, list):
            return [Piece(None, is_result=False)]
        return [Piece(block, keys(block) is not None) for block in content]

    def takes(message: Any) -> bool:
        return message.get("role") == "user" and isinstance(message.get(key), str | list)

    def id_of(block: Any) -> Any:
        for name in keys(block) or ():
            block = block.get(name)
        return block

    def with_id(block: Any, call_id: Any) -> Any:
        return _with(block, keys(block) or (), call_id)

    def joined(message: Any, blocks: list[Any]) -> Any:
        return {**message, key: blocks}

    filler = text if alternating else None
    return Layout("first", cut, joined, takes, id_of, with_id, alone, filler)


def _with(value: Any, keys: Keys, inner: Any) -> Any:
    if not keys:
        return inner
    return {**value, keys[0]: _with(value.get(keys[0]), keys[1:], inner)}


def of_messages(keys: Callable[[Any], Keys | None]) -> Layout:
    """The layout of a format in which every result is a message of its own.

    Args:
        keys: The fields of a result in which its id is, or may be, the first of them first;
            ``None`` for a message that is no result.
    """

    def cut(message: Any) -> list[Piece]:
        return [Piece(message, keys(message) is not None)]

    return Layout("row", cut, _only, _never, _id_by(keys), _with_id_by(keys))


def of_batches(is_result: Callable[[Any], bool], key: str) -> Layout:
    """The layout of a protocol whose results are messages that stand anywhere, or in lists.

    Args:
        is_result: Whether a message is a result.
        key: Its field with the id.
    """

    def cut(message: Any) -> list[Piece]:
        batch = message if isinstance(message, list) else [message]
        return [Piece(each, is_result(each)) for each in batch]

    def joined(message: Any, values: list[Any]) -> Any:
        return values if isinstance(message, list) else values[0]

    def keys(_: Any) -> Keys:
        return (key,)

    return Layout("free", cut, joined, _never, _id_by(keys), _with_id_by(keys))


def _id_by(keys: Callable[[Any], Keys | None]) -> Callable[[Any], Any]:
    def id_of(message: Any) -> Any:
        given = (message.get(key) for key in keys(message) or ())
        return next((each for each in given if each is not None), None)

    return id_of


def _with_id_by(keys: Callable[[Any], Keys | None]) -> Callable[[Any, Any], Any]:
    def with_id(message: Any, call_id: Any) -> Any:
        fields = keys(message) or ()
        there = [key for key in fields if key in message] or fields[:1]
        return {**message, **dict.fromkeys(there, call_id)}

    return with_id


def _only(_: Any, values: list[Any]) -> Any:
    return values[0]


def _never(_: Any) -> bool:
    return False
