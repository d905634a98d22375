from __future__ import annotations

import pytest
from session_logs import codes, ids, read_lines, statuses, told

from toolflow.formats import write_turn
from toolflow.model import Image, Outcome, Times

HEADER = {
    "type": "session",
    "version": 3,
    "id": "s-1",
    "timestamp": "2026-01-17T10:00:00Z",
    "cwd": "/r",
}


def call(call_id: str, tool: str = "read", **args: object) -> dict:
    return {"type": "toolCall", "id": call_id, "name": tool, "arguments": args}


def said(*blocks: dict, at: int = 0, **more: object) -> dict:
    message = {"role": "assistant", "content": list(blocks), "stopReason": "toolUse", **more}
    return {"type": "message", "timestamp": f"2026-01-17T10:00:{at:02}Z", "message": message}


def got(call_id: object, text: object = "x", *, at: int = 0, error: bool = False) -> dict:
    content = [{"type": "text", "text": text}] if isinstance(text, str) else text
    message = {"role": "toolResult", "toolCallId": call_id, "toolName": "t", "content": content}
    message["isError"] = error
    return {"type": "message", "timestamp": f"2026-01-17T10:00:{at:02}Z", "message": message}


def user(text: str) -> dict:
    return {"type": "message", "message": {"role": "user", "content": text}}


def tree(*entries: tuple[str, str | None, dict]) -> list[dict]:
    return [{**entry, "id": own, "parentId": parent} for own, parent, entry in entries]


@pytest.fixture
def read(tmp_path):
    return lambda lines, **options: read_lines(tmp_path / "log.jsonl", lines, **options)


def test_a_message_is_a_turn_with_its_results_and_times(read):
    recording = read(
        [
            HEADER,
            user("go"),
            said(call("a", path="x"), call("b"), at=1),
            got("b", "B", at=3),
            got("a", "A", at=4),
        ]
    )

    (turn,) = recording.turns
    assert ids(recording) == [["a", "b"]]
    assert turn.turn.calls[0].args == {"path": "x"}
    assert turn.outcomes == (Outcome("ok", "A"), Outcome("ok", "B"))
    assert turn.times == (Times(started=0.0, settled=3.0), Times(started=0.0, settled=2.0))
    assert turn.started_at == "2026-01-17T10:00:01Z"
    assert recording.source["format"] == "pi"
    assert recording.source["session"] == "s-1"
    assert recording.source["cwd"] == "/r"
    assert not recording.notices


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_calls_of_a_message_that_was_broken_off_are_told_with_the_reason(read, reason):
    edits = [call(f"e{index}", "edit", path="f", n=index) for index in range(16)]

    recording = read([HEADER, said(*edits, stopReason=reason, errorMessage="overloaded")])

    assert statuses(recording) == [[None] * 16]
    assert codes(recording) == {"no_result": 16}
    assert told(recording, "no_result")[0] == (
        f"Call 'e0' has no result in the log; the message ended with '{reason}' ('overloaded')."
    )
    assert [notice.code for notice in recording.turns[0].turn.notices] == ["cut_off"]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("boom", "failed"),
        ("out\n\nCommand exited with code 1", "failed"),
        ("out\n\nCommand aborted", "aborted"),
        ("Command timed out after 5 seconds", "timed_out"),
        ("Tool nope not found", "unknown_tool"),
        ('Validation failed for tool "edit":\n - path: required', "invalid_arguments"),
        ("Skipped due to queued user message.", "skipped"),
        ("The page says: Command aborted, and so on", "failed"),
    ],
)
def test_an_error_has_the_status_that_its_own_sentence_means(read, text, status):
    recording = read([HEADER, said(call("a")), got("a", text, error=True)])

    assert recording.turns[0].outcomes == (Outcome(status, None, text),)


def test_a_sentence_of_an_error_in_a_good_result_means_nothing(read):
    recording = read([HEADER, said(call("a")), got("a", "Command aborted")])

    assert statuses(recording) == [["ok"]]


def test_a_picture_in_a_result_is_kept_apart(read):
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image", "data": "AA", "mimeType": "image/png"},
    ]

    recording = read([HEADER, said(call("a")), got("a", parts)])

    assert recording.turns[0].outcomes == (
        Outcome("ok", "see", images=(Image("image/png", "AA"),)),
    )


def test_all_branches_are_read_and_each_branching_is_told(read):
    recording = read(
        [
            HEADER,
            *tree(
                ("e1", None, user("go")),
                ("e2", "e1", said(call("a"))),
                ("e3", "e2", got("a", "A")),
                ("e4", "e1", said(call("b"))),
                ("e5", "e4", got("b", "B")),
                ("e6", "lost", said(call("c"))),
            ),
        ]
    )

    assert ids(recording) == [["a"], ["b"], ["c"]]
    assert statuses(recording) == [["ok"], ["ok"], [None]]
    ends = ": the conversation branches. All branches are read."
    assert told(recording, "branch") == [
        f"Line 5 goes on from line 2, not from line 4{ends}",
        f"Line 7 goes on from an entry that is not in the log{ends}",
    ]
    assert recording.turns[1].turn.extra["parentId"] == "e1"


def test_ids_that_come_back_are_paired_turn_by_turn(read):
    recording = read([HEADER, said(call("k")), got("k", "first"), said(call("k"))])

    assert statuses(recording) == [["ok"], [None]]


def test_the_whole_message_is_kept_and_plain_calls_are_written(read):
    line = said({"type": "thinking", "thinking": "hm"}, {**call("a"), "thoughtSignature": "s"})

    turn = read([HEADER, line]).turns[0].turn

    assert turn.extra["message"] == line["message"]
    assert turn.calls[0].extra == {"type": "toolCall", "thoughtSignature": "s"}
    assistant, results = write_turn(turn, [Outcome("ok", "A")])
    assert assistant == [{"calls": [{"id": "a", "tool": "read", "args": {}}]}]
    assert results == [{"results": [{"id": "a", "tool": "read", "status": "ok", "value": "A"}]}]


def test_calls_without_a_text_for_id_or_name_are_read_and_kept(read):
    recording = read([HEADER, said({"type": "toolCall", "id": 7, "name": None, "arguments": "{"})])

    (found,) = recording.turns[0].turn.calls
    assert (found.id, found.tool, found.raw) == ("", "", "{")
    assert found.extra == {"type": "toolCall", "id": 7, "name": None}
    assert found.problem


def test_strange_values_everywhere_are_no_error(read):
    strange = [
        {"message": 1},
        {"type": []},
        {"type": "message", "message": {"role": {}}},
        said(),
        "{",
        "7",
    ]

    recording = read([HEADER, *strange, got([]), got(None), said(call("a"), stopReason=[])])

    assert ids(recording) == [["a"]]
    assert codes(recording) == {"broken_line": 2, "result_without_call": 2, "no_result": 1}
