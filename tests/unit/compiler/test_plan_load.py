"""What a hand-edited plan may be, and how each mistake is told."""

# ruff: noqa: E501 - each expected problem is one sentence, and is easier to find as one line

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plan_makers import call, groups, key_edges, plan, spelled

from toolflow.compiler import Plan, dump_plan, load_plan, plan_data
from toolflow.errors import PlanError

BASE = """\
format_version: 1
turn: turn-1
calls:
  - {name: a, tool: edit, args: {}, verdict: safe, writes: [x]}
  - {name: b, tool: edit, args: {}, verdict: safe, writes: [x]}
  - {name: c, tool: git, args: {}, verdict: exclusive}
  - {name: d, tool: read, args: {}, verdict: safe, reads: [s/**]}
  - {name: e, tool: oops, args: {}, verdict: settled, status: denied, reason: "No."}
nodes:
  - {id: pool-1, calls: [a, b]}
  - {id: barrier-2, calls: [c]}
  - {id: pool-3, calls: [d]}
  - {id: settled-1, calls: [e]}
order:
  - {before: pool-1, after: barrier-2, causes: [git]}
  - {before: barrier-2, after: pool-3, causes: [git]}
edges:
  - {before: a, after: b, causes: [key x write]}
"""


def edited(*changes: tuple[str, str], base: str = BASE) -> str:
    for old, new in changes:
        assert old in base
        base = base.replace(old, new, 1)
    return base


def told(source: str | dict[str, Any]) -> list[str]:
    with pytest.raises(PlanError) as caught:
        load_plan(source)
    return str(caught.value).splitlines()


def test_the_shortest_document_is_enough() -> None:
    found = load_plan(BASE)
    assert groups(found) == [["a", "b"], ["c"], ["d"]]
    assert found.notices == ()


def test_a_file_is_named_in_its_problems(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(BASE)
    assert load_plan(path) == load_plan(str(path)) == load_plan(BASE)
    path.write_text(edited(("after: b,", "after: z,")))
    with pytest.raises(PlanError, match=r"plan\.yaml:18:24: edges\[0\]\.after is 'z', which is no"):
        load_plan(path)
    with pytest.raises(PlanError, match="There is no such file"):
        load_plan(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "calls: [a, b]}",
            "calls: [a]}",
            "<plan>:5:5: Call 'b' stands in no node. Put it into a pool.",
        ),
        (
            "calls: [d]}",
            "calls: [d, a]}",
            "<plan>:12:29: pool-3 holds 'a', which pool-1 holds already. A call stands in one node.",
        ),
        (
            "calls: [d]}",
            "calls: [d, dd]}",
            "<plan>:12:29: pool-3 holds 'dd', which is no call of the plan. Did you mean 'd'?",
        ),
        (
            "verdict: exclusive",
            "verdict: safe",
            "<plan>:11:29: barrier-2 holds 'c', whose verdict is safe. Put it into a pool, or change the verdict.",
        ),
        (
            "id: barrier-2",
            "id: barrier-7",
            "<plan>:11:10: nodes[1].id is 'barrier-7'. Pools and barriers are counted together as they run, settled calls on their own: use barrier-2.",
        ),
        (
            "id: settled-1",
            "id: done",
            "<plan>:13:10: nodes[3].id is 'done'. Use pool-N, barrier-N or settled-N.",
        ),
        (
            "  - {before: barrier-2, after: pool-3, causes: [git]}\n",
            "",
            "<plan>:15:3: order lacks the edge from barrier-2 to pool-3. Neighbours are joined.",
        ),
        (
            "{before: pool-1, after: barrier-2, causes: [git]}",
            "{before: pool-3, after: pool-1, causes: [git]}",
            "<plan>:15:5: order[0] leads from pool-3 to pool-1, which runs first: a circle. Nodes run in the order of the list.",
        ),
        (
            "{before: a, after: b, causes: [key x write]}",
            "{before: a, after: d, causes: [mine]}",
            "<plan>:18:5: edges[0] leads from 'a' to 'd', from pool-1 to pool-3. Key edges join calls of one pool.",
        ),
        (
            "{before: a, after: b, causes: [key x write]}",
            "{before: a, after: c, causes: [mine]}",
            "<plan>:18:24: edges[0].after is 'c', which stands in no pool. Key edges join calls of one pool.",
        ),
        (
            "{before: a, after: b,",
            "{before: b, after: a,",
            "<plan>:18:5: edges[0] leads from 'b' to 'a', which comes first in the turn. Later calls wait for earlier ones.",
        ),
        (
            "edges:\n  - {before: a, after: b, causes: [key x write]}\n",
            "",
            "<plan>:5:5: Calls 'a' and 'b' meet at key 'x', and nothing makes 'b' wait. Add an edge from 'a' to it.",
        ),
        (
            "name: b,",
            "name: a,",
            "<plan>:5:12: calls[1].name is 'a', the name of calls[0] already.",
        ),
        (
            "status: denied, ",
            "",
            "<plan>:8:46: calls[4] has the verdict settled and the status None. A settled call has a status, and no other has one.",
        ),
        (
            "verdict: safe, writes",
            "verdict: sure, writes",
            "<plan>:4:46: calls[0].verdict is 'sure'. Use 'safe', 'exclusive' or 'settled'.",
        ),
        ("tool: edit", "tool: 7", "<plan>:4:21: calls[0].tool is 7. Use text."),
        (
            "tool: edit",
            "tol: edit",
            "<plan>:4:15: calls[0].tol is not a known field. Did you mean 'tool'?",
        ),
        ("format_version: 1", "format_version: 2", "<plan>:1:17: format_version is 2. Use 1."),
        ("args: {}, ", "", "<plan>:4:5: calls[0] needs its arguments: either args or args_json."),
        ("args: {}, ", "args_json: '[1]', ", "<plan>:4:38: calls[0].args_json is no JSON object."),
        (
            "causes: [key x write]",
            "causes: []",
            "<plan>:18:35: edges[0].causes is an empty list. Use at least 1 of them.",
        ),
        (
            "turn: turn-1",
            "turn: turn-1\nlimits: {pool: 0}",
            "<plan>:3:16: limits.pool is 0. Use an integer of at least 1.",
        ),
    ],
)
def test_each_mistake_is_told_in_its_place(old: str, new: str, problem: str) -> None:
    assert problem in told(edited((old, new)))


