"""Writes a turn and its outcomes as Gemini contents (spec 3.1).

One content with exactly one ``functionResponse`` part a call, in call order, and nothing else: the
API counts the parts against the calls, so that a picture beside them is an answer too many.
Pictures and texts follow in a content of their own. Pictures inside a
``functionResponse`` were the alternative, but models before Gemini 3 refuse them.

The result is text under ``output``, or ``error``. A JSON value was the alternative, but the API
holds numbers as doubles, and long ids in a result would come out changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.formats.base import Messages
from toolflow.formats.ids import ANY_TEXT
from toolflow.formats.layout import Keys, of_blocks
from toolflow.formats.plain import either, plain
from toolflow.formats.results import is_error, labelled_pictures, result_text
from toolflow.formats.tool_names import NameRule
from toolflow.model import Call, Outcome, Turn

ID_RULE = ANY_TEXT
# The API's rule for the names of functions.
_NAMES = NameRule(
    re.compile("[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"), re.compile("[^a-zA-Z0-9_.:-]"), 128
)
_SHOWN = frozenset({"image/png", "image/jpeg", "image/webp"})
_SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "mimeType": "mime_type",
}
_UNSENT = frozenset({"partialArgs", "partial_args", "willContinue", "will_continue"})


def write(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> Messages:
    """Write a turn (see `toolflow.formats.write_turn`)."""
    parts = _parts(turn)
    snake = any("function_call" in part for part in parts)
    sent = _sent_ids(turn, parts, ids)
    answers = [_answer(*each) for each in zip(turn.calls, sent, outcomes, strict=True)]
    more: list[dict[str, Any]] = []
    for label, images in labelled_pictures(turn, outcomes, ids, _valid_name, shown=_SHOWN):
        more.append({"text": label})
        more += [_picture(image.media_type, image.data) for image in images]
    more += [{"text": text} for text in texts]
    results = [{"role": "user", "parts": found} for found in (answers, more) if found]
    written = [_renamed(content) for content in results] if snake else results
    return [_write_message(turn, parts, sent)], written


def _parts(turn: Turn) -> list[dict[str, Any]]:
    if turn.message is None:
        return []
    parts = turn.message.get("parts")
    return parts if isinstance(parts, list) else []


def _sent_ids(turn: Turn, parts: Sequence[dict[str, Any]], ids: Sequence[str]) -> list[str | None]:
    """The id that goes out with each call; ``None`` for calls that came without one."""
    if turn.message is None:
        return [call_id if turn.carries_ids else None for call_id in ids]
    bodies = [plain(either(part, "functionCall", "function_call")) for part in parts]
    given = [bool(body.get("id")) for body in bodies if body is not None]
    return [call_id if has else None for call_id, has in zip(ids, given, strict=True)]


def _answer(call: Call, call_id: str | None, outcome: Outcome) -> dict[str, Any]:
    text = result_text(outcome, _SHOWN)
    if not text and outcome.images:
        text = "The picture follows after the results."
    body: dict[str, Any] = {} if call_id is None else {"id": call_id}
    body["name"] = _valid_name(call.tool)
    body["response"] = {"error" if is_error(outcome) else "output": text}
    return {"functionResponse": body}


def _picture(media_type: str, data: str) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media_type, "data": data}}


def _renamed(value: Any) -> Any:
    """The same in the spelling of the Python SDK; only keys of our own making are renamed."""
    if isinstance(value, dict):
        return {_SNAKE.get(key, key): _renamed(item) for key, item in value.items()}
    return [_renamed(item) for item in value] if isinstance(value, list) else value


def _write_message(
    turn: Turn, parts: list[dict[str, Any]], sent: Sequence[str | None]
) -> dict[str, Any]:
    pairs = list(zip(turn.calls, sent, strict=True))
    if turn.message is None:
        bodies = [_body({"args": dict(call.args)}, call, call_id) for call, call_id in pairs]
        return {"role": "model", "parts": [{"functionCall": body} for body in bodies]}
    left = iter(pairs)
    mended = [_mended(part, *next(left)) if _is_call(part) else part for part in parts]
    if all(fresh is old for fresh, old in zip(mended, parts, strict=True)):
        return dict(turn.message)
    return {**turn.message, "parts": mended}


def _is_call(part: dict[str, Any]) -> bool:
    return either(part, "functionCall", "function_call") is not None


def _mended(part: dict[str, Any], call: Call, call_id: str | None) -> dict[str, Any]:
    """A call that the API takes, with an object as arguments; the same part if it is one."""
    key = "functionCall" if part.get("functionCall") is not None else "function_call"
    given = plain(part[key])
    whole = call.problem is None and isinstance(given.get("args", {}), Mapping)
    if whole and call_id in (None, call.id) and _NAMES.takes(call.tool):
        return part
    body = {name: value for name, value in given.items() if name not in _UNSENT}
    if not whole:
        body["args"] = dict(call.args)
    return {**part, key: _body(body, call, call_id)}


def _body(body: Mapping[str, Any], call: Call, call_id: str | None) -> dict[str, Any]:
    own = {} if call_id is None else {"id": call_id}
    return {**body, **own, "name": _valid_name(call.tool)}


def _valid_name(name: str) -> str:
    mended = _NAMES.valid(name)
    return mended if _NAMES.takes(mended) else f"_{mended}"[:128]


def _id_keys(part: Any) -> Keys | None:
    if not isinstance(part, dict):
        return None
    name = "functionResponse" if part.get("functionResponse") is not None else "function_response"
    return (name, "id") if isinstance(part.get(name), dict) else None


LAYOUT = of_blocks("parts", _id_keys, lambda text: {"text": text}, alone=True)
