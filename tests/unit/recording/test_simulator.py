"""Simulated runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import message_of, plan_of

from toolflow import Engine, Toolbox
from toolflow.compiler import Plan, compile_plan
from toolflow.errors import UsageError
from toolflow.formats import read_turn
from toolflow.model import Batch, Call, CallPlan, Limits, Turn, Verdict
from toolflow.policy import load_policy
from toolflow.recording import simulate
from toolflow.testing import run_virtual

POLICY = """\
version: 1
limits: {pool: 3, resources: {cpu: 1}}
rules:
  - {tool: look, safe: true}
  - {tool: read, safe: true, reads: ["{{ args.key }}"]}
  - {tool: write, safe: true, writes: ["{{ args.key }}"]}
  - {tool: grind, safe: true, uses: {cpu: 1}}
  - {tool: build, on_error: stop}
"""


def plan(*tools: str, pool: int = 3) -> Plan:
    policy = POLICY.replace("pool: 3", f"pool: {pool}")
    calls = [{"id": f"c{i}", "tool": t, "args": {"key": "k"}} for i, t in enumerate(tools)]
    return compile_plan(load_policy(policy).classify(read_turn({"calls": calls})))


def test_the_next_call_starts_when_any_ends() -> None:
    run = simulate(plan("look", "look", "look", pool=2), {"c0": 3, "c1": 1, "c2": 1})
    assert run.starts == {"c0": 0, "c1": 0, "c2": 1}
    assert run.ends == {"c1": 1, "c2": 2, "c0": 3}
    assert run.waiting == {"c0": 0, "c1": 0, "c2": 1}
    assert run.total == 3


def test_barriers_and_keys_hold_calls_back() -> None:
    run = simulate(
        plan("write", "read", "read", "build", "look"),
        {"c0": 1, "c1": 2, "c2": 1, "c3": 1, "c4": 1},
    )
    assert run.starts == {"c0": 0, "c1": 1, "c2": 1, "c3": 3, "c4": 4}
    assert [times.queued for times in run.times] == [0, 1, 1, 3, 4]
    assert set(run.waiting.values()) == {0}
    assert run.order == ("c0", "c1", "c2", "c3", "c4")


def test_a_resource_is_waited_for() -> None:
    run = simulate(plan("grind", "grind", "look"), {"c0": 2, "c1": 2, "c2": 1})
    assert run.starts == {"c0": 0, "c2": 0, "c1": 2}
    assert run.waiting["c1"] == 2


def test_another_pool_can_be_tried() -> None:
    seconds = {"c0": 1, "c1": 1, "c2": 1}
    assert simulate(plan("look", "look", "look"), seconds, pool=1).total == 3
    assert simulate(plan("look", "look", "look"), seconds, pool=3).total == 1


def test_a_failure_that_stops_skips_the_rest() -> None:
    run = simulate(plan("build", "look", "look"), {"c0": 1}, failed=["c0"])
    assert run.order == ("c0",)
    assert run.skipped == ("c1", "c2")
    assert run.times[1].settled == 1


def test_a_declined_call_does_not_run() -> None:
    asked = plan_of(message_of([("ask", "a"), ("look", "b")]))
    run = simulate(asked, {"toolu_02": 1}, declined=["toolu_01"])
    assert run.order == ("toolu_02",)
    assert run.skipped == ("toolu_01",)


def test_a_plan_without_calls_takes_no_time() -> None:
    assert simulate(plan(), {}).total == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"durations": {"x": 1}}, "'x' is no call"),
        ({"durations": {}, "failed": ["y"]}, "'y' is no call"),
        ({"durations": {"c0": -1}}, "'c0' is -1"),
        ({"durations": {"c0": True}}, "'c0' is True"),
        ({"durations": {"c0": float("inf")}}, "'c0' is inf"),
        ({"durations": {"c0": "1"}}, "'c0' is '1'"),
        ({"durations": {}, "pool": 0}, "pool is 0"),
    ],
)
def test_wrong_values_are_usage_errors(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        simulate(plan("look"), **options)


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["look", "read", "write", "grind", "build"]),
        st.sampled_from(["a", "b", "d/x", "d/**"]),
        st.integers(0, 9),
    ),
    max_size=9,
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(CALLS, st.integers(1, 4), st.sampled_from(["asyncio", "trio"]))
def test_a_simulation_is_what_really_happens(
    calls: list[tuple[str, str, int]], pool: int, backend: str
) -> None:
    tools = Toolbox()

    async def body(key: str, seconds: float) -> None:
        await anyio.sleep(seconds)

    for name in ("look", "read", "write", "grind", "build"):
        tools.tool(body, name=name)
    seconds = {f"c{i}": number + i / 1024 for i, (_, _, number) in enumerate(calls)}
    items = [
        {"id": f"c{i}", "tool": tool, "args": {"key": key, "seconds": seconds[f"c{i}"]}}
        for i, (tool, key, _) in enumerate(calls)
    ]

    async def main() -> Any:
        return await Engine(tools, policy=POLICY, pool=pool).run({"calls": items})

    result = run_virtual(main, backend=backend)  # type: ignore[arg-type]  # one of the two
    run = simulate(result.plan, seconds)
    assert [times.started for times in run.times] == [times.started for times in result.times]
    assert [times.stopped for times in run.times] == [times.stopped for times in result.times]
    assert all(waited >= 0 for waited in run.waiting.values())
    assert run.total >= result.plan.lower_bound(seconds) - 1e-9


def many(count: int) -> Plan:
    turn = Turn("turn", tuple(Call(i, f"c{i}", "t") for i in range(count)))
    verdict = Verdict("safe", "It is.")
    calls = tuple(
        CallPlan(i, f"c{i}", f"c{i}", "t", {}, verdict, (), (f"k{i % 50}",)) for i in range(count)
    )
    return compile_plan(Batch(turn, calls, Limits(8)))


def test_the_cost_grows_with_the_calls_only(counted: Callable[[Callable[[], object]], int]) -> None:
    small, large = many(200), many(2000)
    seconds = {f"c{i}": 1.0 for i in range(2000)}
    few = counted(lambda: simulate(small, {n: s for n, s in seconds.items() if int(n[1:]) < 200}))
    assert counted(lambda: simulate(large, seconds)) < 13 * few


@pytest.fixture
def counted() -> Callable[[Callable[[], object]], int]:
    """Counts the calls of functions: a measure of work that is the same on every machine."""

    def count(work: Callable[[], object]) -> int:
        calls = 0

        def profile(frame: Any, event: str, arg: Any) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(profile)
        try:
            work()
        finally:
            sys.setprofile(None)
        return calls

    return count
