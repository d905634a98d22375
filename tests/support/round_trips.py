"""Read, write, read: what has to be the same (see `same_again`)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from toolflow.formats import FORMATS, write_turn, written_ids
from toolflow.formats.base import Answer
from toolflow.formats.registry import read_all
from toolflow.formats.results import result_text
from toolflow.model import Call, Outcome, Turn

_TAKEN_BY_ALL = re.compile("[a-zA-Z_][a-zA-Z0-9_-]{0,62}")
"""Names of tools that every provider takes as they are."""
_ARGS_AS_TEXT = frozenset({"openai-chat", "openai-responses", "cohere", "calls"})
_TELL_ERRORS = frozenset({"anthropic", "bedrock", "gemini", "mcp"})


def same_again(turn: Turn, outcomes: Sequence[Outcome]) -> tuple[list[Any], list[Any]]:
    """Write a turn with its outcomes, read that, and hold it against the turn.

    The same must be, call by call and in order:

    * the id: the one of `written_ids`, which is the turn's own where the provider takes it and no
      other call has it;
    * the tool: where every provider takes the name as it is; else it is the same from the second
      reading on;
    * the arguments; of a call whose arguments cannot be used the text and the problem, in formats
      that hold arguments as text. The others take only an object: ``{}`` stands there;
    * everything else of the call (``extra``) and the message, where nothing had to be rewritten;
      a log with a form of its own, which no provider takes, keeps the rest in ``Turn.extra``.

    Written again, the turn that was read gives the same bytes. Read as a conversation, what was
    written has one result for each call, in call order, under its id, with the text that the model
    is to read, and marked as an error where the format tells that.

    Returns:
        What was written: the assistant message and the messages of the results.
    """
    assistant, results = write_turn(turn, outcomes)
    again = read_back(turn.format, assistant)
    ids = written_ids(turn)
    assert [call.id for call in again.calls] == list(ids)
    for call, other in zip(turn.calls, again.calls, strict=True):
        _same_call(turn.format, call, other)
    if not _rewritten(turn, ids):
        assert again.message == turn.message
        if "message" not in turn.extra:
            assert again.calls == turn.calls
    written = write_turn(again, outcomes)
    assert _bytes(written) == _bytes((assistant, results))
    third = read_back(turn.format, written[0])
    assert (third.calls, third.message) == (again.calls, again.message)
    _same_results(again, assistant, results, outcomes)
    return assistant, results


def read_back(form: str, assistant: list[Any]) -> Turn:
    """The turn of what was written."""
    (turn,) = read_all(assistant if form == "openai-responses" else assistant[0], form, None)
    return turn


def _same_call(form: str, call: Call, other: Call) -> None:
    if _TAKEN_BY_ALL.fullmatch(call.tool):
        assert other.tool == call.tool
    if call.problem is None:
        assert (dict(other.args), other.problem) == (dict(call.args), None)
    elif form in _ARGS_AS_TEXT and call.raw:
        assert (other.raw, other.problem) == (call.raw, call.problem)
    else:
        assert (dict(other.args), other.problem) == ({}, None)


def _rewritten(turn: Turn, ids: Sequence[str]) -> bool:
    """Whether anything of the message may have had to be changed for the provider."""
    if turn.message is None or [call.id for call in turn.calls] != list(ids):
        return True
    kind = str if turn.format in _ARGS_AS_TEXT else dict
    return any(
        call.problem is not None or not _TAKEN_BY_ALL.fullmatch(call.tool) for call in turn.calls
    ) or not all(isinstance(given, kind) for given in _given(turn.message))


def _given(message: Any) -> list[Any]:
    """The arguments of the calls of a message, in the provider's own form."""
    items = message if isinstance(message, list) else [message]
    found: list[Any] = []
    for item in items:
        inner = [*item.get("tool_calls", ()), *item.get("parts", ())]
        content = item.get("content")
        inner += content if isinstance(content, list) else []
        for block in (item, *inner):
            for body in (block, *(v for v in block.values() if isinstance(v, dict))):
                if {"name", "toolUseId"} & body.keys():
                    found += [body[key] for key in ("arguments", "args", "input") if key in body]
    return found


def _bytes(written: tuple[list[Any], list[Any]]) -> bytes:
    return json.dumps(written, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")


def _same_results(
    turn: Turn, assistant: list[Any], results: list[Any], outcomes: Sequence[Outcome]
) -> None:
    steps = FORMATS[turn.format].steps
    if steps is None:  # plain calls
        (whole,) = results
        assert [row["id"] for row in whole["results"]] == [call.id for call in turn.calls]
        assert [row["status"] for row in whole["results"]] == [o.status for o in outcomes]
        return
    found = list(steps([*assistant, *results]))
    answers = [step for step in found if isinstance(step, Answer)]
    assert [answer.call_id for answer in answers] == [call.id for call in turn.calls]
    for answer, outcome in zip(answers, outcomes, strict=True):
        if turn.format in _TELL_ERRORS:
            assert answer.outcome.ok == (outcome.status in ("ok", "running"))
        text = result_text(outcome)
        if text.strip() and not outcome.images and _is_told_as_text(turn, answer):
            assert answer.outcome.text == text


def _is_told_as_text(turn: Turn, answer: Answer) -> bool:
    """Whether the result of a call is text; those of some tools of Responses have other forms."""
    if turn.format != "openai-responses":
        return True
    kinds = {call.id: call.extra.get("type", "function_call") for call in turn.calls}
    return kinds[answer.call_id] in ("function_call", "custom_tool_call")
