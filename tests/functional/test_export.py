"""``toolflow export``: recorded turns as messages of any provider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import MAKERS, conversation
from sdk_checks import CHECKS

from toolflow import yamlio
from toolflow.cli import main
from toolflow.formats import read_turns
from toolflow.formats.doctor import examine
from toolflow.formats.repair import LOST
from toolflow.formats.session import read_session

ROWS = [[("toolu_a", "read"), ("toolu_b", "write")], [("toolu_c", "read")]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def export(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    code = main(["export", *words])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out.startswith(("[", "{")) else said.out, said.err


def log(name: str = "log.jsonl", *, answered: tuple[str, ...] = ("c1", "c2", "c3")) -> str:
    """A session of Claude Code: two turns, of which the first says something around its calls."""
    lines = []
    for number, ids in enumerate((("c1", "c2"), ("c3",)), 1):
        blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
        for call_id in ids:
            blocks.append({"type": "text", "text": f"Now {call_id}."})
            given = {"path": f"{call_id}.txt"}
            blocks.append({"type": "tool_use", "id": call_id, "name": "fs.read", "input": given})
        message = {"id": f"m{number}", "role": "assistant", "content": blocks}
        lines.append({"type": "assistant", "sessionId": "s", "message": message})
        told = [
            {"type": "tool_result", "tool_use_id": name, "content": f"in {name}"}
            for name in ids
            if name in answered
        ]
        lines.append(
            {"type": "user", "sessionId": "s", "message": {"role": "user", "content": told}}
        )
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return name


@pytest.mark.parametrize("form", sorted(CHECKS))
def test_a_log_of_one_provider_becomes_a_conversation_of_any(capsys, form):
    code, messages, err = export(capsys, log(), "--format", form)

    assert code == 0
    assert examine(messages, format=form, whole=True).valid
    turns = read_turns(messages, format=form)
    assert [[call.id for call in turn.calls] for turn in turns] == [["c1", "c2"], ["c3"]]
    assert [call.args for call in turns[0].calls] == [{"path": "c1.txt"}, {"path": "c2.txt"}]
    for said in ("Now c1.", "Now c2.", "in c1", "in c2", "in c3"):
        assert (said in json.dumps(messages)) is (form != "mcp" or not said.startswith("Now"))
    told = "turn-1: " in err and "thinking (1)" in err
    assert told is (form != "anthropic")
    if form != "anthropic":  # the signature of its thinking is made up
        CHECKS[form](messages)


@pytest.mark.parametrize("form", sorted(CHECKS))
def test_what_is_exported_is_read_with_the_same_outcomes(capsys, form):
    before = read_session(log())
    assert export(capsys, "log.jsonl", "--format", form, "--to", "talk.json")[0] == 0

    after = read_session("talk.json")

    assert [[o.value for o in turn.outcomes if o] for turn in after.turns] == [
        [o.value for o in turn.outcomes if o] for turn in before.turns
    ]


def test_texts_stay_between_the_calls_where_a_format_has_a_place_for_them(capsys):
    _, messages, _ = export(capsys, log(), "--format", "bedrock", "--turn", "1")
    kinds = ["text" if "text" in block else "call" for block in messages[0]["content"]]
    assert kinds == ["text", "call", "text", "call"]
    _, items, _ = export(capsys, "log.jsonl", "--format", "openai-responses", "--turn", "1")
    assert [item.get("content", item.get("call_id")) for item in items] == [
        "Now c1.", "c1", "Now c2.", "c2", "c1", "c2",
    ]  # fmt: skip
    _, (said, *_), _ = export(capsys, "log.jsonl", "--format", "openai-chat", "--turn", "1")
    assert said["content"] == "Now c1.\n\nNow c2."


def test_one_turn_by_number_or_name(capsys):
    log()
    for name in ("2", "turn-2"):
        _, messages, _ = export(capsys, "log.jsonl", "--format", "openai-chat", "--turn", name)
        assert [message["role"] for message in messages] == ["assistant", "tool"]


def test_the_own_format_is_written_as_it_was_read(capsys):
    _, messages, err = export(capsys, log(), "--format", "anthropic")
    assert messages[0]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert "turn-1 call 'c1': The name of its tool, 'fs.read', is 'fs_read' now." in err


def test_a_call_without_an_outcome_has_no_result_in_the_last_turn(capsys):
    code, messages, err = export(capsys, log(answered=("c1",)), "--format", "gemini")

    assert code == 0
    bodies = [part["functionResponse"] for part in messages[1]["parts"]]
    assert [body["response"] for body in bodies] == [{"output": "in c1"}, {"error": LOST.error}]
    assert len(messages) == 3  # the last turn is the one to be run
    assert "turn-1 call 'c2': It has no outcome: its result says that nobody knows" in err
    assert "turn-2 call 'c3': It has no outcome: no result is written." in err


@pytest.mark.parametrize("form", [*sorted(CHECKS), "calls"])
def test_results_stand_only_where_there_are_outcomes_in_one_turn(capsys, form):
    log(answered=("c2",))
    _, written, _ = export(capsys, "log.jsonl", "--format", form, "--turn", "1")
    assert "in c2" in json.dumps(written)
    assert (LOST.error or "") not in json.dumps(written)
    if form == "calls":
        assert [result["id"] for result in written["results"]] == ["c2"]
    else:
        assert examine(written, format=form, whole=True).results == 1


def test_plain_calls_are_one_object_that_can_be_planned(capsys):
    code, written, _ = export(capsys, log(), "--format", "calls", "-t", "1", "--to", "turn.yaml")
    assert (code, written) == (0, "")
    data = yamlio.load_file("turn.yaml").value
    assert [call["args"] for call in data["calls"]] == [{"path": "c1.txt"}, {"path": "c2.txt"}]
    assert [result["value"] for result in data["results"]] == ["in c1", "in c2"]
    assert main(["plan", "turn.yaml", "--summary"]) == 0


def test_a_recording_is_exported_like_its_log(capsys):
    _, of_log, _ = export(capsys, log(), "--format", "openai-chat")
    assert main(["import", "log.jsonl", "--to", "recording.yaml"]) == 0
    capsys.readouterr()
    assert export(capsys, "recording.yaml", "--format", "openai-chat")[1] == of_log


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_list_of_messages_is_exported_with_its_results(capsys, name):
    messages = conversation(MAKERS[name], ROWS)
    Path("talk.json").write_text(json.dumps(messages), "utf-8")
    code, written, _ = export(capsys, "talk.json", "--format", "anthropic")
    assert code == 0
    assert examine(written, whole=True).valid
    told = [b["content"] for m in written[1::2] for b in m["content"] if "tool_use_id" in b]
    assert told == [f"result of {call_id}" for row in ROWS for call_id, _ in row]
    ids = [call.id for turn in read_turns(written) for call in turn.calls]
    assert len(set(ids)) == 3  # also of formats without ids, in which each turn counts anew


def test_lines_and_yaml_by_the_ending(capsys):
    _, messages, _ = export(capsys, log(), "--format", "cohere")
    for name in ("talk.jsonl", "talk.yaml"):
        code, out, err = export(capsys, "log.jsonl", "--format", "cohere", "--to", name)
        assert (code, out) == (0, "")
        assert err.endswith(f"written: {name} (2 turns)\n")
    lines = Path("talk.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == messages
    assert yamlio.load_file("talk.yaml").value == messages


def test_turns_of_one_source_are_one_conversation(capsys):
    lines = [{"messages": conversation(MAKERS["openai-chat"], ROWS)} for _ in range(2)]
    Path("data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    code, messages, err = export(capsys, "data.jsonl", "--format", "openai-chat")
    assert (code, len(read_turns(messages))) == (0, 2)
    assert "2 turns of other sources than 'conversation-1' are left out." in err
    words = ("data.jsonl", "--format", "openai-chat", "--source")
    assert export(capsys, *words, "conversation-2")[2] == ""
    assert export(capsys, *words, "sub")[0] == 2


def test_a_recording_whose_message_is_wrong_is_made_anew_from_its_calls(capsys):
    assert main(["import", log(), "--to", "recording.json"]) == 0
    recording = json.loads(Path("recording.json").read_text("utf-8"))
    for wrong in (5, {"content": "x"}, [], {"role": "assistant", "content": [7]}):
        recording["turns"][0]["message"] = wrong
        Path("recording.json").write_text(json.dumps(recording), "utf-8")
        capsys.readouterr()
        code, messages, err = export(capsys, "recording.json", "--format", "gemini")
        assert code == 0
        assert examine(messages, whole=True).calls == 3
        assert "turn-1: Its message cannot be read." in err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("nothing.jsonl", "--format", "gemini"), "not there"),
        (("log.jsonl",), "--format"),
        (("log.jsonl", "--format", "morse"), "format is 'morse'. Use one of anthropic"),
        (("log.jsonl", "--format", "claude-code"), "format is 'claude-code'. Use one of"),
        (("log.jsonl", "--format", "calls"), "calls knows no conversations, and there are 2 turns"),
        (("log.jsonl", "--format", "mcp", "--turn", "9"), "--turn is '9'"),
        (("log.jsonl", "--format", "mcp", "--source", "x"), "--source is 'x'. Use one of main"),
        (("log.jsonl", "--format", "mcp", "--from", "morse"), "morse"),
        (("log.jsonl", "--format", "mcp", "--to", "no/where.json"), "cannot be written"),
        (("policy.yaml", "--format", "mcp"), "this is a policy"),
        (("empty.json", "--format", "mcp"), "no turns with calls"),
    ],
)
def test_wrong_usage_is_one_line_and_nothing_is_written(capsys, words, part):
    log()
    Path("policy.yaml").write_text("version: 1\nrules: []\n", "utf-8")
    Path("empty.json").write_text('[{"role": "user", "content": "x"}]', "utf-8")
    before = sorted(Path.cwd().rglob("*"))

    code, out, err = export(capsys, *words)

    assert (code, out) == (2, "")
    assert part in err
    assert [line for line in err.splitlines() if line.startswith("toolflow: ")]
    assert sorted(Path.cwd().rglob("*")) == before
