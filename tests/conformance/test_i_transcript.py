"""Conformance I: a transcript with a store, its queue of writes, and what calls see of it."""

from __future__ import annotations

import asyncio
import itertools
from functools import partial
from typing import Any

import anyio
import pytest
from turns import scripted, statuses, turn

from toolflow.engine import Engine
from toolflow.errors import InternalError, RunError, UsageError
from toolflow.model.event import Event
from toolflow.model.turn import Call, Turn
from toolflow.runtime.context import Context
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.transcript import Transcript

ANTHROPIC = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"name": "a", "seconds": 3}},
        {"type": "tool_use", "id": "toolu_2", "name": "nosuch", "input": {}},
        {"type": "tool_use", "id": "toolu_3", "name": "read", "input": {"name": "c", "seconds": 1}},
    ],
}


class Store:
    """Keeps messages after a while; writes fail whose number (from 1) is told so."""

    def __init__(self, seconds: float = 0, fail: tuple[int, ...] = ()) -> None:
        self.kept: list[Any] = []
        self.seconds = seconds
        self.fail = fail
        self.writes = 0
        self.busy = False
        self.log: list[tuple[str, list[Any]]] = []

    async def append(self, messages: Any) -> None:
        await self._write("append", messages)
        self.kept += messages

    async def rebuild(self, messages: Any) -> None:
        await self._write("rebuild", messages)
        self.kept = list(messages)

    async def _write(self, what: str, messages: Any) -> None:
        assert not self.busy, "two writes at once"
        self.writes += 1
        number = self.writes
        self.log.append((what, list(messages)))
        self.busy = True
        try:
            await anyio.sleep(self.seconds)
        finally:
            self.busy = False
        if number in self.fail:
            raise OSError(f"write {number} failed")


def staged(transcript: Transcript, name: str = "1") -> Transcript:
    transcript.stage([f"assistant {name}"])
    transcript.stage_results([f"result {name}"])
    return transcript


async def in_order(*functions: Any) -> list[BaseException | None]:
    """Call async functions in tasks of their own, each asked before the next, and gather errors."""
    errors: list[BaseException | None] = [None] * len(functions)

    async def one(place: int, function: Any, *, task_status: Any) -> None:
        asked = function()
        task_status.started()
        try:
            await asked
        except (Exception, asyncio.CancelledError) as error:  # looked at by the test
            errors[place] = error

    async with anyio.create_task_group() as tasks:
        for place, function in enumerate(functions):
            await tasks.start(partial(one, place, function))
            await anyio.lowlevel.checkpoint()
    return errors


# ---- 97 ----


def test_c097_bodies_hooks_and_observers_of_a_run_see_the_old_length(run):
    transcript = Transcript(["before"])
    seen: list[tuple[str, int]] = []

    class Looks(Hooks):
        def before_call(self, call, context):
            seen.append(("before", len(transcript)))

        def after_call(self, call, outcome, context):
            seen.append(("after", len(transcript)))

    tools = scripted()

    @tools.toolbox.tool(safe=True)
    async def look(name: str) -> None:
        await anyio.sleep(1)
        seen.append(("body", len(transcript)))

    def sink(event: Event) -> None:
        seen.append((event.kind, len(transcript)))

    engine = Engine(tools.toolbox, hooks=Looks())
    message = turn("look", ("write", 1), "look")
    run(partial(engine.run, message, transcript=transcript, on_event=sink))
    lengths = {what: {n for w, n in seen if w == what} for what, _ in seen}
    assert lengths.pop("turn_committed") == {3}
    assert lengths.pop("run_finished") == {3}
    assert set(lengths) > {"before", "after", "body", "call_settled"}
    assert set(map(tuple, lengths.values())) == {(1,)}


def test_c097_while_the_store_writes_nothing_is_visible_and_then_all(run):
    async def main():
        transcript = staged(Transcript(["before"], store=Store(2)))
        seen = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcript.commit)
            for _ in range(3):
                await anyio.sleep(0.9)
                seen.append(len(transcript))
        assert seen == [1, 1, 3]

    run(main)


