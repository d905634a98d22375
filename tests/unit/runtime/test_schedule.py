"""`schedule`: sections B and G of the conformance list, through the function alone."""

from __future__ import annotations

import random
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio
import pytest

from toolflow.errors import UsageError
from toolflow.runtime.schedule import schedule
from toolflow.testing import run_virtual

who: ContextVar[str] = ContextVar("who", default="nobody")


class Calls:
    """Calls that take so many seconds; the letters say which are safe (R) and which are not."""

    def __init__(self, kinds: str, *seconds: float, fails: dict[int, BaseException] | None = None):
        self.kinds = kinds
        self.seconds = seconds or (1.0,) * len(kinds)
        self.fails = fails or {}
        self.started: dict[int, float] = {}
        self.stopped: dict[int, float] = {}
        self.running: set[int] = set()
        self.most = 0
        self.begun = 0.0

    def safe(self, index: int) -> object:
        return self.kinds[index] == "R"

    async def run(self, index: int) -> str:
        self.started[index] = anyio.current_time() - self.begun
        self.running.add(index)
        self.most = max(self.most, len(self.running))
        try:
            await anyio.sleep(self.seconds[index])
        finally:
            self.running.discard(index)
            self.stopped[index] = anyio.current_time() - self.begun
        if index in self.fails:
            raise self.fails[index]
        return f"value {index}"

    async def go(self, **options: Any) -> list[str]:
        self.begun = anyio.current_time()
        return await schedule(
            count=len(self.kinds), **{"safe": self.safe, "run": self.run, **options}
        )

    @property
    def starts(self) -> list[float]:
        return [self.started[index] for index in sorted(self.started)]


def test_c015_all_safe_calls_start_before_any_ends(run):
    calls = Calls("RRRRR")
    run(calls.go)
    assert calls.starts == [0] * 5


@pytest.mark.parametrize(
    ("kinds", "starts"),
    [
        ("RWR", [0, 1, 2]),
        ("RRWRR", [0, 0, 1, 2, 2]),
        ("WRR", [0, 1, 1]),
        ("WW", [0, 1]),
        ("RRW", [0, 0, 1]),
        ("R", [0]),
        ("W", [0]),
    ],
)
def test_c016_to_c018_waves(run, kinds, starts):
    calls = Calls(kinds)
    run(calls.go)
    assert calls.starts == starts


def test_c019_the_third_of_four_starts_when_any_ends(run):
    calls = Calls("RRRR", 5, 1, 1, 1)
    run(partial(calls.go, max_parallel=2))
    assert calls.starts == [0, 0, 1, 2]


def test_c020_with_one_slot_calls_run_one_after_the_other(run):
    calls = Calls("RRR")
    run(partial(calls.go, max_parallel=1))
    assert calls.starts == [0, 1, 2]


def test_c021_ten_at_once_by_default(run):
    calls = Calls("R" * 21)
    run(calls.go)
    assert calls.most == 10
    assert calls.starts == [0] * 10 + [1] * 10 + [2]


@pytest.mark.parametrize("bound", [0, 1.5, -1, True, "3", None, float("inf")])
def test_c022_bounds_that_are_not_allowed_are_refused_before_anything_runs(run, bound):
    calls = Calls("RR")
    with pytest.raises(UsageError, match=r"^schedule: max_parallel is .* at least 1\.$"):
        run(partial(calls.go, max_parallel=bound))
    assert calls.started == {}


@pytest.mark.parametrize("count", [-1, 1.0, True, "2", None])
def test_c022_counts_that_are_not_allowed_are_refused(run, count):
    with pytest.raises(UsageError, match=r"^schedule: count is .* at least 0\.$"):
        run(partial(schedule, count=count, safe=bool, run=anyio.sleep))


def test_c024_no_calls_give_no_values(run):
    assert run(Calls("").go) == []


def test_c031_and_c032_starts_and_values_are_in_order(run):
    calls = Calls("RRRRRR", 3, 1, 2, 1, 1, 1)
    assert run(partial(calls.go, max_parallel=2)) == [f"value {n}" for n in range(6)]
    assert list(calls.started) == [0, 1, 2, 3, 4, 5]
    assert list(calls.stopped) != [0, 1, 2, 3, 4, 5]


def test_c034_calls_see_the_callers_variables_and_not_each_others(run):
    seen = []

    async def body(index: int) -> None:
        seen.append(who.get())
        who.set(f"call {index}")
        await anyio.sleep(1)

    async def main():
        who.set("caller")
        await schedule(count=5, safe=lambda index: index != 2, run=body, max_parallel=2)
        assert who.get() == "caller"

    run(main)
    assert seen == ["caller"] * 5


@pytest.mark.parametrize("answer", ["yes", 1, None, 1.0, [True]])
def test_c007_only_exactly_true_is_safe(run, answer):
    calls = Calls("RR")
    run(partial(calls.go, safe=lambda index: answer))
    assert calls.starts == [0, 1]


