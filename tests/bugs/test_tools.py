"""Faults of other harnesses in files, commands and results: none of them is here."""

from __future__ import annotations

import json
import os

import anyio
import anyio.to_thread
import pytest
from gates import has_no_reader, make_gate, nobody_waits

from toolflow.engine import Engine
from toolflow.model import Outcome
from toolflow.runtime.control import Control
from toolflow.runtime.results import limit_outcomes, outcome_of
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools import workspace

posix = pytest.mark.skipif(os.name != "posix", reason="commands need process groups")


@pytest.fixture(params=["asyncio", "trio"])
def backend(request):
    return request.param


def turn(*calls):
    return {
        "calls": [
            {"id": f"c{number}", "tool": tool, "args": args}
            for number, (tool, args) in enumerate(calls, 1)
        ]
    }


def run(backend, tools, *calls, **options):
    async def main():
        return await Engine(tools, **options).run(turn(*calls))

    return anyio.run(main, backend=backend).outcomes


def test_b015_two_edits_of_one_file_are_both_in_it(backend, tmp_path):
    (tmp_path / "f").write_text("".join(f"{n}\n" for n in range(1, 101)))
    outcomes = run(
        backend,
        workspace(tmp_path),
        ("edit_file", {"path": "f", "old": "\n50\n", "new": "\nfifty\n"}),
        ("edit_file", {"path": str(tmp_path / "f"), "old": "\n75\n", "new": "\nseventy-five\n"}),
    )
    assert [outcome.status for outcome in outcomes] == ["ok", "ok"]
    lines = (tmp_path / "f").read_text().splitlines()
    assert (lines[49], lines[74], len(lines)) == ("fifty", "seventy-five", 100)


def test_b016_six_edits_of_one_file_are_all_applied(backend, tmp_path):
    (tmp_path / "guide.md").write_text("".join(f"paragraph {n}.\n\n" for n in range(6)))
    calls = [
        ("edit_file", {"path": "guide.md", "old": f"paragraph {n}.", "new": f"edited {n}."})
        for n in range(6)
    ]
    outcomes = run(backend, workspace(tmp_path), *calls, pool=8)
    assert all(outcome.ok for outcome in outcomes)
    assert (tmp_path / "guide.md").read_text() == "".join(f"edited {n}.\n\n" for n in range(6))


def test_b017_a_large_file_stays_whole_when_an_edit_makes_it_shorter(backend, tmp_path):
    head, body = "begin" * 4000, "word " * 36_000
    (tmp_path / "plan.md").write_text(head + body + "last words")
    outcomes = run(
        backend,
        workspace(tmp_path),
        ("edit_file", {"path": "plan.md", "old": head, "new": "short "}),
        ("edit_file", {"path": "./plan.md", "old": "last words", "new": "the end"}),
    )
    assert all(outcome.ok for outcome in outcomes)
    assert (tmp_path / "plan.md").read_text() == "short " + body + "the end"
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.md"]


@posix
def test_b019_an_edit_after_a_command_that_rewrote_the_file_sees_its_text(backend, tmp_path):
    (tmp_path / "pins.ts").write_text("old")
    outcomes = run(
        backend,
        workspace(tmp_path),
        ("run_command", {"command": "cat > pins.ts <<EOF\npin = 1\nEOF"}),
        ("edit_file", {"path": "pins.ts", "old": "pin = 1", "new": "pin = 2"}),
    )
    assert [outcome.status for outcome in outcomes] == ["ok", "ok"]
    assert (tmp_path / "pins.ts").read_text() == "pin = 2\n"


@posix
@pytest.mark.parametrize("by", ["policy", "model"])
def test_b043_a_command_that_timed_out_does_not_go_on_writing(backend, tmp_path, by):
    gate = make_gate(tmp_path)
    args = {"command": "read line < gate; touch late.flag"}
    policy = None
    if by == "model":
        args["timeout"] = 0.3
    else:
        policy = {"version": 1, "rules": [{"tool": "run_command", "timeout": 0.3}]}
    (outcome,) = run(backend, workspace(tmp_path, grace=0.1), ("run_command", args), policy=policy)
    assert outcome.status == "timed_out"
    assert nobody_waits(gate)
    assert not (tmp_path / "late.flag").exists()


@posix
def test_b049_an_abort_ends_child_and_grandchild_with_one_result(backend, tmp_path):
    gate = make_gate(tmp_path)
    control = Control()
    script = "sh -c 'read line < gate; touch late.flag' & wait"
    results = []

    async def main():
        engine = Engine(workspace(tmp_path, grace=0.1))
        calls = turn(("run_command", {"command": script}))

        async def work():
            results.append(await engine.run(calls, control=control))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            # Opening returns only when the grandchild has opened its end: it surely waits now.
            held = await anyio.to_thread.run_sync(os.open, gate, os.O_WRONLY)
            control.abort()
            control.abort()
        return held

    held = anyio.run(main, backend=backend)
    assert has_no_reader(held)
    assert not (tmp_path / "late.flag").exists()
    assert [outcome.status for outcome in results[0].outcomes] == ["aborted"]


def test_b050_a_call_moved_to_the_background_is_neither_ok_nor_failed(backend):
    tools = Toolbox()

    @tools.tool(name="shell")
    def shell() -> Outcome:
        return Outcome("running", "moved to background, id 9")

    (outcome,) = run(backend, tools, ("shell", {}))
    assert (outcome.status, outcome.ok) == ("running", False)
    assert outcome.text == "moved to background, id 9"


def test_b085_a_set_in_a_result_spoils_neither_it_nor_its_sibling(backend):
    tools = Toolbox()
    tools.tool(name="odd", safe=True)(lambda: {"u": {1, 2}})
    tools.tool(name="plain", safe=True)(lambda: "ok")
    odd, plain = run(backend, tools, ("odd", {}), ("plain", {}))
    assert json.loads(odd.text) == {"u": [1, 2]}
    assert "set written as a sorted list at u" in odd.note
    assert plain == Outcome("ok", "ok")


def test_b087_a_lone_surrogate_is_replaced_and_reported():
    outcome = outcome_of("x\ud83dy")
    assert outcome.text.encode() == "x\ufffdy".encode()
    assert "lone surrogate replaced" in outcome.note
    assert outcome == outcome_of("x\ud83dy")


def test_b089_the_limit_of_a_turn_is_shared_out_and_every_cut_says_how_much():
    outcomes = [Outcome("ok", letter * 50_000) for letter in "abcd"]
    cut = limit_outcomes(outcomes, per_call=50_000, per_turn=60_000)
    assert sum(len(outcome.text) for outcome in cut) <= 60_000
    for outcome, letter in zip(cut, "abcd", strict=True):
        assert len(outcome.text) > 14_900
        kept = outcome.text.count(letter) - "characters left out".count(letter)
        assert f"[... {50_000 - kept} characters left out ...]" in outcome.text
    assert cut == limit_outcomes(outcomes, per_call=50_000, per_turn=60_000)
