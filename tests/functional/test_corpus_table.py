"""One table over every recorded file: what ``toolflow import`` finds in it, held against its index.

A line of the table is a file, what it is found to be, and six numbers: messages of the model, turns
(messages with calls), turns with two calls or more, the most calls of a turn, calls, results; then
the oddities that are told, and in parentheses why the numbers are not those of the index, where
they are not. The index was made by other people's hands with rules of its own (see its head); the
reasons are in `REASONS`, and each must be needed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from corpus import corpus_dir
from corpus_index import Row, rows

from toolflow.cli import main
from toolflow.recording.importing import Imported, import_log

REASONS = {
    "server-calls": "The index counts calls that the provider runs itself. They are no calls of a"
    " turn: nobody has to run or to answer them. A turn of them alone is a message without calls.",
    "last-calls": "The index counts a call without a result only where something follows. Here"
    " every call without a result is told, also in a file that is nothing but a response.",
    "plain-messages": "The index leaves out some messages of the model that hold no calls: plain"
    " text beside block lists, runs of items that the provider ran itself, messages in a history.",
    "several-streams": "The file holds the streams of several messages, one after another. The"
    " index reads them as one; here each is a message.",
    "no-id": "The index pairs a call without an id with a result without an id. Here no id is no"
    " pair, so that both are told.",
    "placeholder-ids": "The file's maker has put one placeholder in the place of several ids. The"
    " index counts them as doubled; here results that fit no single call are told, not paired.",
}
CHANGES = {
    "server-calls": {"messages", "parallel", "largest", "no_result"},
    "last-calls": {"no_result"},
    "plain-messages": {"messages"},
    "several-streams": {"messages", "parallel", "largest"},
    "no-id": {"no_result", "result_without_call"},
    "placeholder-ids": {"no_result", "result_without_call"},
}
"""What each reason may change."""

TABLE = """
claude-code/mclaude-3cfce0ff.jsonl claude-code 92 84 64 10 290 290
claude-code/mclaude-21037e11.jsonl
    claude-code 140 123 37 4 172 162 broken_line=28 no_result=10 result_without_call=2
claude-code/mclaude-95f81cf4.jsonl claude-code 38 32 7 5 57 52 broken_line=13 no_result=5
claude-code/mclaude-343e3472.jsonl claude-code 20 14 6 4 25 25
claude-code/mclaude-f551142a.jsonl claude-code 49 31 13 3 48 42 broken_line=23 no_result=6
claude-code/episodic-large.jsonl claude-code 170 152 0 1 152 152
claude-code/episodic-tiny.jsonl claude-code 3 1 0 1 1 1
claude-code/episodic-medium.jsonl claude-code 0 0 0 0 0 0
claude-code/ccviewer-5c0375b4.jsonl claude-code 20 17 2 3 21 21
claude-code/ccviewer-1af7fc5e.jsonl claude-code 7 6 2 5 12 12
claude-code/cclog-todowrite_examples.jsonl claude-code 6 3 0 1 3 3
claude-code/cclog-representative_messages.jsonl claude-code 5 2 0 1 2 2
claude-code/agentsessions-claude-small.jsonl
    claude-code 5 3 0 1 3 1 no_result=2 repeated_line=3 result_without_call=2 (no-id)
claude-code/polylogue-normalization-main.jsonl claude-code 4 2 1 2 3 2 no_result=1 (plain-messages)
claude-code/action-sample-turns.json claude-code 4 3 0 1 3 3
pi/large-session.jsonl pi 453 369 4 16 391 373 cut_off=3 no_result=18
other-agents/codex-small.jsonl
    codex 8 3 1 2 4 4 result_without_call=1 (plain-messages placeholder-ids)
other-agents/copilot-small.jsonl
    copilot 5 4 0 1 4 3 no_result=1 result_without_call=1 (placeholder-ids)
other-agents/copilot-large.jsonl copilot 4 1 0 1 1 1 unread_call=1
other-agents/hermes-atif-real-redacted.json
    atif 1 1 1 4 4 0 doubled_id=1 no_result=4 (placeholder-ids)
