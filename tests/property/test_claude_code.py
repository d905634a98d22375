"""Claude Code logs: however the lines of a session are mixed, the same turns come out."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolflow.errors import TurnError
from toolflow.formats.session import read_session
from toolflow.model import Recording


def read(lines: list[Any]) -> Recording:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        return read_session(path, format="claude-code")


def assistant(message: int, call: str, source: str) -> dict:
    block = {"type": "tool_use", "id": call, "name": "t", "input": {"of": message}}
    return {
        "type": "assistant",
        "message": {"id": f"m{message}", "role": "assistant", "content": [block]},
        **({"isSidechain": True, "agentId": source} if source != "main" else {}),
    }


def user(message: int, call: str, source: str) -> dict:
    block = {"type": "tool_result", "tool_use_id": call, "content": f"{source} {message} {call}"}
    return {
        "type": "user",
        "message": {"role": "user", "content": [block]},
        **({"isSidechain": True, "agentId": source} if source != "main" else {}),
    }


@st.composite
def mixed_logs(draw: st.DrawFn) -> tuple[list[dict], list[tuple[str, str, list[str]]]]:
    """Lines of a session in some order that can be, and the turns in the order of first lines.

    Ids are unique in a source and come back in other sources.
    """
    waiting: list[tuple[int, str, list[str]]] = []
    for number, source in enumerate(draw(st.lists(st.sampled_from(["main", "x"]), max_size=5))):
        calls = [f"c{number % 2}{n}{number // 2}" for n in range(draw(st.integers(1, 3)))]
        waiting.append((number, source, calls))
    expected = [(source, f"m{number}", list(calls)) for number, source, calls in waiting]
    steps = [[*(assistant(n, call, source) for call in calls)] for n, source, calls in waiting]
    answers = {json.dumps(assistant(n, c, s)): user(n, c, s) for n, s, cs in waiting for c in cs}
    lines: list[dict] = []
    open_answers: list[dict] = []
    started: list[int] = []
    while any(steps) or open_answers:
        choices = [index for index, step in enumerate(steps) if step]
        pick = draw(st.integers(0, len(choices) + len(open_answers) - 1))
        if pick < len(choices):
            index = choices[pick]
            line = steps[index].pop(0)
            started += [] if index in started else [index]
            open_answers.append(answers[json.dumps(line)])
        else:
            line = open_answers.pop(pick - len(choices))
        lines.append(line)
    return lines, [expected[index] for index in started]


@given(mixed_logs())
def test_any_mixture_of_lines_gives_the_same_turns_and_pairs(log):
    lines, expected = log

    recording = read(lines)

    found = [
        (turn.turn.source, turn.turn.message_id, [call.id for call in turn.turn.calls])
        for turn in recording.turns
    ]
    assert found == expected
    for turn in recording.turns:
        number = (turn.turn.message_id or "")[1:]
        assert [outcome and outcome.value for outcome in turn.outcomes] == [
            f"{turn.turn.source} {number} {call.id}" for call in turn.turn.calls
        ]
    assert recording.notices == ()


words = st.sampled_from(
    ["assistant", "user", "tool_use", "tool_result", "text", "a", "b", "m", "s", "", "main"]
)
fields = st.sampled_from(
    [
        *("type", "message", "id", "uuid", "parentUuid", "isSidechain", "agentId", "content"),
        *("tool_use_id", "is_error", "name", "input", "text", "timestamp", "sessionId", "role"),
        *("toolUseResult", "parent_tool_use_id", "signature", "source", "prompt"),
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=6),
    max_leaves=25,
)
blocks = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["tool_use", "tool_result", "text"])},
        optional={
            "id": words,
            "tool_use_id": words,
            "name": words,
            "input": anything,
            "content": anything,
            "is_error": st.booleans(),
        },
    ),
    max_size=3,
)
near_lines = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["assistant", "user"]),
        "message": st.fixed_dictionaries({"content": blocks}, optional={"id": words}),
    },
    optional={"uuid": words, "parentUuid": words, "isSidechain": st.booleans()},
)


@given(st.lists(near_lines | anything, max_size=12))
def test_any_lines_are_read_and_no_result_is_used_twice(lines):
    recording = read([{"type": "summary"}, *lines])

    results = 0
    for line in lines:
        content = line.get("message", {}) if isinstance(line, dict) else {}
        content = content.get("content") if isinstance(content, dict) else None
        for block in content if isinstance(content, list) else []:
            results += isinstance(block, dict) and block.get("type") == "tool_result"
    used = 0
    for turn in recording.turns:
        assert len(turn.outcomes) == len(turn.times) == len(turn.turn.calls)
        used += sum(outcome is not None for outcome in turn.outcomes)
    assert used <= results
    assert all(str(notice.message).isprintable() for notice in recording.notices)


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: b"[" + text.encode()))
def test_any_bytes_are_read_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_bytes(content)
        try:
            read_session(path, format="claude-code")
        except TurnError as error:
            assert error.problems  # noqa: PT017  # both endings are right
