from __future__ import annotations

import json

import pytest
from session_logs import codes, ids, read_lines, statuses, told

from toolflow.formats import write_turn
from toolflow.model import Outcome, Times


def at(seconds: float) -> str:
    return f"2026-01-17T10:00:{seconds:06.3f}Z"


def item(kind: str, time: float = 0.0, **fields: object) -> dict:
    return {"timestamp": at(time), "type": "response_item", "payload": {"type": kind, **fields}}


def event(kind: str, time: float = 0.0, **fields: object) -> dict:
    return {"timestamp": at(time), "type": "event_msg", "payload": {"type": kind, **fields}}


def call(call_id: str, time: float = 0.0, **args: object) -> dict:
    arguments = json.dumps(args)
    return item("function_call", time, name="shell", arguments=arguments, call_id=call_id)


def got(call_id: object, output: object = "x", time: float = 0.0) -> dict:
    return item("function_call_output", time, call_id=call_id, output=output)


def text(words: str, role: str = "assistant") -> dict:
    return item("message", role=role, content=[{"type": "output_text", "text": words}])


META = {
    "timestamp": at(0),
    "type": "session_meta",
    "payload": {"id": "s", "cwd": "/r", "cli_version": "1", "git": {"branch": "main"}},
}
CONTEXT = {"timestamp": at(0), "type": "turn_context", "payload": {"cwd": "/r", "model": "m"}}


@pytest.fixture
def read(tmp_path):
    return lambda lines, **options: read_lines(tmp_path / "rollout.jsonl", lines, **options)


def test_the_items_of_one_response_are_a_turn_and_results_are_paired_by_id(read):
    recording = read(
        [
            META,
            CONTEXT,
            text("go", "user"),
            item("reasoning", 1, summary=[], encrypted_content="e"),
            text("I look."),
            call("a", 2, n=1),
            event("token_count", 2),
            call("b", 3),
            got("b", "B", 5),
            got("a", "A", 7),
            text("Done."),
        ]
    )

    (turn,) = recording.turns
    assert turn.turn.format == "openai-responses"
    assert ids(recording) == [["a", "b"]]
    assert turn.turn.calls[0].args == {"n": 1}
    assert turn.outcomes == (Outcome("ok", "A"), Outcome("ok", "B"))
    assert turn.times == (Times(started=1.0, settled=6.0), Times(started=2.0, settled=4.0))
    assert turn.started_at == at(1)
    facts = {key: recording.source[key] for key in ("session", "cwd", "version", "model", "branch")}
    assert facts == {"session": "s", "cwd": "/r", "version": "1", "model": "m", "branch": "main"}
    assert recording.source["messages"] == 2
    assert not recording.notices


def test_the_items_go_back_as_they_were(read):
    lines = [META, item("reasoning", summary=[], encrypted_content="e"), call("a")]

    turn = read(lines).turns[0].turn

    assistant, results = write_turn(turn, [Outcome("ok", "A")])
    assert assistant == [line["payload"] for line in lines[1:]]
    assert results == [{"type": "function_call_output", "call_id": "a", "output": "A"}]


def test_the_older_layout_has_its_items_on_the_line_itself(read):
    recording = read(
        [
            {"id": "s", "timestamp": at(0), "instructions": None, "git": {"branch": "b"}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "a"},
            {"record_type": "state"},
            {"type": "function_call_output", "call_id": "a", "output": "A"},
            {"type": "function_call", "name": "shell", "arguments": "{", "call_id": "b"},
            {"type": "function_call_output", "call_id": "b", "output": "B"},
        ]
    )

    assert ids(recording) == [["a"], ["b"]]
    assert statuses(recording) == [["ok"], ["ok"]]
    assert recording.turns[1].turn.calls[0].problem
    assert recording.source["session"] == "s"


def test_custom_and_local_shell_calls_are_calls(read):
    recording = read(
        [
            META,
            item("custom_tool_call", call_id="a", name="apply_patch", input="*** Begin"),
            item("local_shell_call", call_id="b", action={"type": "exec", "command": ["ls"]}),
            item("web_search_call", id="w", action={"type": "search"}),
            item("custom_tool_call_output", call_id="a", output="patched"),
            got("b", "listed"),
        ]
    )

    assert ids(recording) == [["a", "b"]]
    assert [call.args for call in recording.turns[0].turn.calls] == [
        {"input": "*** Begin"},
        {"type": "exec", "command": ["ls"]},
    ]
    assert statuses(recording) == [["ok", "ok"]]


