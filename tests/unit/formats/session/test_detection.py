from __future__ import annotations

import pytest
from corpus import corpus_dir
from session_samples import DOCUMENTS, LINES, MAKERS, TURNS

from toolflow.formats.session import SESSION_FORMATS
from toolflow.formats.session.log import Log

BY_FOLDER = {
    "pi": {"pi"},
    "other-agents": {"codex", "copilot", "atif"},
    "gemini-cli": {"gemini-cli"},
    "cassettes": {"vcr"},
    "claude-code": {"claude-code"},
    "trajectories": set[str](),
    "bfcl": set[str](),
    "vercel": set[str](),
    "mcp": set[str](),
}
OURS = {"claude-code", *(sample.form for sample in (*LINES.values(), *DOCUMENTS.values()))}


def recognised(head: tuple[object, ...]) -> set[str]:
    return {name for name, form in SESSION_FORMATS.items() if form.recognise(head)} & OURS


@pytest.mark.parametrize("name", MAKERS)
def test_a_log_is_taken_for_its_own_kind_only(name):
    made = MAKERS[name](TURNS)

    assert recognised(tuple(made) if isinstance(made, list) else (made,)) == {name.split(",")[0]}


@pytest.mark.parametrize("folder", BY_FOLDER)
def test_no_recorded_file_is_taken_for_another_kind(folder):
    for path in sorted(corpus_dir(folder).iterdir()):
        found = recognised(Log.open(path).head())
        assert found <= BY_FOLDER[folder], path.name
        assert len(found) == bool(BY_FOLDER[folder]), path.name


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [{}], {"type": []}, {"role": {}}])
def test_a_strange_record_is_of_no_kind(value):
    assert recognised((value,)) == set()