other-agents/codex-polylogue.jsonl codex 1 0 0 0 0 0
cassettes/pydantic-test_multiple_parallel_tool_calls.yaml vcr/anthropic 2 1 1 4 4 4
cassettes/pydantic-test_mixed_tools_no_output.yaml vcr/anthropic 2 1 1 2 2 2
cassettes/pydantic-test_mixed_tools_native_output.yaml vcr/anthropic 2 1 1 2 2 2
cassettes/pydantic-test_strict_none_tool_basemodel_output.yaml
    vcr/anthropic 1 1 1 2 2 0 no_result=2 (last-calls)
cassettes/pydantic-test_anthropic_text_editor_code_execution_tool_stream.yaml
    vcr 1 0 0 0 0 0 (server-calls)
cassettes/pydantic-test_anthropic_native_tool_search_streaming.yaml
    vcr/anthropic 2 1 0 1 1 1 (server-calls)
cassettes/pydantic-test_bedrock_mistral_two_tool_returns_images_accepted.yaml
    vcr/bedrock 3 1 1 2 2 2 (plain-messages)
cassettes/pydantic-test_bedrock_model_with_code_execution_tool.yaml
    vcr/bedrock 2 2 0 1 2 1 no_result=1 (server-calls)
cassettes/pydantic-test_google_instructions_only_with_tool_calls.yaml
    vcr/gemini 5 5 1 3 7 6 no_result=1 (last-calls)
cassettes/pydantic-test_temporal_agent_with_hitl_tool.yaml vcr/openai-chat 2 1 1 2 2 2
cassettes/pydantic-test_deepseek_deferred_capability_with_thinking.yaml vcr/openai-chat 4 3 1 2 4 4
cassettes/pydantic-test_openai_responses_model_retry.yaml vcr/openai-responses 2 1 1 2 2 2
cassettes/pydantic-test_openai_responses_model_builtin_tools_web_search.yaml
    vcr 1 0 0 0 0 0 (server-calls)
cassettes/pydantic-test_openai_native_tool_search_round_trip.yaml
    vcr/openai-responses 2 1 0 1 1 1 (server-calls)
cassettes/pydantic-test_live_tool_search_handoff_openai_to_anthropic.yaml
    vcr/anthropic+openai-responses 5 3 0 1 3 3 (server-calls plain-messages)
cassettes/pydantic-test_openai_responses_thinking_with_code_execution_tool_stream.yaml
    vcr 1 0 0 0 0 0 (server-calls)
cassettes/openllmetry-test_writer_streaming_chat_multiple_tool_call_requests_legacy.yaml
    vcr/openai-chat 1 1 1 7 7 0 no_result=7 (last-calls)
cassettes/openllmetry-test_anthropic_tools_streaming_legacy.yaml
    vcr/anthropic 1 1 1 2 2 0 no_result=2 (last-calls)
vercel/anthropic-programmatic-tool-calling.1.json
    messages/anthropic 1 1 1 4 4 0 answered_call=4 no_result=4 (last-calls)
vercel/anthropic-programmatic-tool-calling.1.chunks.txt
    anthropic 15 14 0 1 14 0 no_result=14 (several-streams server-calls last-calls)
vercel/anthropic-code-execution-20250825.pptx-skill.chunks.txt anthropic 1 0 0 0 0 0 (server-calls)
vercel/spliced-message-start.chunks.txt
    anthropic 1 1 1 2 2 0 no_result=2 second_start=1 (last-calls)
vercel/anthropic-tool-search-deferred-bm25.chunks.txt
    anthropic 3 2 0 1 2 0 no_result=2 (several-streams server-calls last-calls)
vercel/anthropic-tool-no-args.chunks.txt anthropic 1 1 0 1 1 0 no_result=1 (last-calls)
vercel/cohere-tool-call.json messages/cohere 1 1 1 2 2 0 no_result=2 (last-calls)
vercel/google-stream-no-args-tool-call.chunks.txt gemini 1 1 1 4 4 0 no_result=4 (last-calls)
vercel/google-vertex-stream-tool-call-arguments-nested.1.chunks.txt
    gemini 1 1 0 1 1 0 no_result=1 (last-calls)