JSON_FORM = '{"output": "x", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}'
TIMED_OUT = '{"output":"command timed out after 10 milliseconds","metadata":{"exit_code":124}}'


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("hello", "ok"),
        ("Exit code: 1 is what it said", "ok"),
        ('{"output": "x", "metadata": {"exit_code": 0}}', "ok"),
        ('{"output": "x"}', "ok"),
        ("{broken", "ok"),
        (JSON_FORM, "failed"),
        (TIMED_OUT, "timed_out"),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nx", "ok"),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx", "failed"),
        (
            "Exit code: 124\nWall time: 1 seconds\nOutput:\ncommand timed out after 5 ms",
            "timed_out",
        ),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\n", "failed"),
        ("Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n", "running"),
        ("Wall time: 1.2 seconds\naborted by user", "aborted"),
        ("aborted by user after 3.1s", "aborted"),
        ("aborted", "aborted"),
        ("aborted landings, a list", "ok"),
        ("exec command rejected by user", "declined"),
        ("patch rejected by user", "declined"),
        ("This action was rejected due to unacceptable risk.\nWhy", "denied"),
        ("unsupported call: nope", "unknown_tool"),
        ("failed to parse function arguments: missing field", "invalid_arguments"),
        ("execution error: Io", "failed"),
        ({"content": "no", "success": False}, "failed"),
        ({"content": "yes", "success": True}, "ok"),
    ],
)
def test_a_result_has_the_status_that_the_programs_own_forms_mean(read, output, status):
    recording = read([META, call("a"), got("a", output)])

    (outcome,) = recording.turns[0].outcomes
    assert outcome is not None
    assert outcome.status == status
    assert outcome.text == (output if isinstance(output, str) else output["content"])


def test_parts_of_a_result_are_its_text(read):
    part = {"type": "input_text", "text": "one"}

    recording = read([META, call("a"), call("b"), got("a", part), got("b", [part, part])])

    assert recording.turns[0].outcomes == (Outcome("ok", "one"), Outcome("ok", "one\none"))


def test_an_event_tells_how_a_call_settled_and_how_long_it_took(read):
    took = {"secs": 2, "nanos": 500_000_000}
    recording = read(
        [
            META,
            call("a", 1),
            event("exec_command_end", 6, call_id="a", status="declined", duration=took),
            call("b", 2),
            call("c", 2),
            got("a", "No.", 6),
            event("mcp_tool_call_end", 8, call_id="b", result={"Ok": {"isError": True}}),
            event("patch_apply_end", 8, call_id="c", success=False),
            got("b", "B", 9),
            got("c", "C", 9),
        ]
    )

    (turn,) = recording.turns
    assert ids(recording) == [["a", "b", "c"]]
    assert statuses(recording) == [["declined", "failed", "failed"]]
    assert turn.times[0] == Times(started=2.5, settled=5.0)


def test_an_aborted_turn_is_the_reason_for_a_call_without_a_result(read):
    recording = read([META, call("a"), event("turn_aborted", reason="interrupted"), call("b")])

    assert ids(recording) == [["a"], ["b"]]
    assert told(recording, "no_result")[0].endswith("the user interrupted the turn (line 3).")


def test_a_compacted_history_is_counted_and_not_read_again(read):
    again = {"type": "compacted", "payload": {"replacement_history": [call("a")["payload"]]}}

    recording = read([META, call("a"), got("a"), again, call("a"), got("a", "later")])

    assert [outcome.text for turn in recording.turns for outcome in turn.outcomes if outcome] == [
        "x",
        "later",
    ]
    assert recording.source["compactions"] == 1


def test_placeholder_ids_are_told_and_paired_only_where_there_is_no_doubt(read):
    recording = read(
        [
            META,
            got("[x]", "stray"),
            call("[x]"),
            call("[x]"),
            got("[x]"),
            call("[x]"),
            got("[x]", "own"),
        ]
    )

    assert statuses(recording) == [[None, None], ["ok"]]
    assert codes(recording) == {"result_without_call": 1, "doubled_id": 1, "no_result": 2}


def test_a_message_that_the_reader_of_items_refuses_is_told_and_the_rest_is_read(read):
    bad = item("function_call", call_id=[1], name="shell", arguments="{}")

    recording = read([META, bad, text("next", "user"), call("a"), got("a")])

    assert ids(recording) == [["a"]]
    assert codes(recording) == {"unreadable": 1}


def test_strange_values_everywhere_are_no_error(read):
    recording = read(
        [
            META,
            {"type": "response_item", "payload": []},
            {"type": "event_msg", "payload": {"type": {}, "call_id": []}},
            event("exec_command_end", call_id="a", duration={"secs": True, "nanos": -1}, status=[]),
            item("function_call_output", call_id={}, output={"content": {}}),
            item("message", role=[], content=7),
            {"type": [], "payload": {}},
            "{",
            call("a"),
            got("a", None),
        ]
    )

    assert statuses(recording) == [["ok"]]
    assert codes(recording) == {"broken_line": 1, "result_without_call": 1}
