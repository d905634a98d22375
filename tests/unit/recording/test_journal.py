"""The journal as a file: what is written when, what a broken disk or a second writer does to it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from acting import chat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from journals import MESSAGE, World, answer_to

from toolflow import Context, Engine, Toolbox
from toolflow.errors import JournalError, ToolflowError, UsageError
from toolflow.locks import MemoryStore
from toolflow.policy import load_policy
from toolflow.recording.journal import (
    JournalRecording,
    is_written,
    open_journal,
    read_journal,
)
from toolflow.runtime.transcript import Transcript
from toolflow.testing import DiskFaults

Runner = Callable[..., Any]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def engine_of(seen: Callable[[str], object] = str, policy: Any = None) -> Engine:
    tools = Toolbox()

    @tools.tool(safe=True)
    async def nap(ctx: Context, seconds: float = 1.0) -> str:
        seen(ctx.name)
        await anyio.sleep(seconds)
        return "rested"

    return Engine(tools, policy=policy, locks=MemoryStore())


# ---- order and durability ----


@pytest.mark.parametrize("durability", ["none", "batch", "strict"])
def test_the_start_of_a_body_is_written_before_it_is_entered(
    run: Runner, tmp_path: Path, durability: Any
) -> None:
    path, faults = tmp_path / "j.jsonl", DiskFaults()

    def seen(name: str) -> None:
        told = path.read_bytes() if durability != "strict" else faults.on_disk()
        starts = [json.loads(line) for line in told.splitlines()]
        assert any(name in line["calls"] for line in starts if line["line"] == "started")

    engine = engine_of(seen)
    with open_journal(path, durability=durability, make_disk=faults.open) as journal:
        result = run(partial(engine.run, chat(*["nap"] * 9), journal=journal))
    assert result.ok


def test_strict_outcomes_are_on_the_disk_before_they_count(run: Runner, tmp_path: Path) -> None:
    path, faults = tmp_path / "j.jsonl", DiskFaults()

    def sink(event: Any) -> None:
        if event.kind == "call_settled":
            told = [json.loads(line) for line in faults.on_disk().splitlines()]
            assert any(line["line"] == "outcome" and line["call"] == event.call for line in told)

    engine = engine_of()
    with open_journal(path, durability="strict", make_disk=faults.open) as journal:
        calls = chat(*["nap"] * 4)
        result = run(partial(engine.run, calls, journal=journal, on_event=sink))
    assert result.ok
    assert faults.log[-1][0] == "sync"


def test_starts_that_wait_share_one_effort(run: Runner, tmp_path: Path) -> None:
    faults = DiskFaults()
    engine = engine_of()
    with open_journal(tmp_path / "j", durability="strict", make_disk=faults.open) as journal:
        assert run(partial(engine.run, chat(*["nap"] * 10), journal=journal)).ok
    assert sum(what == "sync" for what, _ in faults.log) <= 14  # not two a call


@pytest.mark.parametrize("durability", ["batch", "strict"])
def test_all_is_on_the_disk_before_the_turn_is_committed(
    run: Runner, tmp_path: Path, durability: Any
) -> None:
    faults, transcript = DiskFaults(), Transcript()
    engine = engine_of()

    def sink(event: Any) -> None:
        if event.kind == "turn_committed":
            told = [json.loads(line) for line in faults.on_disk().splitlines()]
            assert sum(line["line"] == "settled" for line in told) == 3

    with open_journal(tmp_path / "j", durability=durability, make_disk=faults.open) as journal:
        go = partial(engine.run, chat(*["nap"] * 3), journal=journal, on_event=sink)
        assert run(partial(go, transcript=transcript)).ok
    assert len(transcript.messages) == 4


def test_without_durability_nothing_waits_for_the_disk(run: Runner, tmp_path: Path) -> None:
    faults = DiskFaults()
    with open_journal(tmp_path / "j", durability="none", make_disk=faults.open) as journal:
        assert run(partial(engine_of().run, chat("nap", "nap"), journal=journal)).ok
    assert [what for what, _ in faults.log] == ["write"] * len(faults.log)


def test_an_outcome_is_written_as_soon_as_the_body_has_ended(run: Runner, tmp_path: Path) -> None:
    path, engine = tmp_path / "j.jsonl", engine_of()

    @engine.tools.tool(safe=True)
    async def look() -> list[str]:
        await anyio.sleep(2)
        return [line["call"] for line in lines_of(path) if line["line"] == "settled"]

    result = run(partial(engine.run, chat("look", "nap", ("nap", {"seconds": 3})), journal=path))
    assert result.outcomes[0].value == ["b"]


def test_calls_that_end_at_once_share_their_writes(run: Runner, tmp_path: Path) -> None:
    faults = DiskFaults()
    engine = engine_of()

    @engine.tools.tool(safe=True)
    async def look() -> str:
        return "at once"

    path = tmp_path / "j"
    with open_journal(path, durability="none", make_disk=faults.open) as journal:
        calls = [{"id": f"c{n}", "tool": "look", "args": {}} for n in range(1000)]
        assert run(partial(engine.run, {"calls": calls}, journal=journal)).ok
    assert faults.writes < 80  # neither one a call nor one for each pool of them
    (turn,) = read_journal(path).turns
    assert set(turn.state.entered.values()) == {1}


def test_starts_that_did_not_happen_are_recalled(run: Runner, tmp_path: Path) -> None:
    path, entered = tmp_path / "j.jsonl", []
    seen: list[tuple[list[str], list[str]]] = []
    engine = engine_of()

    @engine.tools.tool(safe=True)
    async def quick(ctx: Context) -> None:
        entered.append(ctx.name)

    @engine.tools.tool(safe=True)
    async def wait(ctx: Context) -> None:
        entered.append(ctx.name)
        await anyio.sleep(0.5)  # nothing else happens in this moment
        seen.append(([*read_journal(path).turns[0].state.entered], list(entered)))
        await anyio.sleep(0.5)

    tools = [*["quick"] * 60, *["wait"] * 25, *["quick"] * 90, "wait", *["quick"] * 200, "wait"]
    calls = [{"id": f"c{n}", "tool": tool, "args": {}} for n, tool in enumerate(tools)]
    assert run(partial(engine.run, {"calls": calls}, journal=path)).ok
    assert len(seen) == 27
    for written, happened in seen:
        assert written == happened
    assert any(line["line"] == "recalled" for line in lines_of(path))  # it had gone ahead


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Use none, batch or strict"):
        open_journal(tmp_path / "j", durability="most")  # type: ignore[arg-type]


# ---- a disk that is full or read-only ----


@pytest.mark.parametrize("durability", ["none", "batch", "strict"])
@pytest.mark.parametrize("room", range(0, 5000, 454))
def test_a_full_disk_stops_the_run_before_the_next_body_and_loses_nothing(
    run: Runner, tmp_path: Path, durability: Any, room: int
) -> None:
    path, world = tmp_path / "j.jsonl", World(faults=DiskFaults(room=room))
    opening = partial(open_journal, path, durability=durability, make_disk=world.faults.open)
    if room < 100:  # not even the header fits
        with pytest.raises(JournalError, match="cannot be written: no space left on device"):
            opening()
        assert path.read_bytes() == b""
        return
    journal = opening()
    with pytest.raises(JournalError, match="no space left on device") as caught:
        run(partial(world.engine().run, MESSAGE, journal=journal))
    assert "\n" not in str(caught.value)
    assert path.read_bytes()[-1:] == b"\n"  # nothing is half there
    result = caught.value.result
    if result is None:  # not even the plan could be written
        assert world.did == []
    else:
        known = {call.name for call in result.plan.calls if result.outcome(call.name) is not None}
        assert known == set(world.did)
        if result.status == "paused":
            world.faults.room = None  # there is room again
            result = finish(run, world, result, journal)
        assert result.ok
        assert all(count == 1 for name, count in world.counts.items() if name != "c09")
    journal.abandon()
    assert read_journal(path).notices == ()


def finish(run: Runner, world: World, result: Any, journal: Any) -> Any:
    while result.status == "paused":
        answers = {q.call: answer_to(q.kind, repeat=True) for q in result.questions}
        go = partial(world.engine().resume, result.checkpoint, answers, journal=journal)
        result = run(go)
    return result


def test_what_could_not_be_written_is_written_when_there_is_room_again(
    run: Runner, tmp_path: Path
) -> None:
    path, faults = tmp_path / "j.jsonl", DiskFaults()
    engine = engine_of(lambda name: setattr(faults, "room", 30))
    journal = open_journal(path, make_disk=faults.open)
    transcript = Transcript()
    go = partial(engine.run, chat("nap"), journal=journal, transcript=transcript)
    with pytest.raises(JournalError) as caught:
        run(go)
    assert caught.value.result.outcomes[0].value == "rested"
    assert transcript.messages == ()  # what the journal does not hold is not committed
    assert read_journal(path).turns[0].status == "open"
    faults.room = None
    journal.close()
    assert read_journal(path).turns[0].outcomes[0].value == "rested"


def test_a_turn_that_cannot_pause_is_aborted(run: Runner, tmp_path: Path) -> None:
    faults = DiskFaults()
    engine = engine_of(lambda name: setattr(faults, "read_only", True))
    journal = open_journal(tmp_path / "j", make_disk=faults.open)
    with pytest.raises(JournalError, match="read-only file system") as caught:
        run(partial(engine.run, chat(*["nap"] * 12), journal=journal, can_pause=False))
    statuses = [outcome.status for outcome in caught.value.result.outcomes]
    assert statuses[-1] == "not_started"
    assert "since the journal cannot be written" in caught.value.result.outcomes[-1].error
    journal.abandon()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_real_full_disk() -> None:
    with pytest.raises(JournalError, match=r"^/dev/full: the journal cannot be written: no space"):
        open_journal("/dev/full")


def test_a_folder_that_is_not_there_and_a_file_that_is_none_of_ours(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be written: no such file or directory"):
        open_journal(tmp_path / "not" / "there")
    other = tmp_path / "notes.txt"
    other.write_text("my notes\nand more")
    with pytest.raises(JournalError, match="is no journal"):
        open_journal(other)
    assert other.read_text() == "my notes\nand more"
    with pytest.raises(JournalError, match="is no journal"):
        read_journal(other)
    with pytest.raises(JournalError, match="this journal is not there"):
        read_journal(tmp_path / "nothing")
    with pytest.raises(JournalError, match="this journal is a folder"):
        read_journal(tmp_path)


# ---- two writers ----


def test_a_journal_that_is_being_written_is_refused_to_others(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with open_journal(path):
        assert is_written(path)
        for _ in range(2):
            with pytest.raises(JournalError, match=r"writes this journal\. Wait for its end"):
                open_journal(path)
        assert read_journal(path).turns == ()
    assert not is_written(path)
    open_journal(path).close()
    assert not is_written(tmp_path / "nothing")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_copy_of_the_process_does_not_write_it_and_does_not_keep_it_locked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "j.jsonl"
    journal = open_journal(path)
    told, tell = os.pipe()
    stay, leave = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(leave)
            try:
                journal.add('{"line":"begun"}\n')
            except JournalError as error:
                os.write(tell, str(error).encode())
            os.read(stay, 1)
        finally:
            os._exit(0)
    assert b"of another process" in os.read(told, 1000)
    journal.close()
    assert not is_written(path)
    open_journal(path).close()
    os.close(leave)
    os.waitpid(child, 0)
    for fd in (told, tell, stay):
        os.close(fd)
    assert len(path.read_bytes().splitlines()) == 1


# ---- what is found ----


def whole(run: Runner, path: Path) -> bytes:
    engine = engine_of()
    assert run(partial(engine.run, chat(*["nap"] * 5), journal=path)).ok
    return path.read_bytes()


def test_a_torn_last_line_is_dropped_with_a_notice_and_opening_twice_changes_nothing(
    run: Runner, tmp_path: Path
) -> None:
    path = tmp_path / "j.jsonl"
    content = whole(run, path)
    path.write_bytes(content[:-20])
    (notice,) = read_journal(path).notices
    assert notice.code == "torn_line"
    assert notice.message.endswith("the last line was not written to its end, and is left out.")
    with open_journal(path) as journal:
        assert [notice.code for notice in journal.notices] == ["torn_line"]
    kept = path.read_bytes()
    assert kept == content[: content.rindex(b"\n", 0, -1) + 1]
    for _ in range(3):
        with open_journal(path) as journal:
            assert journal.notices == ()
        assert path.read_bytes() == kept


def test_a_broken_line_in_the_middle_is_named_and_costs_no_other_call_its_result(
    run: Runner, tmp_path: Path
) -> None:
    path = tmp_path / "j.jsonl"
    rows = whole(run, path).splitlines(keepends=True)
    place = next(n for n, row in enumerate(rows) if b'"settled"' in row and b'"b"' in row)
    path.write_bytes(b"".join([*rows[:place], b'{"line":"sett\x00\xff\n', *rows[place + 1 :]]))
    content = read_journal(path)
    (notice,) = content.notices
    assert notice.code == "broken_line"
    assert notice.message == f"{path}:{place + 1}: this line cannot be read, and is left out."
    assert [outcome and outcome.value for outcome in content.turns[0].outcomes] == [
        "rested",
        None,
        *["rested"] * 3,
    ]


def test_where_a_line_is_missing_no_call_counts_as_not_started(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    rows = whole(run, path).splitlines(keepends=True)
    begun = next(n for n, row in enumerate(rows) if b'"started"' in row)
    path.write_bytes(b"".join([*rows[:begun], b"broken\n"]))
    (repair,) = read_journal(path).repair()
    assert repair.not_started == ()
    assert len(repair.checkpoint.questions) == 5


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_line_may_say_anything_and_is_told(tmp_path: Path, data: Any) -> None:
    path = tmp_path / "odd.jsonl"
    engine = engine_of()
    if not (tmp_path / "whole").exists():
        engine.run_sync(chat(("nap", {"seconds": 0}), "nosuch"), journal=tmp_path / "whole")
    rows = (tmp_path / "whole").read_bytes().splitlines()
    place = data.draw(st.integers(1, len(rows) - 1))
    line = json.loads(rows[place])
    name = data.draw(st.sampled_from(sorted(line)))
    line[name] = data.draw(
        st.sampled_from([None, True, -1, 1.5, "x", [], ["x"], {}, {"x": 1}, [{"x": []}], 10**30])
    )
    path.write_bytes(
        b"\n".join([*rows[:place], json.dumps(line).encode(), *rows[place + 1 :], b""])
    )
    with suppress(ToolflowError):
        content = read_journal(path)
        content.repair()
        whole = content.recording()
        assert JournalRecording(path).recording() == whole


def test_a_journal_goes_on_in_further_files_and_a_missing_one_costs_its_turns_only(
    run: Runner, tmp_path: Path
) -> None:
    path, engine = tmp_path / "j.jsonl", engine_of()
    with open_journal(path, segment=1500) as journal:
        for _ in range(4):
            assert run(partial(engine.run, chat("nap", "nap"), journal=journal)).ok
    files = {each.name for each in tmp_path.iterdir()}
    assert files >= {"j.jsonl", "j-2.jsonl"}
    assert [turn.number for turn in read_journal(path).turns] == [1, 2, 3, 4]
    with open_journal(path, segment=1500) as journal:
        assert run(partial(engine.run, chat("nap"), journal=journal)).ok
    assert [turn.number for turn in read_journal(path).turns] == [1, 2, 3, 4, 5]
    (tmp_path / "j-2.jsonl").unlink()
    left = read_journal(path)
    assert left.notices == ()
    assert {turn.number for turn in left.turns} < {1, 2, 3, 4, 5}
    assert all(turn.status == "done" for turn in left.turns)


# ---- secrets ----

SECRETS = {
    "version": 1,
    "redact": ["password", "*_token"],
    "rules": [
        {"tool": "login", "safe": True, "writes": ["user:one"]},
        {"tool": "ask", "ask": "Log in?", "safe": True},
    ],
}


def test_secrets_reach_no_line(run: Runner, tmp_path: Path) -> None:
    path, tools = tmp_path / "j.jsonl", Toolbox()

    @tools.tool
    async def login(password: str, note: str = "") -> Any:
        return {"api_token": "tok-99887766", "said": f"welcome {password}"}

    @tools.tool
    async def ask(password: str, ctx: Context) -> Any:
        return ctx.interrupt({"password": "other-secret", "of": password})

    engine = Engine(tools, policy=SECRETS, locks=MemoryStore())
    calls = chat(
        ("login", {"password": "hunter22", "note": "hunter22 is mine"}),
        ("login", '{"password": "broken-json'),
        ("ask", {"password": "s3cret-9"}),
    )
    paused = run(partial(engine.run, calls, journal=path))
    assert paused.status == "paused"
    again = run(partial(engine.resume, paused.checkpoint, {"c": True}, journal=path))
    assert [question.kind for question in again.questions] == ["interrupt"]
    text = path.read_text()
    for secret in ("hunter22", "broken-json", "s3cret-9", "tok-99887766", "other-secret"):
        assert secret not in text
    assert "***" in text


@pytest.mark.parametrize(
    "secret", ["call", "line", "turn", "settled", "status", "started", "ended", "plan", "1234"]
)
def test_a_secret_may_be_a_word_that_the_lines_are_made_of(
    run: Runner, tmp_path: Path, secret: str
) -> None:
    path, tools = tmp_path / "j.jsonl", Toolbox()

    @tools.tool
    async def login(password: str) -> str:
        return f"in with {password}"

    engine = Engine(tools, policy=load_policy(SECRETS), locks=MemoryStore())
    calls = chat(("login", {"password": secret}), ("login", {"password": "hunter22"}))
    assert run(partial(engine.run, calls, journal=path)).ok
    content = read_journal(path)
    (turn,) = content.turns
    assert content.notices == ()
    assert turn.status == "done"
    assert [outcome.value for outcome in turn.outcomes] == ["in with ***"] * 2


def test_a_call_whose_arguments_were_masked_never_runs_with_the_mask(
    run: Runner, tmp_path: Path
) -> None:
    path, ran, tools = tmp_path / "j.jsonl", [], Toolbox()

    @tools.tool
    async def login(password: str) -> str:
        ran.append(password)
        return "in"

    @tools.tool
    async def ask(password: str) -> str:
        ran.append(password)
        return "asked"

    engine = Engine(tools, policy=load_policy(SECRETS), locks=MemoryStore())
    calls = chat(("login", {"password": "hunter22"}), ("ask", {"password": "s3cret-9"}))
    assert run(partial(engine.run, calls, journal=path)).status == "paused"
    (turn,) = read_journal(path).turns
    assert turn.state.head["masked"] == ["a", "b"]
    checkpoint = turn.repair().checkpoint
    assert checkpoint.questions == ()
    result = run(partial(engine.resume, checkpoint, journal=path))
    assert [outcome.status for outcome in result.outcomes] == ["ok", "failed"]
    assert "which a journal does not keep" in result.outcomes[1].error
    assert ran == ["hunter22"]


def test_a_result_that_is_a_text_and_repeats_a_secret_is_masked(
    run: Runner, tmp_path: Path
) -> None:
    path, tools = tmp_path / "j.jsonl", Toolbox()

    @tools.tool
    async def login(password: str) -> str:
        return f"welcome, {password}"

    engine = Engine(tools, policy=SECRETS, locks=MemoryStore())
    calls = {"calls": [{"id": "a", "tool": "login", "args": {"password": "hunter22"}}]}
    assert run(partial(engine.run, calls, journal=path)).ok
    assert "hunter22" not in path.read_text()
    assert read_journal(path).turns[0].outcomes[0].value.startswith("welcome, *")
