"""``toolflow replay`` says the same, whether a recording is read turn by turn or at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import POLICY, PureRun, message_of, plan_of, recording_of
from streamed import never_at_once

from toolflow.cli import main
from toolflow.model import Outcome, RecordedTurn
from toolflow.recording import dump_recording, save_recording

Run = Callable[..., tuple[int, str, str]]
CALLS = [("look", "a"), ("write", "b"), ("read", "b"), ("build", "c")]


def turn(name: str) -> RecordedTurn:
    run = PureRun(plan_of(message_of(CALLS)), lambda count: count - 1).run()
    assert run.plan is not None
    return replace(run, turn=replace(run.turn, id=name), plan=replace(run.plan, turn_id=name))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    turns = [turn(f"turn-{number}") for number in range(1, 4)]
    for count in range(4):
        save_recording(recording_of(*turns[:count]), f"{count}.yaml")
        save_recording(recording_of(*turns[:count]), f"{count}.json")
    text = dump_recording(recording_of(*turns))
    at = text.index("turn-2")
    Path("corrupt.yaml").write_text(text[:at] + text[at:].replace("run: {", "run: {odd: 1, ", 1))
    first, second, third = turns
    gone = replace(second, outcomes=(Outcome("failed", error="No."), *second.outcomes[1:]))
    save_recording(recording_of(first, gone, third), "other.yaml")
    Path("slow.yaml").write_text(POLICY.replace("pool: 3", "pool: 1"), "utf-8")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def called(*words: str, streams: bool) -> tuple[int, str, str]:
        with never_at_once(100) if streams else nullcontext():
            code = main(["replay", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return called


@pytest.mark.parametrize("output", ["text", "json", "yaml"])
@pytest.mark.parametrize(
    "words",
    [
        "0.yaml",
        "0.json",
        "1.yaml",
        "1.json",
        "2.yaml",
        "3.json",
        "corrupt.yaml",
        "other.yaml",
        "3.yaml --turn turn-2",
        "3.yaml --turn 3",
        "3.yaml --turn 4",
        "3.yaml -p slow.yaml --ignore limits",
        "3.yaml -p slow.yaml --strict",
        "3.yaml -p slow.yaml",
        "3.json --pool 1",
        "3.yaml --sweep 1,2",
        "3.yaml --sweep 1,2 --missing median",
        "3.yaml --until turn-3/toolu_02",
        "3.yaml --until toolu_02",
        "3.yaml --until nobody",
        "corrupt.yaml --sweep 2",
    ],
)
def test_every_answer_is_the_same(run: Run, words: str, output: str) -> None:
    given = [*words.split(), "-o", output]
    assert run(*given, streams=True) == run(*given, streams=False)


@pytest.mark.parametrize(
    "words",
    [
        "audit 3.yaml -p slow.yaml",
        "audit 3.json -p slow.yaml --turn turn-2",
        "audit corrupt.yaml -p slow.yaml -o json",
        "plan 3.yaml -p slow.yaml",
        "plan 3.yaml --turn 2",
        "export 3.json --format openai-chat",
        "check 3.yaml",
        "check corrupt.yaml",
        "check 0.json",
    ],
)
def test_other_commands_say_the_same(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for way in (never_at_once(100), nullcontext()):
        with way:
            code = main(words.split())
        said.append((code, *capsys.readouterr()))
    assert said[0] == said[1]
    assert said[0][1] or said[0][2]


def test_the_report_is_written_turn_by_turn(run: Run) -> None:
    line = "4 calls, plan, order of starts and committed bytes as recorded"
    code, out, err = run("3.yaml", streams=True)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        *(f"turn-{number}: {line}" for number in (1, 2, 3)),
        "3 turns replayed, 3 of them compared: no divergence.",
    ]


def test_turns_before_a_divergence_are_written(run: Run) -> None:
    code, out, err = run("other.yaml", streams=True)
    assert code == 1
    assert [line.partition(":")[0] for line in out.splitlines()] == ["turn-1"]
    assert err.startswith("toolflow: Replay diverged in 'turn-2' at call 'toolu_01'")
    for form in ("json", "yaml"):
        assert run("other.yaml", "-o", form, streams=True)[:2] == (1, "")  # no half of a document


def test_turns_before_the_place_where_a_file_breaks_off_are_written(run: Run) -> None:
    text = Path("3.yaml").read_text("utf-8")
    Path("torn.yaml").write_text(text + "    run: [a\n", "utf-8")
    code, out, err = run("torn.yaml", streams=True)
    assert code == 2
    assert [line.partition(":")[0] for line in out.splitlines()] == ["turn-1", "turn-2"]
    assert f"torn.yaml:{len(text.splitlines()) + 1}:10: A list is opened here with '['" in err
    assert run("torn.yaml", streams=False)[:2] == (2, "")


def test_a_corrupt_turn_is_told_in_the_end(run: Run) -> None:
    code, out, err = run("corrupt.yaml", streams=True)
    assert code == 1
    assert len(out.splitlines()) == 4
    assert err.startswith("notice: turns[1].run.odd is not a known field.")
