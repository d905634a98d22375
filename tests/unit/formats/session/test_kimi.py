from __future__ import annotations

import pytest
from session_logs import codes, ids, read_lines, statuses

from toolflow.formats import write_turn
from toolflow.model import Image, Outcome, Times


def asked(*calls: str) -> dict:
    blocks = [
        {"type": "function", "id": name, "function": {"name": "Shell", "arguments": '{"n": 1}'}}
        for name in calls
    ]
    return {
        "role": "assistant",
        "content": [{"type": "think", "think": "hm"}],
        "tool_calls": blocks,
    }


def got(call_id: object, content: object = "x") -> dict:
    return {"role": "tool", "content": content, "tool_call_id": call_id}


USAGE = {"role": "_usage", "token_count": 7}


@pytest.fixture
def read(tmp_path):
    return lambda lines, **options: read_lines(tmp_path / "log.jsonl", lines, **options)


def test_a_context_is_read_as_chat_messages_between_lines_of_its_own(read):
    lines = [
        {"role": "_system_prompt", "content": "Be good."},
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": "go"},
        asked("a", "b"),
        USAGE,
        got("b", "B"),
        got(
            "a", [{"type": "text", "text": "<system>done</system>"}, {"type": "text", "text": "A"}]
        ),
        {"role": "assistant", "content": "ok"},
    ]

    recording = read(lines)

    (turn,) = recording.turns
    assert turn.turn.format == "openai-chat"
    assert turn.outcomes == (Outcome("ok", "<system>done</system>\nA"), Outcome("ok", "B"))
    assert (recording.source["format"], recording.source["messages"]) == ("kimi", 2)
    assert write_turn(turn.turn, [Outcome("ok", "x")] * 2)[0] == [lines[3]]


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("The tool call is rejected by the user. Stop.", "declined"),
        ("Tool `Nope` not found", "unknown_tool"),
        ("Error parsing JSON arguments: x", "invalid_arguments"),
        ("Error running tool: x", "failed"),
    ],
)
@pytest.mark.parametrize("form", ["two parts", "one part", "text"])
def test_an_error_is_told_by_the_sentence_at_the_start_of_its_result(read, sentence, status, form):
    one = f"<system>ERROR: {sentence}</system>"
    content: object = {
        "two parts": [
            {"type": "text", "text": "<system>ERROR</system>"},
            {"type": "text", "text": f"<system>{sentence}</system>"},
        ],
        "one part": [{"type": "text", "text": one}],
        "text": one,
    }[form]

    recording = read([USAGE, asked("a"), got("a", content)])

    assert statuses(recording) == [[status]]


def test_an_error_that_is_only_quoted_in_a_result_means_nothing(read):
    recording = read([USAGE, asked("a"), got("a", "It said <system>ERROR: x</system>")])

    assert statuses(recording) == [["ok"]]


def wire(kind: str, at: float = 0.0, **payload: object) -> dict:
    return {"timestamp": 1_768_640_400 + at, "message": {"type": kind, "payload": payload}}


def call(call_id: str, at: float = 0.0, arguments: object = "{}") -> dict:
    function = {"name": "Shell", "arguments": arguments}
    return wire("ToolCall", at, type="function", id=call_id, function=function)


def back(call_id: object, output: object = "x", at: float = 0.0, **more: object) -> dict:
    value = {"is_error": False, "output": output, "message": "", "display": [], **more}
    return wire("ToolResult", at, tool_call_id=call_id, return_value=value)


def inside(parent: str, line: dict) -> dict:
    payload = {"parent_tool_call_id": parent, "event": line["message"]}
    return {**line, "message": {"type": "SubagentEvent", "payload": payload}}


META = {"type": "metadata", "protocol_version": "1.3"}
BEGIN = wire("StepBegin", n=1)


def test_a_step_of_the_events_is_a_turn_though_results_stand_between_its_calls(read):
    recording = read(
        [
            META,
            BEGIN,
            wire("ContentPart", type="text", text="I look."),
            call("a", 1, '{"p"'),
            wire("ToolCallPart", arguments_part=': "x"}'),
            back("a", "A", 3),
            call("b", 2, None),
            wire("StepBegin", n=2),
            back("b", "B", 6),
        ]
    )

    (turn,) = recording.turns
    assert ids(recording) == [["a", "b"]]
    assert [dict(call.args) for call in turn.turn.calls] == [{"p": "x"}, {}]
    assert turn.outcomes == (Outcome("ok", "A"), Outcome("ok", "B"))
    assert turn.times == (Times(started=1.0, settled=3.0), Times(started=2.0, settled=6.0))
    assert turn.turn.extra["message"]["content"] == [{"type": "text", "text": "I look."}]
    assert recording.source["version"] == "1.3"


def test_sub_agents_are_sources_and_come_after_the_step_that_called_them(read):
    recording = read(
        [
            META,
            BEGIN,
            call("task"),
            inside("task", BEGIN),
            inside("task", call("a")),
            inside("task", back("a", "A")),
            inside("task", wire("StepBegin", n=2)),
            inside("task", call("b")),
            back("task", "T"),
            wire("TurnEnd"),
        ]
    )

    assert [turn.turn.source for turn in recording.turns] == ["main", "task", "task"]
    assert [outcome and outcome.text for turn in recording.turns for outcome in turn.outcomes] == [
        "T",
        "A",
        None,
    ]


def test_steps_that_never_end_do_not_hold_back_all_others(read):
    lines = [META, inside("lost", call("x"))]
    for number in range(600):
        lines += [BEGIN, call(f"c{number}"), back(f"c{number}")]

    recording = read(lines)

    assert len(recording.turns) == 601
    assert recording.turns[0].turn.source == "lost"
    assert codes(recording) == {"no_result": 1}


def test_an_error_of_an_event_has_its_sentence_its_output_and_its_status(read):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    recording = read(
        [
            META,
            call("a"),
            call("b"),
            back("a", "partial", is_error=True, message="The tool call is rejected by the user."),
            back("b", [image], message="Took it."),
        ]
    )

    assert recording.turns[0].outcomes == (
        Outcome("declined", "partial", "The tool call is rejected by the user."),
        Outcome("ok", "", images=(Image("image/png", "AA"),), note="Took it."),
    )


def test_an_interrupted_step_is_the_reason_for_calls_without_results(read):
    recording = read([META, BEGIN, call("a"), wire("StepInterrupted"), "{"])

    assert codes(recording) == {"no_result": 1, "broken_line": 1}
    assert recording.notices[0].message.endswith("the user interrupted the turn (line 4).")


def test_strange_values_everywhere_are_no_error(read):
    recording = read(
        [
            META,
            {"message": {"type": [], "payload": {}}},
            {"message": {"type": "SubagentEvent", "payload": {"event": 3}}},
            wire("ToolCall", id=[], function=7),
            wire("ToolCallPart", arguments_part=[]),
            wire("ToolResult", tool_call_id={}, return_value=[]),
            {"role": []},
            {"role": "assistant", "tool_calls": 7},
            {"role": "tool", "tool_call_id": [], "content": {}},
        ]
    )

    assert ids(recording) == [[""]]
    assert codes(recording) == {"unreadable": 1, "result_without_call": 2, "no_result": 1}
