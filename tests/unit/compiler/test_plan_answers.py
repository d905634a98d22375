from __future__ import annotations

import networkx as nx
import pytest
from plan_makers import call, plan, spelled

from toolflow.errors import UsageError

TURN = "W(x) R(x) E R(x) S W(x) R(y)"  # a b | c | d f g, e settled


def chain(found: tuple) -> list[tuple[str, str]]:
    return [(edge.before, edge.after) for edge in found]


def test_why_inside_a_pool_is_the_chain_of_key_edges() -> None:
    found = spelled("W(x) RW(x,y) R(y) R(z)")
    assert chain(found.why("a", "c")) == [("a", "b"), ("b", "c")]
    assert found.why("a", "b")[0].causes == ("key x read after write",)


def test_why_is_the_shortest_chain() -> None:
    found = spelled("W(x,z) RW(x,y) RW(y,q) R(q,z)")
    assert chain(found.why("a", "d")) == [("a", "d")]


def test_why_across_nodes_leads_through_the_nodes() -> None:
    found = spelled(TURN)
    assert chain(found.why("a", "g")) == [("pool-1", "barrier-2"), ("barrier-2", "pool-3")]


def test_why_leads_through_gates() -> None:
    calls = [call(f"w{i}", writes=[f"s/{i}"]) for i in range(3)]
    found = plan(*calls, *[call(f"r{i}", reads=["s/**"]) for i in range(3)])
    assert chain(found.why("w1", "r2")) == [("w1", "gate-1"), ("gate-1", "r2")]


@pytest.mark.parametrize(
    ("a", "b"), [("g", "f"), ("b", "a"), ("c", "a"), ("a", "a"), ("e", "c"), ("a", "e")]
)
def test_why_is_empty_where_nothing_makes_the_second_wait(a: str, b: str) -> None:
    assert spelled(TURN).why(a, b) == ()


def test_unknown_names_are_told_with_what_there_is() -> None:
    found = plan(call("read_1"), call("read_2"))
    with pytest.raises(UsageError) as caught:
        found.why("read_1", "read_3")
    assert str(caught.value) == (
        "The plan has no call 'read_3'. Did you mean 'read_2' or 'read_1'?"
    )
    with pytest.raises(UsageError, match=r"There are 'read_1', 'read_2'\."):
        found.call("zzz")
    with pytest.raises(UsageError, match="There are none"):
        plan().node_of("a")


def test_beside_are_the_calls_that_no_edge_keeps_apart() -> None:
    found = spelled("W(x) R(x) R(x) W(y) E R")
    assert found.beside("a") == ("d",)
    assert found.beside("b") == ("c", "d")
    assert found.beside("d") == ("a", "b", "c")
    assert found.beside("e") == ()
    assert found.beside("f") == ()


def test_predecessors_are_direct_and_seen_through_gates() -> None:
    calls = [call(f"w{i}", writes=[f"s/{i}"]) for i in range(3)]
    found = plan(*calls, *[call(f"r{i}", reads=["s/**"]) for i in range(3)], call("x", "exclusive"))
    assert found.predecessors("r1") == ("w0", "w1", "w2")
    assert found.predecessors("x") == ("w0", "w1", "w2", "r0", "r1", "r2")
    assert found.predecessors("w0") == ()
    assert spelled("W(x) W(x) W(x)").predecessors("c") == ("b",)
    assert spelled("S E").predecessors("a") == ()


def test_the_critical_path_runs_through_pools_and_barriers() -> None:
    found = spelled("W(x) R(x) R(y) E R")
    seconds = {"a": 1.0, "b": 2.0, "c": 2.5, "d": 4.0, "e": 0.5}
    assert found.critical_path(seconds) == (7.5, ("a", "b", "d", "e"))


def test_the_critical_path_of_an_empty_plan_is_nothing() -> None:
    assert plan().critical_path({}) == (0.0, ())


def test_the_critical_path_runs_through_gates_without_naming_them() -> None:
    calls = [call(f"w{i}", writes=[f"s/{i}"]) for i in range(3)]
    found = plan(*calls, *[call(f"r{i}", reads=["s/**"]) for i in range(3)])
    assert found.critical_path({"w1": 2.0, "r2": 3.0}) == (5.0, ("w1", "r2"))


def test_the_lower_bound_is_path_or_work() -> None:
    found = spelled("R R R R")
    seconds = dict.fromkeys("abcd", 1.0)
    assert found.lower_bound(seconds) == 1.0
    assert found.lower_bound(seconds, pool=2) == 2.0
    assert found.lower_bound({"a": 3.0, "b": 1.0}, pool=2) == 3.0


def test_settled_calls_take_no_time() -> None:
    assert spelled("S R").lower_bound({"a": 100.0, "b": 1.0}) == 1.0


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), True])
def test_durations_are_seconds(value: float) -> None:
    with pytest.raises(UsageError, match="at least 0"):
        spelled("R").critical_path({"a": value})


@pytest.mark.parametrize("pool", [0, -1, True, 1.5])
def test_the_pool_of_a_bound_is_a_whole_number(pool: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        spelled("R").lower_bound({}, pool=pool)


def test_in_the_graph_paths_are_waits() -> None:
    found = spelled("W(x) R(x) R(y) S E R(x)")
    graph = found.graph()
    names = [each.name for each in found.calls]
    waits = {a + b for a in names for b in names if a != b and nx.has_path(graph, a, b)}
    assert waits == {"ab", "ae", "be", "ce", "af", "bf", "cf", "ef"}
    assert nx.is_directed_acyclic_graph(graph)
    assert graph.nodes["b"]["node"] == "pool-1"
    assert graph.edges["a", "b"] == {"kind": "key", "causes": ("key x read after write",)}
    assert graph.graph == {"turn": "turn-1", "fingerprint": found.fingerprint}


def test_in_the_graph_a_call_named_like_a_node_keeps_its_name() -> None:
    graph = plan(call("pool-1"), call("b", "exclusive")).graph()
    assert graph.nodes["pool-1"]["kind"] == "call"
    assert graph.nodes["node:pool-1"]["kind"] == "pool"
    assert nx.has_path(graph, "pool-1", "b")
