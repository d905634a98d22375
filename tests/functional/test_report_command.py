"""``toolflow report``: files, logs and standard output, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import reported
from commands import ran, record_flow
from large_recordings import write_recording
from peaks import peak

from toolflow.recording import save_recording

LOG = """\
{"type": "assistant", "sessionId": "s", "message": {"id": "m1", "content": [{"type": "tool_use", \
"id": "c1", "name": "Read", "input": {"file_path": "a.txt", "password": "hunter2-secret"}}, \
{"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "make"}}]}}
{"type": "user", "sessionId": "s", "message": {"role": "user", "content": [{"type": \
"tool_result", "tool_use_id": "c1", "content": "text with hunter2-secret"}]}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save_recording(reported.session(), "run.yaml")
    Path("log.jsonl").write_text(LOG, "utf-8")
    Path("policy.yaml").write_text(
        "version: 1\nredact: [password]\nrules:\n  - {tool: Read, safe: true}\n", "utf-8"
    )
    return tmp_path


def data(file: str) -> Any:
    return reported.Page(Path(file).read_text("utf-8")).data


def test_a_recording_becomes_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys, "report", "run.yaml", "--to", "run.html", "--no-pictures")
    assert (code, out) == (0, "")
    assert err.startswith("written: run.html (2 turns, 0.")
    turns = data("run.html")["turns"]
    assert [turn["id"] for turn in turns] == ["turn-1", "turn-2"]
    assert turns[0]["from"] == "events"
    assert [message["role"] for message in turns[0]["messages"]] == ["assistant", "user"]
    assert sorted(path.name for path in Path().iterdir() if path.name.startswith(".")) == []


def test_without_a_file_the_page_goes_to_standard_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = ran(capsys, "report", "run.yaml", "--no-pictures")
    assert (code, err) == (0, "")
    assert out.startswith("<!doctype html>")
    assert out.endswith("</html>\n")


def test_turns_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("report", "run.yaml", "--to", "run.html", "--no-pictures", "--title", "A bad night")
    assert ran(capsys, *words, "--turn", "2")[0] == 0
    assert [turn["number"] for turn in data("run.html")["turns"]] == [2]
    assert ran(capsys, *words, "--turn", "turn-1", "--turn", "2")[0] == 0
    assert [turn["number"] for turn in data("run.html")["turns"]] == [1, 2]
    assert data("run.html")["title"] == "A bad night"


def test_a_log_has_no_plan_unless_a_policy_makes_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "report", "log.jsonl", "--to", "log.html")[0] == 0
    (turn,) = data("log.html")["turns"]
    assert (turn["status"], turn["undrawn"]) == ("not recorded", "No plan is recorded.")
    assert turn["problems"] == [["bad", "1 without a result"]]
    words = ("--policy", "policy.yaml", "--no-pictures")
    assert ran(capsys, "report", "log.jsonl", "--to", "log.html", *words)[0] == 0
    (turn,) = data("log.html")["turns"]
    assert [call["verdict"] for call in turn["calls"]] == ["safe", "exclusive"]


def test_the_policy_masks_what_a_log_holds(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--policy", "policy.yaml", "--no-pictures")
    _, out, _ = ran(capsys, "report", "log.jsonl", *words)
    assert "hunter2-secret" not in out
    assert "***" in out


def test_the_policy_masks_a_recording_that_has_plans(capsys: pytest.CaptureFixture[str]) -> None:
    Path("policy.yaml").write_text("version: 1\nredact: [places]\n", "utf-8")
    _, out, _ = ran(capsys, "report", "run.yaml", "--policy", "policy.yaml")
    assert "auth.py:7" not in out
    assert reported.Page(out).data["turns"][0]["calls"][3]["verdict"] == "safe"


def test_a_journal_is_a_recording(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    flow = """
version: 1
policy: policy.yaml
name: small
tools: {workspace: {root: files}}
stages: [{id: look, calls: [{id: a, tool: read_file, args: {path: a.txt}}]}]
"""
    assert record_flow("version: 1\n", flow, {"a.txt": "text"}) == 0
    (journal,) = Path("run").glob("*.jsonl")
    code, out, _ = ran(capsys, "report", str(journal), "--no-pictures")
    assert code == 0
    (turn,) = reported.Page(out).data["turns"]
    assert (turn["id"], turn["status"], turn["counts"]) == ("look", "done", {"ok": 1})


def test_a_message_that_was_not_run_is_a_page_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("turn.yaml").write_text("calls: [{id: a, tool: Read, args: {path: x}}]\n", "utf-8")
    code, out, _ = ran(capsys, "report", "turn.yaml", "--policy", "policy.yaml", "--no-pictures")
    assert code == 0
    (turn,) = reported.Page(out).data["turns"]
    assert (turn["from"], turn["calls"][0]["verdict"]) == ("", "safe")


USE = "Use a file in a folder that can be written to."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing.yaml",), "nothing.yaml: this file is not there. Name a file."),
        (("run.yaml", "-t", "9"), "--turn is '9'. Use an id, or a number from 1 to 2."),
        (("policy.yaml",), "policy.yaml: this is a policy. Name a turn, a log or a recording."),
        (("empty.yaml",), "empty.yaml: there are no turns with calls in it."),
        (
            ("run.yaml", "--to", "no/run.html", "--no-pictures"),
            f"no/run.html: cannot be written (No such file or directory). {USE}",
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    Path("empty.yaml").write_text("version: 1\nturns: []\n", "utf-8")
    assert ran(capsys, "report", *words) == (2, "", f"toolflow: {said}\n")


def test_memory_does_not_grow_with_what_is_not_in_the_page(tmp_path: Path) -> None:
    peaks = []
    for size in (1_200_000, 12_000_000):
        file = tmp_path / f"{size}.yaml"
        write_recording(file, size)
        words = ("--turn", "1", "--no-pictures", "--to", str(tmp_path / "one.html"))
        peaks.append(peak("report", str(file), *words).megabytes)
    assert peaks[1] < peaks[0] + 20


def test_a_recording_with_a_corrupt_turn_tells_so(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("run.yaml").read_text("utf-8").replace("status: timed_out", "status: odd")
    Path("run.yaml").write_text(text, "utf-8")
    assert ran(capsys, "report", "run.yaml", "--to", "run.html", "--no-pictures")[0] == 0
    assert "odd" in data("run.html")["notices"][0]
