"""Gemini ``generateContent``: ``functionCall`` parts, one ``functionResponse`` part back for each.

Source: the published reference of ``Content``, ``Part`` and ``FunctionCall``, in both spellings:
``functionCall`` as in JSON, ``function_call`` as the Python SDK dumps it. Read are a content of the
model, a whole response, a list of either, and the responses of a stream. Most calls have no id:
they get one from their place (spec 3.4). A response without an id answers the first open call of
its name, which is the provider's own rule.

What the provider runs itself (``executableCode``, ``toolCall``) stays in the message and is no call
of the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toolflow.formats import gemini_stream
from toolflow.formats.arguments import Arguments, parse
from toolflow.formats.base import Answer, Flaw, Format, Path, flaw, quoted, text_at
from toolflow.formats.gemini_args import UnfitError, assembled
from toolflow.formats.gemini_results import Pairs, outcome_of
from toolflow.formats.gemini_writer import ID_RULE, LAYOUT, write
from toolflow.formats.history import Marks, read_messages, read_steps
from toolflow.formats.ids import made_up_ids
from toolflow.formats.notices import ending, more_choices
from toolflow.formats.plain import either, plain, plain_fields
from toolflow.model import Call, Notice, Outcome, Turn
from toolflow.model.turn import EMPTY

NAME = "gemini"
_PARTS = frozenset(
    {
        "text",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
        "function_call",
        "function_response",
        "inline_data",
        "file_data",
        "executable_code",
        "code_execution_result",
        "tool_call",
        "tool_response",
    }
)
_NO_PARTS = frozenset({"type", "kind"})  # parts of other formats say so what they are
_BODY_FIELDS = frozenset({"id", "name", "args"})
_FAILED = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
    }
)
_EMPTY_TURN = Turn("", (), NAME)
_USE = "Use a content or a response: an object with parts or candidates."


class _Found(NamedTuple):
    """A part with a call, the call in it, and the place of the call."""

    part: dict[str, Any]
    body: dict[str, Any]
    path: Path


def _recognise(data: Any) -> bool:
    items = map(plain, data) if isinstance(data, list) else (data,)
    return any(_is_content(item) or _is_response(item) for item in items)


def _is_response(data: Any) -> bool:
    found = gemini_stream.candidates(data)
    if not found:
        return found is not None and ("promptFeedback" in data or "prompt_feedback" in data)
    return all(isinstance(plain(item), Mapping) for item in found)


def _is_content(data: Any) -> bool:
    """Whether it is a content: parts that say by their keys what they are, and have no type."""
    parts = data.get("parts") if isinstance(data, dict) else None
    if not isinstance(parts, list | tuple) or "content" in data:
        return False
    if data.get("role") == "model":
        return True
    shapes = [plain(part) for part in parts]
    return bool(shapes) and all(
        isinstance(part, dict)
        and not part.keys().isdisjoint(_PARTS)
        and part.keys().isdisjoint(_NO_PARTS)
        for part in shapes
    )


def _read(data: Any) -> list[Turn]:
    reader = _Reader()
    return read_messages(data, reader.read, _is_models, reader.marks, use=_USE, one_message=True)


def _steps(items: Sequence[Any]) -> Iterator[Turn | Answer]:
    reader = _Reader()
    return read_steps(items, reader.read, _is_models, reader.results, use=_USE)


class _Reader:
    """Reads contents in their order: which call a response answers depends on those before it."""

    def __init__(self) -> None:
        self._pairs = Pairs(_EMPTY_TURN)

    def read(self, data: Any, path: Path, flaws: list[Flaw]) -> Turn:
        turn = _read_one(data, path, flaws)
        self._pairs = Pairs(turn)
        return turn

    def marks(self, content: dict[str, Any]) -> Marks:
        return [self._pairs.call_id(plain(part)) for part in _parts(content)]

    def results(self, content: dict[str, Any]) -> Iterator[tuple[str, Outcome]]:
        for part in map(plain, _parts(content)):
            call_id = self._pairs.call_id(part)
            if call_id is not None:
                yield call_id, outcome_of(part)


def _is_models(item: dict[str, Any]) -> bool:
    return item.get("role") == "model" or "candidates" in item


def _parts(item: dict[str, Any]) -> Sequence[Any]:
    parts = item.get("parts")
    return parts if isinstance(parts, list | tuple) else (None,)


def _read_one(data: Any, path: Path, flaws: list[Flaw]) -> Turn:
    """A turn of one content or one whole response; what cannot be read is put to the flaws."""
    data = plain(data)
    if not isinstance(data, dict):
        flaws.append(flaw(path, data, _USE))
        return _EMPTY_TURN
    if "candidates" in data:
        return _read_response(plain_fields(data, "candidates"), path, flaws)
    if data.get("role", "model") != "model":
        flaws.append(flaw((*path, "role"), data.get("role"), "Use a content of the model."))
        return _EMPTY_TURN
    return _read_content(data, path, flaws)


def _read_response(data: dict[str, Any], path: Path, flaws: list[Flaw]) -> Turn:
    found = data["candidates"]
    place: Path = (*path, "candidates")
    if not isinstance(found, list) or not found:
        help_text = "Use a list with at least one; a prompt that was blocked has none."
        flaws.append(flaw(place, found, help_text))
        return _EMPTY_TURN
    first, place = found[0], (*place, 0)
    if not isinstance(first, dict):
        flaws.append(flaw(place, first, "Use an object with content."))
        return _EMPTY_TURN
    content = plain(first.get("content"))
    if content is None:
        content = {}
    if not isinstance(content, dict):
        flaws.append(flaw((*place, "content"), content, "Use an object with parts."))
        return _EMPTY_TURN
    turn = _read_content(content, (*place, "content"), flaws)
    rest = {key: value for key, value in first.items() if key != "content"}
    message_id = either(data, "responseId", "response_id")
    return replace(
        turn,
        message_id=message_id if isinstance(message_id, str) else None,
        notices=(
            *more_choices(len(found), "candidates"),
            *turn.notices,
            *_ending(rest, turn.calls),
        ),
        extra={**data, "candidates": [rest, *found[1:]]},
    )


def _ending(candidate: dict[str, Any], calls: tuple[Call, ...]) -> Iterator[Notice]:
    ended = either(candidate, "finishReason", "finish_reason")
    if isinstance(ended, str) and ended in _FAILED:
        told = either(candidate, "finishMessage", "finish_message")
        why = f" It says: {quoted(told)}." if isinstance(told, str) else ""
        yield Notice("malformed_call", f"The response ended with {ended!r}: a call was lost.{why}")
    yield from ending(ended, calls, at_limit={"MAX_TOKENS"})


def _read_content(data: dict[str, Any], path: Path, flaws: list[Flaw]) -> Turn:
    whole = plain_fields(data, "parts")
    if "candidates" in whole:  # it would be taken for a response when it is read again
        flaws.append(flaw(path, data, "Use an object with parts."))
        return _EMPTY_TURN
    if whole.get("role") not in (None, "", "model"):
        flaws.append(flaw((*path, "role"), whole["role"], "Use a content of the model."))
        return _EMPTY_TURN
    parts = whole.get("parts")
    if parts is None:
        parts = []
    if not isinstance(parts, list):
        flaws.append(flaw((*path, "parts"), parts, "Use a list of parts."))
        parts = []
    found: list[_Found] = []
    for index, part in enumerate(parts):
        place: Path = (*path, "parts", index)
        if not isinstance(part, dict):
            flaws.append(flaw(place, part, "Use a part: an object."))
            continue
        body = plain(either(part, "functionCall", "function_call"))
        if isinstance(body, dict):
            found.append(_Found(part, body, (*place, "functionCall")))
        elif body is not None:
            flaws.append(flaw((*place, "functionCall"), body, "Use an object with name and args."))
    given = [_checked(each, "id", flaws) for each in found]
    ids = made_up_ids([name or None for name in given])
    calls = tuple([_call(index, ids[index], each, flaws) for index, each in enumerate(found)])
    right = whole.get("role") == "model" and "parts" in whole
    message = whole if right else _sendable(whole, parts)
    return Turn("", calls, NAME, message, carries_ids=not calls or any(given))


def _sendable(content: dict[str, Any], parts: list[Any]) -> dict[str, Any]:
    """The content as it may be sent back: responses sometimes leave the role out."""
    return {"role": "model", **content} | {"role": "model", "parts": parts}


def _call(index: int, call_id: str, found: _Found, flaws: list[Flaw]) -> Call:
    name = _checked(found, "name", flaws)
    extra = {k: v for k, v in found.part.items() if k not in ("functionCall", "function_call")}
    more = {key: value for key, value in found.body.items() if key not in _BODY_FIELDS}
    if more:
        extra["functionCall"] = more
    return Call(index, call_id, name, *_arguments(found.body), extra or EMPTY)


def _arguments(body: dict[str, Any]) -> Arguments:
    """The arguments of a call; those of a stream that did not fit together are a problem."""
    pieces = plain(either(body, "partialArgs", "partial_args"))
    if pieces is None and either(body, "willContinue", "will_continue") is not True:
        return parse(body.get("args"))
    try:
        assembled(pieces if isinstance(pieces, list) else [])
        problem = "The arguments are pieces of a stream. Give all of its chunks."
    except UnfitError as error:
        problem = str(error)
    return Arguments(EMPTY, parse(pieces).raw, problem)


def _checked(found: _Found, key: str, flaws: list[Flaw]) -> str:
    return text_at((*found.path, key), found.body.get(key), flaws)


FORMAT = Format(
    name=NAME,
    about="a content with parts such as functionCall, a response with candidates, or a list",
    recognise=_recognise,
    read=_read,
    write=write,
    id_rule=ID_RULE,
    is_chunk=gemini_stream.is_chunk,
    join=gemini_stream.join,
    split=gemini_stream.split,
    steps=_steps,
    layout=LAYOUT,
)
