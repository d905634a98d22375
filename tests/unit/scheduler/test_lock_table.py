"""The pure lock table: grants, nested calls, longer leases, circles, lost holders, cost."""

from __future__ import annotations

import pytest
from locks import check_empty, check_whole

from toolflow.errors import LockCycleError, LockLostError, UsageError
from toolflow.scheduler.lock_node import KeyNode
from toolflow.scheduler.lock_table import LockTable


@pytest.fixture
def table() -> LockTable:
    return LockTable()


# ---- plain keys ----


def test_a_free_key_is_granted_at_once(table):
    ticket = table.request("a", writes=["k"])
    assert ticket.granted
    assert ticket.fence == 1
    assert table.release(ticket) == []
    check_empty(table)


def test_release_grants_the_next_in_order_of_asking(table):
    first, second, third = (table.request(name, writes=["k"]) for name in "abc")
    assert [first.granted, second.granted, third.granted] == [True, False, False]
    assert table.release(first) == [second]
    assert table.release(second) == [third]


def test_fences_grow_with_every_grant(table):
    a = table.request("a", writes=["k"])
    b = table.request("b", writes=["k"])
    c = table.request("c", writes=["other"])
    assert b.fence == 0
    table.release(a)
    assert a.fence < c.fence < b.fence


def test_a_writer_is_not_starved_by_readers_that_come_later(table):
    reader = table.request("r1", reads=["k"])
    writer = table.request("w", writes=["k"])
    late = table.request("r2", reads=["k"])
    assert not late.granted
    assert table.release(reader) == [writer]
    assert table.release(writer) == [late]


def test_cancelling_a_waiting_writer_lets_readers_behind_it_go(table):
    table.request("r1", reads=["k"])
    writer = table.request("w", writes=["k"])
    late = table.request("r2", reads=["k"])
    assert table.cancel(writer) == [late]
    assert table.cancel(writer) == []


def test_cancel_leaves_a_granted_ticket_alone_and_release_a_waiting_one(table):
    first = table.request("a", writes=["k"])
    second = table.request("b", writes=["k"])
    assert table.cancel(first) == []
    assert table.release(second) == []
    assert table.release(first) == [second]


def test_a_ticket_on_several_keys_waits_for_all_of_them_and_holds_its_place_in_each(table):
    x = table.request("x", writes=["x"])
    y = table.request("y", writes=["y"])
    both = table.request("both", writes=["x", "y"])
    behind = table.request("behind", writes=["y"])
    assert table.release(y) == []
    assert not behind.granted
    assert table.release(x) == [both]
    assert table.release(both) == [behind]


def test_a_key_that_is_read_and_written_is_written(table):
    table.request("a", reads=["k"], writes=["k"])
    assert not table.request("b", reads=["k"]).granted


def test_without_waiting_nothing_stays_queued(table):
    holder = table.request("a", writes=["k"])
    before = table.statistics()
    tried = table.ask(holder.request._replace(owner="b"), wait=False)
    assert tried.done
    assert not tried.granted
    assert table.statistics() == before
    table.release(holder)
    check_empty(table)


# ---- trees ----


def test_a_tree_waits_for_what_is_below_and_holds_back_what_comes_later(table):
    below = table.request("a", writes=["d/x"])
    beside = table.request("b", writes=["d2/x"])
    tree = table.request("c", writes=["d/**"])
    later = table.request("d", reads=["d/y"])
    assert beside.granted
    assert not tree.granted
    assert not later.granted
    assert table.release(below) == [tree]
    assert table.release(tree) == [later]


def test_readers_of_a_tree_share_with_readers_below_but_not_with_writers(table):
    tree = table.request("a", reads=["d/**"])
    reader = table.request("b", reads=["d/x"])
    writer = table.request("c", writes=["d/x"])
    elsewhere = table.request("d", writes=["d/y"])
    assert reader.granted
    assert not writer.granted
    assert not elsewhere.granted
    assert table.release(tree) == [elsewhere]
    assert table.release(reader) == [writer]


def test_trees_within_trees_meet(table):
    inner = table.request("a", writes=["d/s/**"])
    outer = table.request("b", writes=["d/**"])
    assert not table.request("c", writes=["d/s/f"]).granted
    assert not table.request("d", writes=["d/t"]).granted
    assert table.request("e", writes=["e"]).granted
    assert table.release(inner) == [outer]


