"""Every kind of lock store, used by one or several processes, against the pure lock table."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from lock_histories import CALLS, PARENTS, ancestors, some_keys
from lock_stores import SETTINGS, opened

from toolflow.errors import LockCycleError, LockLostError
from toolflow.locks import LockRequest
from toolflow.scheduler.lock_table import LockTable
from toolflow.scheduler.lock_ticket import Ticket

_PATIENCE = 60  # seconds; only a test that fails waits so long


class Held:
    """One request, in the store and in the table."""

    def __init__(self, process: int, request: LockRequest, ticket: Ticket) -> None:
        self.process = process
        self.request = request
        self.ticket = ticket
        self.task: asyncio.Task[Any] | None = None
        self.lease: Any = None


class AsTheTable(RuleBasedStateMachine):
    """Whatever is asked for and given back, the store grants and refuses what the table does."""

    setting: tuple[str, int]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.opened = opened(*self.setting, self.folder)
        self.stores = self.opened.__enter__()
        self.loop = asyncio.new_event_loop()
        self.table = LockTable()
        self.live: list[Held] = []
        self.count = 0
        self.fence = 0

    @rule(
        process=st.integers(0, 2),
        owner=st.sampled_from(CALLS),
        reads=some_keys,
        writes=some_keys,
        uses=st.dictionaries(st.sampled_from(["u", "v"]), st.integers(1, 2), max_size=1),
        wait=st.booleans() | st.just(True),
    )
    def ask(self, process: int, owner: str, reads: Any, writes: Any, uses: Any, wait: bool) -> None:
        process %= len(self.stores)
        self.count += 1
        request = LockRequest(
            owner,
            tuple(reads),
            tuple(writes),
            ancestors(owner),
            uses,
            {"u": 2, "v": 3},
            f"{self.count}",
        )
        elsewhere = request._replace(
            owner=(process, owner), ancestors=tuple((process, one) for one in request.ancestors)
        )
        refused: type[Exception] | None = None
        ticket: Ticket | None = None
        try:
            ticket = self.table.ask(elsewhere, wait=wait)
        except (LockCycleError, LockLostError) as error:
            refused = type(error)
        held = Held(process, request, ticket) if ticket is not None else None
        store = self.stores[process]
        if wait:
            task = self.loop.create_task(store.acquire(request))
            self._step()
            if held is not None:
                held.task = task
                self.live.append(held)
            else:
                assert type(self._outcome(task)) is refused
        else:
            try:
                lease = store.acquire_nowait(request)
            except LockLostError:
                assert refused is LockLostError  # the table tells whether it is due
            else:
                assert refused is None
                assert (lease is not None) == ticket.granted
                if lease is not None:
                    held.lease = lease
                    self.live.append(held)
        self._compare(self.table.take_late())

    @rule(data=st.data())
    def end(self, data: Any) -> None:
        if not self.live:
            return
        held = data.draw(st.sampled_from(self.live))
        self.live.remove(held)
        if held.ticket.granted:
            changed = self.table.release(held.ticket)
            self.stores[held.process].release(self._lease(held))
        else:
            changed = self.table.cancel(held.ticket)
            held.task.cancel()
            self._step()
            assert held.task.cancelled()
        self._compare(changed)

    @rule(data=st.data())
    def hand_over(self, data: Any) -> None:
        mine = [one for one in self._granted() if PARENTS[one.ticket.owner[1]]]
        if mine:
            held = data.draw(st.sampled_from(mine))
            owner = data.draw(st.sampled_from(ancestors(held.ticket.owner[1])))
            lease = self._lease(held)
            changed = self.table.hand_over(held.ticket, (held.process, owner))
            self.stores[held.process].hand_over(lease, owner)
            assert lease.owner == owner
            self._compare(changed)

    @rule(data=st.data())
    def poison(self, data: Any) -> None:
        if len(self.live) > 4 and self._granted():
            held = data.draw(st.sampled_from(self._granted()))
            lease = self._lease(held)
            changed = self.table.poison(held.ticket)
            self.stores[held.process].poison(lease)
            self._compare(changed)

    def _granted(self) -> list[Held]:
        return [one for one in self.live if one.ticket.granted]

    def _step(self) -> None:
        """Let tasks go as far as they can without anybody else."""
        for _ in range(3):
            self.loop.run_until_complete(asyncio.sleep(0))

    def _outcome(self, task: asyncio.Task[Any]) -> Any:
        async def wait() -> Any:
            try:
                return await asyncio.wait_for(task, _PATIENCE)
            except (LockCycleError, LockLostError) as error:
                return error

        return self.loop.run_until_complete(wait())

    def _lease(self, held: Held) -> Any:
        if held.lease is None:
            held.lease = self._outcome(held.task)
        return held.lease

    def _compare(self, changed: list[Ticket]) -> None:
        for ticket in changed:
            held = next(one for one in self.live if one.ticket is ticket)
            if ticket.error is not None:
                assert type(self._outcome(held.task)) is type(ticket.error)
                self.live.remove(held)
            else:
                self._lease(held)
        for held in self._granted():
            self._lease(held)
        by_fence = sorted(self._granted(), key=lambda one: one.ticket.fence)
        fences = [one.lease.fence for one in by_fence]
        assert fences == sorted(set(fences))
        expected = self._described(self.table)
        assert all(self._described(store) == expected for store in self.stores)
        assert all(one.ticket.granted or not one.task.done() for one in self.live)

    def _described(self, store: Any) -> Any:
        state = store.statistics()
        return [
            {
                name: (
                    [(one.name, one.write, one.units, one.stopped) for one in queue.holders],
                    [(one.name, one.write, one.units) for one in queue.waiters],
                )
                for name, queue in queues.items()
            }
            for queues in (state.keys, state.resources)
        ]

    def teardown(self) -> None:
        for held in self.live:
            if held.task is not None and not held.task.done():
                held.task.cancel()
        self._step()
        self.loop.close()
        self.opened.__exit__(None, None, None)
        shutil.rmtree(self.folder)


@pytest.mark.parametrize("setting", [*SETTINGS, ("file", 3), ("short file", 3)], ids=str)
def test_a_store_does_what_the_table_does(setting: tuple[str, int]) -> None:
    machine = type("Machine", (AsTheTable,), {"setting": setting})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=25, stateful_step_count=25, deadline=None)
    )
