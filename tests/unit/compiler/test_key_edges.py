"""Who waits for whom inside a pool, by small examples; the properties are in tests/property."""

from __future__ import annotations

import pytest
from plan_makers import call, key_edges, plan, spelled


@pytest.mark.parametrize(
    ("turn", "edges"),
    [
        ("R(x) R(x) W(x) R(x)", "ac bc cd"),
        ("W(x) W(x) W(x)", "ab bc"),
        ("W(x) R(x) R(x) W(x)", "ab ac bd cd"),
        ("R(x) R(y) W(z)", ""),
        ("W(x,y) R(x) W(y) W(x)", "ab ac bd"),
        ("RW(x,x) R(x)", "ab"),
        ("W(s/a) W(s/b) R(s/**)", "ac bc"),
        ("R(s/**) R(s/**) W(s/a)", "ac bc"),
        ("R(s/**) W(s/a) R(s/**) W(s/b)", "ab bc cd"),
        ("W(s/a) W(s/**) R(s/a)", "ab bc"),
        ("W(s/a) R(s/a) W(s/**)", "ab bc"),
        ("R(s/**) W(s/a/b) W(s/a/**)", "ab bc"),
        ("W(s) R(s/**)", "ab"),
        ("W(s2/a) R(s/**)", ""),
        ("W(s/a/b/**) R(s/a/**) W(s/**) R(s/a/b/c)", "ab bc cd"),
        ("W(s/**) R(s/a) R(s/b) W(s/**)", "ab ac bd cd"),
        ("W(s/**) W(s/a) R(s/b)", "ab ac"),
        ("W(/a) R(/**) W(b)", "ab"),
    ],
)
def test_edges_are_only_the_needed_ones(turn: str, edges: str) -> None:
    assert [a + b for a, b in key_edges(spelled(turn))] == edges.split()


def test_a_call_does_not_wait_for_itself() -> None:
    found = plan(call("a", reads=["s/**"], writes=["s/x", "s/y"]), call("b", reads=["s/x"]))
    assert key_edges(found) == [("a", "b")]


def test_several_causes_between_two_calls_are_one_edge() -> None:
    found = plan(call("a", reads=["y"], writes=["x"]), call("b", reads=["x"], writes=["y"]))
    (edge,) = (edge for edge in found.edges if edge.kind == "key")
    assert edge.causes == ("key x read after write", "key y write after read")


def test_causes_name_the_narrower_key_first() -> None:
    found = plan(call("a", writes=["s/x"]), call("b", reads=["s/**"]), call("c", writes=["s/y/**"]))
    causes = [edge.causes for edge in found.edges]
    assert causes == [
        ("key s/x in s/** read after write",),
        ("key s/y/** in s/** write after read",),
    ]


def test_a_gate_stands_where_it_saves_edges() -> None:
    writers = [call(f"w{i}", writes=[f"s/{i}"]) for i in range(3)]
    readers = [call(f"r{i}", reads=["s/**"]) for i in range(3)]
    found = plan(*writers, *readers)
    assert [(gate.name, gate.key) for gate in found.gates] == [("gate-1", "s/**")]
    assert key_edges(found) == [
        *[(f"w{i}", "gate-1") for i in range(3)],
        *[("gate-1", f"r{i}") for i in range(3)],
    ]
    assert found.edges[0].causes == ("key s/0 in s/** write",)
    assert found.edges[3].causes == ("key s/** read after write",)


def test_no_gate_where_it_saves_nothing() -> None:
    found = spelled("W(s/a) W(s/b) R(s/**) R(s/**)")
    assert found.gates == ()
    assert len(found.edges) == 4


def test_a_gate_of_readers_stands_before_many_writers() -> None:
    readers = [call(f"r{i}", reads=["s/**"]) for i in range(5)]
    writers = [call(f"w{i}", writes=[f"s/{i}"]) for i in range(5)]
    found = plan(*readers, *writers)
    assert len(found.gates) == 1
    assert len(found.edges) == 10
    assert found.edges[0].causes == ("key s/** read",)
    assert found.edges[-1].causes == ("key s/4 in s/** write after read",)


def test_gates_leave_the_names_of_calls_alone() -> None:
    writers = [call(f"gate-{i}", writes=[f"s/{i}"]) for i in (1, 2, 4)]
    readers = [call(f"r{i}", reads=["s/**"]) for i in range(3)]
    (gate,) = plan(*writers, *readers).gates
    assert gate.name == "gate-3"


def test_keys_of_different_pools_make_no_edges() -> None:
    assert key_edges(spelled("W(x) E W(x)")) == []


def test_deeply_nested_trees_do_not_exhaust_the_stack() -> None:
    deep = ["/".join(["d"] * depth) + "/**" for depth in range(1, 2000)]
    calls = [call(f"w{i}", writes=[key]) for i, key in enumerate(reversed(deep))]
    found = plan(*calls, call("last", reads=["d/**"]))
    assert len(found.edges) == len(calls)


def test_a_key_of_many_parts_costs_no_more_than_its_length() -> None:
    long = "/" * 200_000
    found = plan(call("a", writes=[long]), call("b", reads=["/**"]), call("c", writes=[long]))
    assert key_edges(found) == [("a", "b"), ("b", "c")]