def test_whoever_reads_a_tree_and_writes_in_it_keeps_other_writers_of_it_away(table):
    mixed = table.request("a", reads=["d/**"], writes=["d/x"])
    assert table.request("b", reads=["d/y"]).granted
    assert not table.request("c", writes=["d/y"]).granted
    assert not table.request("d", reads=["d/x"]).granted
    assert not table.request("e", reads=["d/**"]).granted
    table.release(mixed)


def test_the_node_of_a_tree_goes_with_its_last_ticket_and_can_come_again(table):
    below = table.request("a", writes=["d/x"])
    for _ in range(2):
        tree = table.request("t", reads=["d/**"])
        assert table._root.trees == 1
        table.cancel(tree)
        assert table._root.trees == 0
    table.release(below)
    check_empty(table)


# ---- nested calls ----


def test_a_nested_call_takes_its_ancestors_keys_again_past_those_who_wait_for_them(table):
    parent = table.request("p", writes=["k"])
    outsider = table.request("o", writes=["k"])
    child = table.request("c", writes=["k"], ancestors=["p"])
    assert child.granted
    assert not outsider.granted
    table.release(child)
    assert table.release(parent) == [outsider]


def test_siblings_inside_one_holder_exclude_each_other_in_order_of_asking(table):
    table.request("p", writes=["k"])
    first, second, third = (table.request(name, writes=["k"], ancestors=["p"]) for name in "abc")
    assert [first.granted, second.granted, third.granted] == [True, False, False]
    assert table.release(first) == [second]
    assert table.release(second) == [third]


def test_a_grandchild_queues_inside_its_parent_not_beside_its_parents_siblings(table):
    table.request("p", writes=["k"])
    parent = table.request("a", writes=["k"], ancestors=["p"])
    uncle = table.request("b", writes=["k"], ancestors=["p"])
    child = table.request("a/1", writes=["k"], ancestors=["a", "p"])
    assert child.granted
    assert not uncle.granted
    table.release(child)
    assert table.release(parent) == [uncle]


def test_a_tree_that_an_ancestor_holds_covers_what_nested_calls_take_in_it(table):
    table.request("p", writes=["d/**"])
    assert table.request("a", writes=["d/x"], ancestors=["p"]).granted
    assert table.request("b", writes=["d/y"], ancestors=["p"]).granted
    assert not table.request("c", reads=["d/x"], ancestors=["p"]).granted
    assert not table.request("o", reads=["d/z"]).granted


def test_an_ancestor_that_only_reads_does_not_cover_a_write(table):
    table.request("p", reads=["k"])
    other = table.request("o", reads=["k"])
    child = table.request("c", writes=["k"], ancestors=["p"])
    assert not child.granted
    assert table.release(other) == [child]


def test_a_nested_writer_goes_before_those_who_wait_for_its_reading_ancestor(table):
    parent = table.request("p", reads=["k"])
    other = table.request("o", reads=["k"])
    waiting = table.request("w", writes=["k"])
    child = table.request("c", writes=["k"], ancestors=["p"])
    late = table.request("r", reads=["k"])
    assert table.release(other) == [child]
    assert table.release(child) == []
    assert table.release(parent) == [waiting]
    assert not late.granted


def test_a_nested_writer_waits_for_its_reading_siblings(table):
    table.request("p", reads=["k"])
    reader = table.request("a", reads=["k"], ancestors=["p"])
    writer = table.request("b", writes=["k"], ancestors=["p"])
    assert reader.granted
    assert not writer.granted
    assert not table.request("c", reads=["k"], ancestors=["p"]).granted
    assert writer in table.release(reader)


def test_two_nested_writers_under_two_readers_of_one_key_close_a_circle(table):
    table.request("p", reads=["k"])
    table.request("q", reads=["k"])
    waiting = table.request("p/1", writes=["k"], ancestors=["p"])
    with pytest.raises(LockCycleError, match=r"'q/1'.*key 'k'"):
        table.request("q/1", writes=["k"], ancestors=["q"])
    assert not waiting.granted