# ---- 98 ----


def test_c098_the_message_is_committed_and_then_the_results(run):
    async def main():
        store = Store()
        transcript = Transcript(["before"], store=store)
        transcript.stage(["assistant", "more"])
        transcript.stage_results(["result 1", "result 2"])
        added = await transcript.commit()
        assert added == ("assistant", "more", "result 1", "result 2")
        assert transcript.messages == ("before", *added)
        assert store.log == [("append", list(added))]
        assert transcript.staged is None

    run(main)


def test_c098_results_of_a_run_stand_behind_their_message_in_call_order(run):
    store = Store(1)
    transcript = Transcript(["before"], store=store)
    engine = Engine(scripted().toolbox)
    result = run(partial(engine.run, ANTHROPIC, transcript=transcript))
    before, assistant, results = transcript.messages
    assert (before, assistant) == ("before", ANTHROPIC)
    blocks = [block for block in results["content"] if block["type"] == "tool_result"]
    assert [block["tool_use_id"] for block in blocks] == ["toolu_1", "toolu_2", "toolu_3"]
    assert [block.get("is_error", False) for block in blocks] == [False, True, False]
    assert transcript.messages[1:] == result.messages
    assert store.log == [("append", list(result.messages))]  # in one step


def test_c098_steering_messages_come_behind_the_turn_that_they_arrived_in(run):
    control, transcript, tools = Control(), Transcript(), scripted()

    @tools.toolbox.tool(safe=True)
    async def look(name: str) -> int:
        control.steer("hurry")
        return len(transcript)

    engine = Engine(tools.toolbox)
    result = run(partial(engine.run, turn("look", "read"), transcript=transcript, control=control))
    assert transcript.messages == (*result.assistant, *result.results, "hurry")
    assert result.outcomes[0].value == 0


# ---- 99 ----


def test_c099_a_run_that_pauses_leaves_the_history_and_one_that_resumes_commits_once(run):
    async def main():
        store = Store()
        transcript = Transcript(["before"], store=store)
        engine = Engine(scripted().toolbox)
        paused = await engine.run(turn("read", "read"), stop_at=["b"], transcript=transcript)
        assert paused.status == "paused"
        assert (transcript.messages, transcript.staged, store.log) == (("before",), None, [])
        result = await engine.resume(paused.checkpoint, transcript=transcript)
        assert transcript.messages == ("before", *result.messages)
        assert len(store.log) == 1

    run(main)


def test_c099_a_failure_of_ours_leaves_the_history_and_nothing_staged(run, monkeypatch):
    transcript = Transcript(["before"])
    engine = Engine(scripted().toolbox)

    async def broken(executor: Any) -> None:
        assert transcript.staged is not None
        raise InternalError("No.")

    monkeypatch.setattr("toolflow.runtime.executor.Executor.run", broken)
    with pytest.raises(InternalError):
        run(partial(engine.run, turn("read"), transcript=transcript))
    assert (transcript.messages, transcript.staged) == (("before",), None)


# ---- 100 ----


def test_c100_results_without_a_message_and_a_commit_without_a_turn_are_refused(run):
    async def main():
        store = Store()
        transcript = Transcript(["before"], store=store)
        with pytest.raises(UsageError, match="without their assistant message"):
            transcript.stage_results(["result"])
        with pytest.raises(UsageError, match="no staged turn"):
            await transcript.commit()
        transcript.stage(["assistant"])
        with pytest.raises(UsageError, match="no staged turn"):
            await transcript.commit()
        assert transcript.staged == ("assistant",)  # it may still get its results
        assert (transcript.messages, store.log) == (("before",), [])
        transcript.stage_results([])  # a turn without calls has none
        await transcript.commit()
        assert transcript.messages == ("before", "assistant")

    run(main)


