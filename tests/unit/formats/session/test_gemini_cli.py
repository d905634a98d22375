from __future__ import annotations

import pytest
from session_logs import codes, ids, read_lines, read_value, statuses, told

from toolflow.model import Outcome, Times

HEAD = {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-17T10:00:00Z", "kind": "main"}


def call(call_id: object, status: str = "success", answer: object = None, *, at: int = 0) -> dict:
    block: dict = {"id": call_id, "name": "read_file", "args": {"p": call_id}, "status": status}
    block["timestamp"] = f"2026-01-17T10:00:{at:02}Z"
    if answer is not None:
        response = {"functionResponse": {"id": call_id, "name": "read_file", "response": answer}}
        block["result"] = [response]
    return block


def said(name: str, *calls: dict, at: int = 0) -> dict:
    time = f"2026-01-17T10:00:{at:02}Z"
    message = {"id": name, "type": "gemini", "content": "", "timestamp": time, "model": "g"}
    return {**message, "toolCalls": list(calls)} if calls else message


def user(text: str) -> dict:
    return {"id": "u", "type": "user", "content": [{"text": text}]}


@pytest.fixture
def read(tmp_path):
    return lambda lines, **options: read_lines(tmp_path / "log.jsonl", lines, **options)


def test_a_message_that_is_written_again_as_its_calls_settle_is_one_turn(read):
    recording = read(
        [
            HEAD,
            user("go"),
            said("m1", at=1),
            said("m1", call("a", "executing"), at=1),
            {"$set": {"lastUpdated": "x"}},
            said("m1", call("a", answer={"output": "A"}, at=3), call("b", "executing"), at=1),
            said("m2", at=9),
        ]
    )

    (turn,) = recording.turns
    assert ids(recording) == [["a", "b"]]
    assert turn.outcomes == (Outcome("ok", "A"), None)
    assert turn.times[0] == Times(started=0.0, settled=2.0)
    assert recording.source["messages"] == 2
    assert {key: recording.source[key] for key in ("session", "project", "model", "kind")} == {
        "session": "s",
        "project": "h",
        "model": "g",
        "kind": "main",
    }


def test_a_chat_as_one_object_is_read_the_same(tmp_path):
    chat = {**HEAD, "messages": [user("go"), said("m1", call("a", answer={"output": "A"})), 7]}

    recording = read_value(tmp_path / "session.json", chat)

    assert statuses(recording) == [["ok"]]


@pytest.mark.parametrize(
    ("status", "sentence", "meant"),
    [
        ("error", "boom", "failed"),
        ("error", "Tool execution denied by policy.", "denied"),
        ("error", 'Tool "nope" not found in registry.', "unknown_tool"),
        ("cancelled", "[Operation Cancelled] Reason: User did not allow tool call", "declined"),
        ("cancelled", "[Operation Cancelled] Reason: User cancelled the operation.", "aborted"),
        ("cancelled", "gone", "aborted"),
    ],
)
def test_a_call_that_did_not_succeed_has_the_status_that_its_sentence_means(
    read, status, sentence, meant
):
    recording = read([HEAD, said("m", call("a", status, {"error": sentence}))])

    assert recording.turns[0].outcomes == (Outcome(meant, None, sentence),)


def test_results_stand_inside_their_calls_so_doubled_ids_do_not_mix_them_up(read):
    blocks = [call("", answer={"output": text}) for text in ("one", "two")]

    recording = read([HEAD, said("m", *blocks)])

    assert recording.turns[0].outcomes == (Outcome("ok", "one"), Outcome("ok", "two"))


def test_an_answer_with_more_than_its_output_is_kept_whole(read):
    recording = read([HEAD, said("m", call("a", answer={"output": "A", "more": 1}))])

    assert recording.turns[0].outcomes == (Outcome("ok", {"output": "A", "more": 1}),)


def test_going_back_is_told_and_the_turns_that_were_left_are_kept(read):
    recording = read([HEAD, said("m1", call("a")), {"$rewindTo": "u"}, said("m2", call("b"))])

    assert ids(recording) == [["a"], ["b"]]
    assert told(recording, "branch") == [
        "Line 3 goes back to before message 'u': the conversation branches. All branches are read."
    ]


def test_a_history_that_was_rewritten_adds_only_what_is_new(read):
    again = {"$set": {"messages": [said("m1", call("a")), said("m3", call("c"))]}}

    recording = read([HEAD, said("m1", call("a")), again, said("m2", call("b"))])

    assert ids(recording) == [["a"], ["c"], ["b"]]


def test_another_message_with_the_same_id_is_a_message_of_its_own(read):
    recording = read([HEAD, said("m", call("a")), said("m", call("b"))])

    assert ids(recording) == [["a"], ["b"]]
    assert codes(recording) == {"doubled_id": 1}


def test_strange_values_everywhere_are_no_error(read):
    odd = {"id": "m", "type": "gemini", "content": 1, "toolCalls": [7, {"id": [], "args": "{"}]}
    recording = read([HEAD, {"$set": {"messages": 3}}, {"$set": 3}, odd, {"$rewindTo": 3}, "["])

    assert ids(recording) == [[""]]
    assert codes(recording) == {"no_result": 1, "broken_line": 1}