def test_a_nested_call_may_take_a_whole_tree_of_which_its_ancestor_holds_a_part(table):
    table.request("p", writes=["d/x"])
    waiting = table.request("w", writes=["d/x"])
    other = table.request("o", writes=["d/y"])
    child = table.request("c", writes=["d/**"], ancestors=["p"])
    assert table.release(other) == [child]
    assert not waiting.granted


def test_what_was_left_running_waits_like_any_other_once_the_holder_ended(table):
    parent = table.request("p", writes=["k"])
    outsider = table.request("o", writes=["k"])
    table.release(parent)
    leaked = table.request("c", writes=["k"], ancestors=["p"])
    assert not leaked.granted
    assert table.release(outsider) == [leaked]


def test_a_nested_call_that_outlives_its_parent_keeps_its_own_keys_and_no_others(table):
    parent = table.request("p", writes=["d/**", "k"])
    child = table.request("c", writes=["d/x"], ancestors=["p"])
    waiting = table.request("s", writes=["d/x"], ancestors=["p"])
    same, beside, other = (table.request("o", writes=[key]) for key in ("d/x", "d/y", "k"))
    assert table.release(parent) == [beside, other]
    check_whole(table, [child, waiting, same, beside, other])
    assert table.release(child) == [waiting]
    assert table.release(waiting) == [same]


def test_an_owner_takes_its_own_keys_again(table):
    table.request("a", writes=["k"])
    assert table.request("a", writes=["k"]).granted


# ---- leases that last longer ----


def test_a_lease_handed_over_to_the_turn_is_taken_again_by_the_turns_calls_only(table):
    add = table.request("add", writes=["git"], ancestors=["turn"])
    table.hand_over(add, "turn")
    assert table.request("commit", writes=["git"], ancestors=["turn"]).granted
    assert not table.request("other", writes=["git"], ancestors=["turn-2"]).granted


def test_a_call_that_waits_already_goes_on_when_the_lease_goes_over_to_its_turn(table):
    first = table.request("a", writes=["k"], ancestors=["turn"])
    outsider = table.request("o", writes=["k"])
    second = table.request("b", writes=["k"], ancestors=["turn"])
    assert table.hand_over(first, "turn") == [second]
    assert not outsider.granted
    table.release(second)
    assert table.release(first) == [outsider]


def test_a_lease_that_closes_a_circle_when_it_becomes_longer_fails_the_call_that_asked_last(table):
    a = table.request("a1", writes=["x"], ancestors=["t1"])
    b = table.request("b1", writes=["y"], ancestors=["t2"])
    table.hand_over(b, "t2")
    waits_for_t2 = table.request("a2", writes=["y"], ancestors=["t1"])
    waits_for_a1 = table.request("b2", writes=["x"], ancestors=["t2"])  # a1 ends by itself
    changed = table.hand_over(a, "t1")
    assert waits_for_t2 in changed
    assert isinstance(waits_for_t2.error, LockCycleError)
    assert waits_for_a1.error is None
    assert table.release(a) == [waits_for_a1]


def test_turns_that_meet_are_no_circle_as_long_as_their_calls_end(table):
    a = table.request("a1", writes=["x"], ancestors=["t1"])
    b = table.request("b1", writes=["y"], ancestors=["t2"])
    a2 = table.request("a2", writes=["y"], ancestors=["t1"])
    b2 = table.request("b2", writes=["x"], ancestors=["t2"])
    assert table.release(a) == [b2]
    assert table.release(b) == [a2]


# ---- circles ----


def test_a_circle_names_its_calls_and_keys_and_queues_nothing(table):
    table.request("a", writes=["x"])
    table.request("b", writes=["y"])
    waiting = table.request("a/1", writes=["y"], ancestors=["a"])
    before = table.statistics()
    with pytest.raises(LockCycleError) as caught:
        table.request("b/1", writes=["x"], ancestors=["b"])
    assert str(caught.value) == (
        "Waiting for key 'x' would close a circle: 'b/1' inside 'b' waits for key 'x', held by"
        " 'a'; 'a/1' inside 'a' waits for key 'y', held by 'b'."
    )
    assert table.statistics() == before
    assert not waiting.done


