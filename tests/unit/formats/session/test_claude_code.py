from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from toolflow.errors import TurnError, UsageError
from toolflow.formats import write_turn
from toolflow.formats.session import SESSION_FORMATS, read_session
from toolflow.model import Image, Outcome, Recording, Times

T0 = "2026-01-17T10:00:00.000Z"


def at(seconds: float) -> str:
    return f"2026-01-17T10:00:{seconds:06.3f}Z"


def use(call_id: str, name: str = "Read", **given: object) -> dict:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def result(call_id: str | None, content: object = "x", **more: object) -> dict:
    block: dict = {"type": "tool_result", "content": content, **more}
    return block if call_id is None else {**block, "tool_use_id": call_id}


def said(message_id: str | None, *blocks: dict, **more: object) -> dict:
    message: dict = {"role": "assistant", "content": list(blocks)}
    if message_id is not None:
        message = {"id": message_id, "type": "message", "model": "m", **message}
    return {"type": "assistant", "sessionId": "s", "message": message, **more}


def got(*blocks: dict, **more: object) -> dict:
    message = {"role": "user", "content": list(blocks)}
    return {"type": "user", "sessionId": "s", "message": message, **more}


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path / "session.jsonl"

    def read(self, lines: Iterable[object]) -> Recording:
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        self.path.write_text("\n".join(texts), encoding="utf-8")
        return read_session(self.path)


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def codes(recording: Recording) -> list[str]:
    return [notice.code for notice in recording.notices]


def test_a_message_over_many_lines_is_one_turn_though_results_stand_between(folder):
    recording = folder.read(
        [
            said("m1", text("Let me see.")),
            said("m1", use("a", path="x")),
            got(result("a", "A")),
            said("m2", use("c")),
            said("m1", use("b")),
            got(result("c", "C")),
            got(result("b", "B")),
        ]
    )

    first, second = recording.turns
    assert [call.id for call in first.turn.calls] == ["a", "b"]
    assert [outcome.value for outcome in first.outcomes if outcome] == ["A", "B"]
    assert first.turn.message == {
        "role": "assistant",
        "content": [text("Let me see."), use("a", path="x"), use("b")],
    }
    assert (first.turn.id, first.turn.message_id, first.turn.format) == (
        "turn-1",
        "m1",
        "anthropic",
    )
    assert [call.id for call in second.turn.calls] == ["c"]
    assert recording.notices == ()
    assert recording.source["messages"] == 2


def test_the_message_put_together_can_be_sent_back(folder):
    (recorded,) = folder.read([said("m", text("a")), said("m", use("a"), usage=1)]).turns

    assistant, _ = write_turn(recorded.turn, [Outcome("ok", "x")])

    assert assistant == [recorded.turn.message]
    assert set(assistant[0]) == {"role", "content"}
    assert recorded.turn.extra["model"] == "m"


def test_messages_without_calls_are_counted_and_are_no_turns(folder):
    recording = folder.read([said("m1", text("Hi")), said("m2", use("a")), got(result("a"))])

    assert len(recording.turns) == 1
    assert recording.source["messages"] == 2


def test_results_out_of_order_keep_call_order(folder):
    (recorded,) = folder.read(
        [said("m", use("a"), use("b")), got(result("b", "B")), got(result("a", "A"))]
    ).turns

    assert [outcome.value for outcome in recorded.outcomes if outcome] == ["A", "B"]


def test_ids_that_come_back_belong_to_the_latest_turn_that_has_them(folder):
    recording = folder.read(
        [
            said("m1", use("k", n=1)),
            got(result("k", "one")),
            said("m2", use("k", n=2)),
            said("m3", use("k", n=3)),
            got(result("k", "three")),
        ]
    )

    values = [turn.outcomes[0] and turn.outcomes[0].value for turn in recording.turns]
    assert values == ["one", None, "three"]
    assert [(n.code, n.turn, n.call) for n in recording.notices] == [("no_result", "turn-2", "k")]


def test_a_result_without_its_call_and_a_call_without_its_result_are_told(folder):
    recording = folder.read(
        [got(result("old")), said("m", use("a")), got(result(None)), got(result("b"))]
    )

    assert recording.turns[0].outcomes == (None,)
    assert [(notice.code, notice.line) for notice in recording.notices] == [
        ("result_without_call", 1),
        ("no_result", 2),
        ("result_without_call", 3),
        ("result_without_call", 4),
    ]


def test_a_result_is_never_given_to_a_call_that_comes_after_it(folder):
    recording = folder.read([got(result("a")), said("m", use("a"))])

    assert recording.turns[0].outcomes == (None,)


