"""Recorded messages of other people, in the formats of Anthropic, Gemini, Bedrock, Cohere and MCP.

The counts are held against the corpus's own index. It counts differently in three ways, each of
which is worked out here, so that the numbers still have to agree:

* calls that the provider runs itself are calls in the index of streams and of Bedrock, and are none
  of a turn here (`with_server_calls` counts them);
* a file with the streams of several messages, one after another, is one turn in the index, and a
  turn for each message here, since each was answered before the next began;
* a message without calls between two others is left out of the index once (``WITHOUT_FILLER``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cassettes import exchanges
from corpus import corpus_dir

from toolflow.formats import FORMATS, read_document, write_turn
from toolflow.formats.base import Answer
from toolflow.formats.registry import read_all
from toolflow.model import Outcome, Turn

CASSETTES = (
    "pydantic-test_multiple_parallel_tool_calls.yaml",
    "pydantic-test_mixed_tools_no_output.yaml",
    "pydantic-test_mixed_tools_native_output.yaml",
    "pydantic-test_strict_none_tool_basemodel_output.yaml",
    "pydantic-test_anthropic_text_editor_code_execution_tool_stream.yaml",
    "pydantic-test_anthropic_native_tool_search_streaming.yaml",
    "pydantic-test_bedrock_mistral_two_tool_returns_images_accepted.yaml",
    "pydantic-test_bedrock_model_with_code_execution_tool.yaml",
    "pydantic-test_google_instructions_only_with_tool_calls.yaml",
    "openllmetry-test_anthropic_tools_streaming_legacy.yaml",
)
WITHOUT_FILLER = {"pydantic-test_bedrock_mistral_two_tool_returns_images_accepted.yaml"}
GEMINI_CLI = (
    "parallel-tools.responses",
    "concurrency-limit.responses",
    "memory.multi-function-call.responses",
    "policy-headless-shell-denied.responses",
    "hooks-system.input-validation.responses",
)


class Counts(NamedTuple):
    """What the index tells of a file."""

    turns: int
    parallel: int
    mixed: int
    most: int


def in_index(name: str) -> Counts:
    """The line of a file in the index."""
    text = corpus_dir("INDEX.md").read_text("utf-8")
    (line,) = re.findall(rf"^\| {re.escape(name)} \(.*$", text, re.MULTILINE)
    return Counts(*(int(cell) for cell in line.split("|")[4:8]))


def server_calls(turn: Turn) -> list[str]:
    """The tools of the calls in a message that the provider runs itself."""
    names = []
    for block in turn.message.get("content", ()):
        if block.get("type") == "server_tool_use":
            names.append(block["name"])
        elif block.get("toolUse", {}).get("type") == "server_tool_use":
            names.append(block["toolUse"]["name"])
    return names


def counted(tools: list[list[str]]) -> Counts:
    parallel = [names for names in tools if len(names) > 1]
    mixed = [names for names in parallel if len(set(names)) > 1]
    return Counts(len(tools), len(parallel), len(mixed), max(map(len, tools), default=0))


def with_server_calls(turn: Turn) -> list[str]:
    return [*(call.tool for call in turn.calls), *server_calls(turn)]


def cassette_turns(path: Path) -> list[Turn]:
    """The assistant messages in the first request, then each response."""
    turns: list[Turn] = []
    for number, exchange in enumerate(exchanges(path)):
        if number == 0 and any(_is_models(m) for m in _history(exchange.request)):
            turns += read_all(exchange.request, None, None)
        turns += read_all(exchange.answer, None, None)
    return turns


def _history(request: Any) -> list[dict[str, Any]]:
    return request.get("messages") or request["contents"]


def _is_models(message: dict[str, Any]) -> bool:
    return message["role"] in ("assistant", "model")


@pytest.mark.parametrize("name", CASSETTES)
def test_cassettes_hold_the_turns_and_calls_of_the_index(name):
    turns = cassette_turns(corpus_dir("cassettes", name))

    tools = [with_server_calls(turn) for turn in turns]
    if name in WITHOUT_FILLER:
        tools.remove([])
    assert counted(tools) == in_index(name)
    for turn in turns:
        assert {call.problem for call in turn.calls} <= {None}
        assert turn.notices == ()


@pytest.mark.parametrize("name", CASSETTES)
def test_the_history_in_cassettes_is_walked_with_one_answer_a_call(name):
    for exchange in exchanges(corpus_dir("cassettes", name)):
        history = _history(exchange.request)
        if not any(map(_is_models, history)):
            continue
        form = read_all(history, None, None)[-1].format
        steps = FORMATS[form].steps
        assert steps is not None
        found = list(steps(history))
        called = [call.id for step in found if isinstance(step, Turn) for call in step.calls]
        answered = [step.call_id for step in found if isinstance(step, Answer)]
        assert answered == called
        assert all(step.outcome.ok for step in found if isinstance(step, Answer))


def test_streams_and_histories_of_a_cassette_tell_the_same_message():
    path = corpus_dir("cassettes", "pydantic-test_anthropic_native_tool_search_streaming.yaml")
    first, second = exchanges(path)

    (streamed,) = read_all(first.answer, None, None)
    sent_back = read_all(second.request, None, None)[0]

    assert (streamed.calls[0].id, streamed.calls[0].args) == (
        sent_back.calls[0].id,
        sent_back.calls[0].args,
    )
    for came, went in zip(streamed.message["content"], sent_back.message["content"], strict=True):
        assert came == {**went, **({"caller": came["caller"]} if "caller" in came else {})}


@pytest.mark.parametrize("name", GEMINI_CLI)
def test_gemini_cli_responses_hold_the_turns_and_calls_of_the_index(name):
    lines = corpus_dir("gemini-cli", name).read_text("utf-8").splitlines()

    bodies = [json.loads(line)["response"] for line in lines if line.strip()]
    turns = [turn for body in bodies for turn in read_all(body, None, None)]

    assert counted([[call.tool for call in turn.calls] for turn in turns]) == in_index(name)
    for turn in turns:
        assert (turn.format, turn.notices) == ("gemini", ())
        assert not turn.calls or not turn.carries_ids
        assert turn.message["role"] == "model"


def _vercel(name: str) -> tuple[Turn, ...]:
    return read_document(corpus_dir("vercel", name).read_bytes(), source=name)


@pytest.mark.parametrize(
    "name",
    [
        "anthropic-programmatic-tool-calling.1.json",
        "spliced-message-start.chunks.txt",
        "anthropic-tool-no-args.chunks.txt",
        "cohere-tool-call.json",
        "google-stream-no-args-tool-call.chunks.txt",
        "google-vertex-stream-tool-call-arguments-nested.1.chunks.txt",
        "google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt",
    ],
)
def test_vercel_files_hold_the_turns_and_calls_of_the_index(name):
    turns = _vercel(name)

    assert counted([[call.tool for call in turn.calls] for turn in turns]) == in_index(name)


def test_streams_with_calls_of_the_provider_only_have_no_calls():
    name = "anthropic-code-execution-20250825.pptx-skill.chunks.txt"
    (turn,) = _vercel(name)

    assert (turn.calls, turn.notices) == ((), ())
    assert counted([server_calls(turn)]) == in_index(name)
    results = [b for b in turn.message["content"] if b["type"].endswith("_tool_result")]
    assert len(results) == len(server_calls(turn))
    assert all(isinstance(b["input"], dict) for b in turn.message["content"] if "input" in b)


def test_a_file_with_the_streams_of_several_messages_is_a_turn_each():
    name = "anthropic-tool-search-deferred-bm25.chunks.txt"
    turns = _vercel(name)

    assert [[call.tool for call in turn.calls] for turn in turns] == [
        ["readNoteTree"],
        ["executeEditorOperation"],
    ]
    # As one turn, with the provider's own call, they are what the index has.
    together = [tool for turn in turns for tool in with_server_calls(turn)]
    assert counted([together]) == in_index(name)
    assert all(call.args for turn in turns for call in turn.calls)


def test_calls_that_come_whole_with_the_start_of_a_stream_are_read():
    name = "anthropic-programmatic-tool-calling.1.chunks.txt"
    turns = _vercel(name)

    assert [[call.tool for call in turn.calls] for turn in turns] == [["rollDie"]] * 14
    assert {call.args["player"] for turn in turns for call in turn.calls} == {"player1", "player2"}
    # The index has the first message only: the other calls have no event of their own.
    assert counted([with_server_calls(turns[0])]) == in_index(name)


def test_calls_made_by_code_that_has_ended_are_told():
    (turn,) = _vercel("anthropic-programmatic-tool-calling.1.json")

    assert [notice.code for notice in turn.notices] == ["answered_call"] * 4
    assert [notice.call for notice in turn.notices] == [call.id for call in turn.calls]


def test_a_spliced_second_start_is_one_turn_of_which_the_cut_call_does_not_run():
    (turn,) = _vercel("spliced-message-start.chunks.txt")

    cut, whole = turn.calls
    assert (cut.id, dict(cut.args), cut.raw) == ("toolu_first", {}, '{"value":"Spark')
    assert "not JSON" in (cut.problem or "")
    assert (whole.id, whole.args, whole.problem) == ("toolu_second", {"value": "Sparkle Day"}, None)
    assert [notice.code for notice in turn.notices] == ["second_start"]


def test_a_call_without_arguments_in_a_stream_has_an_empty_object():
    (turn,) = _vercel("anthropic-tool-no-args.chunks.txt")

    assert [(call.args, call.problem) for call in turn.calls] == [({}, None)]
    assert turn.notices == ()


def test_gemini_arguments_in_pieces_are_put_together():
    (nested,) = _vercel("google-vertex-stream-tool-call-arguments-nested.1.chunks.txt")
    (no_args,) = _vercel("google-stream-no-args-tool-call.chunks.txt")
    (open_end,) = _vercel(
        "google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt"
    )

    (recipe,) = nested.calls
    assert len(recipe.args["recipe"]["ingredients"]) == 10
    assert recipe.args["recipe"]["ingredients"][7] == {"amount": "2 cloves", "name": "Garlic"}
    assert len(recipe.args["recipe"]["steps"]) == 10
    assert [dict(call.args) for call in no_args.calls] == [
        {},
        {"id": "A"},
        {"id": "B"},
        {"id": "C"},
    ]
    (items,) = open_end.calls
    assert [item["price"] for item in items.args["operations"]] == [0.5, 0.3]
    for turn in (nested, no_args, open_end):
        assert turn.notices == ()
        assert all(call.problem is None for call in turn.calls)
        assert turn.calls[0].extra["thoughtSignature"]


ALL_FILES = [
    *(("cassettes", name) for name in CASSETTES),
    *(("gemini-cli", name) for name in GEMINI_CLI),
    ("vercel", "anthropic-programmatic-tool-calling.1.json"),
    ("vercel", "anthropic-programmatic-tool-calling.1.chunks.txt"),
    ("vercel", "anthropic-code-execution-20250825.pptx-skill.chunks.txt"),
    ("vercel", "spliced-message-start.chunks.txt"),
    ("vercel", "anthropic-tool-search-deferred-bm25.chunks.txt"),
    ("vercel", "anthropic-tool-no-args.chunks.txt"),
    ("vercel", "cohere-tool-call.json"),
    ("vercel", "google-stream-no-args-tool-call.chunks.txt"),
    ("vercel", "google-vertex-stream-tool-call-arguments-nested.1.chunks.txt"),
]


@pytest.mark.parametrize(("folder", "name"), ALL_FILES)
def test_every_recorded_turn_is_written_and_read_again_the_same(folder, name):
    path = corpus_dir(folder, name)
    if folder == "cassettes":
        turns = cassette_turns(path)
    elif folder == "gemini-cli":
        bodies = [json.loads(line)["response"] for line in path.read_text("utf-8").splitlines()]
        turns = [turn for body in bodies for turn in read_all(body, None, None)]
    else:
        turns = list(_vercel(name))
    for turn in turns:
        assistant, results = write_turn(turn, [Outcome("ok", "x")] * len(turn.calls))
        (again,) = read_all(assistant[0], turn.format, None)
        assert bool(results) == bool(turn.calls)
        if all(call.problem is None for call in turn.calls):
            assert assistant == [turn.message]
            assert again.calls == turn.calls
        else:
            assert [call.id for call in again.calls] == [call.id for call in turn.calls]


NEW = ("bedrock", "cohere", "gemini", "mcp")
OWN = {"vercel/cohere-tool-call.json": "cohere"}


def _values(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except ValueError:
        pass
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return [*found, found]


def _inside(value: Any) -> Any:
    yield value
    if isinstance(value, dict):
        for item in value.values():
            yield from _inside(item)
    elif isinstance(value, list):
        for item in value:
            yield from _inside(item)


@pytest.mark.parametrize(
    "folder",
    [
        "bfcl",
        "claude-code",
        "mcp",
        "mcp-tools-list",
        "other-agents",
        "pi",
        "trajectories",
        "vercel",
    ],
)
def test_nothing_in_files_of_other_formats_is_taken_for_one_of_these(folder):
    for path in sorted(corpus_dir(folder).iterdir()):
        name = f"{folder}/{path.name}"
        allowed = "gemini" if path.name.startswith("google-") else OWN.get(name)
        found = set()
        for top in _values(path.read_text("utf-8", errors="replace")):
            for value in [top] if isinstance(top, list) else _inside(top):
                found |= {
                    form
                    for form in NEW
                    if FORMATS[form].recognise(value) or FORMATS[form].is_chunk(value)
                }
        assert found <= {allowed}, name
