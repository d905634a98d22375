"""What is kept of a run holds no secrets, is replayed strictly, and never runs with a mask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolflow.cli import main
from toolflow.compiler import dump_plan, load_plan
from toolflow.engine import Engine
from toolflow.errors import DivergenceError, UsageError
from toolflow.formats import read_turn
from toolflow.recording import (
    Recorder,
    dump_recording,
    load_checkpoint,
    load_recording,
    save_checkpoint,
)
from toolflow.recording.replayer import replay
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.toolbox import Toolbox

POLICY = """\
version: 1
redact: [password]
rules:
  - {tool: login, when: "{{ args.password == 'hunter2' }}", safe: true}
  - {tool: look, safe: true}
  - {tool: send, ask: "Send as {{ args.user }}?"}
"""
CALLS = {
    "calls": [
        {"id": "a", "tool": "login", "args": {"user": "me", "password": "hunter2"}},
        {"id": "b", "tool": "look", "args": {"path": "x"}},
        {"id": "c", "tool": "send", "args": {"user": "me", "password": "s3cret!"}},
    ]
}


class Sent:
    def __init__(self) -> None:
        self.with_: list[Any] = []
        self.tools = Toolbox()
        self.tools.tool(lambda user, password: {"password": password, "as": user}, name="login")
        self.tools.tool(lambda path: f"seen {path}", name="look")
        self.tools.tool(self.send, name="send")

    def send(self, user: str, password: str) -> str:
        self.with_.append((user, password))
        return f"sent with {password}"


def recorded(**options: Any) -> str:
    engine = Engine(Sent().tools, policy=POLICY, **options)
    recorder = Recorder(policy=engine.policy)
    recorder.add(engine.run_sync(read_turn(CALLS), can_pause=False))
    return dump_recording(recorder.recording)


def test_a_recording_holds_no_secret_and_is_replayed() -> None:
    text = recorded()
    assert "hunter2" not in text.replace(POLICY.splitlines()[3].strip(), "")
    assert "s3cret!" not in text
    assert "masked: [a, c]" in text
    assert replay(load_recording(text)).ok


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("path: x", "path: y"),
        ("user: me", "user: you"),
        ("seen x", "seen y"),
        ("tool: look", "tool: login"),
    ],
)
def test_what_is_not_masked_is_replayed_strictly(was: str, now: str) -> None:
    text = recorded()
    assert was in text
    with pytest.raises(DivergenceError):
        replay(load_recording(text.replace(was, now, 1)))


def test_arguments_that_a_hook_changed_are_masked() -> None:
    class Adds(Hooks):
        async def before_call(self, call: Any) -> Any:
            if call.tool == "look":
                return {**call.args, "path": "y"}
            return None

    text = recorded(hooks=Adds())
    assert "s3cret!" not in text
    assert replay(load_recording(text)).ok


def test_a_plan_from_a_file_does_not_run_with_masks() -> None:
    engine = Engine(Sent().tools, policy=POLICY)
    plan = engine.plan(read_turn(CALLS))
    text = dump_plan(plan)
    assert "s3cret!" not in text
    assert "hunter2" not in text
    again = load_plan(text)
    assert again.masked == ("a", "c")
    with pytest.raises(UsageError, match="The arguments of 'a', 'c' were masked when the plan"):
        engine.run_sync(again)
    assert dump_plan(again) == text


def test_a_checkpoint_goes_on_with_the_turn_and_not_with_masks(tmp_path: Path) -> None:
    sent = Sent()
    engine = Engine(sent.tools, policy=POLICY)
    paused = engine.run_sync(read_turn(CALLS))
    assert paused.checkpoint is not None
    path = tmp_path / "checkpoint.yaml"
    save_checkpoint(paused.checkpoint, path)
    text = path.read_text("utf-8")
    assert "s3cret!" not in text
    assert "hunter2" not in text
    checkpoint = load_checkpoint(path)
    with pytest.raises(UsageError, match="The arguments of 'c' were masked"):
        engine.resume_sync(checkpoint, {"c": True})
    other = {"calls": [*CALLS["calls"][:2], {**CALLS["calls"][2], "args": {"user": "you"}}]}
    with pytest.raises(UsageError, match="has other arguments in the plan than in this turn"):
        engine.resume_sync(checkpoint, {"c": True}, turn=other)
    with pytest.raises(UsageError, match="was not made of this turn"):
        engine.resume_sync(checkpoint, {"c": True}, turn={"calls": CALLS["calls"][:1]})
    assert sent.with_ == []
    result = engine.resume_sync(checkpoint, {"c": True}, turn=CALLS)
    assert result.ok
    assert sent.with_ == [("me", "s3cret!")]
    recorder = Recorder(policy=engine.policy)
    recorder.add(result)
    assert "s3cret!" not in dump_recording(recorder.recording)


def test_in_memory_a_checkpoint_keeps_what_it_needs() -> None:
    sent = Sent()
    engine = Engine(sent.tools, policy=POLICY)
    paused = engine.run_sync(read_turn(CALLS))
    assert paused.checkpoint is not None
    assert engine.resume_sync(paused.checkpoint, {"c": True}).ok
    assert sent.with_ == [("me", "s3cret!")]


FLOW = """\
version: 1
name: small
policy: {version: 1, redact: [text]}
tools: {workspace: {root: work}}
stages:
  - id: one
    calls: [{id: w, tool: write_file, args: {path: a.txt, text: top-secret-words}}]
"""


def test_a_flow_writes_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").mkdir()
    Path("flow.yaml").write_text(FLOW, "utf-8")
    assert main(["run", "flow.yaml", "--out", "out", "-o", "json"]) == 0
    out, err = capsys.readouterr()
    kept = [path.read_text("utf-8") for path in Path("out").glob("*.*")]
    assert len(kept) == 3  # recording, picture, journal
    assert not [text for text in (out, err, *kept) if "top-secret-words" in text]
    assert main(["replay", "out/recording.yaml"]) == 0