def test_results_for_an_id_that_two_calls_hold_are_given_to_none(folder):
    recording = folder.read(
        [said("m", use("a", n=1), use("a", n=2)), got(result("a", "1"), result("a", "2"))]
    )

    assert len(recording.turns[0].turn.calls) == 2
    assert recording.turns[0].outcomes == (None, None)
    assert codes(recording) == ["no_result", "no_result", "doubled_id"]


def test_a_second_result_does_not_replace_the_first(folder):
    recording = folder.read(
        [said("m", use("a")), got(result("a", "1")), got(result("a", "2")), got(result("a", "1"))]
    )

    assert recording.turns[0].outcomes == (Outcome("ok", "1"),)
    assert [notice.line for notice in recording.notices] == [3, 4]
    assert set(codes(recording)) == {"doubled_result"}


def test_lines_that_were_logged_again_are_not_doubled(folder):
    line = said("m", text("same"), use("a"), uuid="u1")
    recording = folder.read(
        [line, line, said("m", use("a"), uuid="u2"), said("m", use("b"), uuid="u1")]
    )

    assert [call.id for call in recording.turns[0].turn.calls] == ["a", "b"]
    assert recording.turns[0].turn.message["content"] == [text("same"), use("a"), use("b")]
    repeated = [notice.line for notice in recording.notices if notice.code == "repeated_line"]
    assert repeated == [2, 3]


def test_a_call_that_the_model_said_twice_in_one_line_stays_twice(folder):
    recording = folder.read([said("m", use("a"), use("a"))])

    assert len(recording.turns[0].turn.calls) == 2


def test_the_same_words_twice_in_one_message_are_both_kept(folder):
    recording = folder.read(
        [said("m", text("Now."), uuid="1"), said("m", text("Now."), use("a"), uuid="2")]
    )

    assert recording.turns[0].turn.message["content"] == [text("Now."), text("Now."), use("a")]


def test_lines_without_a_message_id_are_messages_of_their_own(folder):
    recording = folder.read(
        [
            said(None, use("a"), uuid="u1"),
            said(None, use("b"), uuid="u2"),
            said(None, use("c")),
            said(None, use("d")),
        ]
    )

    assert [len(turn.turn.calls) for turn in recording.turns] == [1, 1, 1, 1]
    assert {turn.turn.message_id for turn in recording.turns} == {None}


def test_broken_lines_are_counted_and_told_and_the_rest_is_read(folder):
    recording = folder.read(
        [said("m", use("a"), use("b")), '{"type":"user","mess', "[1]", "7", got(result("b"))]
    )

    assert recording.source["broken_lines"] == 3
    assert recording.source["lines"] == 5
    told = [(n.line, n.message) for n in recording.notices if n.code == "broken_line"]
    assert told == [
        (2, "Line 2 was skipped: it is not JSON (Unterminated string starting at character 16)."),
        (3, "Line 3 was skipped: it is no JSON object."),
        (4, "Line 4 was skipped: it is no JSON object."),
    ]
    assert recording.turns[0].outcomes == (None, Outcome("ok", "x"))


def test_very_many_broken_lines_are_told_in_short(folder):
    recording = folder.read([said("m", use("a")), *["{"] * 500])

    assert recording.source["broken_lines"] == 500
    broken = [notice for notice in recording.notices if notice.code == "broken_line"]
    assert len(broken) == 101
    assert broken[-1].message == "400 more notices of this kind are not shown."


def test_times_are_seconds_since_the_first_line_of_the_turn(folder):
    (recorded,) = folder.read(
        [
            said("m", text("x"), timestamp=at(1)),
            said("m", use("a"), timestamp=at(1.5)),
            said("m", use("b"), timestamp="yesterday"),
            said("m", use("c"), timestamp=at(3)),
            got(result("a"), timestamp=at(4.25)),
            got(result("b"), timestamp="2026-01-17T11:00:05+01:00"),
            got(result("c"), timestamp=at(2)),
        ]
    ).turns

    assert recorded.started_at == at(1)
    assert recorded.times == (
        Times(started=0.5, settled=3.25),
        Times(started=None, settled=4.0),
        Times(started=2.0, settled=2.0),
    )


def test_without_times_the_turn_has_none(folder):
    (recorded,) = folder.read([said("m", use("a")), got(result("a"))]).turns

    assert recorded.started_at is None
    assert recorded.times == (Times(),)


@pytest.mark.parametrize("stamp", [5, "", "2026-13-45", {}, "9999-12-31T23:59:59-23:59"])
def test_a_time_that_makes_no_sense_is_no_crash(folder, stamp):
    (recorded,) = folder.read(
        [said("m", use("a"), timestamp=stamp), got(result("a"), timestamp=T0)]
    ).turns

    assert recorded.outcomes == (Outcome("ok", "x"),)


