"""``toolflow check`` on lists of messages and logs, and ``--repair``."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conversations import MAKERS, conversation, results

from toolflow import yamlio
from toolflow.cli import main
from toolflow.formats.repair import LOST

CHAT = MAKERS["openai-chat"]
VALID = conversation(CHAT, [[("a", "read"), ("b", "write")], [("c", "read")]])
BROKEN = [message for message in VALID if message.get("tool_call_id") != "b"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, value: Any) -> str:
    if name.endswith(".jsonl"):
        text = "".join(json.dumps(item) + "\n" for item in value)
    else:
        text = yamlio.dump(value) if name.endswith(".yaml") else json.dumps(value, indent=1)
    Path(name).write_text(text, "utf-8")
    return name


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["check", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_valid_list_of_messages_ends_with_0(capsys):
    assert run(capsys, write("talk.json", VALID)) == (
        0,
        "talk.json: a message file without problems: 2 turns, 3 calls (openai-chat)\n",
        "",
    )


def test_findings_are_lines_with_the_place_the_turn_and_the_call(capsys):
    told = "It has no result. Give exactly one, straight after the turn."
    assert run(capsys, write("talk.json", BROKEN)) == (
        1,
        f"talk.json:message 2: turn-1 call 'b': {told}\n",
        "1 finding in 2 turns, 3 calls (openai-chat); --repair writes a copy that is mended\n",
    )


def test_lines_are_the_places_in_a_file_of_one_message_a_line(capsys):
    name = write("talk.jsonl", BROKEN)
    text = Path(name).read_text("utf-8").splitlines()
    Path(name).write_text("\n".join([text[0], "{torn", "", *text[1:]]), "utf-8")

    code, out, _ = run(capsys, name)

    assert code == 1
    assert [line.split(" ")[0] for line in out.splitlines()] == ["talk.jsonl:2:", "talk.jsonl:4:"]


def test_findings_as_data(capsys):
    code, out, err = run(capsys, write("talk.json", BROKEN), "--output", "json")

    assert (code, err) == (1, "")
    assert json.loads(out) == {
        "file": "talk.json",
        "kind": "message file",
        "formats": ["openai-chat"],
        "conversations": 1,
        "messages": len(BROKEN),
        "turns": 2,
        "calls": 3,
        "results": 2,
        "problems": [
            {
                "line": None,
                "place": "message 2",
                "turn": "turn-1",
                "call": "b",
                "code": "no_result",
                "message": "It has no result. Give exactly one, straight after the turn.",
            }
        ],
    }


@pytest.mark.parametrize("name", ["talk.json", "talk.jsonl", "talk.yaml"])
def test_a_repaired_copy_is_valid_and_says_what_was_done(capsys, name):
    before = Path(write(name, BROKEN)).read_bytes()
    line = "2" if name.endswith(".jsonl") else "message 2"
    copy = f"copy{Path(name).suffix}"

    told = "A result was added that says that nobody knows how it ended."
    assert run(capsys, name, "--repair", "--to", copy) == (
        0,
        "",
        f"{name}:{line}: turn-1 call 'b': {told}\nwritten: {copy}\n",
    )
    assert Path(name).read_bytes() == before
    assert run(capsys, copy)[0] == 0
    assert run(capsys, copy, "--repair", "--to", "again")[2].startswith(
        f"{copy}: nothing to repair"
    )
    assert Path("again").read_bytes() == Path(copy).read_bytes()
    assert not [path for path in Path.cwd().iterdir() if path.name.startswith(".")]


def test_the_copy_goes_to_standard_output_and_everything_else_to_standard_error(capsys):
    code, out, err = run(capsys, write("talk.json", BROKEN), "--repair")

    assert code == 0
    mended = json.loads(out)
    assert [m for m in mended if m.get("content") != LOST.error] == BROKEN
    assert mended[3] == {"role": "tool", "tool_call_id": "b", "content": LOST.error}
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", ["talk.json", "talk.jsonl", "talk.yaml"])
def test_a_valid_file_is_written_back_byte_by_byte(capsys, name):
    write(name, VALID)
    assert run(capsys, name, "--repair", "--to", name)[0] == 0
    before = Path(name).read_bytes()
    assert run(capsys, name, "--repair") == (0, before.decode(), f"{name}: nothing to repair\n")


def test_a_repair_in_place_and_with_a_report(capsys):
    write("talk.json", BROKEN)
    code, out, err = run(capsys, "talk.json", "--repair", "--to", "talk.json", "--output", "yaml")
    data = yamlio.load(out, source="report").value
    assert (code, err) == (0, "")
    assert [change["code"] for change in data["changes"]] == ["result_added"]
    assert data["left"] == []
    assert run(capsys, "talk.json")[0] == 0


def test_another_ending_gives_another_form(capsys):
    write("talk.json", VALID)
    run(capsys, "talk.json", "--repair", "--to", "talk.jsonl")
    run(capsys, "talk.jsonl", "--repair", "--to", "talk.yaml")
    assert [json.loads(line) for line in Path("talk.jsonl").read_text().splitlines()] == VALID
    assert yamlio.load_file("talk.yaml").value == VALID


def test_what_is_around_the_lists_is_kept(capsys):
    write("body.json", {"model": "m", "messages": BROKEN, "x": [1]})
    write("data.jsonl", [{"messages": VALID, "n": 1}, {"messages": BROKEN, "n": 2}])
    write("list.json", [{"messages": VALID}, {"messages": BROKEN}])

    assert run(capsys, "body.json", "--repair", "--to", "body.json")[0] == 0
    body = json.loads(Path("body.json").read_text("utf-8"))
    assert (list(body), len(body["messages"])) == (["model", "messages", "x"], len(VALID))
    first = Path("data.jsonl").read_text("utf-8").splitlines()[0]
    code, out, err = run(capsys, "data.jsonl", "--repair")
    assert (code, out.splitlines()[0], json.loads(out.splitlines()[1])["n"]) == (0, first, 2)
    assert err.startswith("data.jsonl:2:message 2: turn-1 call 'b': ")
    assert run(capsys, "list.json")[1].startswith("list.json:conversation 2:message 2: ")


def test_the_last_turn_is_the_one_to_run_unless_all_are_wanted(capsys):
    write("talk.json", BROKEN[:2])
    assert run(capsys, "talk.json")[0] == 0
    assert len(run(capsys, "talk.json", "--all")[1].splitlines()) == 2
    assert json.loads(run(capsys, "talk.json", "--repair")[1]) == BROKEN[:2]
    assert len(json.loads(run(capsys, "talk.json", "--repair", "--all")[1])) == 4


def test_a_message_alone_becomes_a_list_only_where_results_are_added(capsys):
    write("turn.json", VALID[1])
    assert json.loads(run(capsys, "turn.json", "--repair")[1]) == VALID[1]
    assert json.loads(run(capsys, "turn.json", "--repair", "--all")[1])[0] == VALID[1]


def test_what_cannot_be_repaired_is_told_and_ends_with_1(capsys):
    said = json.loads(json.dumps(VALID))
    said[1]["tool_calls"][0]["function"]["arguments"] = "{"
    code, out, err = run(capsys, write("talk.json", said), "--repair")
    assert (code, json.loads(out)) == (1, said)
    assert err.startswith("left as it is: talk.json:message 2: turn-1 call 'a': The arguments are")


def test_standard_input_is_repaired_too(capsys, monkeypatch):
    for text in (json.dumps(BROKEN), "".join(json.dumps(m) + "\n" for m in BROKEN)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        code, out, err = run(capsys, "-", "--repair")
        assert (code, out.count(LOST.error or "")) == (0, 1)
        assert err.startswith("<stdin>:")


def test_a_broken_line_is_told_and_left_out_of_the_copy(capsys):
    lines = [json.dumps(message).encode() for message in VALID]
    Path("talk.jsonl").write_bytes(b"\n".join([lines[0], b'{"role": "user\xff"}', *lines[1:]]))
    assert run(capsys, "talk.jsonl")[1] == "talk.jsonl:2: The line is not UTF-8.\n"
    code, out, err = run(capsys, "talk.jsonl", "--repair")
    assert (code, out.encode().splitlines()) == (0, lines)
    assert err == "talk.jsonl:2: The line cannot be read. It was left out.\n"


def test_halves_of_characters_stay_what_they_are(capsys):
    said = [{"role": "user", "content": "\ud83d"}, *BROKEN]
    Path("talk.json").write_text(json.dumps(said), "utf-8")
    code, out, _ = run(capsys, "talk.json", "--repair")
    assert (code, json.loads(out)[0]) == (0, said[0])
    code, _, err = run(capsys, "talk.json", "--repair", "--to", "talk.yaml")
    assert (code, err.count("\n")) == (2, 1)
    assert "Use JSON." in err


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_every_format_is_examined_and_repaired(capsys, name):
    maker = MAKERS[name]
    messages = conversation(maker, [[("a", "read"), ("b", "write")]])
    place = results(maker, messages)[1]
    del place.holder[place.index]
    write("talk.json", messages)
    write("talk.jsonl", messages)
    for file in ("talk.json", "talk.jsonl"):
        code, out, _ = run(capsys, file, "--format", maker.form)
        assert (code, out.count("\n")) == (1, 1)
        code, _, err = run(capsys, file, "--format", maker.form, "--repair", "--to", file)
        assert (code, err.count("\n")) == (0, 2)
        assert run(capsys, file, "--format", maker.form)[0] == 0


def test_a_saved_history_of_gemini_is_a_list_of_messages(capsys):
    write("talk.json", conversation(MAKERS["gemini"], [[("a", "read")]]))
    assert run(capsys, "talk.json")[1].startswith("talk.json: a message file without problems")


def session(name: str) -> str:
    call = {"type": "tool_use", "id": "c1", "name": "read", "input": {}}
    message = {"id": "m1", "role": "assistant", "content": [call]}
    line = {"type": "assistant", "sessionId": "s", "message": message}
    return write(name, [line, {"type": "user", "sessionId": "s", "message": {"content": "x"}}])


def test_a_session_log_is_examined_and_not_repaired(capsys):
    session("log.jsonl")
    code, out, err = run(capsys, "log.jsonl")
    assert (code, err) == (1, "1 finding in 1 turn, 1 call (claude-code)\n")
    assert out == "log.jsonl:1: turn-1 call 'c1': Call 'c1' has no result in the log.\n"
    code, out, err = run(capsys, "log.jsonl", "--repair")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "`toolflow export`" in err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("nothing.json",), "not there"),
        (("nothing.json", "--repair"), "not there"),
        (("talk.json", "--to", "x.json"), "Use it with --repair."),
        (("talk.json", "--repair", "--output", "json"), "needs --to"),
        (("talk.json", "--repair", "--to", "no/such/folder.json"), "cannot be written"),
        (("talk.json", "--format", "morse"), "morse"),
        (("policy.yaml", "--repair"), "this is a policy, no list of messages"),
        (("turn.yaml", "--repair"), "this is a message file, no list of messages"),
        (("words.txt", "--repair"), "format cannot be told"),
        (("words.txt",), "format cannot be told"),
    ],
)
def test_wrong_usage_and_unusable_files_are_one_line_and_end_with_2(capsys, words, part):
    write("talk.json", BROKEN)
    Path("policy.yaml").write_text("version: 1\nrules: []\n", "utf-8")
    Path("turn.yaml").write_text("calls: [{tool: read}]\n", "utf-8")
    Path("words.txt").write_text("just words\n", "utf-8")
    before = sorted(Path.cwd().rglob("*"))

    code, out, err = run(capsys, *words)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert part in err
    assert sorted(Path.cwd().rglob("*")) == before


def test_a_message_that_cannot_be_read_is_a_problem_with_its_place(capsys):
    Path("talk.json").write_text(
        '[{"role": "user", "content": "x"},\n {"role": "assistant", "tool_calls": 7}]\n', "utf-8"
    )
    code, out, err = run(capsys, "talk.json")
    assert (code, out) == (1, "")
    assert err.startswith("toolflow: talk.json:2:")
    assert "Use a list of calls." in err


def test_ids_cannot_break_a_line_or_steer_the_terminal(capsys):
    said = json.loads(json.dumps(BROKEN).replace('"b"', json.dumps("b\n\u001b[2J")))
    code, out, _ = run(capsys, write("talk.json", said))
    assert (code, out.count("\n"), "\u001b" in out) == (1, 1, False)
    _, _, err = run(capsys, "talk.json", "--repair")
    assert (err.count("\n"), "\u001b" in err) == (1, False)
