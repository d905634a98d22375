"""Random walks through large turns, under the rules that the explorer checks in small ones.

One machine is one run of up to 60 calls: the facts come in any order, one a step, and after each
of them the rules must hold. When the steps are over, the run goes on to its end.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from small_turns import KINDS, small_turn

from toolflow.recording.explore import Fact, World, advance, examine, next_facts
from toolflow.recording.explorer.facts import must_go_on

# Most calls of a large turn are plain ones: else every run stops after a few calls.
COMMON = ("safe", "read_k", "write_k", "write_j", "read_tree", "write_tree", "write_kj", "uses_one")
MIXED = (*COMMON * 4, *KINDS)
SMALL = st.lists(st.sampled_from(MIXED), max_size=12)
LARGE = st.lists(st.sampled_from(MIXED), min_size=25, max_size=60)
OPTIONS = st.fixed_dictionaries(
    {
        "pool": st.integers(1, 8),
        "hooks": st.booleans(),
        "approver": st.booleans(),
        "pausable": st.booleans(),
        "approvals": st.sampled_from(["inline", "first"]),
        "denials": st.booleans(),
        "refusals": st.booleans(),
        "deaf": st.booleans(),
        "halts": st.integers(0, 2),
        "aborts": st.integers(0, 1),
        "faults": st.sampled_from([0, 0, 0, 1]),
        "crashes": st.sampled_from([0, 0, 1]),
        "otherwise": st.booleans(),
        "prompt": st.booleans(),
    }
)


class Run(RuleBasedStateMachine):
    """One run of a large turn."""

    world: World
    facts: list[Fact]

    @initialize(kinds=SMALL | LARGE, options=OPTIONS)
    def begin(self, kinds: list[str], options: dict[str, Any]) -> None:
        plan, possible = small_turn(kinds, **options)
        self.world = World(plan, possible)
        self.tell(Fact("begin"))

    def tell(self, fact: Fact) -> None:
        advance(self.world, fact)
        examine(self.world)
        self.facts = list(next_facts(self.world))

    def sure(self) -> list[Fact]:
        return [fact for fact in self.facts if must_go_on(fact, self.world)]

    @rule(place=st.integers(0, 10_000))
    def something_happens(self, place: int) -> None:
        if facts := self.sure():
            self.tell(facts[place % len(facts)])

    @precondition(lambda self: len(self.facts) > len(self.sure()))
    @rule(place=st.integers(0, 10_000), really=st.integers(0, 9))
    def trouble(self, place: int, really: int) -> None:
        if really == 0:
            self.tell(self.facts[place % len(self.facts)])

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        chance = random.Random(len(self.facts))
        while self.world.ended != "finish":
            self.tell(chance.choice(self.sure()))


Run.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class TestC154LargeTurns(Run.TestCase):
    """Conformance 154 and 155 for turns of up to 60 calls."""
