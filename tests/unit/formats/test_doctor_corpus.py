"""Requests that providers have accepted are found valid; recorded logs export to every format."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cassettes import exchanges
from corpus import corpus_dir
from sdk_checks import CHECKS

from toolflow.formats import read_turns
from toolflow.formats.bedrock_writer import with_bytes
from toolflow.formats.doctor import examine
from toolflow.formats.repair import repair
from toolflow.formats.session import open_session
from toolflow.formats.session.doctor import examine_session
from toolflow.model import RecordedTurn
from toolflow.recording.exporting import export_turns
from toolflow.recording.importing import open_log

LISTS = ("messages", "contents", "input")
# The logs hold no signature, or masked ones, or stand-ins for names and fields: a provider's own
# type refuses what its own log then holds.
MASKED = {
    ("agentsessions-claude-small.jsonl", "anthropic"),
    ("polylogue-normalization-main.jsonl", "anthropic"),
    ("codex-small.jsonl", "openai-responses"),
    ("hooks-system.input-validation.responses", "gemini"),
    ("policy-headless-shell-denied.responses", "gemini"),
}
LOGS = [
    ("claude-code", "*.jsonl"),
    ("pi", "*.jsonl"),
    ("other-agents", "*.json*"),
    ("gemini-cli", "*.responses"),
    ("trajectories", "*.*"),
]


def test_requests_that_were_accepted_have_nothing_wrong_in_them():
    seen = calls = 0
    for path in sorted(corpus_dir("cassettes").glob("pydantic-*.yaml")):
        for exchange in exchanges(path):
            body = exchange.request
            key = next((k for k in LISTS if isinstance(body, dict) and k in body), None)
            if key is None or not isinstance(body[key], list):
                continue
            report = examine(body[key], whole=True)
            assert report.findings == (), path.name
            assert repair(body[key], whole=True).messages == body[key]
            seen, calls = seen + 1, calls + report.calls
    assert (seen, calls) == (33, 47)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-code/mclaude-21037e11.jsonl", {"broken_line": 28, "no_result": 10,
                                                "result_without_call": 2}),
        ("claude-code/mclaude-3cfce0ff.jsonl", {}),
        ("pi/large-session.jsonl", {"no_result": 18}),
        ("trajectories/tau-gpt-4o-airline-top25.json", {}),
        ("other-agents/hermes-atif-real-redacted.json", {"doubled_id": 5, "no_result": 4,
                                                         "unreadable_arguments": 4}),
    ],
)  # fmt: skip
def test_logs_have_the_findings_that_were_counted_in_them(name, expected):
    report = examine_session(open_session(corpus_dir(*name.split("/"))))

    counts: dict[str, int] = {}
    for notice in report.findings:
        counts[notice.code] = counts.get(notice.code, 0) + 1
    assert counts == expected


@pytest.mark.parametrize("form", sorted(CHECKS))
@pytest.mark.parametrize(("folder", "pattern"), LOGS, ids=[folder for folder, _ in LOGS])
def test_every_log_is_exported_turn_by_turn_to_every_format(folder, pattern, form):
    written = 0
    for path in sorted(corpus_dir(folder).glob(pattern)):
        turns = turns_of(path)
        if not any(recorded.turn.calls for recorded in turns):
            continue
        exported = export_turns(turns, format=form)
        messages = repair(exported.messages, format=form, whole=True)
        assert {change.code for change in messages.changes} <= {"result_added"}, path.name
        assert {notice.code for notice in messages.left} <= {"unreadable_arguments"}, path.name
        again = read_turns(messages.messages, format=form)
        assert len(again) == exported.turns, path.name
        if (path.name, form) not in MASKED:
            check(form, messages.messages)
        written += exported.turns
    assert written


@cache
def turns_of(path: Path) -> list[RecordedTurn]:
    return list(open_log(path).turns)


def check(form: str, messages: list[Any]) -> None:
    CHECKS[form](with_bytes(messages) if form == "bedrock" else messages)


def test_lists_of_tools_hold_no_turns():
    for path in sorted(corpus_dir("mcp-tools-list").glob("*.json")):
        assert turns_of(path) == []
