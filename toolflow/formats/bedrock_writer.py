"""Writes a turn and its outcomes as Bedrock Converse messages (spec 3.1).

One user message: the ``toolResult`` blocks first and in call order, then everything else. Pictures
stand inside the result; those of an error stand behind all results, since the models that take a
``status`` take only text in an error. A text without a character that is not blank is refused.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.errors import UsageError
from toolflow.formats.base import IdRule, Messages
from toolflow.formats.layout import Keys, of_blocks
from toolflow.formats.plain import plain
from toolflow.formats.results import is_error, labelled_pictures, result_text, shown_images
from toolflow.formats.tool_names import word_names
from toolflow.model import Call, Image, Outcome, Turn

# The patterns and lengths of `ToolUseId` and `ToolName` in the service's model.
ID_RULE = IdRule(re.compile("[a-zA-Z0-9_.:-]+"), re.compile("[^a-zA-Z0-9_.:-]"), 64)
_NAMES = word_names(64)
_NO_TEXT = "(no output)"
_OPAQUE = frozenset({"toolUse", "json"})
"""Blocks whose content is the model's or the tool's own: nothing in it is a blob."""
DEPTH = 16
"""How deep in a message blobs are looked for; the service's model has none below level ten."""


def write(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> Messages:
    """Write a turn (see `toolflow.formats.write_turn`)."""
    content = [_result(call_id, outcome) for call_id, outcome in zip(ids, outcomes, strict=True)]
    apart = labelled_pictures(turn, outcomes, ids, _NAMES.valid, errors_only=True)
    for label, images in apart:
        content += [{"text": label}, *map(_picture, images)]
    content += [{"text": text} for text in texts if text.strip()]
    results = [{"role": "user", "content": content}] if content else []
    return [_write_message(turn, ids)], results


def with_bytes(messages: Sequence[Any]) -> list[Any]:
    """Make the form that boto3 takes: bytes where the wire has base64 text.

    boto3 would take the text too, but encode it once more, and the picture would be lost.

    Args:
        messages: Messages in the form of the wire, as they are read and written here.

    Returns:
        The same messages, fresh, with bytes in pictures, documents and redacted reasoning.

    Raises:
        UsageError: If there is no base64 where it has to be.
    """
    return [_blobs(message) for message in messages]


def _blobs(value: Any, key: str = "", depth: int = DEPTH) -> Any:
    if isinstance(value, list) and depth:
        return [_blobs(item, "", depth - 1) for item in value]
    if not isinstance(value, dict) or not depth or key in _OPAQUE:
        return value
    fresh = {name: _blobs(item, name, depth - 1) for name, item in value.items()}
    for name in ("redactedContent", "bytes" if key == "source" else ""):
        if name in fresh:
            fresh[name] = _decoded(fresh[name])
    return fresh


def _decoded(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UsageError(f"A picture or document is no base64 ({error}). Use base64.") from None


def _result(call_id: str, outcome: Outcome) -> dict[str, Any]:
    text = result_text(outcome)
    content: list[dict[str, Any]] = [{"text": text}] if text.strip() else []
    body: dict[str, Any] = {"toolUseId": call_id, "content": content}
    if is_error(outcome):
        body["status"] = "error"
    else:
        content += map(_picture, shown_images(outcome))
    if not content:
        content.append({"text": _NO_TEXT})
    return {"toolResult": body}


def _picture(image: Image) -> dict[str, Any]:
    kind = image.media_type.removeprefix("image/")
    return {"image": {"format": kind, "source": {"bytes": image.data}}}


def _write_message(turn: Turn, ids: Sequence[str]) -> dict[str, Any]:
    pairs = list(zip(turn.calls, ids, strict=True))
    if turn.message is None:
        blocks = [{"toolUse": _body({}, call, call_id)} for call, call_id in pairs]
        return {"role": "assistant", "content": blocks}
    if not turn.calls:
        return dict(turn.message)
    left = iter(pairs)
    content = [
        _mended(block, *next(left)) if _is_call(block) else block
        for block in turn.message["content"]
    ]
    return {**turn.message, "content": content}


def _is_call(block: dict[str, Any]) -> bool:
    return "toolUse" in block and plain(block["toolUse"]).get("type") != "server_tool_use"


def _mended(block: dict[str, Any], call: Call, call_id: str) -> dict[str, Any]:
    """A call that the API takes, with an object as input; the same block if it is one."""
    body = plain(block["toolUse"])
    whole = call.problem is None and isinstance(body.get("input"), Mapping)
    if whole and call.id == call_id and _NAMES.takes(call.tool):
        return block
    return {**block, "toolUse": _body(body, call, call_id)}


def _body(body: Mapping[str, Any], call: Call, call_id: str) -> dict[str, Any]:
    whole = call.problem is None and isinstance(body.get("input"), Mapping)
    given = body["input"] if whole else dict(call.args)
    return {**body, "toolUseId": call_id, "name": _NAMES.valid(call.tool), "input": given}


def _id_keys(block: Any) -> Keys | None:
    is_result = isinstance(block, dict) and isinstance(block.get("toolResult"), dict)
    return ("toolResult", "toolUseId") if is_result else None


LAYOUT = of_blocks("content", _id_keys, lambda text: {"text": text}, alternating=True)
