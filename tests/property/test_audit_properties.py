"""An audit takes whatever a log may hold: no call, result or time makes it fail."""

from __future__ import annotations

import json
import re
from typing import Any

from audit_logs import policy
from hypothesis import given
from hypothesis import strategies as st

from toolflow.cli.audit_text import audit_lines
from toolflow.cli.audit_turn import turn_lines
from toolflow.formats import read_turn
from toolflow.model import LoggedResult, Outcome, RecordedTurn, Recording, Times
from toolflow.recording.audit import audit
from toolflow.recording.audit.forms import summary_data, turn_data

WORDS = st.sampled_from(["/f", "/g", "/d/f", "", "return the_old_value", "return the_new_value"])
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), WORDS, st.text(max_size=12)),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
NAMES = ("file_path", "path", "old_string", "new_string", "content", "edits", "offset")
ARGS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5)
EDITS = st.fixed_dictionaries({"file_path": WORDS, "old_string": WORDS, "new_string": WORDS})
TOOLS = st.sampled_from(["Read", "Edit", "Write", "Grep", "Look", "Never", "Bash", "x\x1b"])
STATUSES = st.sampled_from(["ok", "failed", "skipped", "declined", "aborted", "running"])
TEXTS = st.one_of(
    WORDS,
    st.text(max_size=30),
    st.sampled_from(
        [
            "String to replace not found in file.",
            "File has been modified since read",
            "Sibling tool call errored",
            "File does not exist.",
            "  1→return the_old_value\n",
        ]
    ),
)
MOMENTS = st.one_of(st.none(), st.floats(allow_nan=True), st.integers(0, 5).map(float))
LINES = st.integers(1, 9)


@st.composite
def turns(draw: st.DrawFn) -> RecordedTurn:
    calls = draw(st.lists(st.tuples(TOOLS, st.one_of(ARGS, EDITS)), max_size=6))
    rows: list[dict[str, Any]] = [
        {"id": f"c{at}", "tool": tool, "args": args} for at, (tool, args) in enumerate(calls)
    ]
    outcomes = []
    for _ in rows:
        status, text = draw(STATUSES), draw(TEXTS)
        value, error = (text, None) if status == "ok" else (None, text)
        outcomes.append(draw(st.sampled_from([None, Outcome(status, value, error)])))
    several = len(rows)
    moments = st.builds(Times, started=MOMENTS, settled=MOMENTS)
    times = draw(st.one_of(st.just([]), st.lists(moments, min_size=several, max_size=several)))
    told = st.one_of(st.none(), st.builds(LoggedResult, LINES, st.none(), TEXTS))
    results = draw(st.one_of(st.just([]), st.lists(told, min_size=several, max_size=several)))
    return RecordedTurn(
        read_turn({"calls": rows}),
        tuple(outcomes),
        tuple(times),
        line=draw(st.one_of(st.none(), LINES)),
        results=tuple(results),
    )


@given(st.lists(turns(), max_size=5))
def test_an_audit_takes_any_turns(given_turns: list[RecordedTurn]) -> None:
    recording = Recording(tuple(given_turns))
    found = audit(recording, policy())
    assert len(found.turns) == len(given_turns)
    assert found == audit(recording, policy())
    data = summary_data(found.summary)
    assert json.loads(json.dumps([data, *map(turn_data, found.turns)], allow_nan=False))
    totals = found.summary.totals
    assert sum(totals.found.values()) == len(found.summary.findings)
    for turn in found.turns:
        assert turn.meets == len(turn.meetings)
        assert all(meeting.first < meeting.second for meeting in turn.meetings)
        if turn.time is not None:
            least, most = turn.time.of("to_win")
            assert 0 <= least <= most <= turn.time.counted + 1e-6
    lines = list(audit_lines(found.summary, [], (), 80))
    for turn in found.turns:
        lines += turn_lines("a log", turn, 80)
    assert not any(re.search(r"[\x00-\x08\x0b-\x1f\x7f]", line) for line in lines)
