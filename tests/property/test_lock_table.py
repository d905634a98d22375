"""The lock table against models that are too simple to be wrong, over random histories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from lock_histories import CALLS, PARENTS, ancestors, some_keys
from locks import check_empty, check_whole, lineage_of

from toolflow.errors import LockCycleError, LockLostError
from toolflow.model.keys import covers, keys_meet
from toolflow.scheduler.lock_table import LockTable
from toolflow.scheduler.lock_ticket import Ticket


def state_of(table: LockTable) -> Any:
    state = table.statistics()
    waits = {
        ticket.number: {
            (node.what, other.number)
            for node in ticket.place.entries
            if ticket not in node.front
            for other in node.in_the_way(ticket)
        }
        for ticket in table._live()
        if not ticket.granted
    }
    return state.keys, state.resources, waits


def conflict(mine: dict[str, bool], theirs: dict[str, bool]) -> bool:
    return any(
        (write or written) and keys_meet(key, other)
        for key, write in mine.items()
        for other, written in theirs.items()
    )


# ---- tickets without lineage: exactly the first come, first served order ----


class Flat(RuleBasedStateMachine):
    """A ticket is granted iff no earlier live ticket meets it and what it uses is there."""

    def __init__(self) -> None:
        super().__init__()
        self.table = LockTable()
        self.live: list[Ticket] = []
        self.granted: set[Ticket] = set()

    @rule(
        reads=some_keys,
        writes=some_keys,
        uses=st.dictionaries(st.sampled_from(["u", "v"]), st.integers(0, 2), max_size=2),
        bounds=st.fixed_dictionaries({}, optional={"u": st.integers(2, 3), "v": st.just(2)}),
    )
    def ask(self, reads: Any, writes: Any, uses: Any, bounds: Any) -> None:
        ticket = self.table.request(object(), reads, writes, uses=uses, capacities=bounds)
        self.live.append(ticket)
        if ticket.granted:
            self.granted.add(ticket)

    @rule(data=st.data())
    def release_or_cancel(self, data: Any) -> None:
        if not self.live:
            return
        ticket = data.draw(st.sampled_from(self.live))
        changed = self.table.release(ticket) if ticket.granted else self.table.cancel(ticket)
        self.live.remove(ticket)
        self.granted.discard(ticket)
        assert changed == sorted(changed)
        assert not self.granted.intersection(changed)
        self.granted.update(changed)
        assert not self.table.release(ticket)
        assert not self.table.cancel(ticket)

    @rule(reads=some_keys, writes=some_keys)
    def try_to_take(self, reads: Any, writes: Any) -> None:
        before = state_of(self.table)
        wanted = self.table.request("probe", reads, writes)
        expected = wanted.granted
        self.table.release(wanted)
        self.table.cancel(wanted)
        request = wanted.request
        ticket = self.table.ask(request, wait=False)
        assert ticket.granted == expected
        assert ticket.done != expected
        self.table.release(ticket)
        assert state_of(self.table) == before
        assert not self.table.late

    @invariant()
    def as_the_model_says(self) -> None:
        at_front: dict[str, list[Ticket]] = {}
        blocked: set[str] = set()
        for place, ticket in enumerate(self.live):
            keys = ticket.request.keys()
            free = not any(conflict(keys, u.request.keys()) for u in self.live[:place])
            for name, units in ticket.request.units().items():
                used = sum(u.request.units()[name] for u in at_front.get(name, []))
                bound = ticket.request.capacities.get(name, 10**9)
                if name in blocked or used + units > bound:
                    blocked.add(name)
                    free = False
                else:
                    at_front.setdefault(name, []).append(ticket)
            assert (ticket in self.granted) == free == ticket.granted, ticket
        check_whole(self.table, self.live)

    def teardown(self) -> None:
        while self.live:
            assert self.granted, "everybody waits"
            ticket = min(self.granted)
            self.live.remove(ticket)
            self.granted.remove(ticket)
            self.granted.update(self.table.release(ticket))
        check_empty(self.table)


# ---- nested calls on single keys: siblings in order, inside their ancestor's ticket ----


@dataclass(eq=False)
class Modelled:
    ticket: Ticket
    owner: str
    kin: tuple[str, ...]
    keys: tuple[str, ...]
    homes: dict[str, Modelled | None] = field(default_factory=dict)
    granted: bool = False


class Nested(RuleBasedStateMachine):
    """Written single keys: who holds the key is the ancestor inside which a nested call queues."""

    def __init__(self) -> None:
        super().__init__()
        self.table = LockTable()
        self.live: list[Modelled] = []

    @rule(
        owner=st.sampled_from(CALLS),
        keys=st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=2),
    )
    def ask(self, owner: str, keys: list[str]) -> None:
        try:
            ticket = self.table.request(owner, (), keys, ancestors=ancestors(owner))
        except LockCycleError:
            self.table.take_late()
            return
        new = Modelled(ticket, owner, (owner, *ancestors(owner)), tuple(dict.fromkeys(keys)))
        new.homes = {key: self._home(new, key) for key in new.keys}
        self.live.append(new)
        self._compare([ticket, *self.table.take_late()])

    @rule(data=st.data())
    def release_or_cancel(self, data: Any) -> None:
        if not self.live:
            return
        one = data.draw(st.sampled_from(self.live))
        self.live.remove(one)
        changed = (self.table.release if one.granted else self.table.cancel)(one.ticket)
        self.live = [other for other in self.live if other.ticket.error is None]
        for other in self.live:
            if one in other.homes.values():
                other.homes = {key: self._home(other, key) for key in other.keys}
        for other in self.live:
            if other.granted:
                self._draw_in(other)
        self._compare([ticket for ticket in changed if ticket.error is None])

    @rule(data=st.data())
    def hand_over(self, data: Any) -> None:
        mine = [one for one in self.live if one.granted and ancestors(one.owner)]
        if not mine:
            return
        one = data.draw(st.sampled_from(mine))
        one.owner = data.draw(st.sampled_from(ancestors(one.owner)))
        changed = self.table.hand_over(one.ticket, one.owner)
        self._draw_in(one)
        self.live = [other for other in self.live if other.ticket.error is None]
        self._compare([ticket for ticket in changed if ticket.error is None])

    def _home(self, one: Modelled, key: str) -> Modelled | None:
        held = [
            other
            for other in self.live
            if other.granted
            and key in other.keys
            and other.owner in one.kin
            and not (one.granted and one.ticket.fence <= other.ticket.fence)
            and self._within(other, one.kin, key)
        ]
        return max(held, key=lambda other: other.ticket.fence, default=None)

    def _within(self, one: Modelled, kin: tuple[str, ...], key: str) -> bool:
        home = one.homes[key]
        return home is None or (home.owner in kin and self._within(home, kin, key))

    def _free(self, one: Modelled) -> bool:
        return not any(
            (other.granted or other.ticket.number < one.ticket.number)
            and key in other.keys
            and other.homes[key] is one.homes[key]
            for key in one.keys
            for other in self.live
            if other is not one
        )

    def _draw_in(self, holder: Modelled) -> None:
        for one in self.live:
            if not one.granted and holder.owner in one.kin and set(one.keys) & set(holder.keys):
                one.homes = {key: self._home(one, key) for key in one.keys}

    def _compare(self, changed: list[Ticket]) -> None:
        again = True
        while again:
            again = False
            for one in self.live:
                if not one.granted and self._free(one):
                    one.granted = again = True
                    self._draw_in(one)
                    break
        for one in self.live:
            assert one.ticket.granted == one.granted, (one, changed)
        check_whole(self.table, [one.ticket for one in self.live])

    def teardown(self) -> None:
        drain(self.table, [one.ticket for one in self.live], circles=True)


# ---- anything goes: what must hold in any case ----


class Anything(RuleBasedStateMachine):
    """Trees, readers, lineages, longer leases, lost holders, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.table = LockTable()
        self.live: list[Ticket] = []
        self.owners: dict[Ticket, set[str]] = {}
        self.fence = 0

    @rule(
        owner=st.sampled_from(CALLS),
        reads=some_keys,
        writes=some_keys,
        uses=st.dictionaries(st.sampled_from(["u", "v"]), st.integers(1, 2), max_size=1),
        wait=st.booleans() | st.just(True),
    )
    def ask(self, owner: str, reads: Any, writes: Any, uses: Any, wait: bool) -> None:
        probe = LockTable().request(
            owner,
            reads,
            writes,
            ancestors=ancestors(owner),
            uses=uses,
            capacities={"u": 2, "v": 3},
        )
        before = state_of(self.table)
        try:
            ticket = self.table.ask(probe.request, wait=wait)
        except LockCycleError:
            assert wait
            assert before == state_of(self.table)
            assert self._circle(probe), "a circle where there is none"
        except LockLostError:
            assert before == state_of(self.table)
            assert any(other.poisoned for other in self.table._live())
        else:
            if not ticket.done:
                self.live.append(ticket)
                self.owners[ticket] = {owner}
            elif not self.table.late:
                assert before == state_of(self.table)
        self._after(self.table.take_late())

    @rule(data=st.data())
    def release(self, data: Any) -> None:
        granted = [ticket for ticket in self.live if ticket.granted]
        if granted:
            ticket = data.draw(st.sampled_from(granted))
            self.live.remove(ticket)
            self._after(self.table.release(ticket))

    @rule(data=st.data())
    def cancel(self, data: Any) -> None:
        waiting = [ticket for ticket in self.live if not ticket.granted]
        if waiting:
            ticket = data.draw(st.sampled_from(waiting))
            self.live.remove(ticket)
            self._after(self.table.cancel(ticket))

    @rule(data=st.data())
    def hand_over(self, data: Any) -> None:
        granted = [ticket for ticket in self.live if ticket.granted and PARENTS[ticket.owner]]
        if granted:
            ticket = data.draw(st.sampled_from(granted))
            owner = data.draw(st.sampled_from(ancestors(ticket.owner)))
            self.owners[ticket].add(owner)
            self._after(self.table.hand_over(ticket, owner))

    @rule(data=st.data())
    def poison(self, data: Any) -> None:
        granted = [ticket for ticket in self.live if ticket.granted]
        if len(granted) > 2:
            self._after(self.table.poison(data.draw(st.sampled_from(granted))))

    def _after(self, changed: list[Ticket]) -> None:
        assert changed == sorted(changed)
        for ticket in changed:
            assert ticket.granted != (ticket.error is not None)
            if ticket.error is not None:
                self.live.remove(ticket)

    def _circle(self, probe: Ticket) -> bool:
        """Whether there could be one, whatever the order: everybody who meets waits."""
        everybody = [*self.table._live(), probe]
        waits: dict[str, set[str]] = {}
        for one in everybody:
            if not one.granted or one is probe:
                for other in everybody:
                    if one is not other and (
                        conflict(one.request.keys(), other.request.keys())
                        or one.request.uses.keys() & other.request.uses.keys()
                    ):
                        for owner in lineage_of(one):
                            waits.setdefault(owner, set()).add(other.owner)
        todo, seen = list(waits.get(probe.owner, ())), set()
        while todo:
            owner = todo.pop()
            if owner in lineage_of(probe):
                return True
            if owner not in seen:
                seen.add(owner)
                todo += waits.get(owner, ())
        return False

    @invariant()
    def meeting_leases_are_of_one_lineage(self) -> None:
        granted = sorted((t for t in self.live if t.granted), key=lambda t: t.fence)
        for place, later in enumerate(granted):
            for earlier in granted[:place]:
                if conflict(earlier.request.keys(), later.request.keys()):
                    asked = (later.request.owner, *later.request.ancestors)
                    assert self.owners[earlier].intersection(asked), (earlier, later)

    @invariant()
    def nobody_waits_for_a_lost_holder(self) -> None:
        for ticket in self.live:
            if not ticket.granted:
                for node in ticket.place.entries:
                    for holder in node.poisoned:
                        assert ticket not in node.held_up(holder, node.poisoned)
                assert not any(holder.poisoned for holder in ticket.place.blockers)

    @invariant()
    def the_queues_are_whole(self) -> None:
        check_whole(self.table, self.live)

    def teardown(self) -> None:
        drain(self.table, self.live, circles=True)