def test_c100_a_turn_is_committed_once_however_often_it_is_asked_for(run):
    async def main():
        transcript = staged(Transcript(store=Store(1)))
        first, second = await in_order(transcript.commit, transcript.commit)
        assert first is None
        assert isinstance(second, UsageError)
        assert transcript.messages == ("assistant 1", "result 1")

    run(main)


@pytest.mark.parametrize("one", [{"role": "user"}, "text", b"bytes"])
def test_c100_one_message_is_not_taken_apart_as_if_it_were_several(run, one):
    async def main():
        transcript = staged(Transcript(["before"]))
        with pytest.raises(UsageError, match="Use a list of messages"):
            transcript.stage(one)
        with pytest.raises(UsageError, match="Use a list of messages"):
            transcript.stage_results(one)
        with pytest.raises(UsageError, match="Use a list of messages"):
            await transcript.append(one)
        with pytest.raises(UsageError, match="Use a list of messages"):
            await transcript.rebuild(one)
        with pytest.raises(UsageError, match="Use a list of messages"):
            Transcript(one)
        await transcript.commit()
        assert transcript.messages == ("before", "assistant 1", "result 1")

    run(main)


# ---- 101 ----


def test_c101_a_turn_staged_while_the_last_one_is_written_is_not_touched(run):
    async def main():
        store = Store(2)
        transcript = staged(Transcript(store=store), "1")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcript.commit)
            await anyio.sleep(1)
            staged(transcript, "2")
        assert transcript.staged == ("assistant 2",)
        await transcript.commit()
        assert store.kept == ["assistant 1", "result 1", "assistant 2", "result 2"]

    run(main)


# ---- 102 ----


HISTORY = [{"id": "m1"}, "text", {"id": "m2"}, {"role": "user"}]


@pytest.mark.parametrize("back", [("rewind", 3), ("rewind_to", "m2"), ("rewind", 0), ("rewind", 4)])
def test_c102_a_rewind_shortens_the_history_and_clears_what_is_staged(run, back):
    async def main():
        store = Store()
        transcript = staged(Transcript(HISTORY, store=store))
        what, where = back
        await getattr(transcript, what)(where)
        kept = HISTORY[: 3 if where == "m2" else where]
        assert transcript.messages == tuple(kept)
        assert transcript.staged is None
        assert store.kept == kept
        with pytest.raises(UsageError, match="no staged turn"):
            await transcript.commit()
        await staged(transcript).commit()
        assert store.kept == [*kept, "assistant 1", "result 1"]

    run(main)


@pytest.mark.parametrize(
    "back",
    [
        ("rewind_to", "m3"),
        ("rewind_to", "text"),
        ("rewind", 5),
        ("rewind", -1),
        ("rewind", True),
        ("rewind", 1.0),
        ("rewind", "m1"),
    ],
)
def test_c102_a_place_that_is_not_there_is_refused_and_nothing_changes(run, back):
    async def main():
        store = Store()
        transcript = staged(Transcript(HISTORY, store=store))
        what, where = back
        with pytest.raises(UsageError, match=repr(where)):
            await getattr(transcript, what)(where)
        assert transcript.messages == tuple(HISTORY)
        assert transcript.staged == ("assistant 1",)
        assert store.log == []
        await transcript.commit()

    run(main)


def test_c102_a_rewind_goes_by_the_history_that_earlier_writes_leave(run):
    async def main():
        store = Store(1)
        transcript = Transcript(["old"], store=store)
        errors = await in_order(
            partial(transcript.rebuild, ["summary", {"id": "m"}, "more"]),
            partial(transcript.rewind_to, "m"),
            partial(transcript.append, ["next"]),
            partial(transcript.rewind, 3),
            partial(transcript.rewind, 1),
        )
        assert errors == [None] * 5
        assert transcript.messages == ("summary",)
        assert store.kept == ["summary"]

    run(main)


