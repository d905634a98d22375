"""Bedrock Converse: ``toolUse`` blocks in a message of the assistant, ``toolResult`` blocks back.

Source: the published reference of the Converse API and the service's own model. Read are a message,
a whole response, a list of messages, and the events of ``ConverseStream``. Calls that the provider
runs itself (``type: server_tool_use``) and their results stay in the message and are no calls of
the turn.

Messages are in the form of the wire, where pictures and such are base64 text; what boto3 gives as
bytes is read as that. `toolflow.formats.bedrock_writer.with_bytes` makes boto3's form of it again.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats import bedrock_stream
from toolflow.formats.arguments import parse
from toolflow.formats.base import Answer, Flaw, Format, Path, flaw, text_at
from toolflow.formats.bedrock_writer import DEPTH, ID_RULE, LAYOUT, write
from toolflow.formats.history import Marks, read_messages, read_steps
from toolflow.formats.notices import ending
from toolflow.formats.plain import plain, plain_fields, text_of
from toolflow.formats.results import told
from toolflow.model import Call, Image, Notice, Outcome, Turn
from toolflow.model.turn import EMPTY

NAME = "bedrock"
_BLOCKS = frozenset(
    {
        "text",
        "image",
        "document",
        "video",
        "audio",
        "toolUse",
        "toolResult",
        "guardContent",
        "cachePoint",
        "reasoningContent",
        "citationsContent",
        "searchResult",
    }
)
_WITHOUT_BYTES = frozenset({"text", "toolUse"})
_BODY_FIELDS = frozenset({"toolUseId", "name", "input"})
_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_MALFORMED = frozenset({"malformed_tool_use", "malformed_model_output"})
_EMPTY_TURN = Turn("", (), NAME)
_USE = "Use a message: an object with role and content."


def _recognise(data: Any) -> bool:
    items = map(plain, data) if isinstance(data, list) else (data,)
    return any(_is_message(item) or _message_of(item) is not None for item in items)


def _message_of(data: Any) -> dict[str, Any] | None:
    """The message of a whole response, or ``None`` where it is none."""
    output = plain(data.get("output")) if isinstance(data, dict) else None
    message = plain(output.get("message")) if isinstance(output, dict) else None
    return message if isinstance(message, dict) else None


def _is_message(data: Any) -> bool:
    """Whether it is a message whose blocks say by their key what they are, and have no type."""
    if not isinstance(data, dict) or data.get("role") not in ("assistant", "user"):
        return False
    content = data.get("content")
    if not isinstance(content, list | tuple) or not content or "tool_calls" in data:
        return False
    return all(_is_block(plain(block)) for block in content)


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and len(block) == 1 and not block.keys().isdisjoint(_BLOCKS)


def _read(data: Any) -> list[Turn]:
    return read_messages(data, _read_one, _is_models, _marks, use=_USE, one_message=True)


def _steps(items: Sequence[Any]) -> Iterator[Turn | Answer]:
    return read_steps(items, _read_one, _is_models, _results, use=_USE)


def _is_models(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or "output" in item


def _marks(message: dict[str, Any]) -> Marks:
    return [call_id for call_id, _ in _blocks(message)]


def _results(message: dict[str, Any]) -> Iterator[tuple[str, Outcome]]:
    for call_id, body in _blocks(message):
        if call_id is not None:
            yield call_id, _outcome(body)


def _blocks(message: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """The id and the body of each result of a user message, ``None`` for each other block."""
    content = message.get("content")
    for raw in content if isinstance(content, list | tuple) else (None,):
        block = plain(raw)
        body = plain(block.get("toolResult")) if isinstance(block, dict) else None
        if isinstance(body, dict):
            yield text_of(body.get("toolUseId")), body
        else:
            yield None, {}


def _outcome(body: dict[str, Any]) -> Outcome:
    content = _texted(body.get("content"))
    parts = content if isinstance(content, list) else []
    images = [_image(part) for part in parts]
    rest = [part for part, image in zip(parts, images, strict=True) if image is None]
    texts = [part["text"] for part in rest if isinstance(part, dict) and set(part) == {"text"}]
    value: Any = rest
    if len(texts) == len(rest) and all(isinstance(text, str) for text in texts):
        value = "\n".join(texts)
    elif len(rest) == 1 and isinstance(rest[0], dict) and set(rest[0]) == {"json"}:
        value = rest[0]["json"]
    shown = tuple(image for image in images if image is not None)
    return told(value, shown, failed=body.get("status") == "error")


def _image(part: Any) -> Image | None:
    body = part.get("image") if isinstance(part, dict) else None
    source = body.get("source") if isinstance(body, dict) else None
    data = source.get("bytes") if isinstance(source, dict) else None
    if isinstance(body, dict) and isinstance(body.get("format"), str) and isinstance(data, str):
        return Image(f"image/{body['format']}", data)
    return None


def _read_one(data: Any, path: Path, flaws: list[Flaw]) -> Turn:
    """A turn of one message or one whole response; what cannot be read is put to the flaws."""
    data = plain(data)
    if not isinstance(data, dict):
        flaws.append(flaw(path, data, _USE))
        return _EMPTY_TURN
    if "output" not in data:
        return _read_message(data, path, flaws)
    message = _message_of(data)
    if message is None:
        place = (*path, "output", "message")
        flaws.append(flaw(place, plain(data["output"]), "Use the whole response of Converse."))
        return _EMPTY_TURN
    turn = _read_message(message, (*path, "output", "message"), flaws)
    rest = {key: value for key, value in plain(data["output"]).items() if key != "message"}
    notices = (*turn.notices, *_ending(data.get("stopReason"), turn.calls))
    return replace(turn, notices=notices, extra={**data, "output": rest})


def _read_message(data: dict[str, Any], path: Path, flaws: list[Flaw]) -> Turn:
    if data.get("role") != "assistant":
        flaws.append(flaw((*path, "role"), data.get("role"), "Use a message of the assistant."))
        return _EMPTY_TURN
    whole = plain_fields(data, "content")
    content = whole.get("content")
    if not isinstance(content, list):
        flaws.append(flaw((*path, "content"), content, "Use a list of blocks."))
        return _EMPTY_TURN
    if any(isinstance(block, dict) and not block.keys() <= _WITHOUT_BYTES for block in content):
        fresh = _texted(content)
        whole = whole if fresh == content else {**whole, "content": fresh}
    calls: list[Call] = []
    for index, block in enumerate(content):
        place: Path = (*path, "content", index)
        if not isinstance(block, dict):
            flaws.append(flaw(place, block, "Use a block: an object."))
        elif "toolUse" in block:
            body = plain(block["toolUse"])
            if not isinstance(body, dict):
                flaws.append(flaw((*place, "toolUse"), body, "Use an object with name and input."))
            elif body.get("type") != "server_tool_use":
                calls.append(_call(len(calls), body, (*place, "toolUse"), flaws))
    return Turn("", tuple(calls), NAME, whole)


def _call(index: int, body: dict[str, Any], path: Path, flaws: list[Flaw]) -> Call:
    call_id = text_at((*path, "toolUseId"), body.get("toolUseId"), flaws)
    name = text_at((*path, "name"), body.get("name"), flaws)
    extra = {key: value for key, value in body.items() if key not in _BODY_FIELDS}
    return Call(index, call_id, name, *parse(body.get("input")), extra or EMPTY)


def _texted(value: Any, depth: int = DEPTH) -> Any:
    """The value with base64 text for bytes, as on the wire."""
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, dict) and depth:
        return {key: _texted(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple) and depth:
        return [_texted(item, depth - 1) for item in value]
    return value


def _ending(ended: Any, calls: tuple[Call, ...]) -> Iterator[Notice]:
    yield from ending(ended, calls, for_calls={"tool_use"}, at_limit=_CUT)
    if isinstance(ended, str) and ended in _MALFORMED:
        yield Notice("malformed_call", f"The response ended with {ended!r}: a call was lost.")


FORMAT = Format(
    name=NAME,
    about="a message with toolUse, toolResult or other blocks without a type, or output.message",
    recognise=_recognise,
    read=_read,
    write=write,
    id_rule=ID_RULE,
    is_chunk=bedrock_stream.is_chunk,
    join=bedrock_stream.join,
    split=bedrock_stream.split,
    steps=_steps,
    layout=LAYOUT,
)
