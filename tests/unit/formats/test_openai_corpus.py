"""Recorded messages and streams of the OpenAI family, read where they lie.

``INDEX.md`` of the recorded turns counts every call that a response holds, also those that the
provider ran itself; these are no calls of a turn here. Where the counts differ, that is why, and
the table says how many of them there are.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from cassettes import exchanges
from corpus import corpus_dir

from toolflow.formats import FORMATS, detect, read_document, read_turn, read_turns, write_turn
from toolflow.formats.base import Answer
from toolflow.model import Outcome, Turn


class Counts(NamedTuple):
    """Calls a turn, for the turns that INDEX.md counts: calls for the client, and server-side."""

    calls: list[int]
    server_side: list[int] = []
    notices: list[str] = []


CASSETTES = {
    "pydantic-test_temporal_agent_with_hitl_tool": Counts([2, 0]),
    # The fourth turn of the index is a call that the client itself put into the next request.
    "pydantic-test_deepseek_deferred_capability_with_thinking": Counts([1, 2, 0]),
    "pydantic-test_openai_responses_model_retry": Counts([2, 0]),
    "pydantic-test_openai_responses_model_builtin_tools_web_search": Counts([0], [6]),
    "pydantic-test_openai_native_tool_search_round_trip": Counts([1, 0], [1, 0]),
    "pydantic-test_live_tool_search_handoff_openai_to_anthropic": Counts([1, 0], [1, 0]),
    "pydantic-test_openai_responses_thinking_with_code_execution_tool_stream": Counts([0], [3]),
    "openllmetry-test_writer_streaming_chat_multiple_tool_call_requests_legacy": Counts([7]),
}
FILES = {
    "openai-shell-skills.1.json": Counts([0], [2]),
    "openai-mcp-tool-approval.1.json": Counts([0], [0], ["approval_request"]),
    "openai-local-shell-tool.1.json": Counts([1]),
    "openai-tool-search.1.chunks.txt": Counts([1], [1]),
    "mistral-incremental-tool-call.chunks.txt": Counts([1]),
    "anthropic-fallback-tool-call.sse": Counts([1]),
}
SERVER_CALLS = frozenset(
    {"web_search_call", "code_interpreter_call", "tool_search_call", "shell_call"}
)


def server_side(turn: Turn) -> int:
    if turn.format != "openai-responses":
        return 0
    return sum(item.get("type") in SERVER_CALLS for item in turn.message)


def said(response: Any) -> Turn:
    if isinstance(response, str):
        (turn,) = read_document(response, source="body")
        return turn
    return read_turn(response)


def check(turns: list[Turn], counts: Counts) -> None:
    assert [len(turn.calls) for turn in turns] == counts.calls
    assert [server_side(turn) for turn in turns] == (counts.server_side or [0] * len(turns))
    assert [notice.code for turn in turns for notice in turn.notices] == counts.notices
    for turn in turns:
        assert all(call.id and call.tool and call.problem is None for call in turn.calls)
        written_again(turn)


def written_again(turn: Turn) -> None:
    """What was read is written as it was read, and read again it is the same turn."""
    assistant, results = write_turn(turn, [Outcome("ok", "x")] * len(turn.calls))
    message = turn.message if turn.format == "openai-responses" else [turn.message]
    assert assistant == message
    assert len(results) == len(turn.calls)
    again = read_turn(
        assistant if turn.format == "openai-responses" else assistant[0], format=turn.format
    )
    assert (again.calls, again.message) == (turn.calls, turn.message)


@pytest.mark.parametrize("name", CASSETTES)
def test_a_cassette_holds_the_turns_that_its_index_counts(name):
    pairs = exchanges(corpus_dir("cassettes", f"{name}.yaml"))
    turns = [said(pair.response) for pair in pairs]

    check([turn for turn in turns if turn.format.startswith("openai")], CASSETTES[name])
    if len(turns) > len(CASSETTES[name].calls):  # the rest of the file is another provider's
        assert "handoff_openai_to_anthropic" in name
        assert [turn.format for turn in turns] == ["openai-responses"] * 2 + ["anthropic"] * 2


@pytest.mark.parametrize("name", CASSETTES)
def test_the_turns_of_a_cassette_come_back_in_its_next_request_with_their_results(name):
    pairs = exchanges(corpus_dir("cassettes", f"{name}.yaml"))
    before: list[Any] = []
    for pair in pairs:
        key = "input" if "input" in pair.request else "messages"
        form = detect(pair.request[key]) if before else "openai-chat"
        if form == "anthropic":
            break
        history = [
            turn
            for turn in read_turns(pair.request, format=form)
            if not turn.calls[0].id.startswith("auto_load_")
        ]
        assert [[(c.id, c.tool, c.args) for c in turn.calls] for turn in history] == before
        steps = list(FORMATS[form].steps(pair.request[key]))
        answered = [
            step.call_id
            for step in steps
            if isinstance(step, Answer) and not step.call_id.startswith("auto_load_")
        ]
        assert answered == [call_id for calls in before for call_id, _, _ in calls]
        turn = said(pair.response)
        if turn.calls:
            before.append([(call.id, call.tool, call.args) for call in turn.calls])


@pytest.mark.parametrize("name", FILES)
def test_a_response_or_stream_holds_the_calls_that_its_index_counts(name):
    path = corpus_dir("vercel", name)
    turns = list(read_document(path.read_bytes(), source=name))

    check(turns, FILES[name])


def test_a_stream_of_responses_is_the_response_of_its_last_event_also_without_it():
    pairs = exchanges(
        corpus_dir(
            "cassettes",
            "pydantic-test_openai_responses_thinking_with_code_execution_tool_stream.yaml",
        )
    )
    text = pairs[0].response
    whole = said(text)
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]

    assert whole.message == events[-1]["response"]["output"]
    (cut,) = read_document(json.dumps(events[:-1]), source="cut")
    assert cut.message == whole.message
    assert [notice.code for notice in cut.notices] == ["no_end"]


@pytest.mark.parametrize(
    ("name", "turns", "calls"),
    [("openhands-sdk-fncall-messages.json", 6, 6), ("openhands-sdk-litellm-log.json", 6, 6)],
)
def test_lists_of_chat_messages_hold_the_turns_that_their_index_counts(name, turns, calls):
    value = json.loads(corpus_dir("trajectories", name).read_text(encoding="utf-8"))
    found = list(read_turns(value))
    if "response" in value:  # a log of one exchange: the last turn is in the response
        found.append(read_turn(value["response"]))

    assert len(found) == turns
    assert sum(len(turn.calls) for turn in found) == calls
    assert all(turn.format == "openai-chat" for turn in found)
    for turn in found:
        written_again(turn)
