"""Faults that real users met, through real journals: processes die, are opened, and go on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from acting import later, statuses
from recorded_runs import message_of

from toolflow import Context, Engine, Toolbox
from toolflow.errors import InternalError
from toolflow.formats import examine
from toolflow.locks import MemoryStore
from toolflow.recording import open_journal, read_journal
from toolflow.recording.crash import CrashRepair
from toolflow.recording.result import RunResult
from toolflow.runtime.control import Control
from toolflow.runtime.transcript import Transcript
from toolflow.testing import DiskFaults, ProcessDied

Runner = Callable[..., Any]
POLICY = {
    "version": 1,
    "limits": {"pool": 10},
    "rules": [{"tool": "read", "safe": True}, {"tool": "send", "safe": True, "idempotent": False}],
}


class Desk:
    """Tools whose calls end after as many seconds as their path says; it keeps which ran."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ran: list[str] = []
        self.faults = DiskFaults()

    def engine(self) -> Engine:
        tools = Toolbox()

        @tools.tool
        async def read(path: str, ctx: Context) -> str:
            self.ran.append(ctx.name)
            await anyio.sleep(float(path))
            return f"content of {ctx.name}"

        @tools.tool
        async def send(path: str, ctx: Context) -> str:
            self.ran.append(ctx.name)
            raise OSError("the line broke after it was sent")

        return Engine(tools, policy=POLICY, locks=MemoryStore())

    def run_and_die(self, run: Runner, after: float, *calls: tuple[str, str]) -> None:
        """Run a turn in a process that is killed after some seconds."""
        journal = open_journal(self.path, make_disk=self.faults.open)

        def die() -> None:
            self.faults.dead = True

        async def main() -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(later, after, die)
                tasks.start_soon(partial(self.engine().run, message_of(calls), journal=journal))

        with pytest.raises((ProcessDied, InternalError, BaseExceptionGroup)):
            run(main)
        journal.abandon()
        self.ran.clear()

    def opened(self) -> CrashRepair:
        (repair,) = read_journal(self.path).repair()
        return repair

    def go_on(self, run: Runner, answers: Any = None, **options: Any) -> RunResult:
        point = self.opened().checkpoint
        return run(partial(self.engine().resume, point, answers, journal=self.path, **options))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "journal.jsonl")


def test_b001_a_turn_that_was_stored_half_is_opened_whole(run: Runner, desk: Desk) -> None:
    desk.run_and_die(run, 2, ("read", "1"), ("read", "9"))
    repair = desk.opened()
    assert [o.status for o in repair.outcomes] == ["ok", "outcome_unknown"]
    transcript = Transcript([{"role": "user", "content": "go"}])
    run(partial(transcript.append, repair.messages()))
    _, results = transcript.messages[1:]
    first, second = results["content"]
    assert (first["tool_use_id"], first["content"]) == ("toolu_01", "content of toolu_01")
    assert second["tool_use_id"] == "toolu_02"
    assert examine(list(transcript.messages), format="anthropic").valid
    assert desk.opened() == repair  # opening it again adds nothing
    assert desk.ran == []


def test_b005_a_call_that_hangs_loses_nothing_of_its_finished_siblings(
    run: Runner, desk: Desk
) -> None:
    desk.run_and_die(run, 2, ("read", "0.1"), ("read", "0.2"), ("read", "999"))
    repair = desk.opened()
    assert [o.status for o in repair.outcomes] == ["ok", "ok", "outcome_unknown"]
    assert [o.value for o in repair.outcomes[:2]] == ["content of toolu_01", "content of toolu_02"]
    assert repair.unknown == ("toolu_03",)


