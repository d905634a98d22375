"""Conformance I: the transcript, lines 97 to 109; 110 and 111 belong to the journal."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest
from acting import answered, chat, run_with, statuses, turn

import toolflow
from toolflow.engine import Engine
from toolflow.errors import UsageError
from toolflow.recording import load_checkpoint, save_checkpoint
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.transcript import Transcript

USER = {"role": "user", "content": "go", "id": "u1"}
SAID = {"role": "assistant", "content": "hello"}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "read"}


class Store:
    """Keeps messages; each write takes a second, and may fail."""

    def __init__(self, *fails: int, seconds: float = 1.0) -> None:
        self.fails, self.seconds = fails, seconds
        self.kept: list[Any] = []
        self.writes = 0

    async def append(self, messages):
        await self._write()
        self.kept += messages

    async def rebuild(self, messages):
        await self._write()
        self.kept = list(messages)

    async def _write(self):
        number, self.writes = self.writes, self.writes + 1
        await anyio.sleep(self.seconds)
        if number in self.fails:
            raise OSError(f"write {number} failed")


def tools() -> Toolbox:
    box = Toolbox()

    @box.tool(safe=True, writes=())
    async def read(seconds: float = 1.0) -> str:
        await anyio.sleep(seconds)
        return "read"

    @box.tool(safe=True, writes=())
    async def look(ctx: toolflow.Context, seconds: float = 0.0) -> list[Any]:
        await anyio.sleep(seconds)
        return list(ctx.messages)

    @box.tool
    async def write() -> str:
        return "written"

    return box


def staged(*messages: Any, **options: Any) -> Transcript:
    transcript = Transcript(messages, **options)
    transcript.stage([SAID])
    transcript.stage_results([RESULT])
    return transcript


# ---- 97, 98, 99 ----


def test_c097_while_a_turn_runs_the_visible_length_does_not_change(run):
    transcript = Transcript([USER])
    seen: list[int] = []
    go = partial(
        Engine(tools()).run,
        turn("read", "write", "read"),
        transcript=transcript,
        on_event=lambda event: seen.append(len(transcript)),
    )
    run(go)
    before_commit = seen[:-2]  # the commit and the end of the run come last
    assert len(before_commit) >= 6
    assert set(before_commit) == {1}
    assert len(transcript) == 5


def test_c097_staging_changes_nothing_that_can_be_seen():
    transcript = staged(USER)
    assert (transcript.messages, len(transcript)) == ((USER,), 1)
    assert transcript.staged == (SAID,)


def test_c098_a_commit_adds_the_message_and_then_the_results_in_call_order(run):
    transcript = Transcript([USER])
    message = chat(("read", {"seconds": 3}), ("read", {"seconds": 1}))
    result = run(partial(Engine(tools()).run, message, transcript=transcript))
    assert transcript.messages == (USER, message, *result.results)
    assert [name for name, _ in answered(transcript.messages)] == ["a", "b"]


def test_c098_a_commit_returns_what_it_added_and_is_done_once(run):
    async def main():
        transcript = staged(USER)
        assert await transcript.commit() == (SAID, RESULT)
        with pytest.raises(UsageError, match="no staged turn"):
            await transcript.commit()
        return transcript.messages

    assert run(main) == (USER, SAID, RESULT)


def test_c098_a_turn_without_calls_commits_its_message(run):
    transcript = Transcript([USER])
    run(partial(Engine(tools()).run, chat(), transcript=transcript))
    assert [m["role"] for m in transcript.messages] == ["user", "assistant"]


def test_c098_two_commits_at_once_do_not_add_a_turn_twice(run):
    store = Store()

    async def main():
        transcript = staged(USER, store=store)
        refused = []

        async def again() -> None:
            with pytest.raises(UsageError):
                await transcript.commit()
            refused.append(True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcript.commit)
            await anyio.sleep(0.5)
            tasks.start_soon(again)
        return transcript.messages, refused

    assert run(main) == ((USER, SAID, RESULT), [True])


def test_c099_discarding_leaves_history_untouched(run):
    transcript = staged(USER)
    transcript.discard()
    assert (transcript.messages, transcript.staged, transcript.snapshot()) == (
        (USER,),
        None,
        (USER,),
    )

    async def main():
        with pytest.raises(UsageError, match="no staged turn"):
            await transcript.commit()

    run(main)


# ---- 100, 101, 102, 103 ----


def test_c100_results_without_their_message_are_refused_and_nothing_changes(run):
    transcript = Transcript([USER])
    with pytest.raises(UsageError, match="without their assistant message"):
        transcript.stage_results([RESULT])

    async def main():
        with pytest.raises(UsageError):
            await transcript.commit()
        transcript.stage([SAID])
        with pytest.raises(UsageError, match="no staged turn"):
            await transcript.commit()  # its results are missing

    run(main)
    assert (transcript.messages, transcript.staged) == ((USER,), (SAID,))


def test_c101_a_new_message_drops_the_old_pair(run):
    transcript = staged(USER)
    transcript.stage([{"role": "assistant", "content": "other"}])

    async def main():
        with pytest.raises(UsageError):
            await transcript.commit()  # the old results are gone
        transcript.stage_results([])
        await transcript.commit()

    run(main)
    assert transcript.messages == (USER, {"role": "assistant", "content": "other"})


def test_c102_rewinding_clears_what_is_staged(run):
    transcript = staged(USER, SAID)
    run(partial(transcript.rewind, 1))
    assert (transcript.messages, transcript.staged) == ((USER,), None)


def test_c102_rewinding_to_a_message_keeps_that_message(run):
    transcript = staged(USER, SAID)
    run(partial(transcript.rewind_to, "u1"))
    assert (transcript.messages, transcript.staged) == ((USER,), None)


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("rewind_to", "nix"),
        ("rewind", 3),
        ("rewind", -1),
        ("rewind", 1.5),
        ("rewind", True),
        ("rewind", "1"),
    ],
)
def test_c102_an_unknown_place_is_refused_and_nothing_changes(run, method, value):
    transcript = staged(USER, SAID)

    async def main():
        with pytest.raises(UsageError):
            await getattr(transcript, method)(value)

    run(main)
    assert (transcript.messages, transcript.staged) == ((USER, SAID), (SAID,))


def test_c103_a_rebuild_clears_what_is_staged_and_the_store_goes_on(run):
    store = Store()

    async def main():
        transcript = staged(USER, store=store)
        await transcript.rebuild([{"role": "user", "content": "in short"}])
        assert transcript.staged is None
        await Engine(tools()).run(turn("write"), transcript=transcript)
        return transcript.messages

    messages = run(main)
    assert [m["role"] for m in messages] == ["user", "assistant", "tool"]
    assert store.kept == list(messages)


# ---- 104, 105 ----


def test_c104_siblings_see_the_history_and_their_own_message_and_no_results(run):
    message = chat("look", ("look", {"seconds": 3}), "write")
    transcript = Transcript([USER])
    result = run(partial(Engine(tools()).run, message, transcript=transcript))
    seen = [outcome.value for outcome in result.outcomes[:2]]
    assert seen == [[USER, message]] * 2


def test_c104_a_resumed_run_shows_its_tools_the_same(run, tmp_path):
    box = tools()

    @box.tool
    async def ask(ctx: toolflow.Context) -> list[Any]:
        ctx.interrupt("?")
        return list(ctx.messages)

    message = chat("look", "ask", "look")

    async def main():
        engine, transcript = Engine(box), Transcript([USER])
        paused = await engine.run(message, transcript=transcript)
        assert transcript.staged is None
        save_checkpoint(paused.checkpoint, tmp_path / "point.yaml")
        point = load_checkpoint(tmp_path / "point.yaml")
        return await engine.resume(point, {"b": 1}, transcript=Transcript([USER]))

    assert [outcome.value for outcome in run(main).outcomes] == [[USER, message]] * 3


def test_c104_a_tool_cannot_change_what_its_siblings_see(run):
    box = Toolbox()

    @box.tool(safe=True)
    async def spoil(ctx: toolflow.Context) -> int:
        seen = ctx.messages
        with pytest.raises((TypeError, AttributeError)):
            seen.append("more")  # type: ignore[attr-defined]
        return len(seen)

    result = run(partial(Engine(box).run, turn("spoil", "spoil"), transcript=Transcript([USER])))
    assert [outcome.value for outcome in result.outcomes] == [2, 2]


def test_c105_the_snapshot_of_the_commit_event_is_the_committed_history(run):
    transcript = Transcript([USER])
    result = run(partial(Engine(tools()).run, turn("read", "write"), transcript=transcript))
    (committed,) = [event for event in result.events if event.kind == "turn_committed"]
    assert committed.data["messages"] == transcript.messages == transcript.snapshot()


def test_c105_two_runs_with_one_transcript_are_both_committed_whole(run):
    transcript = Transcript([USER])

    async def main():
        engine = Engine(tools())
        async with anyio.create_task_group() as tasks:
            for seconds in (2, 1):
                what = chat(("read", {"seconds": seconds}))
                tasks.start_soon(partial(engine.run, what, transcript=transcript))

    run(main)
    assert [m["role"] for m in transcript.messages] == ["user"] + ["assistant", "tool"] * 2
    assert '"seconds": 1' in str(transcript.messages[1])


# ---- 106, 107, 108 ----


def test_c106_writes_go_one_after_the_other_in_the_order_of_asking(run):
    store = Store()

    async def main():
        transcript = Transcript(store=store)
        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(transcript.append, [number])
                await anyio.sleep(0.1)
        return transcript.messages, anyio.current_time()

    messages, _ = run(main)
    assert list(messages) == store.kept == [0, 1, 2, 3]


def test_c106_a_commit_returns_only_when_it_is_really_kept(run):
    store = Store(seconds=5)

    async def main():
        transcript = staged(USER, store=store)
        start = anyio.current_time()
        await transcript.commit()
        return anyio.current_time() - start

    assert run(main) == pytest.approx(5)
    assert store.kept == [SAID, RESULT]


def test_c106_memory_shows_a_turn_only_when_the_store_has_it(run):
    store = Store(seconds=5)

    async def main():
        transcript = staged(USER, store=store)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcript.commit)
            await anyio.sleep(3)
            during = transcript.messages
        return during, transcript.messages

    assert run(main) == ((USER,), (USER, SAID, RESULT))


def test_c106_after_the_first_failed_write_every_later_one_is_refused_with_that_error(run):
    store = Store(1)

    async def main():
        transcript = Transcript(store=store)
        await transcript.append(["kept"])
        for _ in range(2):
            with pytest.raises(OSError, match="write 1 failed"):
                await transcript.append(["lost"])
        for method in (partial(transcript.rebuild, []), transcript.flush, transcript.close):
            with pytest.raises(OSError, match="write 1 failed"):
                await method()
        return transcript.messages

    assert run(main) == ("kept",)
    assert (store.kept, store.writes) == (["kept"], 2)


def test_c106_a_failed_commit_leaves_the_turn_staged_and_the_history_as_it_was(run):
    async def main():
        transcript = staged(USER, store=Store(0))
        with pytest.raises(OSError, match="write 0 failed"):
            await transcript.commit()
        return transcript.messages, transcript.staged

    assert run(main) == ((USER,), (SAID,))


def test_c106_a_run_whose_commit_fails_raises_and_shows_nothing(run):
    transcript = Transcript([USER], store=Store(0))

    async def main():
        with pytest.raises(OSError, match="write 0 failed"):
            await Engine(tools()).run(turn("read"), transcript=transcript)

    run(main)
    assert transcript.messages == (USER,)


def test_c107_closing_writes_what_was_asked_for_and_drops_nothing(run):
    store = Store()

    async def main():
        transcript = Transcript(store=store)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transcript.append, [1])
            tasks.start_soon(partial(anyio.lowlevel.checkpoint))
            await anyio.sleep(0.2)
            tasks.start_soon(transcript.append, [2])
            await anyio.sleep(0.2)
            await transcript.close()
        kept = list(store.kept)
        await transcript.close()  # twice does no harm
        with pytest.raises(UsageError, match="closed"):
            await transcript.append([3])
        return kept, transcript.messages

    assert run(main) == ([1, 2], (1, 2))


def test_c107_a_commit_goes_to_its_end_though_its_task_is_cancelled(run):
    store = Store(seconds=5)

    async def main():
        transcript = staged(USER, store=store)
        with anyio.move_on_after(1) as scope:
            await transcript.commit()
        return transcript.messages, scope.cancel_called

    assert run(main) == ((USER, SAID, RESULT), True)
    assert store.kept == [SAID, RESULT]


def test_c107_an_aborted_and_cancelled_run_is_kept_whole(run):
    store = Store(seconds=2)
    transcript = Transcript([USER], store=store)

    async def main():
        with anyio.move_on_after(0.5):
            await Engine(tools()).run(turn("read", "write"), transcript=transcript)

    run(main)
    assert [m["role"] for m in store.kept] == ["assistant", "tool", "tool"]
    assert transcript.messages == (USER, *store.kept)


def test_c108_a_failed_rebuild_leaves_memory_stage_and_store_unchanged(run):
    store = Store(1)

    async def main():
        transcript = Transcript([USER], store=store)
        await transcript.append([SAID])
        transcript.stage([SAID])
        with pytest.raises(OSError, match="write 1 failed"):
            await transcript.rebuild([])
        return transcript.messages, transcript.staged

    assert run(main) == ((USER, SAID), (SAID,))
    assert store.kept == [SAID]


def test_c108_rewinding_with_a_failing_store_changes_nothing(run):
    async def main():
        transcript = Transcript([USER, SAID], store=Store(0))
        with pytest.raises(OSError, match="write 0 failed"):
            await transcript.rewind(1)
        return transcript.messages

    assert run(main) == (USER, SAID)


# ---- 109 ----


def test_c109_a_body_does_not_run_if_what_is_to_be_kept_before_it_cannot_be(run):
    """A harness keeps its own checkpoint in a before-hook; the journal has a place of its own."""
    ran: list[str] = []
    box = Toolbox()

    @box.tool(safe=True)
    async def act(name: str) -> None:
        ran.append(name)

    class Keeping(Hooks):
        async def before_call(self, call, context):
            await anyio.sleep(1)
            if call.args["name"] == "a":
                raise OSError("disk full")

    calls = [("act", {"name": name}) for name in "ab"]
    result = run(partial(Engine(box, hooks=Keeping()).run, turn(*calls)))
    assert statuses(result) == ["failed", "ok"]
    assert ran == ["b"]
    assert result.times[0].started is None
    assert "disk full" in result.outcomes[0].error


# ---- the ends of a turn ----


def test_a_run_that_is_aborted_before_it_began_commits_its_turn_too(run):
    control, transcript = Control(), Transcript([USER])
    control.abort()
    go = partial(Engine(tools()).run, turn("read"), transcript=transcript, control=control)
    assert run(go).messages == transcript.messages[1:]


def test_a_run_that_was_not_allowed_to_start_stages_nothing(run):
    transcript = Transcript([USER])

    async def main():
        with pytest.raises(UsageError):
            await Engine(tools()).run(turn("read"), transcript=transcript, stop_at=["nix"])

    run(main)
    assert transcript.staged is None


def test_steering_is_kept_after_the_turn_in_one_order(run):
    store, control = Store(seconds=0), Control()
    transcript = Transcript([USER], store=store)
    acts = [(0.1 * n, partial(control.steer, f"word {n}")) for n in (1, 2, 3)]
    go = partial(run_with, Engine(tools()), turn("read"), *acts)
    run(partial(go, control=control, transcript=transcript))
    assert store.kept[2:] == ["word 1", "word 2", "word 3"]