# ---- 103 ----


def test_c103_a_rebuild_clears_what_is_staged_and_the_writer_lives_on(run):
    async def main():
        store = Store()
        transcript = staged(Transcript(["a", "b"], store=store))
        await transcript.rebuild(["summary"])
        assert (transcript.messages, transcript.staged) == (("summary",), None)
        with pytest.raises(UsageError, match="without their assistant message"):
            transcript.stage_results(["result"])
        await staged(transcript, "2").commit()
        await transcript.append(["user"])
        await transcript.flush()
        assert transcript.messages == ("summary", "assistant 2", "result 2", "user")
        assert store.kept == list(transcript.messages)

    run(main)


# ---- 104 ----


def spying(seen: dict[str, Any]) -> Engine:
    tools = scripted()

    @tools.toolbox.tool(safe=True)
    async def look(name: str, ctx: Context, seconds: float = 0) -> str:
        await anyio.sleep(seconds)
        seen[name] = ctx.messages
        return f"secret of {name}"

    @tools.toolbox.tool
    def alone(name: str, ctx: Context) -> str:
        seen[name] = ctx.messages
        return f"secret of {name}"

    return Engine(tools.toolbox)


def test_c104_siblings_see_the_history_and_their_own_message_and_no_result(run):
    seen: dict[str, Any] = {}
    transcript = Transcript([{"role": "user", "content": "Hello"}])
    message = turn("look", ("look", 2), "alone", "look", "alone")
    result = run(partial(spying(seen).run, message, transcript=transcript))
    assert statuses(result) == ["ok"] * 5
    assert list(seen) == ["a", "b", "c", "d", "e"]
    snapshot = ({"role": "user", "content": "Hello"}, *result.assistant)
    assert list(seen.values()) == [snapshot] * 5
    assert "secret" in str(result.results)


def test_c104_what_is_committed_meanwhile_is_not_seen_by_the_calls_of_the_turn(run):
    async def main():
        seen: dict[str, Any] = {}
        transcript = Transcript(["before"])
        engine = spying(seen)
        async with anyio.create_task_group() as tasks:
            message = turn(("look", 1), ("look", 3))
            tasks.start_soon(partial(engine.run, message, transcript=transcript))
            await anyio.sleep(2)
            await transcript.append(["a message of somebody else"])
        assert seen["a"] == seen["b"]
        assert seen["a"][0] == "before"
        assert len(seen["a"]) == 2
        assert transcript.messages[:2] == ("before", "a message of somebody else")

    run(main)


def test_c104_a_call_that_changes_what_it_sees_changes_it_for_nobody(run):
    seen: list[Any] = []
    tools = scripted()

    @tools.toolbox.tool(safe=True)
    async def spoil(name: str, ctx: Context) -> None:
        first, own = ctx.messages
        seen.append(first["content"])
        first["content"] = "spoilt"
        own["calls"].clear()
        assert ctx.messages[0]["content"] == "Hello"

    transcript = Transcript([{"role": "user", "content": "Hello"}])
    message = {"calls": [{"id": x, "tool": "spoil", "args": {"name": x}} for x in "ab"]}
    result = run(partial(Engine(tools.toolbox).run, message, transcript=transcript))
    assert statuses(result) == ["ok", "ok"]
    assert seen == ["Hello", "Hello"]
    assert transcript.messages[0] == {"role": "user", "content": "Hello"}
    assert len(transcript.messages[1]["calls"]) == 2


def test_c104_a_call_that_runs_after_a_pause_sees_the_same_as_before_it(run):
    async def main():
        seen: dict[str, Any] = {}
        transcript = Transcript(["before"])
        engine = spying(seen)
        paused = await engine.run(turn("look", "look"), stop_at=["b"], transcript=transcript)
        await engine.resume(paused.checkpoint, transcript=transcript)
        assert seen["a"] == seen["b"]
        assert len(seen["a"]) == 2

    run(main)


