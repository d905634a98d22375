"""Writes a turn and its outcomes as Cohere v2 messages (spec 3.1).

One ``tool`` message a call, in call order; pictures stand after all of them in a user message,
since a result holds text and documents only. The result is text, not a document: documents are
cited by the model, and an error is nothing to cite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from toolflow.formats.base import Messages
from toolflow.formats.ids import ANY_TEXT
from toolflow.formats.layout import Keys, of_messages
from toolflow.formats.plain import plain
from toolflow.formats.tool_messages import tool_messages
from toolflow.model import Call, Outcome, Turn

ID_RULE = ANY_TEXT
# No rule for names is published: only blanks and halves of characters are replaced.
_NAME = re.compile("[^\\s\ud800-\udfff]+")
_NAME_BAD = re.compile("[\\s\ud800-\udfff]")


def write(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> Messages:
    """Write a turn (see `toolflow.formats.write_turn`)."""
    results = tool_messages(turn, outcomes, ids, texts, _valid_name)
    return [_write_message(turn, ids)], results


def _write_message(turn: Turn, ids: Sequence[str]) -> dict[str, Any]:
    pairs = list(zip(turn.calls, ids, strict=True))
    if turn.message is None:
        return {"role": "assistant", "tool_calls": [_block(*pair) for pair in pairs]}
    if not turn.calls:
        return dict(turn.message)
    blocks = zip(turn.message["tool_calls"], pairs, strict=True)
    return {**turn.message, "tool_calls": [_mended(block, *pair) for block, pair in blocks]}


def _block(call: Call, call_id: str) -> dict[str, Any]:
    function = {"name": _valid_name(call.tool), "arguments": _arguments(call)}
    return {"id": call_id, "type": "function", "function": function}


def _mended(block: dict[str, Any], call: Call, call_id: str) -> dict[str, Any]:
    """A call that the provider takes, with text as arguments; the same block if it is one."""
    function = plain(block["function"])
    whole = isinstance(function.get("arguments"), str)
    if whole and call.id == call_id and _NAME.fullmatch(call.tool):
        return block
    function = {**function, "name": _valid_name(call.tool)}
    if not whole:
        function["arguments"] = _arguments(call)
    return {**block, "id": call_id, "function": function}


def _arguments(call: Call) -> str:
    return call.raw if call.raw is not None else json.dumps(call.args, ensure_ascii=False)


def _valid_name(name: str) -> str:
    return name if _NAME.fullmatch(name) else _NAME_BAD.sub("_", name.strip()) or "unnamed"


def _id_keys(message: Any) -> Keys | None:
    is_result = isinstance(message, dict) and message.get("role") == "tool"
    return ("tool_call_id",) if is_result else None


LAYOUT = of_messages(_id_keys)