def drain(table: LockTable, live: list[Ticket], *, circles: bool = False) -> None:
    """End every call that waits for nothing, until all have ended.

    With ``circles``, a call may fail on the way: one that queued before its ancestor held some of
    what it wants goes elsewhere when the ancestor is granted that, and may close a circle there. So
    may a lease that went over to a turn, once it is no longer inside the ticket of a call.
    """
    live = list(live)
    while live:
        busy = {owner for ticket in live if not ticket.granted for owner in lineage_of(ticket)}
        free = [ticket for ticket in live if ticket.granted and ticket.owner not in busy]
        assert free, f"nobody can go on: {live} {table.statistics().waits}"
        live.remove(free[-1])
        for ticket in table.release(free[-1]):
            if circles and isinstance(ticket.error, LockCycleError):
                live.remove(ticket)
            else:
                assert ticket.granted, ticket.error
    check_empty(table)


def test_covering_keys_are_what_the_models_take_them_for() -> None:
    assert covers("d/**", "d/s/f")
    assert not covers("d/s/**", "d/f")


TestFlat = Flat.TestCase
TestNested = Nested.TestCase
TestAnything = Anything.TestCase
for each in (TestFlat, TestNested, TestAnything):
    each.settings = settings(max_examples=80, stateful_step_count=30, deadline=None)
del each  # it is a test class by another name
