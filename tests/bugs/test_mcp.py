"""Faults of other harnesses with MCP servers: none of them is here. The servers are real."""

from __future__ import annotations

import math
from functools import partial

import anyio
import pytest
from gates import has_no_reader, hold, make_gate
from mcp_servers import PATIENCE, SAFE, Notes, made, needs_mcp, outcomes, posix, raw, turn

from toolflow.engine import Engine
from toolflow.errors import ServerError
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools.mcp import McpServers

pytestmark = [needs_mcp, posix]

ANY = {"type": "object"}


@pytest.fixture(params=["asyncio", "trio"])
def run(request):
    async def bounded(main):
        with anyio.fail_after(PATIENCE):
            return await main()

    return lambda main: anyio.run(partial(bounded, main), backend=request.param)


@pytest.fixture
def notes(tmp_path):
    found = Notes(tmp_path)
    yield found
    found.close()


def test_b056_where_one_server_exits_at_once_no_process_of_the_others_remains(run, tmp_path):
    (tmp_path / "go").mkdir()
    gate, go = make_gate(tmp_path), make_gate(tmp_path / "go")
    bad = raw(exits=1, stderr="no such folder", go=str(go))

    async def main():
        async with anyio.create_task_group() as tasks:

            async def let_go():
                found.append(await hold(gate))  # the child of the good one surely waits now
                go.write_text("")

            tasks.start_soon(let_go)
            with pytest.raises(ServerError) as caught:
                await McpServers({"good": raw(gate=str(gate)), "bad": bad}).__aenter__()
        return caught.value

    found = []
    assert str(run(main)) == (
        "server 'bad' did not start: it ended with exit code 1. It wrote last: no such folder"
    )
    assert has_no_reader(found[0])


