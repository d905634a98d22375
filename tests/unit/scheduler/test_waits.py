"""Who waits for whom in a pool: whoever meets an earlier call that lives, and nobody else."""

from __future__ import annotations

import random

import pytest
from small_turns import Kind, call, plan_of

from toolflow.scheduler.waits import Waits, calls_meet

TREE, LEAVES = "d/**", ("d/a", "d/b", "d/c", "d/x/y")


def some_kinds(chance: random.Random) -> list[Kind]:
    """Readers of a tree and writers below it, which gates stand between, and other calls."""
    readers = chance.random()
    kinds = []
    for _ in range(chance.randint(4, 14)):
        keys = tuple(sorted({*chance.choices((*LEAVES, "e", TREE), k=2)}))
        what = chance.random()
        if what < 0.4:
            kinds.append(Kind(reads=keys) if what < 0.2 else Kind(writes=keys))
        elif chance.random() < readers:
            kinds.append(Kind(reads=(TREE,)))
        else:
            kinds.append(Kind(writes=(chance.choice(LEAVES),)))
    return kinds


@pytest.mark.parametrize("seed", range(40))
def test_calls_wait_for_earlier_ones_that_they_meet_in_whatever_order_those_go(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(5):
        plan = plan_of([call(i, kind) for i, kind in enumerate(some_kinds(chance))])
        calls, living = list(plan.calls), set(range(len(plan.calls)))
        waits = Waits(plan, calls)
        while living:
            blocked = {i for i in living if waits.blocked(i)}
            assert blocked == {
                i for i in living if any(j < i and calls_meet(calls[i], calls[j]) for j in living)
            }
            gone = chance.choice(sorted(living))
            living.discard(gone)
            released = waits.free(gone)
            assert {i for i in released if i != gone} == {
                i for i in blocked & living if not waits.blocked(i)
            }
        assert not waits.any
