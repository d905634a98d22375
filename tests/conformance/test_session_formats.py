"""Import, export, import again, for every session of the corpus and every format of sessions."""

from __future__ import annotations

import json

import pytest
from corpus import corpus_dir
from trajectories import BUILDERS

from toolflow.errors import TurnError
from toolflow.formats.session import SESSION_FORMATS, read_session
from toolflow.recording import dump_recording, load_recording

FOLDERS = ("bfcl", "cassettes", "gemini-cli", "other-agents", "pi", "trajectories", "vercel")
"""All folders with sessions but that of Claude Code, which has a test of its own."""
NO_SESSIONS = {".txt", ".sse"}
"""Files that hold the chunks of one stream: a message, not a session."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_c153_every_session_that_is_exported_and_imported_again_is_the_same_recording(folder):
    paths = sorted(corpus_dir(folder).iterdir())
    assert paths
    for path in paths:
        if path.suffix in NO_SESSIONS:
            with pytest.raises(TurnError, match="format of the log cannot be told"):
                read_session(path)
            continue
        recording = read_session(path)
        assert read_session(path) == recording
        text = dump_recording(recording)
        again = load_recording(text)
        assert again == recording, path.name
        assert dump_recording(again) == text


@pytest.mark.parametrize("layout", sorted(BUILDERS))
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_c153_every_layout_of_a_trajectory_is_the_same_recording_again(tmp_path, layout, form):
    name, build = BUILDERS[layout]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(build([[1, 2], [3]])), encoding="utf-8")

    recording = read_session(path, format=name)

    assert recording.turns
    again = load_recording(dump_recording(recording, form))
    assert again == recording
    assert dump_recording(again, form) == dump_recording(recording, form)


def test_c153_every_format_of_sessions_has_a_session_in_the_corpus():
    found = set()
    for folder in (*FOLDERS, "claude-code"):
        for path in sorted(corpus_dir(folder).iterdir()):
            if path.suffix not in NO_SESSIONS and path.stat().st_size < 100_000:
                found.add(read_session(path).source["format"])
    # Of Kimi the corpus has no file; those of pi and tau-bench are larger; lists of tools are none.
    assert found | {"kimi", "pi", "tau-bench", "tool-list"} == set(SESSION_FORMATS)