def test_the_session_is_described(folder):
    recording = folder.read(
        [
            {"type": "summary", "summary": "x", "leafUuid": "y"},
            said("m", use("a"), cwd="/repo", version="2.1", gitBranch="main", requestId="r"),
            said("m2", use("b"), cwd="/other", sessionId="s2"),
        ]
    )

    assert recording.source == {
        "format": "claude-code",
        "path": folder.path.as_posix(),
        "session": "s",
        "sessions": ["s", "s2"],
        "cwd": "/repo",
        "version": "2.1",
        "branch": "main",
        "lines": 3,
        "broken_lines": 0,
        "messages": 2,
    }
    extra = recording.turns[0].turn.extra
    assert (extra["cwd"], extra["requestId"], extra["gitBranch"]) == ("/repo", "r", "main")
    assert recording.turns[1].turn.extra["cwd"] == "/other"


def side(line: dict, parent: str | None, uuid: str, **more: object) -> dict:
    return {**line, "isSidechain": True, "parentUuid": parent, "uuid": uuid, **more}


def test_sub_agents_are_sources_of_their_own_named_by_the_call_that_started_them(folder):
    prompts = [got(text("look")), got(text("look")), got(text("search"))]
    recording = folder.read(
        [
            said("m1", use("t1", "Task", prompt="search"), use("k", path="main")),
            side(prompts[2], None, "p1"),
            side(said("m1", use("k", path="side")), "p1", "p2"),
            side(got(result("k", "side")), "p2", "p3"),
            got(result("k", "main")),
            side(prompts[0], None, "q1"),
            side(said("m5", use("z")), "q1", "q2"),
            side(said("m6", use("y")), "nowhere", "r2"),
            side(said("m7", use("x")), "r2", "r3", agentId="agent7"),
        ]
    )

    found = [(turn.turn.source, turn.turn.calls[0].id) for turn in recording.turns]
    assert found == [
        ("main", "t1"),
        ("t1", "k"),
        ("sidechain-1", "z"),
        ("sidechain", "y"),
        ("agent7", "x"),
    ]
    main, search = recording.turns[:2]
    assert main.outcomes == (None, Outcome("ok", "main"))
    assert search.outcomes == (Outcome("ok", "side"),)
    assert recording.source["sources"] == ["main", "t1", "sidechain-1", "sidechain", "agent7"]


def test_a_prompt_given_to_two_sub_agents_names_neither(folder):
    recording = folder.read(
        [
            said("m1", use("t1", "Task", prompt="go"), use("t2", "Task", prompt="go")),
            side(got(text("go")), None, "p1"),
            side(said("m2", use("k")), "p1", "p2"),
        ]
    )

    assert recording.turns[1].turn.source == "sidechain-1"


def test_stream_json_lines_of_a_sub_agent_name_their_call(folder):
    recording = folder.read(
        [
            {"type": "system", "subtype": "init", "session_id": "s"},
            said("m1", use("t1", "Task", prompt="go"), parent_tool_use_id=None),
            said("m2", use("k"), parent_tool_use_id="t1"),
            got(result("k"), parent_tool_use_id="t1"),
        ]
    )

    assert [turn.turn.source for turn in recording.turns] == ["main", "t1"]


def test_one_json_list_is_read_like_lines(tmp_path):
    lines = [said("m", use("a")), got(result("a"))]
    as_list = tmp_path / "list.json"
    as_list.write_text(json.dumps(lines, indent=2), encoding="utf-8")

    assert read_session(as_list).turns == Folder(tmp_path).read(lines).turns


