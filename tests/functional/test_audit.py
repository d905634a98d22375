"""``toolflow audit``: one log, several, folders of them; text, data, pictures, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from audit_logs import POLICY, Told, edit, look, policy, read, recording, write_log

from toolflow.cli import main
from toolflow.cli.audit_text import audit_lines
from toolflow.recording import save_recording
from toolflow.recording.audit import audit
from toolflow.yamlio import load

OLD, NEW = "return the_old_value", "return the_new_value"
HARM = [edit("/f", OLD, NEW, at=(0, 1)), read("/f", OLD, at=(0, 2))]
RISK = [edit("/g", OLD, NEW, at=(0, 1)), edit("/g", "the_limit = 1", "the_limit = 2", at=(0, 2))]
SLOW = [look((0, 2)), look((0, 4))]
FINE = [look((0, 1))]


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY, "utf-8")
    return str(path)


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(write_log(tmp_path / "log.jsonl", HARM, RISK, SLOW, FINE))


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_log_with_harm_ends_with_1(
    log: str, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", log, "--policy", rules]) == 1
    out = said(capsys)
    assert out.startswith("4 turns, 3 with two calls or more (largest 2); 7 calls, 7 results\n")
    assert "  2 pairs of calls meet, in 2 turns; 2 of them open at the same time\n" in out
    assert "  found: 1 harm, 1 risk of harm, 0 notes\n" in out
    assert "\nharm:\n  stale_read  turn-1, line 4: A read shows" in out
    assert "    calls t1c1, t1c2; key file:/f\n" in out
    assert f"    shown: '{OLD}'\n" in out
    assert re.search(r"\n   1\. turn-1, 2 calls: 1 harm; 1 pair meets; 2 s, to win ", out)


@pytest.mark.parametrize("turns", [[FINE], [SLOW, FINE], [[look(text=None)]]])
def test_a_log_without_harm_or_risk_ends_with_0(
    tmp_path: Path, rules: str, turns: list[list[Told]]
) -> None:
    path = write_log(tmp_path / "fine.jsonl", *turns)
    assert main(["audit", str(path), "--policy", rules]) == 0


def test_a_risk_alone_ends_with_1(tmp_path: Path, rules: str) -> None:
    assert main(["audit", str(write_log(tmp_path / "a.jsonl", RISK)), "--policy", rules]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["LOG"], "--policy is not given. Name the file of a policy"),
        (["LOG", "-p", "none.yaml"], "none.yaml: There is no such file."),
        (["gone.jsonl", "-p", "RULES"], "gone.jsonl: this file is not there."),
        (["LOG", "-p", "RULES", "--turn", "turn-9"], "--turn is 'turn-9': there is no such turn."),
        (["LOG", "-p", "RULES", "--pool", "0"], "limits: pool is 0. Use an integer of at least 1."),
        (["LOG", "-p", "RULES", "--pictures", "RULES"], "the folder cannot be made: File exists."),
        (["RULES", "-p", "RULES"], "The format of the log cannot be told"),
        (["LOG", "-p", "RULES", "--format", "nope"], "format is 'nope'."),
    ],
)
def test_wrong_input_ends_with_2_and_one_line(
    log: str, rules: str, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    known = {"LOG": log, "RULES": rules}
    assert main(["audit", *(known.get(word, word) for word in words)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_data_is_the_same_as_json_and_as_yaml(
    log: str, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", log, "-p", rules, "-o", "json"]) == 1
    data = json.loads(said(capsys))
    assert main(["audit", log, "-p", rules, "-o", "yaml"]) == 1
    assert load(said(capsys)).value == data
    assert data["policy"] == rules
    assert [each["turns"] for each in data["logs"]] == [4]
    assert data["totals"]["found"] == [
        {"kind": "lost_update", "level": "risk", "count": 1},
        {"kind": "stale_read", "level": "harm", "count": 1},
    ]
    assert [each["turn"] for each in data["worst"]] == ["turn-1", "turn-2", "turn-3"]
    assert data["tools"][0]["tool"] == "Edit"


def test_one_turn_in_detail(log: str, rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", log, "-p", rules, "--turn", "turn-1"]) == 1
    out = said(capsys)
    assert "Plan of turn-1: 2 calls" in out
    assert "  t1c1 (writes) and t1c2 (reads) file:/f: open at the same time\n" in out
    assert "  to win " in out
    assert "harm:\n  stale_read  turn-1, line 4: " in out


def test_a_turn_by_its_number_and_as_data(
    log: str, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", log, "-p", rules, "--turn", "3", "-o", "json"]) == 0
    data = json.loads(said(capsys))
    assert (data["turn"], data["log"]) == ("turn-3", log)
    assert data["time"]["own"]["to_win"] == 2


def test_pictures_of_the_worst_turns(
    log: str, rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "pictures"
    assert main(["audit", log, "-p", rules, "--pictures", str(folder)]) == 1
    named = re.findall(r"^      (/.*\.svg)$", said(capsys), re.MULTILINE)
    assert [Path(name).name for name in named] == [
        "01-log-turn-1.svg", "01-log-turn-1-timeline.svg",
        "02-log-turn-2.svg", "02-log-turn-2-timeline.svg",
        "03-log-turn-3.svg", "03-log-turn-3-timeline.svg",
    ]  # fmt: skip
    for name in named:
        assert ET.parse(name).getroot().tag.endswith("svg")
    plan = (folder / "01-log-turn-1.svg").read_text("utf-8")
    assert "t1c1" in plan
    assert "/f" in plan
    assert "barrier" not in (folder / "01-log-turn-1-timeline.svg").read_text("utf-8")


def test_without_times_there_is_no_timeline(tmp_path: Path, rules: str) -> None:
    path = write_log(tmp_path / "log.jsonl", [edit("/f", OLD, NEW), read("/f", OLD)])
    folder = tmp_path / "pictures"
    assert main(["audit", str(path), "-p", rules, "--pictures", str(folder)]) == 1
    assert [each.name for each in folder.iterdir()] == ["01-log-turn-1.svg"]


def test_where_a_picture_cannot_be_made_the_audit_is_told_all_the_same(
    log: str, rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pictures"
    for name in ("01-log-turn-1.svg", "02-log-turn-2-timeline.svg"):
        (folder / name).mkdir(parents=True)  # something else stands in their place
    assert main(["audit", log, "-p", rules, "--pictures", str(folder)]) == 1
    out = said(capsys)
    assert out.count("\n      no picture: ") == 2
    assert "01-log-turn-1-timeline.svg\n" in out
    assert "02-log-turn-2.svg\n" in out


def test_a_plan_of_very_many_calls_is_not_drawn(
    tmp_path: Path, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = [look((0, 1 + number / 100)) for number in range(201)]
    path, folder = write_log(tmp_path / "log.jsonl", calls), tmp_path / "pictures"
    assert main(["audit", str(path), "-p", rules, "--pictures", str(folder)]) == 0
    assert "      no picture: 201 calls are too many for the picture of a plan.\n" in said(capsys)
    assert [each.name for each in folder.iterdir()] == ["01-log-turn-1-timeline.svg"]


def test_a_folder_of_logs(tmp_path: Path, rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    write_log(folder / "a.jsonl", HARM)
    write_log(folder / "deep" / "b.jsonl", FINE, SLOW)
    (folder / "notes.txt").write_text("no log\n", "utf-8")
    assert main(["audit", str(folder), "-p", rules]) == 1
    captured = capsys.readouterr()
    rows = [line.split() for line in captured.out.splitlines()]
    assert ["a.jsonl", "1", "2", "1", "1", "0", "0"] in [row[:7] for row in rows]
    assert ["deep/b.jsonl", "2", "3", "0", "0", "0", "0"] in [row[:7] for row in rows]
    assert captured.out.endswith("\n1 file skipped: no log that can be read.\n")
    assert captured.err.count("\n") == 1
    assert "notes.txt: no log of a known format, and no messages." in captured.err


def test_a_folder_without_logs_is_wrong_input(
    tmp_path: Path, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["audit", str(tmp_path / "empty"), "-p", rules]) == 2
    assert "no log that can be read. Name logs." in capsys.readouterr().err


def test_a_recording_is_read_like_a_log(
    tmp_path: Path, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("made.yaml", "made.json"):
        path = tmp_path / name
        save_recording(recording(tmp_path, HARM), path)
        assert main(["audit", str(path), "-p", rules]) == 1
        assert "found: 1 harm, 0 risk of harm, 0 notes" in said(capsys)


def test_turns_of_sub_agents_are_kept_apart(
    tmp_path: Path, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_log(tmp_path / "log.jsonl", RISK, [read("/g", OLD)])
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines[4:]:
        line |= {"isSidechain": True, "agentId": "helper"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert main(["audit", str(path), "-p", rules]) == 1
    out = said(capsys)
    assert "  turns of 1 source beside main, each kept apart\n" in out
    assert "found: 0 harm, 1 risk of harm" in out  # the read is another agent's


def test_names_that_would_steer_a_terminal_are_harmless(
    tmp_path: Path, rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = Told("bad\x1b[2Jtool\n", {"x": "\x07"}, "\x1b]0;title\x07", at=(0, 1))
    met = [edit("/\x1b[31m", OLD, NEW, at=(0, 1)), read("/\x1b[31m", f"\x1b{OLD}", at=(0, 1))]
    path = write_log(tmp_path / "log.jsonl", [tool, *met])
    assert main(["audit", str(path), "-p", rules]) == 1
    assert main(["audit", str(path), "-p", rules, "--turn", "1"]) == 1
    out = said(capsys)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", out)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_a_terminal(tmp_path: Path, width: int) -> None:
    many = [Told(f"a_tool_with_a_long_name_{n}", at=(0, 4000 + n)) for n in range(40)]
    found = audit(recording(tmp_path, HARM, RISK, many), policy()).summary
    totals = [(f"a/long/folder/of/logs/number-{n}.jsonl", found.totals) for n in range(2)]
    lines = list(audit_lines(found, totals, (), width))
    # Numbers are never cut: in 60 columns a row with long times may stand over.
    assert max(map(len, lines)) <= max(width, 70)
    assert any("more tools; --output json has all" in line for line in lines)