def test_b056_after_a_run_no_process_remains(run, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    gates = [make_gate(tmp_path / "one"), make_gate(tmp_path / "two")]
    servers = {str(n): raw(gate=str(gate)) for n, gate in enumerate(gates)}

    async def main():
        async with McpServers(servers) as opened:
            assert (await Engine(opened.tools).call("0__add", {"a": 1, "b": 2})).ok
            return [await hold(gate) for gate in gates]

    assert all(map(has_no_reader, run(main)))


def test_b063_a_hint_of_a_server_that_is_not_trusted_makes_nothing_safe():
    wipe = {"name": "wipe_all", "inputSchema": ANY, "annotations": {"readOnlyHint": True}}

    async def main(trusted):
        policy = {"version": 1, "trust": {"annotations": trusted}}
        async with McpServers({"x": raw(tools=[wipe])}) as servers:
            return Engine(servers.tools, policy=policy).plan(turn("x__wipe_all", {}))

    assert anyio.run(main, []).calls[0].verdict.kind == "exclusive"
    assert anyio.run(main, ["x"]).calls[0].verdict.kind == "safe"


def test_b065_the_hints_of_each_tool_are_kept():
    tools = [
        {"name": "query", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
        {"name": "delete", "inputSchema": ANY, "annotations": {"destructiveHint": True}},
        {"name": "put", "inputSchema": ANY},
    ]
    policy = {"version": 1, "trust": {"annotations": ["db"]}}

    async def main():
        async with McpServers({"db": raw(tools=tools)}) as servers:
            engine = Engine(servers.tools, policy=policy)
            return [
                engine.plan(turn(f"db__{name}", {})).calls[0] for name in ("query", "delete", "put")
            ]

    calls = anyio.run(main)
    assert [call.verdict.kind for call in calls] == ["safe", "exclusive", "exclusive"]
    assert not any(call.terms.idempotent for call in calls)


@pytest.mark.parametrize("server", [raw, made], ids=["raw", "official"])
def test_b067_a_hundred_calls_at_once_over_one_server_are_all_right(run, server):
    numbers = [{"a": n, "b": 2} for n in range(100)]

    async def main():
        async with McpServers({"s": server()}) as servers:
            return await outcomes(Engine(servers.tools, policy=SAFE, pool=100), "s__add", *numbers)

    assert [int(outcome.value) for outcome in run(main)] == [n + 2 for n in range(100)]


@pytest.mark.parametrize(
    "policy",
    [
        None,
        {"version": 1, "rules": [{"server": "browser", "safe": True, "writes": "page"}]},
        {"version": 1, "limits": {"resources": {"mcp:browser": 1}}, **SAFE},
    ],
    ids=["no policy", "one key", "one at a time"],
)
def test_b069_clicks_on_one_page_come_in_call_order(run, notes, policy):
    keys = [{"key": key} for key in "TOOLS"]

    async def main():
        async with McpServers({"browser": raw(log=notes.path, slow=0.1)}) as servers:
            engine = Engine(servers.tools, policy=policy)
            return await outcomes(engine, "browser__click", *keys)

    assert [outcome.value for outcome in run(main)] == ["pressed"] * 5
    assert "".join(line for line in notes.lines if len(line) == 1) == "TOOLS"


GONE = "Server 's' is gone: it ended with exit code 3."


def test_b074_when_a_server_dies_at_the_fourth_call_three_keep_their_results(run):
    numbers = [{"a": n, "b": 0} for n in range(8)]

    async def main():
        async with McpServers({"s": raw(dies_at=4)}) as servers:
            return await outcomes(Engine(servers.tools), "s__add", *numbers)

    found = run(main)
    assert [outcome.value for outcome in found[:3]] == ["0", "1", "2"]
    assert [(outcome.status, outcome.error) for outcome in found[3:]] == [("failed", GONE)] * 5


def test_b074_the_same_where_all_were_called_at_once(run):
    numbers = [{"a": n, "b": 0} for n in range(8)]

    async def main():
        async with McpServers({"s": raw(dies_at=4)}) as servers:
            return await outcomes(Engine(servers.tools, policy=SAFE, pool=8), "s__add", *numbers)

    found = run(main)
    good = [(n, outcome) for n, outcome in enumerate(found) if outcome.ok]
    assert [outcome.value for _, outcome in good] == [str(n) for n, _ in good]
    assert len(good) == 3
    assert [outcome.error for outcome in found if not outcome.ok] == [GONE] * 5


def test_b074_the_same_where_sub_agents_called_it(run):
    box = Toolbox()

    async def main():
        async with McpServers({"s": raw(dies_at=4)}, tools=box):
            engine = Engine(box, policy=SAFE)

            @box.tool(safe=True, writes=())
            async def agent(number: int) -> list[str]:
                numbers = [{"a": number, "b": b} for b in range(2)]
                return [outcome.text for outcome in await outcomes(engine, "s__add", *numbers)]

            return await outcomes(engine, "agent", *({"number": n} for n in range(4)))

    found = run(main)
    texts = [text for outcome in found for text in outcome.value]
    assert len(texts) == 8
    assert texts.count(GONE) == 5
    assert all(outcome.ok for outcome in found)


def test_b074_answers_that_a_server_gave_right_before_its_end_are_results(run):
    numbers = [{"a": n, "b": 0} for n in range(50)]

    async def main():
        async with McpServers({"s": raw(holds=50, then_exits=3)}) as servers:
            return await outcomes(Engine(servers.tools, policy=SAFE, pool=50), "s__add", *numbers)

    assert [outcome.value for outcome in run(main)] == [str(n) for n in range(50)]


def test_b074_later_runs_fail_at_once_and_end_by_themselves(run):
    async def main():
        async with McpServers({"s": raw(dies_at=1)}) as servers:
            engine = Engine(servers.tools)
            first = await engine.call("s__add", {"a": 1, "b": 2})
            later = await engine.run(turn("s__add", {"a": 1, "b": 2}), timeout=math.inf)
            return [first, *later.outcomes]

    assert [outcome.error for outcome in run(main)] == [GONE, GONE]