def test_a_call_that_uses_more_than_there_is_is_told_in_its_place() -> None:
    text = edited(
        ("turn: turn-1", "turn: turn-1\nlimits: {resources: {gpu: 1}}"),
        ("verdict: safe, reads: [s/**]", "verdict: safe, uses: {gpu: 2}"),
    )
    (problem,) = told(text)
    assert problem.startswith("<plan>:8:5: Call 'd' (read) uses 2 of the resource 'gpu', of which")


def test_all_mistakes_are_told_at_once_in_the_order_of_the_text() -> None:
    text = edited(("calls: [a, b]}", "calls: [a]}"), ("after: b,", "after: z,"))
    assert [line.split(": ", 1)[0] for line in told(text)] == ["<plan>:5:5", "<plan>:18:24"]


def test_nodes_out_of_call_order_are_refused() -> None:
    text = edited(
        ("pool-1, calls: [a, b]", "pool-1, calls: [d]"),
        ("pool-3, calls: [d]", "pool-3, calls: [a, b]"),
    )
    assert told(text) == [
        "<plan>:10:5: pool-1 holds 'd', but calls run in call order, and safe calls with no exclusive call between them are one pool. Here stands pool-1 with 'a', 'b'."
    ]


def test_a_pool_is_not_split() -> None:
    text = edited(
        (
            "  - {id: pool-1, calls: [a, b]}\n",
            "  - {id: pool-1, calls: [a]}\n  - {id: pool-2, calls: [b]}\n",
        ),
    )
    assert "one pool" in told(text)[0]


def test_a_circle_is_told_with_all_its_calls() -> None:
    data = plan_data(spelled("W(x) W(x) W(x)"))
    data["edges"].insert(0, {"before": "c", "after": "a", "causes": ["mine"]})
    lines = told(data)
    assert any("closes a circle: 'c' → 'a' → 'b' → 'c'" in line for line in lines)
    assert any("comes first in the turn" in line for line in lines)


def test_a_call_does_not_wait_for_itself() -> None:
    text = edited(
        ("{before: a, after: b, causes: [key x write]}", "{before: a, after: a, causes: [x]}")
    )
    assert "closes a circle: 'a' → 'a'" in told(text)[0]


def test_the_same_edge_twice_is_refused() -> None:
    text = BASE + "  - {before: a, after: b, causes: [again]}\n"
    assert told(text) == [
        "<plan>:19:5: edges[1] leads from 'a' to 'b' once more. Put all causes into one edge."
    ]