# ---- 105 ----


@pytest.mark.parametrize(
    "message", [ANTHROPIC, turn("read", ("write", 1), "nosuch"), Turn("t", ())]
)
def test_c105_the_snapshot_at_the_end_of_the_turn_is_the_committed_history(run, message):
    snapshots: list[Any] = []

    def sink(event: Event) -> None:
        if event.kind == "turn_committed":
            snapshots.append(event.data["messages"])

    store = Store(1)
    transcript = Transcript(["before"], store=store)
    engine = Engine(scripted().toolbox)
    run(partial(engine.run, message, transcript=transcript, on_event=sink))
    result = run(partial(engine.run, turn("read"), transcript=transcript, on_event=sink))
    assert snapshots[-1] == transcript.messages == ("before", *store.kept)
    assert transcript.snapshot() == transcript.messages
    assert transcript.messages[-2:] == result.messages


def test_c105_ids_that_the_provider_refuses_are_the_same_in_snapshot_and_history(run):
    seen: list[Any] = []
    tools = scripted()

    @tools.toolbox.tool(safe=True)
    async def look(ctx: Context) -> None:
        seen.append(ctx.messages)

    blocks = [{"type": "tool_use", "id": i, "name": "look", "input": {}} for i in ("", "x", "ok")]
    message = {"role": "assistant", "content": blocks}
    transcript = Transcript()
    run(partial(Engine(tools.toolbox).run, message, transcript=transcript))
    assert seen == [transcript.messages[:1]] * 2
    assert "" not in [block["id"] for block in transcript.messages[0]["content"]]


# ---- 106 ----


def test_c106_writes_are_kept_one_after_the_other_in_the_order_of_asking(run):
    async def main():
        store = Store()
        waits = itertools.cycle([3, 1, 2])
        transcript = Transcript(store=store)

        def asked(number: int) -> Any:
            store.seconds = next(waits)
            if number % 2:
                return partial(transcript.append, [f"user {number}"])
            staged(transcript, str(number))
            return transcript.commit

        async def one(number: int, *, task_status: Any) -> None:
            write = asked(number)
            task_status.started()
            await write()

        async with anyio.create_task_group() as tasks:
            for number in range(7):
                await tasks.start(one, number)
        expected = []
        for number in range(7):
            turn_of = [f"assistant {number}", f"result {number}"]
            expected += [f"user {number}"] if number % 2 else turn_of
        assert store.kept == expected == list(transcript.messages)

    run(main)


def test_c106_the_place_is_taken_when_it_is_asked_for_and_not_when_a_task_gets_its_turn(run):
    async def main():
        store = Store(1)
        transcript = Transcript(store=store)
        asked: list[int] = []

        async def one(number: int) -> None:
            asked.append(number)
            await transcript.append([number])

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(one, number)
        assert store.kept == asked

    run(main)


def test_c106_the_first_failed_write_stops_all_later_ones(run):
    async def main():
        store = Store(1, fail=(2, 3))
        transcript = Transcript(["before"], store=store)
        errors = await in_order(
            partial(transcript.append, ["a"]),
            partial(transcript.append, ["b"]),
            partial(transcript.append, ["c"]),
            partial(transcript.rebuild, ["d"]),
            partial(transcript.rewind, 0),
            transcript.flush,
            transcript.close,
        )
        assert errors[0] is None
        assert isinstance(errors[1], OSError)
        assert errors[1:] == [errors[1]] * 6
        assert transcript.messages == ("before", "a")
        assert (store.kept, store.writes) == (["a"], 2)

    run(main)


def test_c106_a_commit_that_fails_stays_staged_and_nothing_is_seen(run):
    async def main():
        transcript = staged(Transcript(["before"], store=Store(1, fail=(1,))))
        for _ in range(2):
            with pytest.raises(OSError, match="write 1 failed"):
                await transcript.commit()
            assert transcript.messages == ("before",)
            assert transcript.staged == ("assistant 1",)

    run(main)