def test_b101_only_the_call_that_is_done_counts_as_done(run: Runner, desk: Desk) -> None:
    POOL_OF_ONE = {**POLICY, "limits": {"pool": 1}}
    engine = Engine(desk.engine().tools, policy=POOL_OF_ONE, locks=MemoryStore())
    desk.engine = lambda: engine  # type: ignore[method-assign]  # one call after the other
    desk.run_and_die(run, 0.5, ("read", "0.5"), ("read", "0.7"))
    rows = desk.path.read_bytes().splitlines(keepends=True)
    kept = [row for row in rows if b'"toolu_02"' not in row or b'"plan"' in row]
    desk.path.write_bytes(b"".join(kept))
    known = [o and o.status for o in read_journal(desk.path).turns[0].outcomes]
    result = desk.go_on(run, {q.call: True for q in desk.opened().checkpoint.questions})
    assert result.ok
    assert "toolu_02" in desk.ran
    assert ("toolu_01" in desk.ran) == (known[0] is None)


def test_b103_calls_are_matched_by_name_whatever_order_they_ended_in(
    run: Runner, desk: Desk
) -> None:
    seconds = ["9", "0.2", "9", "9", "0.1", "9", "0.3"]
    desk.run_and_die(run, 1, *[("read", each) for each in seconds])
    told = [line for line in desk.path.read_text().splitlines() if '"settled"' in line]
    order = [name for line in told for name in ("02", "05", "07") if f'"toolu_{name}"' in line]
    assert order == ["05", "02", "07"]
    questions = desk.opened().checkpoint.questions
    assert [q.call for q in questions] == [f"toolu_0{n}" for n in (1, 3, 4, 6)]
    result = desk.go_on(run, {question.call: True for question in questions})
    assert result.ok
    assert sorted(desk.ran) == [f"toolu_0{n}" for n in (1, 3, 4, 6)]
    assert result.outcome("toolu_05").value == "content of toolu_05"


def test_b106_a_call_that_is_not_idempotent_runs_once_however_it_ends(
    run: Runner, desk: Desk
) -> None:
    result = run(partial(desk.engine().run, message_of([("send", "mail")]), journal=desk.path))
    assert statuses(result) == ["failed"]
    assert desk.ran == ["toolu_01"]
    for _ in range(3):
        assert read_journal(desk.path).repair() == ()
        with open_journal(desk.path):
            pass


def test_b107_what_an_abort_made_void_stays_void_however_often_it_is_opened(
    run: Runner, desk: Desk
) -> None:
    control = Control()
    journal = open_journal(desk.path, make_disk=desk.faults.open)
    calls = message_of([("read", "0.5"), ("read", "30"), *[("read", "1")] * 10])

    def abort_and_die() -> None:
        desk.faults.dies_at = desk.faults.writes + 1  # with the very next line, or after it
        desk.faults.dies = "after"
        control.abort()

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later, 0.75, abort_and_die)
            go = partial(desk.engine().run, calls, journal=journal, control=control)
            tasks.start_soon(go)

    with pytest.raises((ProcessDied, InternalError, BaseExceptionGroup)):
        run(main)
    journal.abandon()
    desk.ran.clear()
    first = desk.opened()
    assert first.checkpoint.questions == ()
    assert first.outcomes[0].status == "ok"
    assert first.outcomes[1].status == "outcome_unknown"
    for _ in range(3):
        assert desk.opened() == first
    result = desk.go_on(run)
    assert result.outcomes[:2] == first.outcomes[:2]
    assert desk.ran == []
    for _ in range(3):
        assert read_journal(desk.path).repair() == ()


def test_b107_a_turn_that_was_aborted_and_told_so_is_over(run: Runner, desk: Desk) -> None:
    control = Control()

    async def main() -> RunResult:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later, 0.5, control.abort)
            calls = message_of([("read", "1"), ("read", "2")])
            return await desk.engine().run(calls, journal=desk.path, control=control)

    assert statuses(run(main)) == ["aborted", "aborted"]
    for _ in range(3):
        (turn,) = read_journal(desk.path).turns
        assert (turn.status, turn.unfinished) == ("aborted", False)
        assert [outcome.status for outcome in turn.outcomes] == ["aborted", "aborted"]