def test_a_reader_that_is_one_of_several_closes_a_circle_too(table):
    table.request("a", reads=["x"])
    table.request("b", reads=["x", "y"])
    table.request("c", writes=["z"])
    table.request("a/1", writes=["z"], ancestors=["a"])
    with pytest.raises(LockCycleError):
        table.request("c/1", writes=["x"], ancestors=["c"])


def test_one_stuck_holder_of_a_resource_is_no_circle_while_another_gives_back_enough(table):
    units = {"uses": {"u": 1}, "capacities": {"u": 2}}
    table.request("a", **units)
    other = table.request("o", **units)
    table.request("b", writes=["k"])
    nested = table.request("b/1", ancestors=["b"], **units)
    waiting = table.request("a/1", writes=["k"], ancestors=["a"])
    assert not waiting.granted
    assert table.release(other) == [nested]


def test_a_circle_through_a_resource_is_found(table):
    table.request("a", uses={"u": 1}, capacities={"u": 1})
    table.request("b", writes=["k"])
    table.request("b/1", ancestors=["b"], uses={"u": 1}, capacities={"u": 1})
    with pytest.raises(LockCycleError, match="resource 'u'"):
        table.request("a/1", writes=["k"], ancestors=["a"])


# ---- resources ----


def test_units_beyond_the_capacity_or_of_no_sense_are_refused(table):
    with pytest.raises(UsageError, match="u is 3, but there are 2"):
        table.request("a", uses={"u": 3}, capacities={"u": 2})
    for units in (-1, 1.5, True):
        with pytest.raises(UsageError, match="integer"):
            table.request("a", uses={"u": units})
    check_empty(table)


def test_each_asker_is_bound_by_the_capacity_that_it_knows(table):
    table.request("a", uses={"u": 1}, capacities={"u": 1})
    assert table.request("b", uses={"u": 1}, capacities={"u": 2}).granted
    assert not table.request("c", uses={"u": 1}, capacities={"u": 2}).granted


def test_a_resource_without_a_capacity_is_counted_and_free(table):
    first = table.request("a", uses={"u": 5})
    assert first.granted
    assert not table.request("b", uses={"u": 1}, capacities={"u": 3}).granted


def test_a_large_taker_is_not_starved_by_small_ones(table):
    bound = {"capacities": {"u": 2}}
    small = table.request("a", uses={"u": 1}, **bound)
    large = table.request("b", uses={"u": 2}, **bound)
    late = table.request("c", uses={"u": 1}, **bound)
    assert not late.granted
    assert table.release(small) == [large]
    assert table.release(large) == [late]


def test_nested_calls_share_the_units_of_their_ancestor_and_wait_for_no_outsider(table):
    one = {"uses": {"u": 1}, "capacities": {"u": 1}}
    table.request("p", **one)
    table.request("o", **one)
    first = table.request("a", ancestors=["p"], **one)
    second = table.request("b", ancestors=["p"], **one)
    assert first.granted
    assert not second.granted
    assert table.release(first) == [second]


def test_what_a_nested_call_needs_beyond_its_ancestors_units_comes_from_outside(table):
    table.request("p", uses={"u": 1}, capacities={"u": 3})
    other = table.request("o", uses={"u": 1}, capacities={"u": 3})
    child = table.request("c", uses={"u": 3}, ancestors=["p"], capacities={"u": 3})
    assert not child.granted
    assert table.release(other) == [child]
    assert not table.request("q", uses={"u": 1}, capacities={"u": 3}).granted


def test_units_of_a_nested_call_that_outlives_its_parent_stay_in_use(table):
    parent = table.request("p", uses={"u": 2}, capacities={"u": 2})
    child = table.request("c", uses={"u": 1}, capacities={"u": 2}, ancestors=["p"])
    first = table.request("x", uses={"u": 1}, capacities={"u": 2})
    second = table.request("y", uses={"u": 1}, capacities={"u": 2})
    assert table.release(parent) == [first]
    assert table.release(child) == [second]


# ---- lost holders ----


def test_who_waits_for_a_lost_holder_fails_and_others_go_on(table):
    lost = table.request("lost", writes=["k"])
    both = table.request("both", writes=["k", "m"])
    free = table.request("free", writes=["m"])
    assert table.poison(lost) == [both, free]
    assert isinstance(both.error, LockLostError)
    assert "key 'k' is held by 'lost'" in str(both.error)
    assert free.granted