def gated() -> Plan:
    writers = [call(f"w{i}", writes=[f"s/{i}"]) for i in range(3)]
    return plan(*writers, *[call(f"r{i}", reads=["s/**"]) for i in range(3)])


def test_an_edge_through_a_gate_leads_to_later_calls() -> None:
    text = dump_plan(gated()).replace("after: r0", "after: w1")
    assert any(
        "makes 'w1' wait, through 'gate-1'" in line or "circle" in line for line in told(text)
    )


def test_a_gate_without_edges_is_refused() -> None:
    data = plan_data(gated())
    data["gates"].insert(0, {"name": "gate-9", "key": "x"})
    assert [line.split(": ", 1)[1] for line in told(data)] == [
        "Nothing stands before 'gate-9'. A gate has edges on both sides.",
        "Nothing stands behind 'gate-9'. A gate has edges on both sides.",
    ]


def test_a_gate_has_a_name_of_its_own() -> None:
    data = plan_data(gated())
    data["gates"].insert(0, {"name": "w1", "key": "x"})
    assert "gates[0].name is 'w1', the name of a call. Use another one." in told(data)[0]


def test_gates_may_be_replaced_by_direct_edges() -> None:
    found = gated()
    text = dump_plan(found)
    start, end = text.index("gates:"), text.index("digests:")
    direct = "".join(
        f"  - {{before: w{i}, after: r{j}, causes: [mine]}}\n" for j in range(3) for i in range(3)
    )
    again = load_plan(f"{text[:start]}edges:\n{direct}{text[end:]}")
    assert len(key_edges(again)) == 9
    assert [notice.code for notice in again.notices] == ["edited"]


def test_one_missing_pair_behind_gates_is_found() -> None:
    text = dump_plan(gated())
    start, end = text.index("gates:"), text.index("digests:")
    direct = "".join(
        f"  - {{before: w{i}, after: r{j}, causes: [mine]}}\n"
        for j in range(3)
        for i in range(3)
        if (i, j) != (1, 2)
    )
    (line,) = told(f"{text[:start]}edges:\n{direct}{text[end:]}")
    assert "Calls 'w1' and 'r2' meet at key 's/**', and nothing makes 'r2' wait." in line


def test_many_missing_pairs_are_told_up_to_a_bound() -> None:
    text = dump_plan(plan(*[call(f"c{i}", writes=["x"]) for i in range(100)]))
    assert len(told(text[: text.index("edges:")])) == 20


def test_more_order_than_needed_may_be_added() -> None:
    text = dump_plan(spelled("R R R"))
    again = load_plan(
        text.replace("digests:", "edges:\n  - {before: a, after: c, causes: [I say so]}\ndigests:")
    )
    assert again.why("a", "c")[0].causes == ("I say so",)
    assert again.fingerprint != spelled("R R R").fingerprint
    (notice,) = again.notices
    assert (notice.code, notice.message.startswith("The plan was edited: its fingerprint was")) == (
        "edited",
        True,
    )


def test_an_edge_put_back_at_another_place_is_no_edit() -> None:
    found = spelled("W(x) W(x) W(x)")
    data = plan_data(found)
    data["edges"].reverse()
    again = load_plan(data)
    assert (again, again.notices) == (found, ())


def test_an_edited_plan_dumps_and_loads_with_its_notice() -> None:
    again = load_plan(dump_plan(spelled("R R")).replace("tool: tool", "tool: other"))
    once_more = load_plan(dump_plan(again))
    assert once_more == again
    assert [notice.code for notice in once_more.notices] == ["edited"]


@pytest.mark.parametrize(
    "text", ["[]\n", "\n", "{", "a: [\n", "{}", '{"a": ' * 5000 + "\n", "calls: &a [*a]\n"]
)
def test_what_is_no_plan_is_an_error_of_one_line_each(text: str) -> None:
    assert all(line.startswith("<plan>") for line in told(text))


def test_a_long_edited_plan_loads() -> None:
    found = plan(
        *[
            call(
                f"c{i}", reads=["s/**"] if i % 2 else None, writes=None if i % 2 else [f"s/{i % 7}"]
            )
            for i in range(5000)
        ]
    )
    text = dump_plan(found, "json").replace("key s/", "my s/")
    text = text.replace(
        '"edges": [\n', '"edges": [\n {"before": "c0", "after": "c9", "causes": ["x"]},\n', 1
    )
    assert load_plan(text).notices[0].code == "edited"
