"""Every recorded Claude Code log against what its index says of it.

The index counts every assistant message as a turn; a recording holds those that have calls, and
tells the number of messages in its source. Both are checked, the first against the index, the
second as pinned here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import NamedTuple

import pytest
from corpus import corpus_dir

from toolflow.formats import read_turn, write_turn
from toolflow.formats.session import read_session
from toolflow.model import Outcome, Recording

FILES = {  # file: turns that have calls, counted by hand with a script of 20 lines
    "action-sample-turns.json": 3,
    "agentsessions-claude-small.jsonl": 3,
    "cclog-representative_messages.jsonl": 2,
    "cclog-todowrite_examples.jsonl": 3,
    "ccviewer-1af7fc5e.jsonl": 6,
    "ccviewer-5c0375b4.jsonl": 17,
    "episodic-large.jsonl": 152,
    "episodic-medium.jsonl": 0,
    "episodic-tiny.jsonl": 1,
    "mclaude-21037e11.jsonl": 123,
    "mclaude-343e3472.jsonl": 14,
    "mclaude-3cfce0ff.jsonl": 84,
    "mclaude-95f81cf4.jsonl": 32,
    "mclaude-f551142a.jsonl": 31,
    "polylogue-normalization-main.jsonl": 2,
}
# The index counts only messages whose content is a list; two here are plain text.
MESSAGES = {"polylogue-normalization-main.jsonl": 4}
# The index pairs a call without an id with a result without an id. No id is no pair: that call
# has no result, and the two results without an id have no call.
WITHOUT_RESULT = {"agentsessions-claude-small.jsonl": 2}
WITHOUT_CALL = {"agentsessions-claude-small.jsonl": 2}


class Row(NamedTuple):
    turns: int
    batches: int
    largest: int
    odd: dict[str, int]


def index() -> dict[str, Row]:
    """The rows of the index for this folder, by file."""
    text = corpus_dir("INDEX.md").read_text(encoding="utf-8")
    section = text.split("### claude-code/")[1].split("\n### ")[0]
    rows = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and (name := re.match(r"(\S+\.jsonl?) ", cells[0])):
            odd = dict(re.findall(r"([a-z][a-z/ >=-]*[a-z]): (\d+)", cells[7]))
            numbers = {key: int(value) for key, value in odd.items()}
            rows[name[1]] = Row(int(cells[3]), int(cells[4]), int(cells[6]), numbers)
    return rows


def read(name: str) -> Recording:
    return read_session(corpus_dir("claude-code", name))


def test_the_index_and_this_table_name_the_same_files():
    assert set(index()) == set(FILES)


@pytest.mark.parametrize("name", sorted(FILES))
def test_turns_and_batches_are_those_of_the_index(name):
    row = index()[name]

    recording = read(name)

    sizes = [len(turn.turn.calls) for turn in recording.turns]
    assert recording.source["messages"] == MESSAGES.get(name, row.turns)
    assert len(sizes) == FILES[name]
    assert sum(size >= 2 for size in sizes) == row.batches
    assert max(sizes, default=0) == row.largest


@pytest.mark.parametrize("name", sorted(FILES))
def test_what_is_odd_in_a_log_is_told(name):
    odd = index()[name].odd

    recording = read(name)

    told = Counter(notice.code for notice in recording.notices)
    assert recording.source["broken_lines"] == odd.get("unparsable lines", 0)
    assert told["broken_line"] == odd.get("unparsable lines", 0)
    assert told["no_result"] == WITHOUT_RESULT.get(name, odd.get("calls without result", 0))
    assert told["result_without_call"] == WITHOUT_CALL.get(name, odd.get("results without call", 0))
    outcomes = [outcome for turn in recording.turns for outcome in turn.outcomes]
    assert outcomes.count(None) == told["no_result"]


@pytest.mark.parametrize("name", sorted(FILES))
def test_each_turn_holds_together(name):
    for recorded in read(name).turns:
        turn = recorded.turn
        assert len(recorded.outcomes) == len(recorded.times) == len(turn.calls) > 0
        assert [call.index for call in turn.calls] == list(range(len(turn.calls)))
        for times in recorded.times:
            if times.started is not None and times.settled is not None:
                assert 0 <= times.started <= times.settled
        again = read_turn(turn.message, format="anthropic", turn_id=turn.id)
        assert again.calls == turn.calls
        if all(call.id for call in turn.calls) and not name.startswith("agentsessions"):
            outcomes = [outcome or Outcome("outcome_unknown") for outcome in recorded.outcomes]
            assistant, results = write_turn(turn, outcomes)
            assert assistant == [turn.message]
            assert [block["tool_use_id"] for block in results[0]["content"][: len(turn.calls)]] == [
                call.id for call in turn.calls
            ]


def test_sub_agents_of_an_older_log_are_named_by_their_calls():
    recording = read("ccviewer-5c0375b4.jsonl")

    sources = Counter(turn.turn.source for turn in recording.turns)
    tasks = {call.id for turn in recording.turns for call in turn.turn.calls if call.tool == "Task"}
    # Lines 16 to 40 are marked as sidechains: 22 lines in two chains, with 2 and 6 turns.
    assert {source: count for source, count in sources.items() if source != "main"} == {
        "toolu_014YF9TXhDRR7BnpasNJ7gjC": 2,
        "toolu_01LKfUwrsnof18CpWZQcJH44": 6,
    }
    assert tasks >= sources.keys() - {"main"}


def test_rejections_interrupts_and_background_work_are_recognised():
    def statuses(name: str) -> Counter[str | None]:
        found = [outcome for turn in read(name).turns for outcome in turn.outcomes]
        return Counter(outcome.status if outcome else None for outcome in found)

    # Counted by hand: line 369 is an interrupt, line 405 a rejection.
    assert statuses("episodic-large.jsonl") == {
        "ok": 130,
        "failed": 20,
        "aborted": 1,
        "declined": 1,
    }
    assert statuses("mclaude-3cfce0ff.jsonl") == {"ok": 231, "failed": 58, "aborted": 1}
    assert statuses("polylogue-normalization-main.jsonl") == {"running": 1, "failed": 1, None: 1}
    assert statuses("ccviewer-1af7fc5e.jsonl") == {"ok": 11, "declined": 1}


def test_results_out_of_order_are_kept_in_call_order():
    name = "mclaude-3cfce0ff.jsonl"
    by_id = {}
    for line in corpus_dir("claude-code", name).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        content = record.get("message", {}).get("content")
        for block in content if isinstance(content, list) else []:
            if block["type"] == "tool_result":
                by_id[block["tool_use_id"]] = block["content"]

    for recorded in read(name).turns:
        for call, outcome in zip(recorded.turn.calls, recorded.outcomes, strict=True):
            assert outcome is not None
            assert outcome.text == by_id[call.id]


def test_messages_as_they_were_logged_come_back_block_by_block():
    name = "ccviewer-1af7fc5e.jsonl"
    logged: dict[str, list] = {}
    for line in corpus_dir("claude-code", name).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"] == "assistant":
            logged.setdefault(record["message"]["id"], []).extend(record["message"]["content"])

    for recorded in read(name).turns:
        assert recorded.turn.message["content"] == logged[recorded.turn.message_id or ""]