def test_requests_that_meet_a_lost_holder_fail_until_it_stops_after_all(table):
    lost = table.request("lost", writes=["d/x"])
    table.poison(lost)
    for keys in (["d/x"], ["d/**"]):
        with pytest.raises(LockLostError, match="'lost'"):
            table.request("b", writes=keys)
    assert table.request("c", writes=["d/y"]).granted
    table.release(lost)
    assert table.request("b", writes=["d/x"]).granted


def test_a_lost_holder_of_units_fails_only_those_for_whom_too_few_are_left(table):
    bound = {"capacities": {"u": 2}}
    lost = table.request("lost", uses={"u": 1}, **bound)
    other = table.request("o", uses={"u": 1}, **bound)
    one = table.request("one", uses={"u": 1}, **bound)
    assert table.poison(lost) == []
    with pytest.raises(LockLostError, match="resource 'u'"):
        table.request("two", uses={"u": 2}, **bound)
    assert table.release(other) == [one]


def test_a_lost_nested_call_does_not_harm_its_parent_and_fails_others_after_it(table):
    parent = table.request("p", writes=["k"])
    lost = table.request("c", writes=["k"], ancestors=["p"])
    sibling = table.request("s", writes=["k"], ancestors=["p"])
    outsider = table.request("o", writes=["k"])
    assert table.poison(lost) == [sibling]
    assert not outsider.done
    assert table.release(parent) == [outsider]
    assert isinstance(outsider.error, LockLostError)


# ---- what can be asked ----


def test_statistics_tell_holders_waiters_and_who_waits_for_whom(table):
    table.request("a", reads=["k"], label="call a")
    table.request("b", writes=["k"], uses={"u": 1}, capacities={"u": 1})
    state = table.statistics()
    assert [(one.name, one.write, one.fence) for one in state.keys["k"].holders] == [
        ("call a", False, 1)
    ]
    assert [(one.owner, one.write) for one in state.keys["k"].waiters] == [("b", True)]
    assert [one.units for one in state.resources["u"].waiters] == [1]
    assert [(wait.owner, wait.behind) for wait in state.waits] == [
        ("b", ("key 'k' held by 'call a'",))
    ]


# ---- cost ----