def test_c106_a_failed_commit_does_not_bring_back_what_another_turn_replaced(run):
    async def main():
        transcript = staged(Transcript(store=Store(2, fail=(1,))), "1")

        async def later() -> None:
            await anyio.sleep(1)
            staged(transcript, "2")

        errors = await in_order(transcript.commit, later)
        assert isinstance(errors[0], OSError)
        assert transcript.staged == ("assistant 2",)

    run(main)


def test_c106_flush_comes_back_only_when_all_that_was_asked_for_is_kept(run):
    async def main():
        store = Store(2)
        transcript = Transcript(store=store)
        await transcript.flush()  # nothing to wait for
        at = []

        async def flush() -> None:
            await transcript.flush()
            at.append((anyio.current_time() - begun, list(store.kept)))

        begun = anyio.current_time()
        await in_order(
            partial(transcript.append, ["a"]),
            partial(transcript.append, ["b"]),
            flush,
            partial(transcript.append, ["c"]),
        )
        assert at == [(4, ["a", "b"])]

    run(main)


def test_c106_a_run_whose_turn_cannot_be_kept_raises_the_error_and_tells_no_commit(run):
    async def main():
        store = Store(1, fail=(1,))
        transcript = Transcript(["before"], store=store)
        kinds: list[str] = []
        engine = Engine(scripted().toolbox)
        for _ in range(2):  # the keys are free again, the error is the first one
            with pytest.raises(OSError, match="write 1 failed"):
                await engine.run(
                    turn(("edit", 1, "k")),
                    transcript=transcript,
                    on_event=lambda event: kinds.append(event.kind),
                )
        assert "turn_committed" not in kinds
        assert kinds.count("call_settled") == 2
        assert transcript.messages == ("before",)

    run(main)


# ---- 107 ----


def test_c107_close_waits_for_the_last_batch_and_drops_nothing(run):
    async def main():
        store = Store(2)
        transcript = staged(Transcript(store=store))
        kept_at_close: list[Any] = []

        async def close() -> None:
            await transcript.close()
            kept_at_close.append(list(store.kept))

        errors = await in_order(
            transcript.commit,
            partial(transcript.append, ["user"]),
            close,
            partial(transcript.append, ["too late"]),
            close,
        )
        assert [type(error) for error in errors] == [type(None)] * 3 + [UsageError, type(None)]
        assert kept_at_close == [["assistant 1", "result 1", "user"]] * 2
        assert list(transcript.messages) == store.kept

    run(main)


def test_c107_a_closed_transcript_refuses_all_writes_and_changes_nothing(run):
    async def main():
        transcript = staged(Transcript(["before"], store=Store()))
        await transcript.close()
        await transcript.close()
        await transcript.flush()
        for write in (
            transcript.commit,
            partial(transcript.append, ["x"]),
            partial(transcript.rewind, 0),
            partial(transcript.rebuild, []),
        ):
            with pytest.raises(UsageError, match="closed"):
                await write()
        assert transcript.messages == ("before",)
        assert transcript.staged == ("assistant 1",)

    run(main)


def test_c107_a_close_that_is_given_up_drops_nothing_either(run):
    async def main():
        store = Store(2)
        transcript = Transcript(store=store)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcript.append, ["a"])
            await anyio.sleep(1)
            with anyio.move_on_after(0.5) as scope:
                await transcript.close()
            assert scope.cancelled_caught
            assert store.kept == []
        assert store.kept == ["a"]
        await transcript.close()

    run(main)


# ---- 108 ----


