"""Faults 1, 3, 9, 11, 13, 14, 75, 77, 78, 79, 103: in the logs of every agent that is read."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from session_logs import codes, ids, statuses
from session_samples import MAKERS, Ask, Said, gemini_chat, said

from toolflow.formats.session import read_session
from toolflow.model import Recording

Read = Callable[..., Recording]
PAIRED_BY_ID = [name for name in MAKERS if name != "gemini-cli"]
"""In a chat of Gemini CLI the results stand inside their calls."""


@pytest.fixture
def read(tmp_path) -> Read:
    def of(name: str, *turns: Said) -> Recording:
        made = MAKERS[name](turns)
        rows = made if isinstance(made, list) else [made]
        path = tmp_path / "log.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        recording = read_session(path)
        assert recording.source["format"] == name.partition(",")[0]
        return recording

    return of


def texts(recording: Recording) -> list[list[str | None]]:
    """The text of each result, without what an error says beside it."""
    return [
        [o.text.removeprefix("hm\n") if o else None for o in turn.outcomes]
        for turn in recording.turns
    ]


@pytest.mark.parametrize("name", MAKERS)
def test_b001_b003_a_turn_that_stopped_in_between_keeps_the_result_that_came(read, name):
    recording = read(name, Said((Ask("r1"), Ask("r2")), ("r1",)))

    assert texts(recording) == [["<r1>", None]]
    assert codes(recording)["no_result"] == 1
    assert read(name, Said((Ask("r1"), Ask("r2")), ("r1",))) == recording


@pytest.mark.parametrize("name", PAIRED_BY_ID)
def test_b009_calls_with_one_id_stay_two_calls_and_get_no_result_by_a_guess(read, name):
    recording = read(name, Said((Ask("run:7"), Ask("run:7"), Ask("c")), ("run:7", "run:7", "c")))

    assert ids(recording) == [["run:7", "run:7", "c"]]
    assert texts(recording) == [[None, None, "<c>"]]
    assert codes(recording)["doubled_id"] == 1


def test_b009_results_inside_their_calls_are_their_own_whatever_the_ids_are(read):
    recording = read("gemini-cli", said("x", "x"))

    assert statuses(recording) == [["ok", "ok"]]


@pytest.mark.parametrize("name", PAIRED_BY_ID)
def test_b011_calls_without_an_id_stay_calls_and_take_no_result_of_another(read, name):
    recording = read(name, Said((Ask(""), Ask(""), Ask("c9")), ("", "c9")))

    assert ids(recording) == [["", "", "c9"]]
    assert texts(recording) == [[None, None, "<c9>"]]


@pytest.mark.parametrize("name", MAKERS)
def test_b013_an_id_that_comes_back_unanswered_is_told_by_turn(read, name):
    recording = read(name, said("k1"), Said((Ask("k1"),), ()))

    assert texts(recording) == [["<k1>"], [None]]
    assert [n.turn for n in recording.notices if n.code == "no_result"] == ["turn-2"]


def test_b014_a_call_that_is_told_again_as_it_goes_on_is_one_call(tmp_path):
    lines = gemini_chat([said("c1")])
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [lines[0], *lines[1:3] * 3]))

    assert ids(read_session(path)) == [["c1"]]


@pytest.mark.parametrize("name", MAKERS)
def test_b075_b077_b078_arguments_that_are_cut_or_glued_spoil_only_their_call(read, name):
    odd = (Ask("a", "{}"), Ask("b", ""), Ask("c", '{"city": "Par'), Ask("d", '{"n":1}{"n":2}'))

    recording = read(name, Said(odd, ("a", "b")), said("e"))

    first, second = (turn.turn for turn in recording.turns)
    assert [dict(call.args) for call in first.calls] == [{}, {}, {}, {}]
    problems = [call.problem for call in first.calls]
    assert problems[:2] == [None, None]
    assert "are not JSON" in str(problems[2])
    assert "two objects in one field" in str(problems[3])
    assert [call.raw for call in first.calls[2:]] == ['{"city": "Par', '{"n":1}{"n":2}']
    assert texts(recording) == [["<a>", "<b>", None, None], ["<e>"]]
    assert not second.calls[0].problem


@pytest.mark.parametrize("name", MAKERS)
def test_b079_names_with_blanks_are_read_verbatim(read, name):
    asked = tuple(Ask(f"i{n}", tool=tool) for n, tool in enumerate((" read", "read ", " ")))

    recording = read(name, Said(asked, ()))

    assert [call.tool for call in recording.turns[0].turn.calls] == [" read", "read ", " "]


@pytest.mark.parametrize("name", MAKERS)
def test_b103_results_are_matched_by_call_and_not_by_place(read, name):
    asked = tuple(Ask(f"c{n}") for n in range(1, 8))

    recording = read(name, Said(asked, ("c5", "c2", "c7")))

    assert texts(recording) == [[None, "<c2>", None, None, "<c5>", None, "<c7>"]]
