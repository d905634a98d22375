"""Calling back into an event loop, and the mailbox of the task that does what is left there."""

from __future__ import annotations

import asyncio
import threading

import anyio
import pytest

from toolflow import Engine, Toolbox
from toolflow.errors import UsageError
from toolflow.runtime.loops import Mailbox, loop_caller


def test_in_a_task_a_callback_runs_at_once_and_from_elsewhere_it_is_delivered():
    delivered: list[str] = []
    ran: list[str] = []

    async def main():
        call = loop_caller(lambda callback: delivered.append("delivered") or callback())
        call(lambda: ran.append("task"))
        assert (ran, delivered) == (["task"], [])
        asyncio.get_running_loop().call_soon(call, lambda: ran.append("timer"))
        await asyncio.to_thread(call, lambda: ran.append("thread"))
        await asyncio.sleep(0)

    asyncio.run(main())
    assert ran[0] == "task"
    assert (sorted(ran[1:]), delivered) == (["thread", "timer"], ["delivered"] * 2)


def test_a_callback_that_comes_after_the_end_of_the_loop_is_dropped():
    async def main():
        return loop_caller()

    call = asyncio.run(main())
    thread = threading.Thread(target=call, args=(lambda: 1 / 0,))
    thread.start()
    thread.join()


def test_a_mailbox_runs_what_is_left_in_order_and_what_comes_after_its_end_at_once(run):
    ran: list[str] = []

    async def main():
        mail = Mailbox(lambda callback: callback())
        over = False

        def end() -> None:
            nonlocal over
            over = True

        async def deliver() -> None:
            for name in ("one", "two"):
                mail.deliver(lambda name=name: ran.append(name))
            await anyio.sleep(1)
            mail.deliver(end)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(deliver)
            await mail.until(lambda: over)
        mail.close()
        mail.deliver(lambda: ran.append("late"))

    run(main)
    assert ran == ["one", "two", "late"]


@pytest.mark.parametrize("name", ["run", "call"])
def test_a_sync_twin_inside_an_event_loop_says_what_to_use(run, name):
    engine = Engine(Toolbox())
    sync = {"run": engine.run_sync, "call": engine.call_sync}[name]

    async def main():
        with pytest.raises(UsageError, match=rf"{name}_sync: an event loop runs .* engine\.{name}"):
            sync({"calls": []} if name == "run" else "nothing")
        # In a thread of its own it is as good as anywhere else.
        return await anyio.to_thread.run_sync(engine.call_sync, "nothing")

    assert run(main).status == "unknown_tool"
