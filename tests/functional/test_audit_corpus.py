"""Audits of recorded sessions of other people; their numbers were worked out by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from corpus import corpus_dir

from toolflow.formats.session import read_session
from toolflow.policy import Policy, load_policy
from toolflow.recording.audit import Audit, TurnAudit, audit

CLAUDE_CODE = """
version: 1
rules:
  - {tool: Read, safe: true, reads: ["file:{{ args.file_path | file_key }}"]}
  - {tool: [Edit, MultiEdit, Write], safe: true, writes: ["file:{{ args.file_path | file_key }}"]}
  - {tool: [Glob, Grep], safe: true, reads: ["{{ args.path | default(cwd, true) | dir_key }}"]}
  - {tool: [WebFetch, WebSearch], safe: true, reads: [], writes: []}
"""
PI = """
version: 1
rules:
  - {tool: read, safe: true, reads: ["file:{{ args.path | file_key }}"]}
  - {tool: [edit, write], safe: true, writes: ["file:{{ args.path | file_key }}"]}
"""


def audited(name: str, text: str = CLAUDE_CODE) -> Audit:
    policy: Policy = load_policy(text)
    return audit(read_session(corpus_dir(*name.split("/"))), policy)


def turn_of(found: Audit, turn: str) -> TurnAudit:
    return next(each for each in found.turns if each.id == turn)


# file, turns, calls, calls without a result, turns with results out of call order
COUNTS = [
    ("mclaude-3cfce0ff.jsonl", 84, 290, 0, 5),
    ("mclaude-21037e11.jsonl", 123, 172, 10, 1),
    ("mclaude-343e3472.jsonl", 14, 25, 0, 0),
    ("mclaude-95f81cf4.jsonl", 32, 57, 5, 1),
    ("mclaude-f551142a.jsonl", 31, 48, 6, 0),
    ("episodic-large.jsonl", 152, 152, 0, 0),
    ("ccviewer-5c0375b4.jsonl", 17, 21, 0, 0),
    ("ccviewer-1af7fc5e.jsonl", 6, 12, 0, 2),
    ("polylogue-normalization-main.jsonl", 2, 3, 1, 0),
]


@pytest.mark.parametrize(("name", "turns", "calls", "unanswered", "late"), COUNTS)
def test_sessions_of_claude_code(
    name: str, turns: int, calls: int, unanswered: int, late: int
) -> None:
    found = audited(f"claude-code/{name}")
    totals = found.summary.totals
    assert (totals.turns, totals.calls, totals.calls - totals.results) == (turns, calls, unanswered)
    assert totals.meets == 0  # no two calls of a turn are about one file
    without = Counter[str]()
    for _, finding in found.summary.findings:
        without[finding.kind] += len(finding.calls) if finding.kind == "unanswered" else 1
    assert without == Counter({"unanswered": unanswered, "out_of_order": late})


def test_three_searches_behind_three_commands() -> None:
    # Lines end at 6.189 s; results come at 106.433, 108.122, 109.933, 128.7, 129.595, 156.644 s.
    turn = turn_of(audited("claude-code/mclaude-3cfce0ff.jsonl"), "turn-26")
    assert turn.time is not None
    assert turn.time.counted == pytest.approx(150.455)
    assert turn.time.own.work == pytest.approx(150.455)
    # One after the other 100.244 + 1.689 + 1.811, then together the longest of 18.767, 0.895 and
    # 27.049: 130.793 s, which is 19.662 s less.
    assert turn.time.own.simulated == pytest.approx(130.793)
    assert turn.time.of("to_win") == pytest.approx((0, 19.662))
    # If they did run side by side, the commands take 100.244, 101.933 and 103.744 s one after the
    # other, and the last search 150.455 s.
    assert turn.time.whole.simulated == pytest.approx(456.376)
    assert turn.recorded.line == 343


def test_searches_beside_a_command_whose_result_came_last() -> None:
    # The last line stands at 1.257 s; results at 1.281, 1.282, 1.282 and 1.282 s, and at 1.299 s.
    turn = turn_of(audited("claude-code/ccviewer-1af7fc5e.jsonl"), "turn-2")
    assert turn.time is not None
    assert (turn.time.wall, turn.time.counted) == pytest.approx((1.299, 0.042))
    assert turn.time.whole.work == pytest.approx(0.141)
    assert turn.time.own.simulated == pytest.approx(0.041)
    assert [finding.kind for finding in turn.findings] == ["out_of_order"]


def test_three_edits_of_one_file_in_one_turn_of_pi() -> None:
    found = audited("pi/large-session.jsonl", PI)
    totals = found.summary.totals
    # Three pairs among three edits, and 120 among sixteen, none of which ran.
    assert (totals.turns, totals.meets, totals.meeting_turns, totals.at_once) == (369, 123, 2, 3)
    assert totals.found == {("lost_update", "risk"): 1, ("unanswered", "note"): 3}
    turn = turn_of(found, "turn-5")
    assert turn.time is not None
    # Results come after 4, 7 and 15 ms: one after the other 4, 3 and 8 ms, else 26 ms together.
    assert turn.time.of("work") == pytest.approx((0.015, 0.026))
    assert turn.time.own.waited == pytest.approx(0.004 + 0.007)
    assert turn.time.of("to_win") == (0, 0)
    [finding] = turn.findings
    assert (finding.kind, finding.line, len(finding.calls)) == ("lost_update", 23, 3)
