"""Cohere v2 chat: ``tool_calls`` with a ``tool_plan``, one ``tool`` message a result.

Source: the published v2 reference. Read are a message, a whole response, a list of messages, and
the events of a stream. A message without any of Cohere's own marks (``tool_plan``, thinking as
text, documents in results) looks like Chat Completions and is detected as that; both read the same
calls.

For tools without parameters the provider sometimes gives the argument text ``null``; that it means
none is told in a notice. In other formats it is no object and a problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats import cohere_stream
from toolflow.formats.arguments import NONE, parse
from toolflow.formats.base import Answer, Flaw, Format, Path, flaw, text_at
from toolflow.formats.cohere_writer import ID_RULE, write
from toolflow.formats.history import Marks, read_messages, read_steps
from toolflow.formats.notices import ending
from toolflow.formats.plain import plain, plain_fields, text_of
from toolflow.formats.results import told
from toolflow.formats.tool_messages import LAYOUT
from toolflow.model import Call, Notice, Outcome, Turn
from toolflow.model.turn import EMPTY

NAME = "cohere"
_ENDINGS = frozenset({"COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL", "ERROR", "TIMEOUT"})
_BLOCK_FIELDS = frozenset({"id", "type", "function"})
_FUNCTION_FIELDS = frozenset({"name", "arguments"})
_EMPTY_CALL = Call(0, "", "")
_EMPTY_TURN = Turn("", (), NAME)
_USE = "Use a message or a response: an object."


def _recognise(data: Any) -> bool:
    items = map(plain, data) if isinstance(data, list) else (data,)
    return any(_is_cohere(item) for item in items)


def _is_cohere(data: Any) -> bool:
    if not isinstance(data, dict) or "choices" in data or "parts" in data:
        return False
    if isinstance(data.get("message"), dict):
        ended = data.get("finish_reason")
        return isinstance(ended, str) and ended in _ENDINGS
    role = data.get("role")
    if role == "tool":
        return any(_type(part) == "document" for part in _parts(data))
    if role != "assistant":
        return False
    if isinstance(data.get("tool_plan"), str):
        return True
    thinking = [part for part in _parts(data) if _type(part) == "thinking"]
    calls = isinstance(data.get("tool_calls"), list | tuple)
    return calls and any(isinstance(part.get("thinking"), str) for part in thinking)


def _parts(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return [plain(part) for part in content] if isinstance(content, list | tuple) else []


def _type(part: Any) -> str:
    return text_of(part.get("type")) if isinstance(part, dict) else ""


def _read(data: Any) -> list[Turn]:
    return read_messages(data, _read_one, _is_models, _marks, use=_USE, one_message=False)


def _steps(items: Sequence[Any]) -> Iterator[Turn | Answer]:
    return read_steps(items, _read_one, _is_models, _results, use=_USE)


def _marks(message: dict[str, Any]) -> Marks:
    return [text_of(message.get("tool_call_id")) if message.get("role") == "tool" else None]


def _results(message: dict[str, Any]) -> Iterator[tuple[str, Outcome]]:
    if message.get("role") == "tool":
        yield text_of(message.get("tool_call_id")), _outcome(message)


def _is_models(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or "message" in item


def _outcome(message: dict[str, Any]) -> Outcome:
    """What a result tells. That a call failed is only in its words, which are not interpreted."""
    content = plain(message.get("content"))
    if not isinstance(content, list):
        return told("" if content is None else content)
    parts = _parts(message)
    texts = [part.get("text") for part in parts if _type(part) == "text"]
    if len(texts) == len(parts) and all(isinstance(text, str) for text in texts):
        return told("\n".join(map(text_of, texts)))
    documents = [plain(part.get("document")) for part in parts if _type(part) == "document"]
    if len(parts) == len(documents) == 1 and isinstance(documents[0], dict):
        return told(documents[0].get("data", parts))
    return told(parts)


def _read_one(data: Any, path: Path, flaws: list[Flaw]) -> Turn:
    """A turn of one message or one whole response; what cannot be read is put to the flaws."""
    data = plain(data)
    if not isinstance(data, dict):
        flaws.append(flaw(path, data, _USE))
        return _EMPTY_TURN
    if "message" not in data:
        return _read_message(data, path, flaws)
    message = plain(data["message"])
    if not isinstance(message, dict):
        flaws.append(flaw((*path, "message"), message, "Use an object with role and tool_calls."))
        return _EMPTY_TURN
    turn = _read_message(message, (*path, "message"), flaws)
    message_id, ended = data.get("id"), data.get("finish_reason")
    odd = ending(ended, turn.calls, for_calls={"TOOL_CALL"}, at_limit={"MAX_TOKENS"})
    return replace(
        turn,
        message_id=message_id if isinstance(message_id, str) else None,
        notices=(*turn.notices, *odd),
        extra={key: value for key, value in data.items() if key != "message"},
    )


def _read_message(data: dict[str, Any], path: Path, flaws: list[Flaw]) -> Turn:
    if data.get("role", "assistant") != "assistant":
        flaws.append(flaw((*path, "role"), data.get("role"), "Use a message of the assistant."))
        return _EMPTY_TURN
    whole = plain_fields(data, "tool_calls", "content")
    blocks = whole.get("tool_calls")
    if blocks is None:
        blocks = []
    if not isinstance(blocks, list):
        flaws.append(flaw((*path, "tool_calls"), blocks, "Use a list of calls."))
        blocks = []
    place: Path = (*path, "tool_calls")
    calls = [_call(index, block, (*place, index), flaws) for index, block in enumerate(blocks)]
    nulls = [_null_notice(c) for c, block in zip(calls, blocks, strict=True) if _is_null(block)]
    message = whole if "role" in whole else {"role": "assistant", **whole}
    return Turn("", tuple(calls), NAME, message, notices=tuple(nulls))


def _call(index: int, block: Any, path: Path, flaws: list[Flaw]) -> Call:
    body = plain(block.get("function")) if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(body, dict):
        flaws.append(flaw(path, block, "Use an object with id, type and function."))
        return _EMPTY_CALL
    call_id = text_at((*path, "id"), block.get("id"), flaws)
    tool = text_at((*path, "function", "name"), body.get("name"), flaws)
    arguments = NONE if _is_null(block) else parse(body.get("arguments"))
    extra = {key: value for key, value in block.items() if key not in _BLOCK_FIELDS}
    more = {key: value for key, value in body.items() if key not in _FUNCTION_FIELDS}
    if more:
        extra["function"] = more
    return Call(index, call_id, tool, *arguments, extra or EMPTY)


def _is_null(block: Any) -> bool:
    body = plain(block.get("function")) if isinstance(block, dict) else None
    return isinstance(body, dict) and text_of(body.get("arguments")).strip() == "null"


def _null_notice(call: Call) -> Notice:
    text = "The arguments are 'null', which this provider writes for none. They are read as {}."
    return Notice("null_arguments", text, call=call.id)


FORMAT = Format(
    name=NAME,
    about="a message with tool_plan, or a response with message and a finish_reason in capitals",
    recognise=_recognise,
    read=_read,
    write=write,
    id_rule=ID_RULE,
    is_chunk=cohere_stream.is_chunk,
    join=cohere_stream.join,
    split=cohere_stream.split,
    steps=_steps,
    layout=LAYOUT,
)