@pytest.mark.parametrize(
    ("block", "details", "outcome"),
    [
        (result("a", "text"), None, Outcome("ok", "text")),
        (result("a", ""), {"stdout": ""}, Outcome("ok", "")),
        (result("a", None), None, Outcome("ok", "")),
        (result("a", [text("one"), text("two")]), None, Outcome("ok", "one\ntwo")),
        (
            result("a", [text("see"), {"type": "tool_reference", "tool_name": "b"}]),
            None,
            Outcome("ok", [text("see"), {"type": "tool_reference", "tool_name": "b"}]),
        ),
        (
            result(
                "a",
                [
                    text("see"),
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
                    },
                ],
            ),
            None,
            Outcome("ok", "see", images=(Image("image/png", "AA=="),)),
        ),
        (result("a", "No such file", is_error=True), None, Outcome("failed", None, "No such file")),
        (
            result("a", "", is_error=True),
            None,
            Outcome("failed", None, "The call failed without a message."),
        ),
        (
            result("a", "[Request interrupted by user for tool use]\nhalf", is_error=True),
            None,
            Outcome("aborted", "half", "[Request interrupted by user for tool use]"),
        ),
        (
            result("a", "half", is_error=False),
            {"interrupted": True, "stdout": "half"},
            Outcome("aborted", "half", "[Request interrupted by user]"),
        ),
        (
            result("a", "The user doesn't want to proceed with this tool use. ...", is_error=True),
            None,
            Outcome("declined", None, "The user doesn't want to proceed with this tool use. ..."),
        ),
        (
            result("a", "The user doesn't want to proceed with this tool use.", is_error=False),
            None,
            Outcome("ok", "The user doesn't want to proceed with this tool use."),
        ),
        (
            result(
                "a",
                "Claude requested permissions to write to f, but you haven't granted it yet.",
                is_error=True,
            ),
            None,
            Outcome(
                "declined",
                None,
                "Claude requested permissions to write to f, but you haven't granted it yet.",
            ),
        ),
        (
            result("a", "Permission to use Bash has been denied.", is_error=True),
            None,
            Outcome("denied", None, "Permission to use Bash has been denied."),
        ),
        (
            result("a", "<tool_use_error>InputValidationError: x", is_error=True),
            None,
            Outcome("invalid_arguments", None, "<tool_use_error>InputValidationError: x"),
        ),
        (
            result("a", "<tool_use_error>Error: No such tool available: X", is_error=True),
            None,
            Outcome("unknown_tool", None, "<tool_use_error>Error: No such tool available: X"),
        ),
        (
            result("a", "<tool_use_error>Sibling tool call errored", is_error=True),
            None,
            Outcome("skipped", None, "<tool_use_error>Sibling tool call errored"),
        ),
        (
            result("a", "Command running in background with ID: 7"),
            {"backgroundTaskId": "7"},
            Outcome(
                "running",
                "Command running in background with ID: 7",
                note="It was moved to the background.",
            ),
        ),
    ],
)
def test_what_the_log_tells_of_a_result_becomes_its_outcome(folder, block, details, outcome):
    more = {} if details is None else {"toolUseResult": details}

    (recorded,) = folder.read([said("m", use("a")), got(block, **more)]).turns

    assert recorded.outcomes == (outcome,)


def test_an_interrupt_after_a_call_without_result_is_told_and_nothing_invented(folder):
    recording = folder.read(
        [said("m", use("a")), got(text("[Request interrupted by user for tool use]"))]
    )

    assert recording.turns[0].outcomes == (None,)
    assert recording.notices[0].message == (
        "Call 'a' has no result in the log; the user interrupted the turn (line 2)."
    )


def test_lines_of_odd_shapes_are_no_crash(folder):
    recording = folder.read(
        [
            said("m", use("a")),
            {"type": "assistant", "sessionId": "s", "message": None},
            {"type": "assistant", "sessionId": "s", "message": {"id": "z", "content": 5}},
            {"type": "assistant", "sessionId": "s", "message": {"id": [], "content": [5, None]}},
            {"type": "user", "sessionId": 5, "message": {"content": {"a": 1}}},
            {"type": "user", "message": {"content": [5, {"type": "tool_result"}, {"text": 5}]}},
            {"type": [], "uuid": {}, "isSidechain": True, "parentUuid": 5, "message": {}},
            said("n", {"type": "tool_use", "id": 5, "name": [], "input": 7}),
            said("o", {"type": "tool_use"}, timestamp={}),
        ]
    )

    assert len(recording.turns) == 3
    assert [notice.code for notice in recording.turns[1].turn.notices] == []
    assert "unreadable" in codes(recording)


def test_corrupt_input_is_a_problem_of_its_call(folder):
    recording = folder.read([said("m", {**use("a"), "input": '{"a":'}, use("b"))])

    first, second = recording.turns[0].turn.calls
    assert first.problem is not None
    assert second.problem is None


def test_a_log_of_no_known_format_is_refused_and_says_what_was_looked_for(folder):
    for lines in ([], ["{}"], [{"type": "entry", "payload": {}, "sessionId": 1}], ["x"]):
        with pytest.raises(TurnError) as caught:
            folder.read(lines)
        (problem,) = caught.value.problems
        assert problem.source == str(folder.path)
        assert all(f"{name} (" in problem.message for name in SESSION_FORMATS)


def test_a_forced_format_is_used_and_an_unknown_one_refused(folder):
    folder.path.write_text(json.dumps({"type": "x"}), encoding="utf-8")

    assert read_session(folder.path, format="claude-code").turns == ()
    with pytest.raises(UsageError, match=r"format is 'diary'\. Use one of .*claude-code"):
        read_session(folder.path, format="diary")


def test_reading_twice_gives_equal_recordings(folder):
    lines = [said("m", use("a"), timestamp=T0), got(result("a"), timestamp=at(2))]

    assert folder.read(lines) == folder.read(lines)
