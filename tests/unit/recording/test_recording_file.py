"""The recording as a document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus import corpus_dir
from recorded_runs import PureRun, message_of, plan_of, recording_of

from toolflow.errors import RecordingError, ToolflowError, UsageError
from toolflow.formats.session import read_session
from toolflow.model import Call, Image, Notice, Outcome, RecordedTurn, Recording, Times, Turn
from toolflow.recording import (
    dump_recording,
    load_recording,
    outcome_data,
    outcome_from,
    replay,
    save_recording,
    turn_data,
    turn_from,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "recording"


def sample() -> Recording:
    """A small run in which something of everything happens."""
    calls = [
        ("read", "a.txt"), ("write", "a.txt"), ("look", "b"), ("build", "all"), ("ask", "a"),
        ("forbidden", "x"),
    ]  # fmt: skip
    message = message_of(calls)
    message["content"].insert(0, {"type": "text", "text": "First I read it,\nthen I change it."})
    turn = PureRun(plan_of(message), lambda count: count - 1).run()
    outcomes = list(turn.outcomes)
    outcomes[0] = Outcome("ok", "first line\nsecond line\n")
    outcomes[3] = Outcome("ok", {"files": 3}, images=(Image("image/png", "iVBORw0KGgo="),))
    return recording_of(
        replace(
            turn, outcomes=tuple(outcomes), started_at="2026-01-05T09:00:00Z", committed=None,
            messages=(),
        )
    )  # fmt: skip


def with_messages(recording: Recording) -> Recording:
    from toolflow.recording.committed import committed_of, written_messages

    (turn,) = recording.turns
    messages = written_messages(turn.turn, turn.outcomes)
    assert messages is not None
    kept = committed_of(turn.turn, turn.outcomes, messages)
    return replace(recording, turns=(replace(turn, messages=messages, committed=kept),))


def test_a_recording_reads_like_this() -> None:
    text = dump_recording(with_messages(sample()))
    assert text == (GOLDEN / "sample.yaml").read_text("utf-8")
    assert replay(load_recording(GOLDEN / "sample.yaml")).ok


def test_it_loads_as_it_was_and_is_written_the_same_again() -> None:
    recording = with_messages(sample())
    for form in ("yaml", "json"):
        text = dump_recording(recording, form)
        assert load_recording(text) == recording
        assert dump_recording(load_recording(text), form) == text


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    recording = sample()
    for name in ("recording.yaml", "recording.json"):
        path = tmp_path / name
        path.write_text("old")
        save_recording(recording, path)
        assert load_recording(path) == recording
    assert sorted(p.name for p in tmp_path.iterdir()) == ["recording.json", "recording.yaml"]


def test_a_file_that_cannot_be_written_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot be written") as found:
        save_recording(sample(), tmp_path / "missing" / "recording.yaml")
    assert "\n" not in str(found.value)


def test_another_form_is_refused() -> None:
    with pytest.raises(UsageError, match="'xml'"):
        dump_recording(sample(), "xml")  # type: ignore[arg-type]  # on purpose


# ---- odd values ----


def turn_of(value: Any, **turn: Any) -> Recording:
    call = Call(0, "a", "look", {"value": value})
    fields = {"message": {"calls": [{"id": "a", "tool": "look", "args": {"value": value}}]}, **turn}
    recorded = RecordedTurn(Turn("turn-1", (call,), **fields), (Outcome("ok", value),))
    return Recording((recorded,))


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        "\ud800 lone", {"\udfff": 1}, deep(150), {"$json": "1"}, {"$json": 1}, "$json", "a\r\nb",
        "tab\there", "\x00", "\x85 \u2028", "🚀\n🚀", 10**30, 1e-300, "no", "2026-01-01", "", None,
        [], {}, [[]], "- a: b", "#x", "trailing \n", "\n\n", {"": {"a.b": [1, 2.5, True, None]}},
    ],
)  # fmt: skip
def test_whatever_json_holds_comes_back(value: Any) -> None:
    recording = turn_of(value)
    for form in ("yaml", "json"):
        assert load_recording(dump_recording(recording, form)) == recording


def test_what_json_cannot_hold_is_an_error_of_one_line() -> None:
    with pytest.raises(RecordingError) as found:
        dump_recording(turn_of(object()))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "recording",
    [
        Recording(()),
        Recording((), {"format": "x"}, "version: 1\n", "abc", (Notice("odd", "It is odd.", 3),)),
        turn_of(1, message=None),
        turn_of(1, message={"calls": [{"args": {"value": 1}, "tool": "look", "id": "a"}]}),
        turn_of(1, message_id="m", source="sub", carries_ids=False, extra={"usage": {"a": 1}}),
        turn_of(1, notices=(Notice("a", "A."), Notice("b", "B.", turn="turn-1", call="a"))),
        turn_of(1, format="openai-chat", message={"role": "assistant", "x": [1]}),
        turn_of(1, format="unheard-of", message="text"),
        Recording((RecordedTurn(Turn("t", ()), ()),)),
        Recording((RecordedTurn(Turn("t", (Call(0, "", ""),)), (None,), (Times(),)),)),
        Recording(
            (
                RecordedTurn(
                    Turn("t", (Call(0, "a", "x", raw="{", problem="It is broken."),)),
                    (Outcome("failed", error="no", note="why"),),
                    (Times(0.1, 0.2, 0.3, 0.4, 12345.678901),),
                    messages=({"anything": 1},),
                ),
            )
        ),
    ],
)  # fmt: skip
def test_every_field_comes_back(recording: Recording) -> None:
    assert load_recording(dump_recording(recording)) == recording


def test_turns_and_outcomes_have_forms_of_their_own() -> None:
    (turn,) = with_messages(sample()).turns
    assert turn_from(turn_data(turn)) == turn
    for outcome in turn.outcomes:
        assert outcome is not None
        assert outcome_from(outcome_data(outcome)) == outcome
    with pytest.raises(RecordingError, match=r"valu is not.*\n.*status of an outcome is 'good'"):
        outcome_from({"status": "good", "valu": 1})


# ---- documents that are wrong ----


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("version: 2\nturns: []\n", "<recording>:1:10: version is 2. Use 1."),
        ("turns: []\nversion: yes\n", "2:10: version is 'yes'. Use an integer."),
        ("version: 1\n", "turns is missing."),
        ("version: 1\nturns: {}\n", "<recording>:2:8: turns is an empty mapping. Use a list."),
        (
            "version: 1\nturn: []\nturns: []\n",
            "2:1: turn is not a known field. Did you mean 'turns",
        ),
        ("version: 1\nturns: [1]\n", "2:9: turns[0] is 1. Use a mapping."),
        ("- 1\n", "The document is a list. Use a mapping."),
        ("version: 1\nturns: [\n", ""),
        ("version: 1\npolicy: 3\nsource: 4\nturns: []\n", "2:9: policy is 3. Use text."),
    ],
)
def test_a_document_that_cannot_be_used_tells_all_its_problems(text: str, said: str) -> None:
    with pytest.raises(RecordingError) as found:
        load_recording(text or "\n")
    assert said in str(found.value)


def test_all_problems_of_a_document_are_told_at_once() -> None:
    with pytest.raises(RecordingError) as found:
        load_recording("version: 1\npolicy: 3\nsource: 4\nturns: 5\nmore: 6\n")
    assert len(found.value.problems) == 4
    assert all(problem.line for problem in found.value.problems)


BROKEN = [
    ("    format: anthropic", "    format: 7", "turns[0].format is 7. Use text."),
    ("args: {path: a.txt}", "args: '{\"path\":'", "turns[0].calls[0].args is '{\"path\":'. "),
    ("outcome: {status: ok, value: result", "outcome: {status: good, value: result",
     "The status of an outcome is 'good'"),
    ("verdict: exclusive", "verdict: exclusiv", "calls[3].verdict is 'exclusiv'"),
    ("queued=0", "queued=soon", "'queued=soon.3' is no time"),
    ("0 run_started", "0 run_begun", "turns[0].events, line 1: 'run_begun' is no event."),
    ("0 run_started", "x run_started", "turns[0].events, line 1: 'x' is no time."),
    ("{id: barrier-2, calls: [toolu_04]}", "{id: barrier-2, calls: [toolu_05]}", "toolu_05"),
    ("    run: {id: run-1,", "    run: {id: run-1, stops: [nobody],", "is 'nobody'"),
    ("    started_at:", "    begun_at:", "turns[0].begun_at is not a known field."),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), BROKEN)
def test_a_corrupt_turn_is_told_with_its_line_and_the_others_load(
    old: str, new: str, said: str
) -> None:
    recording = with_messages(sample())
    good = replace(recording.turns[0], turn=replace(recording.turns[0].turn, id="turn-2"))
    whole = dump_recording(replace(recording, turns=(*recording.turns, turn_from(turn_data(good)))))
    assert old in whole
    loaded = load_recording(whole.replace(old, new, 1))
    assert len(loaded.turns) == 2
    assert [call.id for call in loaded.turns[1].turn.calls]
    found = [notice for notice in loaded.notices if notice.code == "corrupt_turn"]
    assert any(said in notice.message for notice in found)
    assert all(notice.line is not None and notice.turn == "turn-1" for notice in found)
    line = whole[: whole.index(old)].count("\n") + 1
    assert any(abs((notice.line or 0) - line) <= 1 for notice in found)
    with pytest.raises(RecordingError):
        load_recording(whole.replace(old, new, 1), strict=True)


def test_no_mutilated_document_ends_in_anything_but_our_own_error() -> None:
    text = dump_recording(with_messages(sample()))
    lines = text.splitlines(keepends=True)
    for place in range(len(lines)):
        for mutilated in (lines[:place], lines[:place] + lines[place + 1 :]):
            try:
                loaded = load_recording("".join(mutilated) or "\n")
                replay(loaded, strict=False)
            except ToolflowError:
                continue


def test_sessions_of_other_programs_come_back_and_replay() -> None:
    for name in ("agentsessions-claude-small.jsonl", "episodic-tiny.jsonl"):
        recording = read_session(corpus_dir("claude-code", name))
        assert load_recording(dump_recording(recording)) == recording
        report = replay(recording)
        assert report.ok
        assert all(turn.simulation is not None for turn in report.turns)


def test_a_message_with_more_calls_than_its_turn_is_a_corrupt_turn() -> None:
    turn = PureRun(plan_of(message_of([("look", "a"), ("look", "b")])), lambda count: 0).run()
    more = message_of([("look", "a"), ("look", "b"), ("look", "c")])
    text = dump_recording(recording_of(turn, replace(turn, turn=replace(turn.turn, message=more))))

    loaded = load_recording(text)

    assert any("does not hold the calls" in notice.message for notice in loaded.notices)
    assert not replay(loaded, strict=False).ok
    with pytest.raises(RecordingError, match="does not hold the calls"):
        load_recording(text, strict=True)
