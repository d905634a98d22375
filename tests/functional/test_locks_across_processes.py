"""A lock file that several processes share, through engines, tools and the command line.

The short form of what `tests/benchmarks/show_locks.py` does at length. Real processes in real time;
what must hold does not depend on times.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import anyio
import pytest
from circle_process import circle_of_processes
from counting import count_together

from toolflow.cli import main
from toolflow.locks import LockRequest, open_store


def test_processes_that_count_in_shared_files_lose_no_update_and_come_in_order(tmp_path: Path):
    found = count_together(tmp_path, processes=4, times=25)
    assert (found.counters, found.done, found.leases) == (100, 100, 100)
    assert len(found.fences) == 100
    assert found.swapped == 0
    assert not open_store(str(tmp_path / "locks.db")).statistics().keys


def test_a_killed_process_loses_at_most_its_own_call_and_keeps_no_key(tmp_path: Path):
    found = count_together(tmp_path, processes=4, times=25, kill_every=0.3, most=3)
    assert found.killed > 0
    assert found.done == 100
    assert found.done <= found.counters <= found.done + found.killed
    assert not open_store(str(tmp_path / "locks.db")).statistics().keys


@pytest.mark.parametrize("parties", [2, 3])
def test_who_closes_a_circle_across_processes_fails_and_the_others_go_on(
    parties: int, tmp_path: Path
):
    answers = circle_of_processes(tmp_path / "locks.db", parties)
    statuses = sorted(answer["status"] for answer in answers)
    assert statuses == ["lock_cycle", *["ok"] * (parties - 1)]


FLOW = """\
version: 1
name: shared
policy: {version: 1, rules: [{tool: show, safe: true, writes: ["key:shared"]}]}
locks: locks.db
tools: {python: ["shared_tools:show"]}
stages:
  - id: one
    calls: [{tool: show, args: {}}]
"""
TOOLS = """\
import json, subprocess, sys

def show() -> str:
    words = [sys.executable, "-m", "toolflow", "locks", {where!r}, "--output", "json"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout
"""


@pytest.mark.parametrize("way", ["flow", "option"])
def test_another_process_sees_what_a_flow_holds_in_a_lock_file(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    where = tmp_path / ("locks.db" if way == "flow" else "other.db")
    monkeypatch.delitem(sys.modules, "shared_tools", raising=False)
    (tmp_path / "shared_tools.py").write_text(TOOLS.format(where=str(where)))
    (tmp_path / "flow.yaml").write_text(FLOW)
    words = [] if way == "flow" else ["--locks", str(where)]
    out = str(tmp_path / "out")
    assert main(["run", str(tmp_path / "flow.yaml"), "-q", "-o", "json", "--out", out, *words]) == 0
    (stage,) = json.loads(capsys.readouterr().out)["stages"]
    (row,) = json.loads(stage["calls"][0]["result"])["locks"]
    assert (row["key"], row["mode"], row["state"]) == ("key:shared", "write", "holds")
    assert row["pid"] > 0
    assert main(["locks", str(where)]) == 0
    assert capsys.readouterr().out == "nobody holds or waits for anything\n"


TABLE = """\
KEY  MODE  WHO  PROCESS  SINCE  STATE
file:/a  write  edit  PID  0 s  holds
file:/a  read  read  PID  0 s  waits for key 'file:/a' held by 'edit of process PID'
x\\n/y  write  hangs  PID  0 s  holds, and never stopped after its end was reported
gpu  2 units  edit  PID  0 s  holds
"""


@pytest.mark.anyio
async def test_the_table_of_locks_names_holders_waiters_and_what_they_wait_for(tmp_path: Path):
    where = str(tmp_path / "locks.db")
    store = open_store(where)
    edit = LockRequest("edit", writes=("file:/a",), uses={"gpu": 2}, capacities={"gpu": 2})
    lease, hangs = store.acquire_nowait(edit), LockRequest("hangs", writes=("x\n/y",))
    store.poison(store.acquire_nowait(hangs))

    async def reader() -> None:
        store.release(await store.acquire(LockRequest("read", reads=("file:/a",))))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader)
        await anyio.wait_all_tasks_blocked()
        words = [sys.executable, "-m", "toolflow", "locks", where]
        text = (await anyio.run_process(words)).stdout.decode()
        store.release(lease)
    text = re.sub(r"\d+\.\d s", "0 s", re.sub(r" {2,}", "  ", text))
    assert re.sub(rf"{os.getpid()} \(?[\w.-]+\)?", "PID", text) == TABLE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["locks", "nothing.db"], "this file is not there"),
        (["locks", "nothing"], "this file is not there"),
        (["locks", "memory"], "seen by their own process only"),
        (["locks", "text.db"], "no usable lock store"),
        (["run", "flow.yaml", "--locks", "nothing"], "there is none of this name"),
        (["run", "flow.yaml", "--locks", "text.db"], "no usable lock store"),
    ],
)
def test_what_is_no_lock_file_is_told_in_one_line_and_nothing_is_made(
    words: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("some text\n" * 1_000)
    Path("flow.yaml").write_text(FLOW.replace("locks: locks.db\n", ""))
    Path("shared_tools.py").write_text(TOOLS.format(where=""))
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err
    assert not Path("nothing.db").exists()


def test_the_machines_store_is_empty_before_anybody_has_used_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(["locks"]) == 0
    assert capsys.readouterr().out == "nobody holds or waits for anything\n"
    assert main(["locks", "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"store": "machine", "locks": []}
    assert not list((tmp_path / "toolflow").glob("*.db"))
