"""``toolflow render``: every kind of picture, to files and to standard output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import ran
from drawing import drawing_programs
from mermaids import chart
from recorded_runs import PureRun, message_of, plan_of, recording_of
from traces import processes

from toolflow.recording import dump_recording

CALLS = [("read", "a"), ("write", "b"), ("write", "b"), ("build", "c"), ("look", "a")]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = PureRun(plan_of(message_of(CALLS)), lambda count: count - 1).run()
    Path("run.yaml").write_text(dump_recording(recording_of(run)), "utf-8")
    Path("two.yaml").write_text(dump_recording(recording_of(run, run)), "utf-8")
    Path("turn.yaml").write_text("calls: [{id: a, tool: look, args: {at: door}}]\n", "utf-8")


@pytest.mark.parametrize("name", ["a.mmd", "A.MERMAID"])
def test_mermaid_by_the_ending(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert ran(capsys, "render", "run.yaml", "--to", name) == (0, "", f"written: {name}\n")
    assert chart(Path(name).read_text("utf-8")).kinds["call"] == 5


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        ("dot", "digraph plan {"),
        ("mermaid", "---\nconfig:\n"),
        ("text", ""),
        ("json", "{"),
        ("yaml", "format_version: 1"),
        ("trace", '{"displayTimeUnit"'),
    ],
)
def test_every_text_goes_to_standard_output(
    capsys: pytest.CaptureFixture[str], kind: str, begins: str
) -> None:
    code, out, err = ran(capsys, "render", "run.yaml", "--as", kind)
    assert (code, err) == (0, "")
    assert out.startswith(begins)
    assert out.endswith("\n")
    assert not out.endswith("\n\n")


def test_without_anything_it_is_dot(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        ran(capsys, "render", "run.yaml")[1] == ran(capsys, "render", "run.yaml", "--as", "dot")[1]
    )


def test_the_word_beats_the_ending(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "render", "run.yaml", "--to", "plan.md", "--as", "mermaid")[0] == 0
    chart(Path("plan.md").read_text("utf-8"))
    assert ran(capsys, "render", "run.yaml", "--to", "x.json", "--as", "trace")[0] == 0
    processes(Path("x.json").read_text("utf-8"))


def test_a_trace_holds_all_turns_or_the_one_that_was_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ran(capsys, "render", "two.yaml", "--to", "two.trace.json")[0] == 0
    assert len(processes(Path("two.trace.json").read_text("utf-8"))) == 2
    code, out, _ = ran(capsys, "render", "two.yaml", "--turn", "2", "--as", "trace")
    assert code == 0
    assert len(processes(out)) == 1


def test_json_is_the_plan_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "render", "run.yaml", "--to", "plan.json")[0] == 0
    assert json.loads(Path("plan.json").read_text("utf-8"))["format_version"] == 1


def test_a_timeline_is_svg_png_or_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "render", "run.yaml", "--timeline", "--to", "a.svg")[0] == 0
    assert Path("a.svg").read_bytes().startswith(b"<svg")
    assert ran(capsys, "render", "run.yaml", "--timeline", "--to", "a.txt")[0] == 0
    assert Path("a.txt").read_text("utf-8") == ran(capsys, "render", "run.yaml", "--timeline")[1]
    drawing_programs()
    assert ran(capsys, "render", "run.yaml", "--timeline", "--to", "a.png")[0] == 0
    assert Path("a.png").read_bytes().startswith(PNG)


def test_timeline_and_trace_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("render", "run.yaml", "--timeline", "--as", "trace")
    assert ran(capsys, *words)[1] == ran(capsys, "render", "run.yaml", "--as", "trace")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("run.yaml", "--to", "x.gif"),
            "the ending is .gif. Use one of .dot, .gv, .svg, .png, .mmd",
        ),
        (("run.yaml", "--to", "x"), "the ending is empty. Use one of .dot"),
        (("run.yaml", "--to", "x.bin", "--timeline"), "a timeline is svg, png, text or trace"),
        (("run.yaml", "--to", "x.dot", "--timeline"), "--to x.dot: a timeline is svg, png"),
        (("run.yaml", "--as", "mermaid", "--timeline"), "--as mermaid: a timeline is svg, png"),
        (("run.yaml", "--as", "png"), "a PNG is written to a file. Say which: --to FILE.png."),
        (("run.yaml", "--as", "gif"), "'gif' is not one of 'dot', 'svg', 'png', 'mermaid'"),
        (("turn.yaml", "--as", "trace"), "turn.yaml has no times to draw. Use a recording."),
        (
            ("two.yaml", "--to", "x.mmd"),
            "two.yaml: 2 turns have the id 'turn-1'. Choose one by its number",
        ),
        (("two.yaml", "--turn", "3", "--as", "trace"), "--turn is '3'."),
        (("run.yaml", "--to", "no/x.trace.json"), "no/x.trace.json: cannot be written"),
    ],
)
def test_wrong_wishes_are_one_line_and_write_nothing(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    before = sorted(Path().iterdir())
    code, out, err = ran(capsys, "render", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_a_plan_has_no_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "render", "run.yaml", "--to", "plan.yaml")[0] == 0
    code, _, err = ran(capsys, "render", "plan.yaml", "--as", "trace")
    assert (code, err) == (
        2,
        "toolflow: plan.yaml is a plan, which has no times. Use a recording.\n",
    )


def test_a_log_gets_labels_from_a_policy_but_no_barriers_that_it_did_not_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = (
        {"type": "assistant", "timestamp": f"2026-01-01T00:00:0{at}Z", "message": message}
        if at % 2 == 0
        else {"type": "user", "timestamp": f"2026-01-01T00:00:0{at}Z", "message": message}
        for at, message in enumerate(
            part
            for number in (1, 2)
            for part in (
                {
                    "id": f"m{number}",
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {}}
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": f"t{number}", "content": "done"}
                    ],
                },
            )
        )
    )
    text = "".join(json.dumps({"sessionId": "s", "uuid": "u", **line}) + "\n" for line in lines)
    Path("log.jsonl").write_text(text, "utf-8")
    Path("p.yaml").write_text("version: 1\nrules: [{tool: Bash, show: run it}]\n", "utf-8")
    words = ("render", "log.jsonl", "--format", "claude-code", "--as", "trace")
    plain = processes(ran(capsys, *words)[1])
    named = processes(ran(capsys, *words, "-p", "p.yaml")[1])
    assert [len(each.of("X", "i", cat="call")) for each in plain] == [1, 1]
    bodies = [each.of("X", "i", cat="call")[0] for each in named]
    assert {body["name"].partition(" · ")[0] for body in bodies} == {"run it"}
    assert {body["args"]["verdict"] for body in bodies} == {"exclusive"}
    assert [each.of("X", cat="barrier") for each in named] == [[], []]
    assert [each.of("X", cat="run")[0]["ts"] for each in named] == [0, 2_000_000]