def test_c006_a_predicate_that_raises_says_no(run):
    def safe(index: int) -> bool:
        raise ValueError("unknown")

    calls = Calls("RR")
    run(partial(calls.go, safe=safe))
    assert calls.starts == [0, 1]


def test_c008_an_async_predicate_says_no(run):
    async def safe(index: int) -> bool:
        return True

    calls = Calls("RR")
    run(partial(calls.go, safe=safe))
    assert calls.starts == [0, 1]


def test_c036_what_ran_before_may_make_the_next_call_unsafe(run):
    calls = Calls("RRRR", 1, 5, 2, 1)

    async def body(index: int) -> str:
        value = await calls.run(index)
        if index == 0:
            calls.kinds = "RRWR"
        return value

    run(partial(calls.go, run=body, max_parallel=2))
    assert calls.starts == [0, 0, 5, 7]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3)])
def test_c085_running_calls_end_none_starts_and_the_first_error_is_raised(run, error):
    calls = Calls("RRRR", 1, 3, 2, 1, fails={0: error, 2: KeyError("later")})
    with pytest.raises(type(error)) as caught:
        run(partial(calls.go, max_parallel=3))
    assert caught.value is error
    assert sorted(calls.started) == [0, 1, 2]
    assert calls.stopped == {0: 1, 2: 2, 1: 3}


def test_c085_an_error_of_a_barrier_starts_nothing_behind_it(run):
    calls = Calls("WRR", fails={0: ValueError("x")})
    with pytest.raises(ValueError, match="x"):
        run(calls.go)
    assert calls.starts == [0]


def test_c085_of_two_errors_at_once_one_is_raised_as_it_is(run):
    errors = {0: ValueError("x"), 1: ValueError("y")}
    calls = Calls("RRR", fails=errors)
    with pytest.raises(ValueError, match=r"x|y"):
        run(partial(calls.go, max_parallel=2))
    assert calls.starts == [0, 0]


def test_c085_a_call_that_raises_before_it_waits_for_anything(run):
    async def body(index: int) -> None:
        raise LookupError(index)

    with pytest.raises(LookupError):
        run(partial(schedule, count=3, safe=lambda index: True, run=body))


def test_a_call_that_is_cancelled_from_within_ends_the_whole():
    import asyncio

    async def main():
        calls = Calls("RRR", 1, 2, 1)

        async def body(index: int) -> str:
            value = await calls.run(index)
            if index == 0:
                raise asyncio.CancelledError
            return value

        with pytest.raises(asyncio.CancelledError):
            await calls.go(run=body, max_parallel=2)
        assert calls.stopped == {0: 1, 1: 2}

    run_virtual(main)


def test_cancelled_from_outside_everything_ends(run):
    async def main():
        calls = Calls("RRWR", 5, 5, 5, 5)
        with anyio.move_on_after(1):
            await calls.go()
        assert calls.stopped == {0: 1, 1: 1}

    run(main)


def test_a_call_may_stop_what_has_not_started(run):
    calls = Calls("RRRRR", 1, 3, 1, 1, 1)
    values = run(partial(calls.go, max_parallel=2, stops=lambda index: index == 0))
    assert values == ["value 0", "value 1"]
    assert calls.stopped == {0: 1, 1: 3}


def test_a_stop_may_depend_on_what_a_call_gave(run):
    given: dict[int, str] = {}
    calls = Calls("WWWW")

    async def body(index: int) -> str:
        given[index] = await calls.run(index)
        return given[index]

    values = run(partial(calls.go, run=body, stops=lambda index: given[index] == "value 1"))
    assert values == ["value 0", "value 1"]


def test_a_stop_at_the_last_call_changes_nothing(run):
    calls = Calls("RW")
    assert run(partial(calls.go, stops=lambda index: index == 1)) == ["value 0", "value 1"]


def test_a_stop_that_raises_ends_the_whole_with_its_error(run):
    def stops(index: int) -> bool:
        raise RuntimeError("cannot tell")

    calls = Calls("RRR", 1, 2, 1)
    with pytest.raises(RuntimeError, match="cannot tell"):
        run(partial(calls.go, max_parallel=2, stops=stops))
    assert calls.stopped == {0: 1, 1: 2}


@pytest.mark.parametrize("seed", range(25))
def test_random_calls_keep_every_rule(run, seed):
    chance = random.Random(seed)
    kinds = "".join(chance.choice("RRRW") for _ in range(15))
    calls = Calls(kinds, *(chance.randint(0, 4) for _ in kinds))
    pool = chance.randint(1, 5)
    values = run(partial(calls.go, max_parallel=pool))
    assert values == [f"value {n}" for n in range(15)]
    assert calls.most <= pool
    assert list(calls.started) == list(range(15))
    for alone in [n for n in range(15) if kinds[n] == "W"]:
        assert all(calls.stopped[n] <= calls.started[alone] for n in range(alone))
        assert all(calls.started[n] >= calls.stopped[alone] for n in range(alone + 1, 15))
