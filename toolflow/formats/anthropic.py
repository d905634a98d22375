"""Anthropic Messages: ``tool_use`` blocks in an assistant message, ``tool_result`` blocks back.

Source: the published Messages reference. Read are a message, a whole response, a list of messages
and the events of a stream. A response is cut in two: ``Turn.message`` is what may be sent back
(the API refuses the fields that only a response has), ``Turn.extra`` is the rest. Calls that the
provider runs itself (``server_tool_use``, ``mcp_tool_use``) stay in the message and are no calls of
the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolflow.formats import anthropic_stream
from toolflow.formats.anthropic_writer import ID_RULE, LAYOUT, write
from toolflow.formats.arguments import parse
from toolflow.formats.base import Answer, Flaw, Format, Path, flaw, quoted, text_at
from toolflow.formats.history import Marks, read_messages, read_steps
from toolflow.formats.notices import ending
from toolflow.formats.plain import plain, plain_fields, text_of
from toolflow.formats.results import image_of, told
from toolflow.model import Call, Image, Notice, Outcome, Turn
from toolflow.model.turn import EMPTY

NAME = "anthropic"
_OWN_BLOCKS = frozenset(
    {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "mcp_tool_use",
    }
)
_SERVER_RESULT = "_tool_result"  # how the types of all results of the provider's own calls end
RESPONSE_FIELDS = frozenset(
    {
        "id",
        "type",
        "model",
        "stop_reason",
        "stop_sequence",
        "stop_details",
        "usage",
        "container",
        "context_management",
    }
)
_BLOCK_FIELDS = frozenset({"type", "id", "name", "input"})
_EMPTY_CALL = Call(0, "", "")
_EMPTY_TURN = Turn("", (), NAME)
_USE = "Use a message: an object with role and content."


def _recognise(data: Any) -> bool:
    if isinstance(data, list):
        return any(_is_anthropic(plain(item)) for item in data)
    return _is_anthropic(data)


def _is_anthropic(data: Any) -> bool:
    if not isinstance(data, dict) or data.get("role") not in ("assistant", "user"):
        return False
    content = data.get("content")
    if isinstance(data.get("tool_calls"), list | tuple) or not isinstance(content, list | tuple):
        return False
    kinds = [_type(plain(block)) for block in content]
    if data.get("type") == "message":
        return all(kind == "text" or not kind.startswith(("output_", "input_")) for kind in kinds)
    return any(kind in _OWN_BLOCKS or kind.endswith(_SERVER_RESULT) for kind in kinds)


def _type(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "thinking" and isinstance(block.get("thinking"), list):
        return ""  # Mistral's, in a message of Chat: it holds parts, not text
    return kind if isinstance(kind, str) else ""


def _read(data: Any) -> list[Turn]:
    return read_messages(data, read_message, _is_models, _marks, use=_USE, one_message=True)


def _is_models(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant"


def _marks(message: dict[str, Any]) -> Marks:
    """The ids of the results in a user message, ``None`` for each other block."""
    content = message.get("content")
    if not isinstance(content, list | tuple):
        return [None]
    marks: Marks = []
    for raw in content:
        block = plain(raw)
        result = _type(block) == "tool_result"
        marks.append(text_of(block.get("tool_use_id")) if result else None)
    return marks


def read_message(data: Any, path: Path, flaws: list[Flaw]) -> Turn:
    """A turn of one assistant message or response; what cannot be read is put to the flaws."""
    data = plain(data)
    if not isinstance(data, dict):
        flaws.append(flaw(path, data, _USE))
        return _EMPTY_TURN
    if data.get("role") != "assistant":
        flaws.append(flaw((*path, "role"), data.get("role"), "Use an assistant message."))
        return _EMPTY_TURN
    whole = plain_fields(data, "content")
    content = whole.get("content")
    if isinstance(content, str):
        content = []
    if not isinstance(content, list):
        flaws.append(flaw((*path, "content"), content, "Use text or a list of blocks."))
        content = []
    calls = _read_calls(content, (*path, "content"), flaws)
    message, extra = _split(whole)
    message_id = whole.get("id")
    return Turn(
        id="",
        calls=calls,
        format=NAME,
        message=message,
        message_id=message_id if isinstance(message_id, str) else None,
        notices=tuple(_oddities(whole, calls)),
        extra=extra,
    )


def _split(whole: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What may be sent back, and what only a response has."""
    extra = {key: value for key, value in whole.items() if key in RESPONSE_FIELDS}
    if not extra:
        return whole, extra
    return {key: value for key, value in whole.items() if key not in RESPONSE_FIELDS}, extra