class Counter:
    """Counts how often entries are looked at when queues move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps = 0
        free = KeyNode._free

        def counted(node: KeyNode, value: int, ticket: object) -> bool:
            self.steps += 1
            return free(node, value, ticket)

        monkeypatch.setattr(KeyNode, "_free", counted)


@pytest.mark.parametrize("pattern", ["w", "rw", "rrrw"])
def test_the_cost_of_a_long_queue_grows_with_its_length_only(table, monkeypatch, pattern):
    counter, per_ticket = Counter(monkeypatch), []
    for count in (500, 5_000):
        counter.steps = 0
        tickets = []
        for index in range(count):
            kind = "writes" if pattern[index % len(pattern)] == "w" else "reads"
            tickets.append(table.request(index, **{kind: ["k"]}, ancestors=["turn"]))
        for ticket in tickets:
            assert ticket.granted
            table.release(ticket)
        per_ticket.append(counter.steps / count)
    assert per_ticket[1] <= per_ticket[0] * 1.1
    assert per_ticket[1] < 6


def test_the_cost_of_a_tree_with_much_below_it_grows_with_its_length_only(table, monkeypatch):
    counter, per_ticket = Counter(monkeypatch), []
    for count in (500, 5_000):
        counter.steps = 0
        tickets = []
        for index in range(count):
            tickets.append(table.request(index, writes=[f"d/{index}"]))
            if index % 10 == 5:
                tickets.append(table.request(("tree", index), reads=["d/**"]))
        tickets.append(table.request("last", writes=["d/**"]))
        tickets.append(table.request("reader", reads=["d/x"]))
        for ticket in tickets:
            assert ticket.granted
            table.release(ticket)
        per_ticket.append(counter.steps / count)
    assert per_ticket[1] <= per_ticket[0] * 1.1
    assert per_ticket[1] < 12


def test_giving_up_in_any_order_costs_no_walk_along_the_queue(table, monkeypatch):
    table.request("holder", writes=["k"])
    tickets = [table.request(index, writes=["k"]) for index in range(2_000)]
    counter = Counter(monkeypatch)
    for ticket in (*tickets[1::2], *reversed(tickets[::2])):
        assert table.cancel(ticket) == []
    assert counter.steps <= len(tickets)


def test_waiting_under_a_turn_that_holds_a_lease_looks_at_no_other_waiter(table, monkeypatch):
    lease = table.request("add", writes=["git"], ancestors=["turn"])
    table.hand_over(lease, "turn")
    table.request("holder", writes=["k"])
    looked_at = 0
    held_up = KeyNode.held_up

    def counted(node, ticket, stuck):
        nonlocal looked_at
        found = held_up(node, ticket, stuck)
        looked_at += 1 + len(found)
        return found

    monkeypatch.setattr(KeyNode, "held_up", counted)
    for index in range(1_000):
        table.request(index, writes=["k"], ancestors=["turn"])
    assert looked_at <= 2_000


def test_a_lease_that_went_over_is_open_with_those_keys_that_are_in_nobodys_way(table):
    """Of two keys, one is still inside a call that ended; that is no matter of the other one."""
    parent = table.request("a", writes=["x"], ancestors=["run"])
    child = table.request("a1", writes=["x", "y"], ancestors=["a", "run"])
    table.hand_over(child, "run")
    sibling = table.request("b", writes=["y"], ancestors=["run"])
    assert sibling.granted
    other = table.request("c", writes=["x"], ancestors=["run"])
    assert not other.granted
    assert table.release(parent) == [other]
    for ticket in (other, sibling, child):
        table.release(ticket)
    check_empty(table)


def test_one_who_waits_for_a_lease_of_his_own_that_is_inside_another_goes_inside_when_it_can(table):
    around = table.request("a1", writes=["x"], ancestors=["a", "run"])
    before = table.request("a1", writes=["y"], ancestors=["a", "run"])
    both = table.request("a1", writes=["x", "y"], ancestors=["a", "run"])
    table.hand_over(both, "a")
    waits = table.request("a", writes=["y"], ancestors=["run"])
    assert not waits.granted
    assert table.release(before) == [waits]
    for ticket in (waits, both, around):
        table.release(ticket)
    check_empty(table)


def units(table, owner, count, *ancestors, writes=()):
    return table.request(
        owner, (), writes, ancestors=ancestors, uses={"gpu": count}, capacities={"gpu": 3}
    )


def test_who_waits_for_units_is_stuck_once_too_many_of_all_holders_are(table):
    units(table, "x", 1, "run")
    holder = table.request("q", writes=["b"], ancestors=["other"])
    units(table, "v", 1, "run", writes=["b"])  # its unit is set aside while it waits for the key
    child = units(table, "r", 2, "q", "other")
    with pytest.raises(LockCycleError, match=r"resource 'gpu'|key 'b'"):
        table.request("y", writes=["b"], ancestors=["x", "run"])
    assert not child.granted
    assert table.statistics().keys["b"].holders[0].owner == holder.owner


def test_units_of_an_ancestor_are_not_given_back_to_its_own_nested_calls(table):
    table.request("x", writes=["a"], ancestors=["run"], uses={"gpu": 1}, capacities={"gpu": 3})
    holder = units(table, "c", 2, "other")
    waits = units(table, "x1", 2, "x", "run")  # one from its parent, one from outside
    assert not waits.granted
    with pytest.raises(LockCycleError):
        table.request("c1", writes=["a"], ancestors=["c", "other"])
    assert table.release(holder) == [waits]


def test_a_lease_that_goes_over_keeps_its_keys_and_gives_back_its_units(table):
    lease = units(table, "a", 2, "run", writes=["k"])
    inside = units(table, "a1", 1, "a", "run")
    waits = units(table, "b", 2, "other")
    assert (inside.granted, waits.granted) == (True, False)
    assert table.hand_over(lease, "run") == [waits]
    assert [one.units for one in table.statistics().resources["gpu"].holders] == [1, 2]
    assert not table.request("c", writes=["k"], ancestors=["other"]).granted
    assert table.request("d", writes=["k"], ancestors=["run"]).granted
