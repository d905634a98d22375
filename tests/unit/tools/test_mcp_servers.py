"""Servers that are really started, on both event loops: their tools, calls, changes and ends."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from functools import partial

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from gates import has_no_reader, hold, make_gate, nobody_waits
from mcp_servers import (
    MADE,
    PATIENCE,
    SAFE,
    Changes,
    Notes,
    made,
    needs_mcp,
    outcomes,
    posix,
    raw,
    turn,
)

from toolflow.engine import Engine
from toolflow.errors import ServerError, UsageError
from toolflow.model import Image, Outcome
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools.mcp import HttpServer, McpServers, StdioServer
from toolflow.tools.mcp.life import Life
from toolflow.tools.mcp.transport import StdioTransport

pytestmark = [needs_mcp, posix]

OTHER = {"name": "other", "inputSchema": {"type": "object"}}
ANSWERED = '{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}'


@pytest.fixture(params=["asyncio", "trio"])
def run(request):
    """Runs an async function in real time, and gives up where nothing happens."""

    async def bounded(main, *args):
        with anyio.fail_after(PATIENCE):
            return await main(*args)

    return lambda main, *args: anyio.run(partial(bounded, main), *args, backend=request.param)


@pytest.fixture
def notes(tmp_path):
    found = Notes(tmp_path)
    yield found
    found.close()


@pytest.fixture
def changes():
    return Changes()


# ---- tools ----


def test_tools_are_in_the_box_inside_the_block_only(run):
    box = Toolbox()
    box.tool(name="mine")(lambda: "mine")

    async def main():
        async with McpServers({"one": raw()}, tools=box) as servers:
            assert servers.tools is box
            assert box.names() == (
                "mine",
                "one__add",
                "one__answer",
                "one__change",
                "one__click",
                "one__wait",
            )
            spec = box.find("one__add")
            assert (spec.server, dict(spec.hints)) == ("one", {"readOnlyHint": True})
            assert box.definitions()[4] == {
                "name": "one__click",
                "description": "Press a key.",
                "parameters": {
                    "type": "object",
                    "properties": {"key": {"type": "string"}},
                    "required": ["key"],
                },
            }
        assert box.names() == ("mine",)

    run(main)


def test_arguments_are_checked_before_the_server_sees_them(run, notes):
    async def main():
        async with McpServers({"one": raw(log=notes.path)}) as servers:
            return await outcomes(Engine(servers.tools), "one__add", {"a": "x", "b": 2}, {"a": 1})

    found = run(main)
    assert [outcome.status for outcome in found] == ["invalid_arguments"] * 2
    assert "tools/list" in notes.lines
    assert "tools/call" not in notes.lines


def test_own_names_of_two_servers_that_meet_are_told_and_nothing_is_left_running(run, tmp_path):
    gate = make_gate(tmp_path)
    servers = {
        "one": raw(options={"prefix": ""}, gate=str(gate)),
        "two": raw(options={"prefix": ""}),
    }
    box = Toolbox()

    async def main():
        async with McpServers(servers, tools=box):
            raise AssertionError

    with pytest.raises(ServerError) as caught:
        run(main)
    assert str(caught.value) == (
        "server 'two' has a tool 'add', whose name is taken. Give the server a prefix of its own."
    )
    assert box.names() == ()
    assert nobody_waits(gate)


def test_changed_tools_reach_the_box_and_count_its_version_up(run, changes):
    async def main():
        async with McpServers({"one": raw()}, on_change=changes) as servers:
            box, engine = servers.tools, Engine(servers.tools)
            kept, version = box.get("one__add"), box.version
            adds = {"name": "add", "inputSchema": {"type": "object"}}
            await engine.call("one__change", {"tools": [OTHER, adds]})
            await changes.until(lambda: "one__other" in box)
            assert box.get("one__add") is not kept
            assert box.names() == ("one__add", "one__other")
            assert box.version > version

    run(main)


def test_a_list_that_did_not_change_changes_nothing(run, notes, changes):
    same = {"tools": [OTHER, {**OTHER, "name": "change"}]}

    async def main():
        async with McpServers({"one": raw(log=notes.path)}, on_change=changes) as servers:
            box, engine = servers.tools, Engine(servers.tools)
            await engine.call("one__change", same)
            await changes.until(lambda: "one__other" in box)
            version, tool = box.version, box.get("one__other")
            await engine.call("one__change", same)
            await notes.until("tools/list", 3)
            assert (await engine.call("one__other")).ok  # answered after the list, so that is read
            assert (box.version, box.get("one__other")) == (version, tool)
            assert changes.told == ["one"]

    run(main)


def test_a_call_that_waits_settles_when_its_tool_is_taken_away(run, changes):
    async def main():
        async with McpServers({"one": raw()}, on_change=changes) as servers:
            box = servers.tools

            class Hold(Hooks):
                async def before_call(self, call, context):
                    if call.tool == "one__add":
                        await changes.until(lambda: "one__add" not in box)

            calls = [
                {"id": "a", "tool": "one__change", "args": {"tools": [OTHER]}},
                {"id": "b", "tool": "one__add", "args": {"a": 1, "b": 2}},
            ]
            engine = Engine(box, policy=SAFE)
            return await engine.run({"calls": calls}, hooks=Hold())

    result = run(main)
    assert [outcome.status for outcome in result.outcomes] == ["ok", "unknown_tool"]


def test_a_server_that_changes_its_tools_takes_no_name_of_others(run, changes):
    box = Toolbox()
    box.tool(name="other")(lambda: "mine")
    one = {"one": raw(options={"prefix": ""})}

    async def main():
        async with McpServers(one, tools=box, on_change=changes) as servers:
            await Engine(box).call("change", {"tools": [OTHER]})
            await changes.until(lambda: "add" not in box)
            (statistics,) = servers.statistics()
            assert statistics.left_out == ("other",)
            assert (await Engine(box).call("other")).value == "mine"
        assert box.names() == ("other",)

    run(main)


def test_a_tool_that_somebody_put_in_its_place_stays(run):
    box = Toolbox()

    async def main():
        async with McpServers({"one": raw()}, tools=box):
            box.tool(name="one__add", replace=True)(lambda: "mine")

    run(main)
    assert box.names() == ("one__add",)


# ---- calls ----


def test_results_of_the_official_package_on_the_newer_protocol(run, changes):
    async def main():
        async with McpServers({"m": made()}, on_change=changes) as servers:
            assert servers.statistics()[0].protocol >= "2026"
            engine = Engine(servers.tools, policy={"version": 1, "trust": {"annotations": ["m"]}})
            plan = engine.plan(turn("m__add", {"a": 1, "b": 2}))
            assert plan.calls[0].verdict.kind == "safe"
            found = [(await outcomes(engine, "m__add", {"a": 1, "b": 2}))[0]]
            found += [await engine.call("m__weather", {"city": "Rome"})]
            found += [await engine.call(f"m__{name}") for name in ("names", "picture", "mixed")]
            found += [await engine.call("m__broken", {"why": "so it is"})]
            await engine.call("m__grow")
            await changes.until(lambda: "m__grown" in servers.tools)
            return found, await engine.call("m__grown")

    (added, weather, names, picture, mixed, broken), grown = run(main)
    assert added == Outcome("ok", 3)
    assert weather == Outcome("ok", {"city": "Rome", "degrees": 21.5})
    assert names == Outcome("ok", ["Ada", "Grace"])
    assert (picture.value, [image.media_type for image in picture.images]) == (
        "one dot",
        ["image/png"],
    )
    assert isinstance(picture.images[0], Image)
    assert mixed.value == "a text\n<sound left out: audio/wav, 3 bytes>\nthe notes"
    assert (broken.status, broken.value) == ("failed", None)
    assert grown == Outcome("ok", "grown")


def test_the_older_handshake_can_be_asked_for(changes):
    older = {"m": made(protocol="initialize")}

    async def main():
        async with McpServers(older, on_change=changes) as servers:
            assert servers.statistics()[0].protocol < "2026"
            engine = Engine(servers.tools)
            await engine.call("m__grow")
            await changes.until(lambda: "m__grown" in servers.tools)
            return await engine.call("m__grown")

    assert anyio.run(main) == Outcome("ok", "grown")


def test_answers_in_any_order_reach_their_calls(run):
    async def main():
        async with McpServers({"one": raw(holds=8)}) as servers:
            numbers = [{"a": n, "b": n} for n in range(8)]
            return await outcomes(Engine(servers.tools, policy=SAFE), "one__add", *numbers)

    assert [outcome.value for outcome in run(main)] == [str(2 * n) for n in range(8)]


def test_lines_that_are_no_messages_and_second_answers_change_nothing(run):
    async def main():
        async with McpServers({"one": raw(garbage=True, twice=True)}) as servers:
            numbers = [{"a": n, "b": 1} for n in range(5)]
            found = await outcomes(Engine(servers.tools, policy=SAFE), "one__add", *numbers)
            (statistics,) = servers.statistics()
            assert statistics.odd_lines > 0
            assert statistics.gone is None
            return found

    assert [outcome.value for outcome in run(main)] == ["1", "2", "3", "4", "5"]


def test_a_flood_on_stderr_holds_nothing_up(run):
    async def main():
        async with McpServers({"one": raw(flood=20_000)}) as servers:
            numbers = [{"a": n, "b": 1} for n in range(5)]
            found = await outcomes(Engine(servers.tools, policy=SAFE), "one__add", *numbers)
        return found, servers.statistics()

    found, (statistics,) = run(main)
    assert [outcome.value for outcome in found] == ["1", "2", "3", "4", "5"]
    assert statistics.errors == ("y" * 99,) * 20


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (ANSWERED, Outcome("ok")),
        (
            '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"No such page"}}',
            Outcome("failed", error="Server 'one' refused the call: No such page"),
        ),
        (
            '{"jsonrpc":"2.0","id":ID,"result":[]}',
            Outcome("failed", error="Server 'one' refused the call: its answer cannot be read"),
        ),
        (
            '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\\ud83d"}]}}',
            Outcome("ok", "\ufffd"),
        ),
    ],
)
def test_whatever_is_answered_settles_the_call(line, wanted):
    async def main():
        async with McpServers({"one": raw()}) as servers:
            return await Engine(servers.tools).call("one__answer", {"line": line})

    assert anyio.run(main) == wanted


@pytest.mark.parametrize("line", ['{"jsonrpc":"2.0","id":ID,"result":{"content":5}}'])
def test_a_result_that_is_none_is_a_failure(line):
    async def main():
        async with McpServers({"one": raw()}) as servers:
            return await Engine(servers.tools).call("one__answer", {"line": line})

    outcome = anyio.run(main)
    assert outcome.status == "failed"
    assert outcome.error.startswith("Server 'one' gave no result: what it sent is not valid (")


def test_a_call_with_a_lone_surrogate_fails_and_the_next_one_does_not():
    async def main():
        async with McpServers({"one": raw()}) as servers:
            engine = Engine(servers.tools)
            bad = await engine.call("one__click", {"key": "\ud83d"})
            return bad, await engine.call("one__click", {"key": "k"})

    bad, good = anyio.run(main)
    assert bad.status == "failed"
    assert good == Outcome("ok", '{"key": "k"}')


def test_a_timeout_is_told_at_once_and_the_server_hears_of_it(run, notes):
    policy = {"version": 1, "rules": [{"tool": "one__wait", "timeout": 0.2}]}

    async def main():
        async with McpServers({"one": raw(log=notes.path)}) as servers:
            engine = Engine(servers.tools, policy=policy)
            outcome = await engine.call("one__wait")
            await notes.until("notifications/cancelled")
            return outcome, await engine.call("one__add", {"a": 1, "b": 2})

    outcome, added = run(main)
    assert outcome.status == "timed_out"
    assert added == Outcome("ok", "3")


def test_an_abort_is_told_at_once_and_the_server_hears_of_it(run, notes):
    control = Control()

    async def main():
        async with McpServers({"one": raw(log=notes.path)}) as servers:
            engine, found = Engine(servers.tools, policy=SAFE), []

            async def work():
                found.append(await engine.run(turn("one__wait", {}, {}), control=control))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
                await notes.until("waiting", 2)
                control.abort()
            await notes.until("notifications/cancelled", 2)
            return found[0]

    result = run(main)
    assert [outcome.status for outcome in result.outcomes] == ["aborted", "aborted"]


def test_a_server_that_reads_no_more_holds_nothing_up(run):
    long = {"key": "x" * 1_000_000}  # more than a pipe holds
    policy = {"version": 1, "rules": [{"server": "*", "safe": True, "timeout": 0.3}]}

    async def main():
        async with McpServers({"one": raw(options={"grace": 0.1}, deaf=True)}) as servers:
            return await outcomes(Engine(servers.tools, policy=policy), "one__click", long, long)

    assert [outcome.status for outcome in run(main)] == ["timed_out", "timed_out"]


@pytest.mark.parametrize("what", ["output", "input"])
def test_a_server_that_closes_a_pipe_has_gone_though_it_still_runs(run, notes, what):
    closes = raw(options={"grace": 0.1}, closes=what, log=notes.path)

    async def main():
        found = []
        async with McpServers({"one": closes}) as servers, anyio.create_task_group() as tasks:
            engine = Engine(servers.tools)

            async def work(key):
                found.append(await engine.call("one__click", {"key": key}))

            tasks.start_soon(work, "a")
            await notes.until("closed")
            tasks.start_soon(work, "b")
        return found

    told = f"Server 'one' is gone: it closed its {what}."
    assert [outcome.error for outcome in run(main)] == [told, told]


def test_calls_that_wait_when_the_block_is_left_fail(run, notes):
    async def main():
        found, one = [], McpServers({"one": raw(log=notes.path)})
        async with anyio.create_task_group() as tasks, one as servers:
            engine = Engine(servers.tools)

            async def work():
                found.append(await engine.call("one__wait"))

            tasks.start_soon(work)
            await notes.until("waiting")
        return found

    assert run(main) == [Outcome("failed", error="Server 'one' is gone: it was closed.")]


def test_a_server_is_of_no_use_in_another_event_loop():
    async def main():
        async with McpServers({"one": raw()}) as servers:
            engine = Engine(servers.tools)
            return await anyio.to_thread.run_sync(
                partial(engine.call_sync, "one__add", {"a": 1, "b": 2})
            )

    outcome = anyio.run(main)
    assert outcome.error == "Server 'one' was opened in another event loop."


# ---- starting ----


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (StdioServer(command="no-such-program"), "there is no 'no-such-program' to run."),
        (
            StdioServer(command=sys.executable, cwd="/no/such/folder"),
            "the folder to run in is not there, or is no folder.",
        ),
        (
            raw(exits=4, stderr="no root given\nusage: raw ROOT\n"),
            "it ended with exit code 4. It wrote last: no root given | usage: raw ROOT",
        ),
        (raw(exits=0), "it ended with exit code 0."),
        (
            raw(options={"start_timeout": 2}, silent=True, stderr="thinking"),
            "it did not list its tools within 2 seconds. It wrote last: thinking",
        ),
        (
            raw(version="1999-01-01"),
            "RuntimeError: Unsupported protocol version from the server: 1999-01-01.",
        ),
        (
            raw(tools=[{"name": "x", "inputSchema": {}}]),
            "what it sent is not valid (tools.0.inputSchema.type: Field required).",
        ),
    ],
    ids=["program", "folder", "exits", "exits well", "silent", "version", "tools"],
)
def test_a_server_that_does_not_start_is_told_in_one_line(run, server, said):
    async def main():
        async with McpServers({"good": raw(), "bad": server}):
            raise AssertionError

    with pytest.raises(ServerError) as caught:
        run(main)
    assert str(caught.value) == f"server 'bad' did not start: {said}"
    assert caught.value.server == "bad"


def test_the_block_is_entered_once():
    async def main():
        servers = McpServers({})
        async with servers:
            pass
        with pytest.raises(UsageError, match="Make another McpServers"):
            await servers.__aenter__()

    anyio.run(main)


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)

    async def main():
        async with McpServers({"one": raw()}):
            raise AssertionError

    with pytest.raises(UsageError) as caught:
        anyio.run(main)
    assert str(caught.value) == (
        "MCP servers need the package mcp, which is not here. "
        "Install it: pip install 'toolflow[mcp]'."
    )


def test_an_older_package_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", sys)

    async def main():
        async with McpServers({"one": raw()}):
            raise AssertionError

    with pytest.raises(UsageError, match="the package mcp from version 2 on"):
        anyio.run(main)


# ---- ending ----


def test_an_exception_in_the_block_passes_as_it_is_and_ends_child_and_grandchild(run, tmp_path):
    gate, found = make_gate(tmp_path), []

    async def main():
        async with McpServers({"one": raw(gate=str(gate))}):
            found.append(await hold(gate))
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        run(main)
    assert has_no_reader(found[0])


def test_a_cancelled_block_ends_child_and_grandchild(run, tmp_path):
    gate, found = make_gate(tmp_path), []

    async def main():
        with anyio.CancelScope() as scope:
            async with McpServers({"one": raw(gate=str(gate))}):
                found.append(await hold(gate))
                scope.cancel()
                await anyio.sleep_forever()

    run(main)
    assert has_no_reader(found[0])


def test_a_start_that_is_cancelled_ends_child_and_grandchild(run, tmp_path):
    gate, found = make_gate(tmp_path), []

    async def main():
        with anyio.CancelScope() as scope:

            async def cancel():
                found.append(await hold(gate))
                scope.cancel()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(cancel)
                async with McpServers({"one": raw(silent=True, gate=str(gate))}):
                    raise AssertionError

    run(main)
    assert has_no_reader(found[0])


def test_a_server_that_ends_for_nobody_is_made_to(run, tmp_path):
    gate = make_gate(tmp_path)
    stubborn = raw(options={"grace": 0.1}, stays=True, gate=str(gate))

    async def main():
        async with McpServers({"one": stubborn}) as servers:
            assert (await Engine(servers.tools).call("one__add", {"a": 1, "b": 2})).ok
            return await hold(gate)

    assert has_no_reader(run(main))


def test_a_grandchild_that_holds_the_pipes_does_not_hide_that_the_server_has_gone(
    run, tmp_path, changes
):
    gate = make_gate(tmp_path)
    dies = {"one": raw(gate=str(gate), dies_at=1)}

    async def main():
        async with McpServers(dies, on_change=changes) as servers:
            engine = Engine(servers.tools)
            held = await hold(gate)
            outcome = await engine.call("one__add", {"a": 1, "b": 2})
            await changes.until(lambda: servers.statistics()[0].gone is not None)
            return held, outcome

    held, outcome = run(main)
    assert outcome.error == "Server 'one' is gone: it ended with exit code 3."
    assert has_no_reader(held)


def test_a_server_has_not_gone_before_its_last_answer_was_heard(run):
    script = """print('{"jsonrpc": "2.0", "id": 1, "result": {}}')"""

    async def main():
        life = Life()
        server = StdioServer(command=sys.executable, args=["-c", script])
        async with StdioTransport(server, life) as (incoming, _):
            while not life.is_going():
                await anyio.lowlevel.checkpoint()
            assert not life.gone.is_set()
            heard = await incoming.receive()
            await life.gone.wait()
        return heard, life.why

    heard, why = run(main)
    assert heard.message.id == 1
    assert why == "it ended with exit code 0"


def test_a_second_ctrl_c_on_the_way_out_waits_for_no_server(run):
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"

    async def main():
        server = StdioServer(command=sys.executable, args=["-c", script], grace=3600)
        transport = StdioTransport(server, Life())
        pressed = KeyboardInterrupt()
        with anyio.fail_after(PATIENCE):
            await transport.__aenter__()
            await transport.__aexit__(type(pressed), pressed, None)
        return transport._child.how_it_ended

    assert run(main) == "was ended by SIGKILL"


def test_a_server_does_not_see_the_secrets_of_this_process(run, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_SECRET", "s3cret")
    script = "import os, sys; sys.exit(5 if 'MY_SECRET' in os.environ else 6)"

    async def main(**env):
        async with McpServers(
            {"one": StdioServer(command=sys.executable, args=["-c", script], **env)}
        ):
            raise AssertionError

    with pytest.raises(ServerError, match="exit code 6"):
        run(main)
    with pytest.raises(ServerError, match="exit code 5"):
        run(partial(main, env={"MY_SECRET": "given"}))


# ---- HTTP ----


@pytest.fixture(scope="module")
def http():
    """The address of a server that is reached by HTTP, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, MADE, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if "running on" in line:
            break
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_server_is_reached_by_http(run, http):
    async def main():
        async with McpServers({"m": HttpServer(url=http, headers={"x-mine": "1"})}) as servers:
            return await outcomes(Engine(servers.tools, policy=SAFE), "m__add", {"a": 1, "b": 2})

    assert run(main) == [Outcome("ok", 3)]


def test_nobody_at_the_address_is_told(run):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # taken, and not listened at
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/mcp"

        async def main():
            async with McpServers({"m": HttpServer(url=url)}):
                raise AssertionError

        with pytest.raises(ServerError, match=r"server 'm' did not start: ConnectError: .*"):
            run(main)


def test_the_arguments_of_a_call_reach_the_server_as_they_are(run):
    args = {"key": "ключ", "list": [1, 2.5, None, {"a": []}], "self": True}

    async def main():
        async with McpServers({"one": raw()}) as servers:
            return await Engine(servers.tools).call("one__click", args)

    assert json.loads(run(main).value) == args
