"""Writes a turn and its outcomes as Cohere v2 messages (spec 3.1).

One ``tool`` message a call, in call order; pictures stand after all of them in a user message,
since a result holds text and documents only. The result is text, not a document: documents are
cited by the model, and an error is nothing to cite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolflow.formats.base import Messages
from toolflow.formats.ids import ANY_TEXT
from toolflow.formats.plain import plain
from toolflow.formats.tool_messages import call_block, mended_block, tool_messages
from toolflow.model import Call, Outcome, Turn

ID_RULE = ANY_TEXT


def write(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> Messages:
    """Write a turn (see `toolflow.formats.write_turn`)."""
    results = tool_messages(turn, outcomes, ids, texts)
    return [_write_message(turn, ids)], results


def _write_message(turn: Turn, ids: Sequence[str]) -> dict[str, Any]:
    pairs = list(zip(turn.calls, ids, strict=True))
    if turn.message is None:
        return {"role": "assistant", "tool_calls": [call_block(*pair) for pair in pairs]}
    if not turn.calls:
        return dict(turn.message)
    blocks = zip(turn.message["tool_calls"], pairs, strict=True)
    return {**turn.message, "tool_calls": [_mended(block, *pair) for block, pair in blocks]}


def _mended(block: dict[str, Any], call: Call, call_id: str) -> dict[str, Any]:
    whole = isinstance(plain(block["function"]).get("arguments"), str)
    return mended_block(block, call, call_id, whole=whole)
