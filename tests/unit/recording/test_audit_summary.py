"""The sums of an audit: totals, a line a tool, the worst turns; and all of it as JSON values."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from audit_logs import Told, edit, look, policy, read, recording

from toolflow.errors import UsageError
from toolflow.model import Recording
from toolflow.policy import load_policy
from toolflow.recording.audit import Collector, Range, Summary, audit
from toolflow.recording.audit.forms import summary_data, turn_data
from toolflow.recording.audit.summary import OTHERS, SHOWN, TOOLS, WORST

OLD, NEW = "return the_old_value", "return the_new_value"


def summary(path: Path, *turns: list[Told]) -> Summary:
    return audit(recording(path, *turns), policy()).summary


def test_totals(tmp_path: Path) -> None:
    found = summary(
        tmp_path,
        [look((0, 2)), look((0, 2)), Told("Bash", {}, at=(0, 3))],
        [edit("/f", OLD, NEW, at=(0, 1)), read("/f", OLD, at=(0, 1))],
        [Told("Never", {}, None)],
    ).totals
    assert (found.turns, found.parallel, found.largest) == (3, 2, 3)
    assert (found.calls, found.results) == (6, 5)
    assert found.verdicts == {"exclusive": 1, "safe": 4, "settled": 1}
    assert found.keyed == 4
    assert (found.together, found.meets, found.meeting_turns, found.at_once) == (2, 1, 1, 1)
    assert (found.timed, found.several, found.wall, found.wall_several) == (2, 2, 4, 4)
    assert found.counted == 4
    assert found.found == {("stale_read", "harm"): 1, ("unanswered", "note"): 1}
    assert found.by_source == {"main": 3}
    assert not found.is_clean


def test_an_empty_recording_is_clean() -> None:
    found = audit(Recording(()), policy()).summary.totals
    assert found.is_clean
    assert (found.turns, found.to_win) == (0, Range())


def test_a_line_a_tool(tmp_path: Path) -> None:
    [first, second, third] = summary(
        tmp_path,
        [look((0, 1)), look((0, 5)), read("/f", "no", error=True, at=(0, 1))],
        [look((0, 3)), edit("/f", OLD, NEW, at=(0, 1)), edit("/f", "x", "y", at=(2, 3))],
    ).tools
    assert (first.tool, first.calls, first.turns, first.meets) == ("Look", 3, 2, 0)
    assert (first.timed, first.seconds, first.median, first.errors) == (3, 9, 3, 0)
    assert (second.tool, second.calls, second.meets) == ("Edit", 2, 1)
    assert second.verdicts == {"safe": 2}
    assert (third.tool, third.errors, third.median) == ("Read", 1, 1)


def test_without_times_a_tool_has_no_median(tmp_path: Path) -> None:
    [line] = summary(tmp_path, [look()]).tools
    assert (line.timed, line.seconds, line.median) == (0, 0, None)


def test_tools_beyond_the_most_share_a_line(tmp_path: Path) -> None:
    calls = [Told(f"tool{number:03}") for number in range(TOOLS + 20)]
    lines = summary(tmp_path, calls).tools
    assert len(lines) == TOOLS + 1
    assert (lines[-1].tool, lines[-1].calls) == (OTHERS, 20)


def test_the_worst_turns_by_harm_then_risk_then_time_to_win(tmp_path: Path) -> None:
    harm = [edit("/f", OLD, NEW, at=(0, 1)), read("/f", OLD, at=(0, 1))]
    risk = [edit("/g", OLD, NEW, at=(0, 1)), edit("/g", "x", "y", at=(0, 1))]
    slow = [look((0, 2)), look((0, 4))]
    slower = [look((0, 20)), look((0, 40))]
    fine = [look((0, 1))]
    found = summary(tmp_path, fine, slow, risk, slower, harm, slow)
    assert [each.audit.id for each in found.worst] == [
        "turn-5", "turn-3", "turn-4", "turn-2", "turn-6",
    ]  # fmt: skip


def test_only_so_many_of_the_worst_turns_are_kept(tmp_path: Path) -> None:
    turns = [[look((0, 2 + number)), look((0, 40))] for number in range(WORST + 5)]
    found = summary(tmp_path, *turns)
    assert [each.audit.id for each in found.worst] == [f"turn-{n}" for n in range(15, 5, -1)]


def test_findings_beyond_the_first_are_counted(tmp_path: Path) -> None:
    given = audit(recording(tmp_path, [look(text=None)]), policy())
    collector = Collector()
    for _ in range(SHOWN + 3):
        collector.add(given.turns[0], "a log")
    found = collector.summary()
    assert len(found.findings) == SHOWN
    assert found.findings[0][0] == "a log"
    assert found.totals.of_level("note") == SHOWN + 3


def test_all_of_it_can_be_written_as_json(tmp_path: Path) -> None:
    given = audit(
        recording(
            tmp_path,
            [edit("/f", OLD, NEW, at=(0, 1)), read("/f", OLD, at=(0, 1)), look()],
            [look((0, 1)), look((2, 3)), Told("Grep", {"path": "/"}, None)],
        ),
        policy(),
    )
    data = summary_data(given.summary)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["totals"]["harm"] == 1
    assert data["findings"][0]["kind"] == "stale_read"
    turns = [turn_data(turn) for turn in given.turns]
    assert json.loads(json.dumps(turns, allow_nan=False)) == turns
    assert turns[0]["meets"] == [
        {
            "calls": ["t1c1", "t1c2"],
            "accesses": ["write", "read"],
            "key": "file:/f",
            "at_once": True,
        }
    ]
    assert turns[1]["held_up"] == [{"call": "t2c2", "after": "t2c1"}]
    assert turns[1]["time"]["clock"] == "log"
    assert turns[0]["time"] is None


def test_relative_paths_start_where_the_turn_says(tmp_path: Path) -> None:
    rules = [{"tool": "Edit", "safe": True, "writes": ["{{ args.file_path | file_key }}"]}]
    relative = load_policy({"version": 1, "rules": rules})
    given = recording(tmp_path, [edit("f", OLD, NEW), edit("/repo/f", "x", "y")])
    assert audit(given, relative).summary.totals.meets == 1
    assert audit(given, relative, cwd="/elsewhere").summary.totals.meets == 0


def test_outcomes_that_do_not_fit_the_calls_are_refused(tmp_path: Path) -> None:
    given = recording(tmp_path, [look()])
    turn = replace(given.turns[0], outcomes=())
    with pytest.raises(UsageError, match="'turn-1' has 1 calls and 0 outcomes"):
        audit(replace(given, turns=(turn,)), policy())