vercel/google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt
    gemini 1 1 0 1 1 0 no_result=1 (last-calls)
vercel/openai-shell-skills.1.json messages 1 0 0 0 0 0 (server-calls)
vercel/openai-mcp-tool-approval.1.json messages 1 0 0 0 0 0 approval_request=1
vercel/openai-local-shell-tool.1.json messages/openai-responses 1 1 0 1 1 0 no_result=1 (last-calls)
vercel/openai-tool-search.1.chunks.txt
    openai-responses 1 1 0 1 1 0 no_result=1 (server-calls last-calls)
vercel/mistral-incremental-tool-call.chunks.txt openai-chat 1 1 0 1 1 0 no_result=1 (last-calls)
vercel/anthropic-fallback-tool-call.sse openai-chat 1 1 0 1 1 0 no_result=1 (last-calls)
gemini-cli/parallel-tools.responses gemini-cli 3 1 1 5 5 0 no_result=5 (last-calls)
gemini-cli/concurrency-limit.responses gemini-cli 12 1 1 11 11 0 no_result=11 (last-calls)
gemini-cli/memory.multi-function-call.responses gemini-cli 4 1 1 3 3 0 no_result=3 (last-calls)
gemini-cli/policy-headless-shell-denied.responses gemini-cli 2 1 0 1 1 0 no_result=1 (last-calls)
gemini-cli/hooks-system.input-validation.responses gemini-cli 2 1 0 1 1 0 no_result=1 (last-calls)
trajectories/sweagent-function_calling_simple.traj swe-agent 5 5 0 1 5 5
trajectories/sweagent-marshmallow-function_calling.traj swe-agent 11 11 0 1 11 11
trajectories/sweagent-marshmallow-replace.traj swe-agent 11 11 0 1 11 11
trajectories/mini-github_issue.traj.json mini-swe-agent 10 0 0 0 0 0 unread_call=1
trajectories/mini-local.traj.json mini-swe-agent 2 0 0 0 0 0 unread_call=1
trajectories/openhands-basic.json openhands 2 2 0 1 2 1 no_result=1
trajectories/openhands-basic_interactions.json
    openhands 3 1 0 1 1 0 no_result=1 (plain-messages last-calls)
trajectories/openhands-sdk-fncall-messages.json messages/openai-chat 6 6 0 1 6 6
trajectories/openhands-sdk-litellm-log.json messages/openai-chat 6 6 0 1 6 5 no_result=1
trajectories/inspect-browser.json inspect 5 4 0 1 4 4
trajectories/inspect-tool_call_error.json inspect 0 0 0 0 0 0 result_without_call=11
trajectories/tau-gpt-4o-airline-top25.json tau-bench 563 379 0 1 379 379
trajectories/openai-agents-v1_13_pending_tool_approval.json
    openai-agents 1 1 0 1 1 0 no_result=1 (last-calls)
