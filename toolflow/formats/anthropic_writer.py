"""Writes a turn and its outcomes as Anthropic messages (spec 3.1).

One user message: the ``tool_result`` blocks first and in call order, then everything else. A
result marked as an error may hold text only, so its pictures stand behind all results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.formats.base import IdRule, Messages
from toolflow.formats.layout import Keys, of_blocks
from toolflow.formats.results import is_error, labelled_pictures, result_text, shown_images
from toolflow.formats.tool_names import word_names
from toolflow.model import Call, Image, Outcome, Turn

# The API's own pattern for `tool_use.id`; no limit of length is known.
ID_RULE = IdRule(re.compile("[a-zA-Z0-9_-]+"), re.compile("[^a-zA-Z0-9_-]"))
_NAMES = word_names(128)


def write(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> Messages:
    """Write a turn (see `toolflow.formats.write_turn`)."""
    content = [_result(call_id, outcome) for call_id, outcome in zip(ids, outcomes, strict=True)]
    apart = labelled_pictures(turn, outcomes, ids, _NAMES.valid, errors_only=True)
    for label, images in apart:
        content += [_text_block(label), *map(_picture, images)]
    content += [_text_block(text) for text in texts if text.strip()]
    results = [{"role": "user", "content": content}] if content else []
    return [_write_message(turn, ids)], results


def _result(call_id: str, outcome: Outcome) -> dict[str, Any]:
    text = result_text(outcome)
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    if is_error(outcome):
        block["is_error"] = True
    elif outcome.images and (images := shown_images(outcome)):
        said = [_text_block(text)] if text.strip() else []
        block["content"] = [*said, *map(_picture, images)]
    return block


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _picture(image: Image) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _write_message(turn: Turn, ids: Sequence[str]) -> dict[str, Any]:
    if turn.message is None:
        pairs = zip(turn.calls, ids, strict=True)
        blocks = [_mended({"type": "tool_use"}, call, call_id) for call, call_id in pairs]
        return {"role": "assistant", "content": blocks}
    message = dict(turn.message)
    content = message.get("content")
    if isinstance(content, list) and turn.calls:
        pairs = zip(turn.calls, ids, strict=True)
        message["content"] = [
            _mended(block, *next(pairs)) if block.get("type") == "tool_use" else block
            for block in content
        ]
    return message


def _mended(block: dict[str, Any], call: Call, call_id: str) -> dict[str, Any]:
    """A ``tool_use`` block that the API takes, with an object as input; the same if it is one."""
    whole = call.problem is None and isinstance(block.get("input"), Mapping)
    if whole and call.id == call_id and _NAMES.takes(call.tool):
        return block
    given = block["input"] if whole else dict(call.args)
    return {**block, "id": call_id, "name": _NAMES.valid(call.tool), "input": given}


def _id_keys(block: Any) -> Keys | None:
    is_result = isinstance(block, dict) and block.get("type") == "tool_result"
    return ("tool_use_id",) if is_result else None


LAYOUT = of_blocks("content", _id_keys, _text_block)
