"""A process that takes and gives back keys as it is told: ``python lock_child.py PATH``.

It reads one JSON list a line, and tells what comes of it, one JSON list a line. What it does at
once is told before it reads on.

    ["take", name, keys, inside]   ["waits", name], then ["runs", name, fence, at what time]
                                   or ["fails", name, class, message, after how many seconds]
    ["end", name]                  ["ended", name]
    ["cancel", name]               ["cancelled", name]
    ["add", file, times]           ["added"]: adds 1 to the number in a file, so many times
    ["cross", first, second, times]  ["crossed"]: takes and gives back two keys, so many times
    ["cpu"]                        ["cpu", seconds of processor time so far]
    ["die at", method]             dies in the middle of the next call of a method of `Database`
    ["die before", method]         dies just before it
    ["die after", method]          dies just after it
    ["stop after", method]         stops just after it
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from toolflow.errors import RunError
from toolflow.locks import LockRequest, open_store
from toolflow.locks.database import Database

store = open_store(sys.argv[1])
tasks: dict[str, asyncio.Task[Any]] = {}
leases: dict[str, Any] = {}


def tell(*what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


async def take(name: str, keys: list[str], inside: list[str]) -> None:
    request = LockRequest(name, writes=tuple(keys), ancestors=tuple(inside))
    begin = time.monotonic()
    try:
        lease = await store.acquire(request, on_wait=lambda _: tell("waits", name))
    except asyncio.CancelledError:
        tell("cancelled", name)
    except RunError as error:
        tell("fails", name, type(error).__name__, str(error), time.monotonic() - begin)
    else:
        leases[name] = lease
        tell("runs", name, lease.fence, time.monotonic())


def add_one(path: Path) -> None:
    number = int(path.read_text())
    path.write_text(str(number + 1))


async def add(file: str, times: int) -> None:
    for _ in range(times):
        lease = await store.acquire(LockRequest(file, writes=(f"file:{file}",)))
        add_one(Path(file))
        store.release(lease)
    tell("added")


async def cross(first: str, second: str, times: int) -> None:
    for _ in range(times):
        store.release(await store.acquire(LockRequest("cross", writes=(first, second))))
    tell("crossed")


def interrupt(when: str, method: str) -> None:
    """Let this process end, or stop, at a method of the database."""
    original = getattr(Database, method)

    def changed(self: Database, *args: Any) -> Any:
        if when == "die before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(self, *args)
        os.kill(os.getpid(), signal.SIGSTOP if when == "stop after" else signal.SIGKILL)
        return result

    setattr(Database, method, changed)


async def obey(what: str, *args: Any) -> None:
    if what == "take":
        name = args[0]
        tasks[name] = asyncio.create_task(take(*args))
        await asyncio.sleep(0)
    elif what == "end":
        store.release(leases.pop(args[0]))
        tell("ended", args[0])
    elif what == "cancel":
        tasks[args[0]].cancel()
    elif what == "add":
        tasks[args[0]] = asyncio.create_task(add(*args))
    elif what == "cross":
        tasks["cross"] = asyncio.create_task(cross(*args))
    elif what == "cpu":
        tell("cpu", time.process_time())
    else:
        interrupt(what, *args)
        tell("warned")


async def main() -> None:
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    tell("ready")
    while line := await lines.readline():
        await obey(*json.loads(line))


asyncio.run(main())