trajectories/openai-agents-v1_9_custom_tool_call_and_tool_origin.json openai-agents 1 1 0 1 1 1
bfcl/BFCL_v4_parallel.jsonl bfcl 0 0 0 0 0 0 no_calls=1
bfcl/possible_answer-BFCL_v4_parallel.jsonl bfcl 200 200 200 8 540 0 no_results=1
bfcl/BFCL_v4_multi_turn_base.jsonl bfcl 0 0 0 0 0 0 no_calls=1
bfcl/possible_answer-BFCL_v4_multi_turn_base.jsonl bfcl 734 731 257 7 1142 0 no_results=1
bfcl/func-doc-gorilla_file_system.jsonl bfcl 0 0 0 0 0 0 no_calls=1
mcp/github-mcp-server.tools-list.json tool-list 0 0 0 0 0 0 no_calls=1
"""


class Found(NamedTuple):
    """A line of the table."""

    kind: str
    numbers: tuple[int, ...]
    oddities: dict[str, int]
    reasons: tuple[str, ...]


def _line(text: str) -> tuple[str, Found]:
    name, kind, *rest = text.split()
    numbers = tuple(int(cell) for cell in rest[:6])
    told = dict(re.findall(r"(\w+)=(\d+)", text))
    reasons = re.search(r"\((.*)\)$", text)
    oddities = {code: int(count) for code, count in told.items()}
    return name, Found(kind, numbers, oddities, tuple(reasons[1].split() if reasons else ()))


FOUND = dict(_line(text) for text in TABLE.replace("\n    ", " ").strip().splitlines())
FOLDERS = tuple(dict.fromkeys(name.partition("/")[0] for name in FOUND))


def numbers(one: Imported) -> tuple[int, ...]:
    return (one.messages, one.turns, one.parallel, one.largest, one.calls, one.results)


def differences(one: Imported, row: Row) -> set[str]:
    """What is not as the index has it."""
    pairs = {
        "messages": (one.messages, row.turns),
        "parallel": (one.parallel, row.batches),
        "largest": (one.largest, row.largest),
        "broken": (one.broken, row.odd.get("unparsable lines", 0)),
        "no_result": (one.oddities.get("no_result", 0), row.odd.get("calls without result", 0)),
        "result_without_call": (
            one.oddities.get("result_without_call", 0),
            row.odd.get("results without call", 0),
        ),
    }
    return {name for name, (ours, theirs) in pairs.items() if ours != theirs}


def test_the_table_has_every_file_of_the_index() -> None:
    index = {f"{folder}/{name}" for folder in FOLDERS for name in rows(folder)}

    assert set(FOUND) == index
    assert len(index) == 80


@pytest.mark.parametrize("name", FOUND)
def test_a_file_is_read_and_its_numbers_are_those_of_the_index_or_explained(name: str) -> None:
    folder, _, base = name.partition("/")
    expected = FOUND[name]

    one = import_log(corpus_dir(folder, base))

    assert (one.kind, numbers(one), one.oddities) == expected[:3]
    # Nothing was run in files of the benchmark, which is told once and not call by call.
    told = one.calls if "no_results" in one.oddities else one.oddities.get("no_result", 0)
    assert one.results == one.calls - told
    assert sum(one.tools.values()) == one.calls
    changed = differences(one, rows(folder)[base])
    may_change = set[str]().union(*(CHANGES[reason] for reason in expected.reasons))
    assert changed <= may_change, "a difference without a reason"
    for reason in expected.reasons:
        assert changed & CHANGES[reason], f"nothing is changed for the reason {reason}"


def test_every_reason_is_one_of_a_file_and_explained_in_the_reference() -> None:
    used = {reason for found in FOUND.values() for reason in found.reasons}
    page = Path(__file__).parents[2] / "docs" / "reference" / "recorded-files.md"

    assert used == set(REASONS) == set(CHANGES)
    for reason in REASONS:
        assert f"| `{reason}` |" in page.read_text(encoding="utf-8")


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(corpus_dir(folder)) for folder in FOLDERS]

    assert main(["import", *folders]) == 0

    said = capsys.readouterr()
    lines = [line.split() for line in said.out.splitlines()]
    printed = {cells[0]: (cells[1], *map(int, cells[2:8])) for cells in lines[1:81]}
    assert printed == {
        name.partition("/")[2]: (found.kind, *found.numbers) for name, found in FOUND.items()
    }
    columns = list(zip(*(found.numbers for found in FOUND.values()), strict=True))
    totals = [sum(column) for column in columns]
    totals[3] = max(columns[3])
    assert lines[81] == ["80", "logs", *map(str, totals)]
    assert said.err == ""


def test_lists_of_tools_and_the_index_itself_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tools = corpus_dir("mcp", "github-mcp-server.tools-list.json")

    assert main(["import", str(tools), str(corpus_dir("INDEX.md")), "--output", "json"]) == 0

    said = capsys.readouterr()
    (one,) = json.loads(said.out)["logs"]
    assert (one["format"], one["turns"], one["oddities"]) == ("tool-list", 0, {"no_calls": 1})
    assert said.err.endswith("INDEX.md: no log of a known format, and no messages.\n")
