"""Every recorded trajectory and benchmark file against what its index says of it.

The index counts every message of the model as a turn; a recording holds those that have calls, and
tells the number of messages in its source. Calls and results are counted by hand, with a script
that knows only the one file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import NamedTuple

import pytest
from corpus import corpus_dir

from toolflow.formats import read_turn, write_turn
from toolflow.formats.session import SESSION_FORMATS, read_session
from toolflow.formats.session.log import Log
from toolflow.model import Outcome, Recording


class Found(NamedTuple):
    format: str
    turns: int
    calls: int
    results: int


FILES = {
    "inspect-browser.json": Found("inspect", 4, 4, 4),
    "inspect-tool_call_error.json": Found("inspect", 0, 0, 0),
    # Commands stand in the text alone: the index counts no calls, and neither do we.
    "mini-github_issue.traj.json": Found("mini-swe-agent", 0, 0, 0),
    "mini-local.traj.json": Found("mini-swe-agent", 0, 0, 0),
    "openai-agents-v1_13_pending_tool_approval.json": Found("openai-agents", 1, 1, 0),
    "openai-agents-v1_9_custom_tool_call_and_tool_origin.json": Found("openai-agents", 1, 1, 1),
    "openhands-basic.json": Found("openhands", 2, 2, 1),
    "openhands-basic_interactions.json": Found("openhands", 1, 1, 0),
    "openhands-sdk-fncall-messages.json": Found("messages", 6, 6, 6),
    "openhands-sdk-litellm-log.json": Found("messages", 6, 6, 5),
    "sweagent-function_calling_simple.traj": Found("swe-agent", 5, 5, 5),
    "sweagent-marshmallow-function_calling.traj": Found("swe-agent", 11, 11, 11),
    "sweagent-marshmallow-replace.traj": Found("swe-agent", 11, 11, 11),
    "tau-gpt-4o-airline-top25.json": Found("tau-bench", 379, 379, 379),
    "BFCL_v4_multi_turn_base.jsonl": Found("bfcl", 0, 0, 0),
    "BFCL_v4_parallel.jsonl": Found("bfcl", 0, 0, 0),
    "func-doc-gorilla_file_system.jsonl": Found("bfcl", 0, 0, 0),
    # Three of the 734 steps of the index are empty lists: messages without calls.
    "possible_answer-BFCL_v4_multi_turn_base.jsonl": Found("bfcl", 731, 1142, 0),
    "possible_answer-BFCL_v4_parallel.jsonl": Found("bfcl", 200, 540, 0),
}
# The index counts only the messages with calls in this file; two others are plain text.
MESSAGES = {"openhands-basic_interactions.json": 3}
# Its last call has no observation: the index tells that of the other file only.
WITHOUT_RESULT = {
    "openhands-basic_interactions.json": 1,
    # The index counts pending approvals (four mentions of one call), not the call without result.
    "openai-agents-v1_13_pending_tool_approval.json": 1,
}


class Row(NamedTuple):
    folder: str
    turns: int
    batches: int
    mixed: int
    largest: int
    odd: dict[str, int]


def index() -> dict[str, Row]:
    """The rows of the index for these folders, by file."""
    text = corpus_dir("INDEX.md").read_text(encoding="utf-8")
    rows = {}
    for folder in ("trajectories", "bfcl"):
        section = text.split(f"### {folder}/")[1].split("\n### ")[0]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == 8 and (name := re.match(r"(\S+\.(?:jsonl?|traj)) ", cells[0])):
                odd = dict(re.findall(r"([a-z][a-z/ >=-]*[a-z]): (\d+)", cells[7]))
                numbers = {key: int(value) for key, value in odd.items()}
                rows[name[1]] = Row(folder, *(int(cell) for cell in cells[3:7]), numbers)
    return rows


def read(name: str) -> Recording:
    return read_session(corpus_dir(index()[name].folder, name))


def test_the_index_and_this_table_name_the_same_files():
    assert set(index()) == set(FILES)


@pytest.mark.parametrize("name", sorted(FILES))
def test_turns_and_batches_are_those_of_the_index(name):
    row, found = index()[name], FILES[name]

    recording = read(name)

    sizes = [len(turn.turn.calls) for turn in recording.turns]
    tools = [{call.tool for call in turn.turn.calls} for turn in recording.turns]
    assert recording.source["format"] == found.format
    assert recording.source["messages"] == MESSAGES.get(name, row.turns)
    assert len(sizes) == found.turns
    assert sum(sizes) == found.calls
    assert sum(size >= 2 for size in sizes) == row.batches
    assert sum(len(names) >= 2 for names in tools) == row.mixed
    assert max(sizes, default=0) == row.largest
    assert [turn.turn.id for turn in recording.turns] == [
        f"turn-{n + 1}" for n in range(len(sizes))
    ]


@pytest.mark.parametrize("name", sorted(FILES))
def test_what_is_odd_in_a_log_is_told(name):
    row, found = index()[name], FILES[name]

    recording = read(name)

    told = Counter(notice.code for notice in recording.notices)
    outcomes = [outcome for turn in recording.turns for outcome in turn.outcomes]
    assert len(outcomes) - outcomes.count(None) == found.results
    assert told["result_without_call"] == row.odd.get("results without call", 0)
    assert recording.source["broken_lines"] == 0
    if row.folder == "bfcl":  # nothing was run there, which is told once
        assert told["no_result"] == 0
        assert told["no_results"] == (found.calls > 0)
        assert told["no_calls"] == (found.calls == 0)
    else:
        missing = WITHOUT_RESULT.get(name, row.odd.get("calls without result", 0))
        assert told["no_result"] == missing == outcomes.count(None)
        assert told["unread_call"] == (found.format == "mini-swe-agent")


@pytest.mark.parametrize(
    "name", sorted(name for name in FILES if name.endswith((".json", ".traj")))
)
def test_ids_that_come_back_are_those_of_the_index(name):  # files of BFCL have none
    row = index()[name]

    recording = read(name)

    ids = Counter((turn.turn.source, c.id) for turn in recording.turns for c in turn.turn.calls)
    again = sum(count > 1 for count in ids.values())
    assert again == row.odd.get("duplicate call ids", 0)
    assert all(notice.code != "doubled_result" for notice in recording.notices)


@pytest.mark.parametrize("name", sorted(FILES))
def test_each_turn_holds_together_and_is_written_as_it_was_read(name):
    for recorded in read(name).turns:
        turn = recorded.turn
        assert len(recorded.outcomes) == len(turn.calls) > 0
        assert [call.index for call in turn.calls] == list(range(len(turn.calls)))
        assert all(call.problem is None for call in turn.calls)
        for times in recorded.times:
            if times.started is not None and times.settled is not None:
                assert 0 <= times.started <= times.settled
        again = read_turn(turn.message, format=turn.format, turn_id=turn.id)
        assert again.calls == turn.calls
        outcomes = [outcome or Outcome("outcome_unknown") for outcome in recorded.outcomes]
        assistant, _ = write_turn(turn, outcomes)
        assert read_turn(assistant, format=turn.format, turn_id=turn.id).calls == turn.calls


def test_results_stay_within_their_run_and_turn():
    name = "tau-gpt-4o-airline-top25.json"
    runs = json.loads(corpus_dir("trajectories", name).read_text(encoding="utf-8"))
    expected = []
    for number, run in enumerate(runs, 1):
        for place, message in enumerate(run["traj"]):
            for call in message.get("tool_calls") or ():
                result = run["traj"][place + 1]  # one call a message, its result straight after it
                assert result["tool_call_id"] == call["id"]
                expected.append((f"run-{number}", call["id"], result["content"]))

    recording = read(name)

    assert [
        (turn.turn.source, turn.turn.calls[0].id, turn.outcomes[0].text)
        for turn in recording.turns
        if turn.outcomes[0] is not None
    ] == expected
    assert [run["source"] for run in recording.source["runs"]] == recording.source["sources"]
    assert recording.source["runs"][1]["task_id"] == runs[1]["task_id"]
    found = Counter(turn.outcomes[0].status for turn in recording.turns if turn.outcomes[0])
    assert found == {"ok": 341, "failed": 38}  # 38 results begin with "Error: "


def test_commands_of_a_trajectory_have_the_times_of_its_steps():
    name = "sweagent-marshmallow-replace.traj"
    steps = json.loads(corpus_dir("trajectories", name).read_text(encoding="utf-8"))["trajectory"]

    times = [turn.times[0] for turn in read(name).turns]

    assert [time.settled for time in times] == [round(s["execution_time"], 6) for s in steps]
    assert {time.started for time in times} == {0.0}


def test_the_times_of_an_eval_are_those_of_its_events():
    first = read("inspect-browser.json").turns[0]

    # The message was complete at 39.697; its call began at 39.763 and ended at 44.080.
    (times,) = first.times
    assert first.started_at is not None
    assert first.started_at.startswith("2025-05-12T20:27:39.69")
    assert times.started == pytest.approx(0.066, abs=0.001)
    assert times.settled == pytest.approx(4.383, abs=0.001)


def test_answers_of_several_steps_keep_the_order_of_their_calls():
    name = "possible_answer-BFCL_v4_multi_turn_base.jsonl"

    first = read(name).turns[0].turn

    assert first.source == "multi_turn_base_0"
    assert [(call.tool, dict(call.args)) for call in first.calls] == [
        ("cd", {"folder": "document"}),
        ("mkdir", {"dir_name": "temp"}),
        ("mv", {"source": "final_report.pdf", "destination": "temp"}),
    ]


def test_of_allowed_values_the_first_is_the_argument():
    name = "possible_answer-BFCL_v4_parallel.jsonl"
    lines = corpus_dir("bfcl", name).read_text(encoding="utf-8").splitlines()
    entries = {entry["id"]: entry["ground_truth"] for entry in map(json.loads, lines)}

    for recorded in read(name).turns:
        for call, told in zip(recorded.turn.calls, entries[recorded.turn.source], strict=True):
            ((tool, allowed),) = told.items()
            assert call.tool == tool
            assert set(call.args) <= set(allowed)
            for parameter, values in allowed.items():
                if isinstance(values[0], dict):
                    continue
                assert call.args.get(parameter, "") == values[0]


def test_a_pending_approval_is_told_as_the_reason():
    recording = read("openai-agents-v1_13_pending_tool_approval.json")

    (notice,) = recording.notices
    assert notice.message.endswith("has no result in the log; it waits for an approval.")
    assert notice.call == recording.turns[0].turn.calls[0].id


def test_no_file_is_recognised_by_two_formats():
    for path in sorted(corpus_dir().rglob("*.*")):
        head = Log.open(path).head() if path.suffix != ".md" else ()
        found = [
            f.name for f in SESSION_FORMATS.values() if f.name != "messages" if f.recognise(head)
        ]
        assert len(found) <= 1, (path.name, found)
