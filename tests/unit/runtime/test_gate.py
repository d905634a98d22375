"""`TurnGate`: for harnesses that start their calls themselves."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from toolflow.errors import LockCycleError
from toolflow.runtime.gate import TurnGate


class Traffic:
    """Tasks that pass a gate one after the other, each a moment after the one before it."""

    def __init__(self) -> None:
        self.gate = TurnGate()
        self.spans: dict[str, tuple[float, float]] = {}
        self.begun = 0.0

    async def passes(self, name: str, seconds: float, **options: Any) -> None:
        held = self.gate.share if name.startswith("r") else self.gate.exclusive
        async with held(label=name, **options):
            entered = anyio.current_time() - self.begun
            await anyio.sleep(seconds)
            self.spans[name] = (entered, anyio.current_time() - self.begun)

    async def all(self, **seconds: float) -> dict[str, tuple[float, float]]:
        self.begun = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            for name, length in seconds.items():
                tasks.start_soon(self.passes, name, length)
                await anyio.wait_all_tasks_blocked()
        return self.spans


def test_those_who_share_pass_together(run):
    async def main():
        assert await Traffic().all(r1=3, r2=2) == {"r1": (0, 3), "r2": (0, 2)}

    run(main)


def test_an_exclusive_one_passes_alone_and_in_its_turn(run):
    async def main():
        spans = await Traffic().all(r1=3, r2=2, w3=2, r4=1, r5=1, w6=1)
        assert spans == {
            "r1": (0, 3),
            "r2": (0, 2),
            "w3": (3, 5),
            "r4": (5, 6),
            "r5": (5, 6),
            "w6": (6, 7),
        }

    run(main)


def test_who_shares_does_not_overtake_an_exclusive_one_that_waits(run):
    async def main():
        traffic = Traffic()
        async with anyio.create_task_group() as tasks:
            traffic.begun = anyio.current_time()
            tasks.start_soon(traffic.passes, "r1", 5)
            await anyio.sleep(1)
            tasks.start_soon(traffic.passes, "w2", 1)
            await anyio.sleep(1)
            tasks.start_soon(traffic.passes, "r3", 1)
        assert traffic.spans == {"r1": (0, 5), "w2": (5, 6), "r3": (6, 7)}

    run(main)


@pytest.mark.parametrize("how", ["cancelled", "timeout"])
def test_one_that_gives_up_frees_its_place_at_once(run, how):
    async def main():
        traffic = Traffic()
        traffic.begun = anyio.current_time()
        gave_up: list[str] = []

        async def impatient() -> None:
            if how == "timeout":
                try:
                    await traffic.passes("w2", 1, timeout=1)
                except TimeoutError:
                    gave_up.append("w2")
            else:
                with anyio.move_on_after(1):
                    await traffic.passes("w2", 1)
                    return
                gave_up.append("w2")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(traffic.passes, "r1", 5)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(impatient)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(traffic.passes, "r3", 1)  # waits behind w2, until that gives up
        assert gave_up == ["w2"]
        assert traffic.spans == {"r1": (0, 5), "r3": (1, 2)}

    run(main)


def test_one_that_is_cancelled_inside_or_raises_leaves_the_gate(run):
    async def main():
        gate = TurnGate()
        with anyio.move_on_after(1):
            async with gate.exclusive():
                await anyio.sleep(10)
        with pytest.raises(ValueError, match="broken"):
            async with gate.exclusive():
                raise ValueError("broken")
        async with gate.exclusive(timeout=0):
            pass
        assert repr(gate) == "<TurnGate: free>"

    run(main)


def test_what_is_called_inside_passes_again_without_waiting(run):
    async def main():
        gate = TurnGate()
        async with gate.exclusive(), gate.share(timeout=1), gate.exclusive(timeout=1):
            pass
        async with gate.share(), gate.share(timeout=1), gate.exclusive(timeout=1):
            pass

    run(main)


def test_two_that_share_cannot_both_become_exclusive(run):
    async def main():
        gate = TurnGate()
        ends: list[str] = []

        async def upgrade(name: str) -> None:
            async with gate.share(label=name):
                await anyio.sleep(1)
                try:
                    async with gate.exclusive():
                        ends.append("alone")
                except LockCycleError:
                    ends.append("circle")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(upgrade, "one")
            tasks.start_soon(upgrade, "two")
        assert sorted(ends) == ["alone", "circle"]

    run(main)


def test_gates_do_not_meet_each_other(run):
    async def main():
        async with TurnGate().exclusive(), TurnGate().exclusive(timeout=0):
            pass

    run(main)


def test_it_shows_who_is_inside_and_who_waits(run):
    async def main():
        traffic = Traffic()
        async with anyio.create_task_group() as tasks:
            for name in ("r1", "r2", "w3", "r4"):
                tasks.start_soon(traffic.passes, name, 1)
                await anyio.wait_all_tasks_blocked()
            assert repr(traffic.gate) == "<TurnGate: 2 inside, 2 waiting>"

    run(main)
