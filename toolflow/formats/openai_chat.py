"""OpenAI Chat Completions: ``tool_calls`` on an assistant message, one ``tool`` message a result.

Source: the published Chat Completions reference. Read are a message, a whole response with
``choices``, and a list of either. ``custom`` tools take free text: it becomes the argument
``input``. The deprecated ``function_call`` has no id to answer to; it is told and kept, not run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolflow.formats.arguments import parse
from toolflow.formats.base import Flaw, Format, Misfit, Path, flaw, quoted
from toolflow.formats.history import Step, reviewed
from toolflow.formats.openai_chat_writer import ID_RULE, write
from toolflow.formats.plain import plain, plain_fields
from toolflow.model import Call, Notice, Turn
from toolflow.model.turn import EMPTY

NAME = "openai-chat"
_ROLES = frozenset({"assistant", "user", "system", "developer", "tool", "function"})
_MENTIONS = frozenset({"tool_use", "tool-call", "tool_call", "function_call"})
_PARTS = frozenset({"text", "refusal", "image_url", "input_audio", "file"})
_ENDED_FOR_CALLS = frozenset({"tool_calls", "function_call"})
_BLOCK_FIELDS = frozenset({"id", "type", "function", "custom"})
_FUNCTION_FIELDS = frozenset({"name", "arguments"})


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
    if isinstance(data.get("choices"), list | tuple):
        return True
    role, content = data.get("role"), data.get("content")
    if not isinstance(role, str) or role not in _ROLES or "type" in data or "parts" in data:
        return False
    if isinstance(content, list | tuple):
        known = _PARTS | _MENTIONS if isinstance(data.get("tool_calls"), list | tuple) else _PARTS
        return all(_type(part) in known for part in content)
    return content is None or isinstance(content, str)


def _type(part: Any) -> str:
    kind = plain(part)
    return _text(kind.get("type")) if isinstance(kind, dict) else ""


def _read(data: Any) -> list[Turn]:
    flaws: list[Flaw] = []
    if isinstance(data, list):
        turns = _read_list(data, flaws)
    else:
        turns = [_read_one(plain(data), (), flaws)]
    if flaws:
        raise Misfit(flaws)
    return turns


def _read_list(items: list[Any], flaws: list[Flaw]) -> list[Turn]:
    steps = [Step(None)]
    for index, raw in enumerate(items):
        item = plain(raw)
        if not isinstance(item, dict):
            flaws.append(flaw((index,), item, "Use a message: an object with a role."))
        elif item.get("role") == "assistant" or "choices" in item:
            steps.append(Step(_read_one(item, (index,), flaws)))
        elif item.get("role") == "tool":
            steps[-1].after.append([_text(item.get("tool_call_id"))])
        else:
            steps[-1].after.append([None])
    return reviewed(steps, one_message=False)


def _read_one(data: Any, path: Path, flaws: list[Flaw]) -> Turn:
    """A turn of one message or one whole response."""
    if not isinstance(data, dict):
        flaws.append(flaw(path, data, "Use a message or a response: an object."))
        return _EMPTY_TURN
    if "choices" in data:
        return _read_response(data, path, flaws)
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
    more: list[Notice] = []
    if len(choices) > 1:
        text = f"The response has {len(choices)} choices. The first is read, the others are kept."
        more.append(Notice("more_choices", text))
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
    blocks = message.get("tool_calls")
    if blocks is None:
        blocks = []
    if not isinstance(blocks, list):
        flaws.append(flaw((*path, "tool_calls"), blocks, "Use a list of calls."))
        blocks = []
    calls = tuple([_read_call(index, block, path, flaws) for index, block in enumerate(blocks)])
    return Turn(
        id="",
        calls=calls,
        format=NAME,
        message=message,
        message_id=message_id if isinstance(message_id, str) else None,
        notices=(*more, *_oddities(message, calls, ended)),
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
        call_id = _checked((*place, "id"), call_id, flaws)
        name = _checked((*place, "function", "name"), name, flaws)
    extra = EMPTY
    if len(block) > 3 or len(body) > 2:
        extra = _extra(block, _BLOCK_FIELDS, body, _FUNCTION_FIELDS)
    return Call(index, call_id, name, args, raw, problem, extra)


def _read_custom(index: int, block: dict[str, Any], place: Path, flaws: list[Flaw]) -> Call:
    body = plain(block.get("custom"))
    if not isinstance(body, dict):
        flaws.append(flaw((*place, "custom"), body, "Use an object with name and input."))
        return _EMPTY_CALL
    args, raw, problem = parse({"input": body.get("input", "")})
    call_id = _checked((*place, "id"), block.get("id"), flaws)
    name = _checked((*place, "custom", "name"), body.get("name"), flaws)
    return Call(index, call_id, name, args, raw, problem, {"type": "custom"})


def _extra(
    block: Mapping[str, Any], known: frozenset[str], body: Mapping[str, Any], inner: frozenset[str]
) -> Mapping[str, Any]:
    extra = {key: value for key, value in block.items() if key not in known}
    more = {key: value for key, value in body.items() if key not in inner}
    return {**extra, "function": more} if more else extra or EMPTY


def _checked(path: Path, value: Any, flaws: list[Flaw]) -> str:
    if value is not None and not isinstance(value, str):
        flaws.append(flaw(path, value, "Use text."))
    return _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _oddities(message: dict[str, Any], calls: tuple[Call, ...], ended: Any) -> Iterator[Notice]:
    if not calls and isinstance(ended, str) and ended in _ENDED_FOR_CALLS:
        text = f"The message ended with {ended!r}, but holds no calls. There is nothing to run."
        yield Notice("no_calls", text)
    if message.get("function_call") is not None:
        text = (
            "The message holds a deprecated 'function_call', which has no id. It is kept, not run."
        )
        yield Notice("unread_call", text)
    content = message.get("content")
    if isinstance(content, list):
        by_id = {call.id: call for call in calls}
        for part in content:
            if isinstance(part, dict) and part.get("type") in _MENTIONS:
                yield _mention(part, by_id)


def _mention(part: dict[str, Any], by_id: Mapping[str, Call]) -> Notice:
    """What a call in ``content`` is: the same call told twice, or one that is not run."""
    call_id = _text(part.get("id", part.get("toolCallId", part.get("call_id"))))
    tool = part.get("name", part.get("toolName"))
    given = next((part[key] for key in ("input", "args", "arguments") if key in part), None)
    call = by_id.get(call_id)
    shown = quoted(call_id)
    if call is None:
        text = f"The content holds call {shown}, which tool_calls does not. It is kept, not run."
        return Notice("unread_call", text)
    if call.tool == tool and call.args == parse(given).args:
        text = f"Call {shown} stands in tool_calls and again in the content. It is one call."
        return Notice("doubled_mention", text, call=call_id)
    text = f"The content tells call {shown} otherwise than tool_calls. What tool_calls says counts."
    return Notice("doubled_mention", text, call=call_id)


_EMPTY_CALL = Call(0, "", "")
_EMPTY_TURN = Turn("", (), NAME)
FORMAT = Format(
    name=NAME,
    about="a message with a role and tool_calls, a response with choices, or a list of messages",
    recognise=_recognise,
    read=_read,
    write=write,
    id_rule=ID_RULE,
)