def _read_calls(content: list[Any], path: Path, flaws: list[Flaw]) -> tuple[Call, ...]:
    calls: list[Call] = []
    for place, block in enumerate(content):
        if not isinstance(block, dict):
            flaws.append(flaw((*path, place), block, "Use a block: an object with a type."))
        elif block.get("type") == "tool_use":
            calls.append(_read_call(len(calls), block, (*path, place), flaws))
    return tuple(calls)


def _read_call(index: int, block: dict[str, Any], path: Path, flaws: list[Flaw]) -> Call:
    args, raw, problem = parse(block.get("input"))
    call_id, name = block.get("id"), block.get("name")
    if type(call_id) is not str or type(name) is not str:
        call_id = text_at((*path, "id"), call_id, flaws)
        name = text_at((*path, "name"), name, flaws)
    extra = EMPTY
    if len(block) > 4:
        extra = {key: value for key, value in block.items() if key not in _BLOCK_FIELDS}
    return Call(index, call_id, name, args, raw, problem, extra)


def _oddities(whole: dict[str, Any], calls: tuple[Call, ...]) -> Iterator[Notice]:
    yield from ending(
        whole.get("stop_reason"), calls, for_calls={"tool_use"}, at_limit={"max_tokens"}
    )
    yield from _answered(whole.get("content"), calls)


def _answered(content: Any, calls: tuple[Call, ...]) -> Iterator[Notice]:
    """Calls made by code of the provider that has ended in the same message: it had its results."""
    callers = [(call, call.extra.get("caller")) for call in calls if "caller" in call.extra]
    if not callers or not isinstance(content, list):
        return
    ended = [block.get("tool_use_id") for block in content if _type(block).endswith(_SERVER_RESULT)]
    done = {name for name in ended if isinstance(name, str)}
    for call, caller in callers:
        if isinstance(caller, dict) and text_of(caller.get("tool_id")) in done:
            text = f"Call {quoted(call.id)} was made by code that has ended in the same message."
            yield Notice("answered_call", f"{text} It has had its result.", call=call.id)


def _steps(items: Sequence[Any]) -> Iterator[Turn | Answer]:
    return read_steps(items, read_message, _is_models, _results, use=_USE)


def _results(message: dict[str, Any]) -> Iterator[tuple[str, Outcome]]:
    content = message.get("content")
    for block in map(plain, content if isinstance(content, list | tuple) else ()):
        if _type(block) == "tool_result":
            yield text_of(block.get("tool_use_id")), _outcome(block)


def _outcome(block: dict[str, Any]) -> Outcome:
    content = plain(block.get("content"))
    failed = block.get("is_error") is True
    if not isinstance(content, list):
        return told("" if content is None else content, failed=failed)
    parts = [(plain(part), _image(plain(part))) for part in content]
    rest = [part for part, image in parts if image is None]
    texts = [part["text"] for part in rest if _type(part) == "text" and "text" in part]
    plain_text = len(texts) == len(rest) and all(isinstance(text, str) for text in texts)
    value = "\n".join(texts) if plain_text else rest
    return told(value, tuple(image for _, image in parts if image is not None), failed=failed)


def _image(block: Any) -> Image | None:
    source = plain(block.get("source")) if _type(block) == "image" else None
    if not isinstance(source, dict) or source.get("type") != "base64":
        return None
    return image_of(source.get("media_type"), source.get("data"))


FORMAT = Format(
    name=NAME,
    about="a message or a list of messages with tool_use, tool_result or thinking blocks",
    recognise=_recognise,
    read=_read,
    write=write,
    id_rule=ID_RULE,
    is_chunk=anthropic_stream.is_chunk,
    join=anthropic_stream.join,
    split=anthropic_stream.split,
    steps=_steps,
    layout=LAYOUT,
)
