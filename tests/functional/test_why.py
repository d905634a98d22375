"""``toolflow why``: the chain of causes between two calls of a turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolflow.cli import main

TURN = """\
calls:
  - {id: a, tool: read, args: {path: a.txt}}
  - {id: b, tool: edit, args: {path: a.txt}}
  - {id: c, tool: read, args: {path: b.txt}}
  - {id: d, tool: run, args: {}}
  - {id: e, tool: read, args: {path: b.txt}}
"""
POLICY = """\
version: 1
rules:
  - {tool: read, safe: true, reads: ["file:{{ args.path }}"]}
  - {tool: edit, safe: true, writes: ["file:{{ args.path }}"]}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("turn.yaml").write_text(TURN, "utf-8")
    Path("policy.yaml").write_text(POLICY, "utf-8")


def why(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["why", "turn.yaml", *words, "-p", "policy.yaml"]) == code
    out, err = capsys.readouterr()
    assert (out == "") == (code != 0)
    return err if code else out


@pytest.mark.parametrize("calls", ["ab", "ba"])
def test_a_shared_key_is_named_whichever_call_is_named_first(
    capsys: pytest.CaptureFixture[str], calls: str
) -> None:
    assert why(capsys, *calls) == ("b waits for a:\n  a → b: key file:a.txt write after read\n")


def test_calls_that_nothing_orders_may_run_at_the_same_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert why(capsys, "a", "c") == ("Nothing makes c wait for a: they may run at the same time.\n")


def test_a_barrier_in_between_stands_in_the_chain(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(why(capsys, "a", "e", "-o", "json"))
    assert (data["before"], data["after"], data["beside"]) == ("a", "e", False)
    assert [(edge["before"], edge["after"]) for edge in data["why"]] == [
        ("pool-1", "barrier-2"),
        ("barrier-2", "pool-3"),
    ]
    assert all("run is exclusive" in edge["causes"][0] for edge in data["why"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a", "x"), "turn.yaml: no turn has both 'a' and 'x'. Its calls are a, b, c, d, e.\n"),
        (("a", "a"), "A and B are both 'a'. Name two calls.\n"),
    ],
)
def test_calls_that_are_not_there_are_told(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert why(capsys, *words, code=2) == f"toolflow: {said}"
