"""Every order of facts of small turns: model checking of the scheduler (conformance 154 to 156).

The long form, with more turns than a test run has time for, is ``tests/benchmarks/explore_all.py``.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
from small_turns import CORE, KINDS, J, K, call, plan_of, sampled_options, small_turn, turns_of

from toolflow.model import CallPlan
from toolflow.recording.explore import Exploration, Fact, Possible, World, explore, races
from toolflow.recording.explorer.store import Store

CONFIGURATIONS = [
    pytest.param(pool, hooks, approver, id=f"pool{pool}{'-hooks' * hooks}{'-approver' * approver}")
    for pool, hooks, approver in product((1, 2), (False, True), (False, True))
]


def holds(found: Exploration, about: object) -> None:
    assert found.violation is None, f"{about}: {found.violation}"


@pytest.mark.parametrize(("pool", "hooks", "approver"), CONFIGURATIONS)
def test_c154_rules_hold_in_every_order_of_every_turn_of_up_to_two_calls(
    pool: int, hooks: bool, approver: bool
) -> None:
    for length in (1, 2):
        for kinds in turns_of(CORE, length):
            troubles = {"halts": pool == 2, "aborts": pool == 1, "late_grants": False}
            plan, possible = small_turn(
                kinds, pool=pool, hooks=hooks, approver=approver, **troubles
            )
            found = explore(plan, possible=possible)
            holds(found, kinds)
            assert found.complete
            assert found.finishes


@pytest.mark.parametrize("name", KINDS)
def test_c154_rules_hold_for_every_kind_of_call_whatever_happens_to_it(name: str) -> None:
    for hooks, approver, pausable in product((False, True), repeat=3):
        plan, possible = small_turn(
            [name],
            hooks=hooks,
            approver=approver,
            pausable=pausable,
            halts=1,
            aborts=1,
            faults=1,
            denials=True,
            refusals=True,
        )
        holds(explore(plan, possible=possible), (name, hooks, approver, pausable))


GOING_ON = ("safe", "write_k", "settled", "stop_after", "asks_k", "timeout_exclusive", "ask")


@pytest.mark.parametrize("how", ["halts", "crashes", "otherwise", "prompt"])
def test_c154_rules_hold_in_every_run_that_goes_on_after_a_pause_or_a_crash(how: str) -> None:
    for kinds in turns_of(GOING_ON, 2):
        for hooks, approvals in ((True, "inline"), (False, "first")):
            here = {"late_grants": False, "halts": 0, how: 1}
            plan, possible = small_turn(kinds, hooks=hooks, approvals=approvals, **here)
            holds(explore(plan, possible=possible), (kinds, how, hooks))


PREPARED = ("safe", "settled", "stop_after", "asks", "hook_exclusive")


@pytest.mark.parametrize("first", PREPARED)
def test_c154_before_hooks_run_one_at_a_time_and_in_order_in_every_turn_of_three_calls(
    first: str,
) -> None:
    for rest in turns_of(PREPARED, 2):
        plan, possible = small_turn([first, *rest], hooks=True, late_grants=False)
        holds(explore(plan, possible=possible), (first, *rest))


COMING_BACK = [
    pytest.param(["live_barrier", "live_barrier", "safe"], 3, False, id="barriers"),
    pytest.param(["safe", "live_barrier", "safe"], 3, True, id="a-barrier-in-between"),
    pytest.param(["live_elsewhere", "live_elsewhere", "read_k"], 2, False, id="keys"),
    pytest.param(["live_elsewhere", "safe", "read_k", "read_k"], 3, False, id="many-prepared"),
    pytest.param(["live_stop_after", "live_ask"], 2, True, id="stop-points"),
    pytest.param(["live_no_stop_after", "live_barrier"], 2, True, id="gone-stop-points"),
]


@pytest.mark.parametrize(("kinds", "pool", "hooks"), COMING_BACK)
def test_c154_rules_hold_when_calls_before_prepared_ones_change_again_and_again(
    kinds: list[str], pool: int, hooks: bool
) -> None:
    plan, possible = small_turn(kinds, pool=pool, hooks=hooks, deaf=False)
    holds(explore(plan, possible=possible), (kinds, hooks))


KEYED = ("read_k", "write_k", "write_kj", "read_tree", "write_tree", "exclusive")


def test_c155_final_states_are_those_of_one_after_another_in_every_order_of_keyed_turns() -> None:
    ends = 0
    for kinds in turns_of(KEYED, 3):
        plan, possible = small_turn(kinds, pool=3, late_grants=False)
        found = explore(plan, possible=possible)
        holds(found, kinds)
        ends += found.finishes
    assert ends >= len(KEYED) ** 3


def test_c155_the_simulated_store_tells_a_lost_update_from_a_serial_run() -> None:
    calls = [call(0, KINDS["write_k"]), call(1, KINDS["write_k"])]
    store = Store(calls)
    seen = [store.read(c, {}) for c in calls]
    lost = store.write(calls[1], seen[1], store.write(calls[0], seen[0], {}))
    assert lost != store.serial(calls, [0, 1])
    apart = [call(0, KINDS["write_k"]), call(1, KINDS["write_j"])]
    store = Store(apart)
    seen = [store.read(c, {}) for c in apart]
    both = store.write(apart[0], seen[0], store.write(apart[1], seen[1], {}))
    assert both == store.serial(apart, [0, 1])


@pytest.mark.parametrize("length", [3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(3))
def test_c156_every_order_of_sampled_turns_of_up_to_six_calls(length: int, seed: int) -> None:
    chance = random.Random(f"{length}/{seed}")
    left = 3_000  # states, so that the time is bounded whatever was drawn
    while left > 0:
        kinds = chance.choices(list(KINDS) if chance.random() < 0.7 else list(CORE), k=length)
        options = sampled_options(chance, length)
        plan, possible = small_turn(kinds, **options)
        found = explore(plan, possible=possible, limit=left)
        holds(found, (kinds, options))
        left -= found.states


# ---- the explorer finds what is wrong ----


def test_a_plan_without_its_key_edges_is_found_out_by_the_shortest_way() -> None:
    plan, possible = small_turn(["write_k", "safe", "write_k"], pool=3)
    found = explore(replace(plan, edges=()), possible=possible)
    assert found.violation is not None
    assert found.violation.rule == "start"
    assert found.violation.facts == (Fact("begin"),)
    assert str(found.violation) == "start: 2 starts, but it meets 0, which runs after begin()"


def test_a_check_of_ones_own_is_told_with_the_way_to_it() -> None:
    plan, possible = small_turn(["safe", "write_k"], pool=2, late_grants=False)

    def check(world: World) -> str | None:
        return "both have run" if world.ended == "finish" else None

    found = explore(plan, possible=possible, check=check)
    assert found.violation is not None
    assert found.violation.message == "both have run"
    assert [str(fact) for fact in found.violation.facts] == [
        "begin()",
        "stopped(0)",
        "started(1)",
        "stopped(1)",
    ]
    assert not found.complete


def test_a_limit_ends_the_search_early_and_says_so() -> None:
    plan, possible = small_turn(["safe"] * 4, pool=4)
    found = explore(plan, possible=possible, limit=10)
    assert not found.complete
    assert found.states <= 14
    assert explore(plan, possible=possible).complete


def test_an_empty_turn_ends_at_once() -> None:
    found = explore(plan_of([]))
    assert (found.states, found.finishes, found.violation) == (1, 1, None)


# ---- races ----


def test_races_are_what_overlaps_in_some_order() -> None:
    kinds = ("safe", "read_k", "write_k", "write_tree", "exclusive", "settled", "uses_two")
    for turn in turns_of(kinds, 3):
        for pool in (1, 2):
            plan, possible = small_turn(turn, pool=pool, pausable=False, late_grants=False)
            found = explore(plan, possible=possible)
            pairs = {(race.first, race.second) for race in races(plan)}
            assert found.overlaps == pairs, turn


def test_a_race_names_the_calls_that_declare_nothing() -> None:
    undeclared: CallPlan = replace(call(1, KINDS["safe"]), reads=None, writes=None)
    plan = plan_of([call(0, KINDS["write_k"]), undeclared, call(2, KINDS["write_j"])])
    found = [(race.first, race.second, race.undeclared) for race in races(plan)]
    assert found == [("c0", "c1", ("c1",)), ("c0", "c2", ()), ("c1", "c2", ("c1",))]


def test_store_cells_of_a_tree_are_those_below_it() -> None:
    kinds = ("write_tree", "write_k", "write_j")
    tree, single, other = (call(i, KINDS[kind]) for i, kind in enumerate(kinds))
    cells = Store([tree, single, other]).write(tree, 1, {})
    assert K in cells
    assert J not in cells


def test_nothing_possible_is_the_default() -> None:
    plan = plan_of([call(0, KINDS["error_stop"]), call(1, KINDS["safe"])])
    assert explore(plan) == explore(plan, possible=Possible())
