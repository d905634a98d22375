"""Writes a turn and its outcomes as Chat Completions messages (spec 3.1).

One ``tool`` message a call, in call order; pictures stand after all of them, in one user message
that says which call each belongs to, since a provider refuses anything between the results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.formats import ollama
from toolflow.formats.base import IdRule, Messages
from toolflow.formats.ids import ANY_TEXT, SURROGATE
from toolflow.formats.plain import plain
from toolflow.formats.tool_messages import NAMES, call_block, mended_block, tool_messages
from toolflow.model import Call, Outcome, Turn

# The API's own limit: "string too long. Expected a string with maximum length 40".
ID_RULE = IdRule(re.compile("[^\ud800-\udfff]+"), SURROGATE, 40)
# Mistral's: "Tool call id has to be a-z, A-Z, 0-9, with a length of 9". It shows in the ids.
_MISTRAL = IdRule(re.compile("[a-zA-Z0-9]{9}"), re.compile("[^a-zA-Z0-9]"), 9, 9, "0")
# Ids of vLLM and of Kimi, longer than OpenAI takes them; whoever gave them takes them back.
_LONGER = re.compile(r"chatcmpl-tool-[0-9a-f]{32}|functions\.[A-Za-z0-9_.-]+:[0-9]+")


def id_rule_of(ids: Sequence[str]) -> IdRule:
    """The rule for a turn with these ids: another server's where every id that is there is its.

    Args:
        ids: The ids of a turn, as read; empty ones tell nothing.
    """
    told = [name for name in ids if name]
    if told and all(_MISTRAL.legal.fullmatch(name) for name in told):
        return _MISTRAL
    if told and all(_LONGER.fullmatch(name) for name in told):
        return ANY_TEXT
    return ID_RULE


def write(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> Messages:
    """Write a turn (see `toolflow.formats.write_turn`)."""
    if not turn.carries_ids:
        names = [NAMES.valid(call.tool) for call in turn.calls]
        return [_write_message(turn, ids)], ollama.results(turn.calls, names, outcomes, texts)
    results = tool_messages(turn, outcomes, ids, texts)
    return [_write_message(turn, ids)], results


def _write_message(turn: Turn, ids: Sequence[str]) -> dict[str, Any]:
    if turn.message is None and not turn.carries_ids:
        made = [ollama.block(call, NAMES.valid(call.tool)) for call in turn.calls]
        return {"role": "assistant", "content": "", "tool_calls": made}
    if turn.message is None:
        blocks = [call_block(call, call_id) for call, call_id in zip(turn.calls, ids, strict=True)]
        return {"role": "assistant", "content": None, "tool_calls": blocks}
    message = dict(turn.message)
    if turn.calls:
        pairs = zip(turn.calls, ids, strict=True)
        is_mistral = id_rule_of([call.id for call in turn.calls]) is _MISTRAL
        mended = [
            _mended(block, call, call_id, objects=is_mistral)
            if turn.carries_ids
            else _mended_bare(block, call)
            for block, (call, call_id) in zip(message["tool_calls"], pairs, strict=True)
        ]
        message["tool_calls"] = mended
    return message


def _mended(block: dict[str, Any], call: Call, call_id: str, *, objects: bool) -> dict[str, Any]:
    """A call that the provider takes; the same block if it is one.

    Args:
        block: The call as it was read.
        call: The call.
        call_id: Its id, as it is written.
        objects: Whether the provider takes objects as arguments, beside text.
    """
    part = "custom" if call.extra.get("type") == "custom" else "function"
    given = plain(block[part]).get("arguments")
    whole = part == "custom" or isinstance(given, str) or (objects and isinstance(given, Mapping))
    return mended_block(block, call, call_id, part=part, whole=whole)


def _mended_bare(block: dict[str, Any], call: Call) -> dict[str, Any]:
    """A call of a server that gives no ids, and objects as arguments."""
    body = plain(block["function"])
    whole = call.problem is None and isinstance(body.get("arguments"), Mapping)
    if whole and NAMES.takes(call.tool):
        return block
    given = body["arguments"] if whole else dict(call.args)
    return {**block, "function": {**body, "name": NAMES.valid(call.tool), "arguments": given}}