@pytest.mark.parametrize("back", [("rebuild", ["summary"]), ("rewind", 1), ("rewind_to", "m")])
def test_c108_a_rebuild_that_fails_leaves_memory_stage_and_store_as_they_were(run, back):
    async def main():
        store = Store(1, fail=(2,))
        transcript = Transcript(store=store)
        await transcript.append([{"id": "m"}, "b"])
        staged(transcript)
        what, where = back
        with pytest.raises(OSError, match="write 2 failed"):
            await getattr(transcript, what)(where)
        assert transcript.messages == ({"id": "m"}, "b")
        assert transcript.staged == ("assistant 1",)
        assert store.kept == [{"id": "m"}, "b"]
        await transcript.commit()  # nothing was lost, so later writes go on
        await transcript.flush()
        assert store.kept == [{"id": "m"}, "b", "assistant 1", "result 1"]

    run(main)


# ---- a write is under way, and its task is cancelled ----


def test_c106_a_write_that_is_under_way_is_done_to_its_end_when_its_task_is_cancelled(run):
    async def main():
        store = Store(2)
        transcript = staged(Transcript(store=store))
        with anyio.move_on_after(1):
            await transcript.commit()
        assert list(transcript.messages) == store.kept == ["assistant 1", "result 1"]
        assert transcript.staged is None
        await transcript.append(["next"])
        assert list(transcript.messages) == store.kept

    run(main)


def test_c106_a_write_that_waits_for_another_is_done_as_well_when_its_task_is_cancelled(run):
    async def main():
        store = Store(2)
        transcript = staged(Transcript(store=store))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcript.append, ["first"])
            await anyio.sleep(0.5)
            with anyio.move_on_after(0.5):
                await transcript.commit()
        assert list(transcript.messages) == store.kept == ["first", "assistant 1", "result 1"]

    run(main)


@pytest.mark.parametrize("times", [1, 2])
def test_c106_also_where_asyncio_itself_cancels_the_task(times):
    from toolflow.testing import run_virtual

    async def main():
        store = Store(2)
        transcript = staged(Transcript(store=store))
        write = asyncio.create_task(transcript.commit())
        behind = asyncio.create_task(transcript.append(["behind"]))
        await asyncio.sleep(1)
        for _ in range(times):
            write.cancel()
            behind.cancel()
            await asyncio.sleep(0.1)
        for task in (write, behind):
            with pytest.raises(asyncio.CancelledError):
                await task
        assert list(transcript.messages) == store.kept == ["assistant 1", "result 1", "behind"]
        assert transcript.staged is None
        await transcript.append(["next"])
        await transcript.flush()
        assert store.kept[-1] == "next"

    run_virtual(main)


@pytest.mark.parametrize("cut_off", [asyncio.CancelledError, KeyboardInterrupt])
def test_c106_a_store_that_was_cut_off_refuses_later_writes_with_a_plain_error(run, cut_off):
    class CutOff(Store):
        async def append(self, messages: Any) -> None:
            raise cut_off

    async def main():
        transcript = Transcript(store=CutOff())
        with pytest.raises(cut_off):
            await transcript.append(["a"])
        with pytest.raises(RunError, match="was cut off"):
            await transcript.append(["b"])
        with pytest.raises(RunError, match="was cut off"):
            await transcript.flush()
        assert transcript.messages == ()

    run(main)


def test_c106_a_run_that_is_cancelled_still_commits_its_turn(run):
    async def main():
        store = Store(2)
        transcript = Transcript(store=store)
        engine = Engine(scripted().toolbox)
        with anyio.move_on_after(1):
            await engine.run(turn(("read", 5), "write"), transcript=transcript)
        assistant, results = transcript.messages
        assert store.kept == [assistant, results]
        assert [item["status"] for item in results["results"]] == ["aborted", "not_started"]

    run(main)


def test_c105_a_transcript_may_be_used_from_one_event_loop_after_the_other():
    store = Store()
    transcript = Transcript(store=store)
    engine = Engine(scripted().toolbox)
    for _ in range(3):
        engine.run_sync(Turn("t", (Call(0, "a", "read"),)), transcript=transcript)
    assert len(transcript) == 6
    assert list(transcript.messages) == store.kept
