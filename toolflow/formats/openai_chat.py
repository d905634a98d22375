"""OpenAI Chat Completions: ``tool_calls`` on an assistant message, one ``tool`` message a result.

Source: the published Chat Completions reference. Read are a message, a whole response with
``choices``, and a list of either. ``custom`` tools take free text: it becomes the argument
``input``. The deprecated ``function_call`` has no id to answer to; it is told and kept, not run.
Servers that follow Chat with deviations (Mistral, Ollama and others) are read here too: what they
do otherwise is additional, so one reader knows all of it, and nobody has to name the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats import ollama
from toolflow.formats.arguments import CUT_SHORT, parse
from toolflow.formats.base import Answer, Flaw, Format, Misfit, Path, flaw, text_at
from toolflow.formats.history import Marks, read_messages
from toolflow.formats.notices import more_choices
from toolflow.formats.openai_chat_notices import MENTIONS, oddities
from toolflow.formats.openai_chat_results import outcome_of
from toolflow.formats.openai_chat_stream import is_chunk, join, split
from toolflow.formats.openai_chat_writer import ID_RULE, id_rule_of, write
from toolflow.formats.plain import plain, plain_fields, text_of
from toolflow.formats.tool_messages import LAYOUT
from toolflow.model import Call, Notice, Turn
from toolflow.model.turn import EMPTY

NAME = "openai-chat"
_ROLES = frozenset({"assistant", "user", "system", "developer", "tool", "function"})
_PARTS = frozenset({"text", "refusal", "image_url", "input_audio", "file"})
_MISTRAL_PARTS = frozenset({"reference", "document_url"})
_BLOCK_FIELDS = frozenset({"id", "type", "function", "custom"})
_FUNCTION_FIELDS = frozenset({"name", "arguments"})
_USE = "Use a message: an object with a role."


def _recognise(data: Any) -> bool:
    if not isinstance(data, list):
        return _is_chat(data)
    items = [plain(item) for item in data]
    return any(_is_chat(item) for item in items) and all(
        _is_chat(item) for item in items if isinstance(item, dict) and "content" in item
    )


def _is_chat(data: Any) -> bool:
    """Whether this is a Chat message or response; messages of other formats have other parts."""
    if not isinstance(data, dict):
        return False
    if isinstance(data.get("choices"), list | tuple) or ollama.is_response(data):
        return True
    role, content = data.get("role"), data.get("content")
    if not isinstance(role, str) or role not in _ROLES or "type" in data or "parts" in data:
        return False
    if isinstance(content, list | tuple):
        calling = isinstance(data.get("tool_calls"), list | tuple)
        return all(_is_part(plain(part), calling=calling) for part in content)
    return content is None or isinstance(content, str)


def _is_part(part: Any, *, calling: bool) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        return False
    if kind == "thinking":  # Mistral's holds parts; Anthropic's holds text
        return isinstance(part.get("thinking"), list)
    return kind in _PARTS or kind in _MISTRAL_PARTS or (calling and kind in MENTIONS)


def _read(data: Any) -> list[Turn]:
    reader = _Reader()
    return read_messages(data, reader.read, _is_said, reader.marks, use=_USE, one_message=False)


def _is_said(item: Mapping[str, Any]) -> bool:
    """Whether a model said it: an assistant message or a whole response."""
    return item.get("role") == "assistant" or "choices" in item or ollama.is_response(item)


class _Reader:
    """Reads messages in their order: a result without an id is for a call that waits for one."""

    def __init__(self) -> None:
        self._waiting = ollama.Waiting()

    def read(self, data: Any, path: Path, flaws: list[Flaw]) -> Turn:
        turn = _read_one(plain(data), path, flaws)
        self._waiting = ollama.Waiting(() if turn.carries_ids else turn.calls)
        return turn

    def marks(self, message: dict[str, Any]) -> Marks:
        return [self.call_id(message) if message.get("role") == "tool" else None]

    def call_id(self, message: dict[str, Any]) -> str:
        return text_of(message.get("tool_call_id")) or self._waiting.take(message)


def _steps(items: Sequence[Any]) -> Iterator[Turn | Answer]:
    reader = _Reader()
    for place, raw in enumerate(items):
        item = plain(raw)
        if not isinstance(item, dict):
            continue
        if _is_said(item):
            flaws: list[Flaw] = []
            turn = reader.read(item, (place,), flaws)
            if flaws:
                raise Misfit(flaws)
            yield turn
        elif item.get("role") == "tool":
            yield Answer(reader.call_id(item), outcome_of(item), place)


def _read_one(data: Any, path: Path, flaws: list[Flaw]) -> Turn:
    """A turn of one message or one whole response."""
    if not isinstance(data, dict):
        flaws.append(flaw(path, data, "Use a message or a response: an object."))
        return _EMPTY_TURN
    if "choices" in data:
        return _read_response(data, path, flaws)
    if ollama.is_response(data):
        extra = {key: value for key, value in data.items() if key != "message"}
        message, ended = plain(data["message"]), data.get("done_reason")
        return _read_message(message, (*path, "message"), flaws, ended=ended, extra=extra)
    if data.get("role") != "assistant":
        place = (*path, "role")
        flaws.append(flaw(place, data.get("role"), "Use an assistant message."))
        return _EMPTY_TURN
    return _read_message(data, path, flaws, ended=data.get("finish_reason"))


def _read_response(data: dict[str, Any], path: Path, flaws: list[Flaw]) -> Turn:
    data = plain_fields(data, "choices")
    choices = data["choices"]
    place = (*path, "choices")
    if not isinstance(choices, list) or not choices:
        flaws.append(flaw(place, choices, "Use a list with at least one choice."))
        return _EMPTY_TURN
    choice = choices[0]
    message = plain(choice.get("message")) if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        help_text = "Use a whole response; a chunk of a stream has no message."
        flaws.append(flaw((*place, 0, "message"), message, help_text))
        return _EMPTY_TURN
    ended = choice.get("finish_reason")
    place = (*place, 0, "message")
    more = tuple(more_choices(len(choices), "choices"))
    rest = {key: value for key, value in choice.items() if key != "message"}
    extra = {**data, "choices": [rest, *choices[1:]]}
    return _read_message(
        message, place, flaws, ended=ended, message_id=data.get("id"), extra=extra, more=more
    )


def _read_message(
    data: dict[str, Any],
    path: Path,
    flaws: list[Flaw],
    *,
    ended: Any,
    message_id: Any = None,
    extra: Mapping[str, Any] = EMPTY,
    more: Sequence[Notice] = (),
) -> Turn:
    message = plain_fields(data, "tool_calls", "content")
    if "choices" in message or ollama.is_response(message):
        flaws.append(flaw(path, data, "Use an assistant message; this is a whole response."))
        return _EMPTY_TURN
    role = message.get("role") or "assistant"  # some responses leave it out
    if role != "assistant":
        flaws.append(flaw((*path, "role"), role, "Use an assistant message."))
        return _EMPTY_TURN
    if message.get("role") != role:
        message = {"role": role, **message} | {"role": role}
    blocks = message.get("tool_calls")
    if blocks is None:
        blocks = []
    if not isinstance(blocks, list):
        flaws.append(flaw((*path, "tool_calls"), blocks, "Use a list of calls."))
        blocks = []
    calls = tuple([_read_call(index, block, path, flaws) for index, block in enumerate(blocks)])
    carries_ids = not calls or bool(calls[0].id) or not ollama.without_ids(blocks)
    if not carries_ids:
        named = zip(calls, ollama.ids_for(len(calls)), strict=True)
        calls = tuple([replace(call, id=call_id) for call, call_id in named])
    if ended == "length" and calls and _may_be_cut(blocks[-1]):
        cut = replace(calls[-1], args=EMPTY, raw=calls[-1].raw or "", problem=CUT_SHORT)
        calls = (*calls[:-1], cut)
    return Turn(
        id="",
        calls=calls,
        format=NAME,
        message=message,
        message_id=message_id if isinstance(message_id, str) else None,
        carries_ids=carries_ids,
        notices=(*more, *oddities(message, calls, ended)),
        extra=extra,
    )


def _read_call(index: int, block: Any, path: Path, flaws: list[Flaw]) -> Call:
    place = (*path, "tool_calls", index)
    if not isinstance(block, dict):
        flaws.append(flaw(place, block, "Use an object with id, type and function."))
        return _EMPTY_CALL
    if block.get("type") == "custom" or ("custom" in block and "function" not in block):
        return _read_custom(index, block, place, flaws)
    body = plain(block.get("function"))
    if not isinstance(body, dict):
        flaws.append(flaw((*place, "function"), body, "Use an object with name and arguments."))
        return _EMPTY_CALL
    args, raw, problem = parse(body.get("arguments"))
    call_id, name = block.get("id"), body.get("name")
    if type(call_id) is not str or type(name) is not str:
        call_id = text_at((*place, "id"), call_id, flaws)
        name = text_at((*place, "function", "name"), name, flaws)
    extra = EMPTY
    if len(block) > 3 or len(body) > 2:
        extra = _extra(block, _BLOCK_FIELDS, body, _FUNCTION_FIELDS)
    return Call(index, call_id, name, args, raw, problem, extra)


def _may_be_cut(block: Any) -> bool:
    """Whether nobody can tell that the last call of a message that was cut off is whole."""
    body = plain(block.get("function")) if isinstance(block, dict) else None
    if not isinstance(body, dict):
        return True  # a custom tool's text ends anywhere
    given = body.get("arguments")
    return given is None or (isinstance(given, str) and not given.strip())


def _read_custom(index: int, block: dict[str, Any], place: Path, flaws: list[Flaw]) -> Call:
    body = plain(block.get("custom"))
    if not isinstance(body, dict):
        flaws.append(flaw((*place, "custom"), body, "Use an object with name and input."))
        return _EMPTY_CALL
    args, raw, problem = parse({"input": body.get("input", "")})
    call_id = text_at((*place, "id"), block.get("id"), flaws)
    name = text_at((*place, "custom", "name"), body.get("name"), flaws)
    return Call(index, call_id, name, args, raw, problem, {"type": "custom"})


def _extra(
    block: Mapping[str, Any], known: frozenset[str], body: Mapping[str, Any], inner: frozenset[str]
) -> Mapping[str, Any]:
    extra = {key: value for key, value in block.items() if key not in known}
    more = {key: value for key, value in body.items() if key not in inner}
    return {**extra, "function": more} if more else extra or EMPTY


_EMPTY_CALL = Call(0, "", "")
_EMPTY_TURN = Turn("", (), NAME)
FORMAT = Format(
    name=NAME,
    about="a message with a role and tool_calls, a response with choices, or a list of messages",
    recognise=_recognise,
    read=_read,
    write=write,
    id_rule=ID_RULE,
    id_rule_of=id_rule_of,
    is_chunk=is_chunk,
    join=join,
    split=split,
    steps=_steps,
    layout=LAYOUT,
)
