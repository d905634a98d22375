"""Every recorded log of pi, Codex, Copilot, Gemini CLI, ATIF and every cassette, against its index.

The index counts assistant messages; a recording holds those with calls of the client, and tells the
number of messages in its source. What is pinned here was counted by hand where it is not the
number of the index; each difference is explained in `DIFFERENCES`.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest
from corpus import corpus_dir
from corpus_index import Row, rows
from session_logs import codes

from toolflow.formats import read_turn, write_turn
from toolflow.formats.session import read_session
from toolflow.model import Outcome, Recording

FOLDERS = ("pi", "other-agents", "gemini-cli", "cassettes")


class Counts(NamedTuple):
    """What a log must give: turns that have calls, calls, and results of calls."""

    turns: int
    calls: int
    results: int


P = "cassettes/pydantic-test_"
Q = "cassettes/openllmetry-test_"
FILES = {
    "pi/large-session.jsonl": Counts(369, 391, 373),
    "other-agents/codex-small.jsonl": Counts(3, 4, 4),
    "other-agents/codex-polylogue.jsonl": Counts(0, 0, 0),
    "other-agents/copilot-small.jsonl": Counts(4, 4, 3),
    "other-agents/copilot-large.jsonl": Counts(1, 1, 1),
    "other-agents/hermes-atif-real-redacted.json": Counts(1, 4, 0),
    "gemini-cli/parallel-tools.responses": Counts(1, 5, 0),
    "gemini-cli/concurrency-limit.responses": Counts(1, 11, 0),
    "gemini-cli/memory.multi-function-call.responses": Counts(1, 3, 0),
    "gemini-cli/policy-headless-shell-denied.responses": Counts(1, 1, 0),
    "gemini-cli/hooks-system.input-validation.responses": Counts(1, 1, 0),
    f"{P}multiple_parallel_tool_calls.yaml": Counts(1, 4, 4),
    f"{P}mixed_tools_no_output.yaml": Counts(1, 2, 2),
    f"{P}mixed_tools_native_output.yaml": Counts(1, 2, 2),
    f"{P}strict_none_tool_basemodel_output.yaml": Counts(1, 2, 0),
    f"{P}anthropic_text_editor_code_execution_tool_stream.yaml": Counts(0, 0, 0),
    f"{P}anthropic_native_tool_search_streaming.yaml": Counts(1, 1, 1),
    f"{P}bedrock_mistral_two_tool_returns_images_accepted.yaml": Counts(1, 2, 2),
    f"{P}bedrock_model_with_code_execution_tool.yaml": Counts(2, 2, 1),
    f"{P}google_instructions_only_with_tool_calls.yaml": Counts(5, 7, 6),
    f"{P}temporal_agent_with_hitl_tool.yaml": Counts(1, 2, 2),
    f"{P}deepseek_deferred_capability_with_thinking.yaml": Counts(3, 4, 4),
    f"{P}openai_responses_model_retry.yaml": Counts(1, 2, 2),
    f"{P}openai_responses_model_builtin_tools_web_search.yaml": Counts(0, 0, 0),
    f"{P}openai_native_tool_search_round_trip.yaml": Counts(1, 1, 1),
    f"{P}live_tool_search_handoff_openai_to_anthropic.yaml": Counts(3, 3, 3),
    f"{P}openai_responses_thinking_with_code_execution_tool_stream.yaml": Counts(0, 0, 0),
    f"{Q}writer_streaming_chat_multiple_tool_call_requests_legacy.yaml": Counts(1, 7, 0),
    f"{Q}anthropic_tools_streaming_legacy.yaml": Counts(1, 2, 0),
}
DIFFERENCES = {  # file: messages, batches and largest where they are not those of the index
    # The runs of items that hold only what the provider ran itself (searches, pictures) are
    # messages of the model too: four of them.
    "other-agents/codex-small.jsonl": (8, 1, 2),
    # Of the next seven, the index counts calls that the provider runs itself as calls.
    f"{P}anthropic_text_editor_code_execution_tool_stream.yaml": (1, 0, 0),
    f"{P}anthropic_native_tool_search_streaming.yaml": (2, 0, 1),
    f"{P}bedrock_model_with_code_execution_tool.yaml": (2, 0, 1),
    f"{P}openai_responses_model_builtin_tools_web_search.yaml": (1, 0, 0),
    f"{P}openai_native_tool_search_round_trip.yaml": (2, 0, 1),
    f"{P}openai_responses_thinking_with_code_execution_tool_stream.yaml": (1, 0, 0),
    # Here also: the program has put one such call into the history that it sends to the second
    # provider, as a call of its own, with a result. That message is one more than the responses.
    f"{P}live_tool_search_handoff_openai_to_anthropic.yaml": (5, 0, 1),
    # The index counts only the messages with calls in the history of the first request; the one
    # that says "." is a message too.
    f"{P}bedrock_mistral_two_tool_returns_images_accepted.yaml": (3, 1, 2),
}


def index() -> dict[str, Row]:
    return {f"{each}/{name}": row for each in FOLDERS for name, row in rows(each).items()}


def read(name: str) -> Recording:
    return read_session(corpus_dir(*name.split("/")))


def test_the_index_and_this_table_name_the_same_files():
    assert set(index()) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_turns_calls_and_results_are_those_of_the_index(name):
    row = index()[name]

    recording = read(name)

    sizes = [len(turn.turn.calls) for turn in recording.turns]
    outcomes = [outcome for turn in recording.turns for outcome in turn.outcomes]
    found = (recording.source["messages"], sum(n >= 2 for n in sizes), max(sizes, default=0))
    assert found == DIFFERENCES.get(name, (row.turns, row.batches, row.largest))
    results = len(outcomes) - outcomes.count(None)
    assert Counts(len(sizes), sum(sizes), results) == FILES[name]
    assert codes(recording)["no_result"] == outcomes.count(None)


def test_every_difference_from_the_index_is_one():
    told = index()

    for name, found in DIFFERENCES.items():
        assert found != told[name][:3]


@pytest.mark.parametrize("name", FILES)
def test_each_turn_holds_together(name):
    for recorded in read(name).turns:
        turn = recorded.turn
        assert len(recorded.outcomes) == len(recorded.times) == len(turn.calls) > 0
        for times in recorded.times:
            if times.started is not None and times.settled is not None:
                assert 0 <= times.started <= times.settled
        again = read_turn(turn.message, format=turn.format)
        assert [(call.id, call.tool, call.args, call.problem) for call in again.calls] == [
            (call.id, call.tool, call.args, call.problem) for call in turn.calls
        ]
        outcomes = [outcome or Outcome("outcome_unknown") for outcome in recorded.outcomes]
        assistant, results = write_turn(turn, outcomes)
        assert assistant
        assert results


def statuses(name: str) -> Counter[str | None]:
    found = [outcome for turn in read(name).turns for outcome in turn.outcomes]
    return Counter(outcome.status if outcome else None for outcome in found)


def test_what_became_of_the_calls_of_pi_is_as_counted_by_hand():
    name = "pi/large-session.jsonl"
    odd = index()[name].odd

    # Lines 297 and 439 are commands that the user stopped; the other 17 errors are failures. No
    # result at all have the 16 edits of one message and one call each of two that were aborted.
    assert statuses(name) == {"ok": 354, "failed": 17, "aborted": 2, None: 18}
    assert odd["error results"] == 17 + 2
    assert odd["calls without result"] == 18
    recording = read(name)
    reasons = [n.message.split("; ")[1] for n in recording.notices if n.code == "no_result"]
    assert Counter(reason.split(" (")[0] for reason in reasons) == {
        "the message ended with 'error'": 16,
        "the message ended with 'aborted'": 2,
    }
    edits = next(turn.turn for turn in recording.turns if len(turn.turn.calls) == 16)
    assert {call.tool for call in edits.calls} == {"edit"}
    assert len({call.args["path"] for call in edits.calls}) == 1


def test_placeholder_ids_are_told_and_never_paired_with_a_guess():
    copilot = read("other-agents/copilot-small.jsonl")
    # Line 17 is a result with the placeholder before any call that has it. Lines 21 and 26 are for
    # the latest call before them, of the sub-agent and of the main agent; the last call has none.
    assert [turn.turn.source == "main" for turn in copilot.turns] == [True, False, True, True]
    assert [o.status if o else None for t in copilot.turns for o in t.outcomes] == [
        "ok",
        "failed",
        "failed",
        None,
    ]
    assert codes(copilot) == {"result_without_call": 1, "no_result": 1}

    codex = read("other-agents/codex-small.jsonl")
    # Line 28 stands before the calls with the placeholder at lines 103 and 114, whose results are
    # at 105 and 115.
    assert codes(codex) == {"result_without_call": 1}
    assert codex.notices[0].line == 28

    hermes = read("other-agents/hermes-atif-real-redacted.json")
    # All four calls of the step, and all four results, have the same id.
    assert codes(hermes) == {"doubled_id": 1, "no_result": 4}


def test_a_call_of_copilot_that_no_message_asked_for_is_told():
    # Line 14 begins call_2; no message before or after it holds that call.
    assert codes(read("other-agents/copilot-large.jsonl")) == {"unread_call": 1}


def test_results_of_cassettes_come_from_later_requests():
    texts = [
        outcome.text if outcome else None
        for turn in read(f"{P}google_instructions_only_with_tool_calls.yaml").turns
        for outcome in turn.outcomes
    ]
    # The provider gives no ids and the program makes some up: three calls at once, then one at a
    # time. The last one has no result, since no request follows.
    assert texts[-1] is None
    assert len(texts) == 7
    assert all(texts[:-1])


def test_facts_about_the_session_are_kept():
    pi = read("pi/large-session.jsonl").source
    assert (pi["cwd"], pi["model"]) == ("/Users/user/workspaces/pi-mono", "claude-sonnet-4-5")
    codex = read("other-agents/codex-small.jsonl").source
    assert (codex["cwd"], codex["version"], codex["model"]) == (
        "/tmp/repo",
        "0.146.0",
        "gpt-5.6-luna",
    )
    assert codex["compactions"] == 6
    copilot = read("other-agents/copilot-small.jsonl").source
    assert (copilot["cwd"], copilot["branch"], copilot["version"]) == (
        "/tmp/repo",
        "main",
        "1.0.77",
    )
