"""Flows with MCP servers: what may stand in the file, starting, running, stopping."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from gates import has_no_reader, hold, make_gate, nobody_waits
from mcp_servers import PATIENCE, RAW, Notes, needs_mcp, posix, raw

from toolflow.cli import main
from toolflow.errors import FlowError
from toolflow.flow import load_flow, run_flow
from toolflow.runtime.control import Control
from toolflow.yamlio import dump

ADD = {"id": "add", "tool": "s__add", "args": {"a": 1, "b": 2}}


def flow(folder: Path, servers, *calls, **more) -> Path:
    """A flow file with one stage, or with those given."""
    stages = more.pop("stages", [{"id": "one", "calls": list(calls) or [ADD]}])
    tools = {"mcp": servers, **more.pop("tools", {})}
    path = folder / "flow.yaml"
    path.write_text(dump({"version": 1, "name": "x", "tools": tools, "stages": stages, **more}))
    return path


def server(**how):
    """The raw server, as it stands in a flow file."""
    made = raw(**how)
    return {"command": made.command, "args": list(made.args)}


@pytest.fixture
def notes(tmp_path):
    found = Notes(tmp_path)
    yield found
    found.close()


@pytest.fixture(params=["asyncio", "trio"])
def run(request):
    async def bounded(body):
        with anyio.fail_after(PATIENCE):
            return await body()

    return lambda body: anyio.run(partial(bounded, body), backend=request.param)


# ---- the file ----


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "4:10: tools.mcp.fs is an empty mapping. Use either command or url."),
        (
            "{command: x, url: 'https://x'}",
            "4:10: tools.mcp.fs is a mapping. Use either command or url.",
        ),
        (
            "{url: 'https://x', args: [a]}",
            (
                "4:10: tools.mcp.fs is a mapping. Its field 'args' is for a server with a command. "
                "Leave it out."
            ),
        ),
        (
            "{command: x, headers: {a: b}}",
            (
                "4:10: tools.mcp.fs is a mapping. Its field 'headers' is for a server with a url. "
                "Leave it out."
            ),
        ),
        ("{comand: x}", "4:11: tools.mcp.fs.comand is not a known field. Did you mean 'command'?"),
        (
            "{command: x, args: [1]}",
            "4:30: tools.mcp.fs.args[0] is 1. Use text.",
        ),
        (
            "{command: x, env: {A: 1}}",
            "4:32: tools.mcp.fs.env.A is 1. Use text.",
        ),
        (
            "{url: 'fs'}",
            "4:16: tools.mcp.fs.url is 'fs'. Use an address that begins with https:// or http://.",
        ),
        (
            "{command: x, start_timeout: soon}",
            (
                "4:38: tools.mcp.fs.start_timeout is 'soon'. Use a duration above 0 such as 500ms, "
                "30s, 2m or 1h, or a number of seconds."
            ),
        ),
        (
            "{command: x, protocol: new}",
            "4:33: tools.mcp.fs.protocol is 'new'. Use 'auto' or 'initialize'.",
        ),
    ],
)
def test_a_wrong_server_is_told_with_line_and_column(tmp_path, text, said):
    path = tmp_path / "flow.yaml"
    path.write_text(
        f"version: 1\nname: x\ntools: {{mcp: {{\n     fs: {text}}}}}\n"
        "stages: [{id: one, calls: [{tool: t}]}]\n"
    )
    with pytest.raises(FlowError) as caught:
        load_flow(path)
    assert str(caught.value) == f"{path}:{said}"


def test_a_name_that_no_server_can_have_is_told(tmp_path):
    path = flow(tmp_path, {"a b": {"command": "x"}})
    with pytest.raises(FlowError) as caught:
        load_flow(path)
    assert str(caught.value) == (
        f"{path}:3:20: tools.mcp['a b'] is 'a b'. Use at most 64 letters, digits, '_', '-' and "
        "'.', with a letter or a digit first."
    )


def test_a_flow_is_checked_without_starting_anything(tmp_path):
    path = flow(tmp_path, {"s": {"command": "no-such-program", "env": {"A": "${NOT_SET}"}}})
    assert main(["check", str(path)]) == 0


# ---- running ----


@needs_mcp
@posix
def test_results_of_a_server_go_on_to_the_next_stage(tmp_path, capsys):
    stages = [
        {"id": "one", "calls": [ADD]},
        {"id": "two", "calls": [{"tool": "s__click", "args": {"key": "{{ results.one.add }}"}}]},
    ]
    path = flow(tmp_path, {"s": server()}, stages=stages)
    assert main(["run", str(path), "--out", str(tmp_path / "out"), "-q"]) == 0
    assert '{"key": "3"}' in capsys.readouterr().out


@needs_mcp
@posix
def test_a_server_runs_in_the_copy_of_the_workspace(tmp_path, run):
    (tmp_path / "work" / "sub").mkdir(parents=True)
    script = "import os, sys; sys.stderr.write(os.getcwd()); sys.exit(1)"
    where = {"s": {"command": sys.executable, "args": ["-c", script], "cwd": "sub"}}
    path = flow(tmp_path, where, tools={"workspace": {"root": "work", "copy": True}})
    with pytest.raises(FlowError) as caught:
        run(partial(run_flow, load_flow(path), out=tmp_path / "out"))
    folder = (tmp_path / "out" / "workspace" / "sub").resolve()
    assert str(caught.value).endswith(f"exit code 1. It wrote last: {folder}")


@needs_mcp
@posix
def test_a_server_that_does_not_start_is_told_at_its_place_and_no_other_remains(tmp_path, capsys):
    gate = make_gate(tmp_path)
    servers = {"good": server(gate=str(gate)), "bad": server(exits=3, stderr="no root")}
    path = flow(tmp_path, servers)
    assert main(["run", str(path), "--out", str(tmp_path / "out"), "-q"]) == 2
    line = 1 + path.read_text().splitlines().index("    bad:")
    assert capsys.readouterr().err == (
        f"toolflow: {path}:{line}:5: server 'bad' did not start: "
        "it ended with exit code 3. It wrote last: no root\n"
    )
    assert nobody_waits(gate)


@needs_mcp
def test_variables_that_are_not_set_are_told_all_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("IS_SET", "x")
    servers = {
        "a": {"command": "x", "env": {"A": "${IS_SET}${NOT_SET}"}},
        "b": {"url": "https://x", "headers": {"Authorization": "Bearer ${NEITHER}"}},
    }
    path = flow(tmp_path, servers)
    with pytest.raises(FlowError) as caught:
        anyio.run(partial(run_flow, load_flow(path), out=tmp_path / "out"))
    first, second = caught.value.problems
    assert first.message == (
        "tools.mcp.a.env.A names the environment variable 'NOT_SET', which is not set."
    )
    assert "tools.mcp.b.headers.Authorization names the environment variable" in second.message
    assert None not in (first.line, second.line)


@needs_mcp
@posix
def test_variables_reach_the_server(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "t0ken")
    script = "import os, sys; sys.stderr.write(os.environ['TOKEN']); sys.exit(1)"
    given = {"TOKEN": "is ${MY_TOKEN}!"}
    path = flow(tmp_path, {"s": {"command": sys.executable, "args": ["-c", script], "env": given}})
    with pytest.raises(FlowError, match="It wrote last: is t0ken!"):
        anyio.run(partial(run_flow, load_flow(path), out=tmp_path / "out"))


def test_without_the_package_one_line_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp", None)
    path = flow(tmp_path, {"s": {"command": "x"}})
    assert main(["run", str(path), "--out", str(tmp_path / "out"), "-q"]) == 2
    assert capsys.readouterr().err == (
        f"toolflow: {path}:3:9: MCP servers need the package mcp, which is not here. "
        "Install it: pip install 'toolflow[mcp]'.\n"
    )


# ---- stopping ----


@needs_mcp
@posix
def test_an_abort_while_servers_start_ends_them_and_the_flow(tmp_path, run):
    gate, control, found = make_gate(tmp_path), Control(), []
    path = flow(tmp_path, {"s": server(silent=True, gate=str(gate))})

    async def body():
        async def abort():
            found.append(await hold(gate))
            control.interrupt()
            control.abort()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(abort)
            return await run_flow(load_flow(path), out=tmp_path / "out", control=control)

    result = run(body)
    assert result.status == "aborted"
    assert [(stage.status, stage.reason) for stage in result.stages] == [
        ("aborted", "it was aborted while the servers started")
    ]
    assert result.recording.turns == ()
    assert has_no_reader(found[0])


@needs_mcp
@posix
def test_an_interrupt_while_servers_start_pauses_the_first_stage(tmp_path, run, notes):
    control = Control()
    path = flow(tmp_path, {"s": server(log=notes.path)})

    async def body():
        async def interrupt():
            await notes.until("started")
            control.interrupt()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(interrupt)
            return await run_flow(load_flow(path), out=tmp_path / "out", control=control)

    assert run(body).status == "paused"
    assert "tools/call" not in notes.lines


@needs_mcp
@posix
def test_an_abort_of_the_flow_ends_its_servers(tmp_path, run, notes):
    gate, control, found = make_gate(tmp_path), Control(), []
    servers = {"s": server(gate=str(gate), log=notes.path)}
    path = flow(tmp_path, servers, {"tool": "s__wait"}, ADD)

    async def body():
        async def abort():
            await notes.until("waiting")
            found.append(await hold(gate))
            control.abort()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(abort)
            return await run_flow(load_flow(path), out=tmp_path / "out", control=control)

    (stage,) = run(body).stages
    assert [outcome.status for outcome in stage.run.outcomes] == ["aborted", "not_started"]
    assert has_no_reader(found[0])


# The second Ctrl-C comes, by way of SIGUSR1, while the event loop waits: one that hits its own
# bookkeeping can break anything.
PROGRAM = """
import asyncio, signal, sys, anyio
from toolflow.engine import Engine
from toolflow.tools.mcp import McpServers, StdioServer

async def main():
    if sys.argv[1] == "asyncio":
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, signal.raise_signal, signal.SIGINT)
    server = StdioServer(command=sys.executable, args=sys.argv[2:], grace=3600)
    async with McpServers({"s": server}) as servers:
        await Engine(servers.tools).call("s__wait")

anyio.run(main, backend=sys.argv[1])
"""


def started(backend, **how):
    """A program with one server, which has a child of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, backend, *raw(**how).args],
        stderr=subprocess.PIPE,
        text=True,
    )


def held(gate):
    async def opened():
        with anyio.fail_after(PATIENCE):
            return await hold(gate)

    return anyio.run(opened)


def wait_for(notes, line):
    async def wait():
        with anyio.fail_after(PATIENCE):
            await notes.until(line)

    anyio.run(wait)


@needs_mcp
@posix
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("moment", ["started", "waiting"])
def test_ctrl_c_leaves_no_process(tmp_path, notes, backend, moment):
    gate = make_gate(tmp_path)
    program = started(backend, gate=str(gate), log=notes.path, silent=moment == "started")
    wait_for(notes, moment)
    end = held(gate)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in errors
    assert has_no_reader(end)


@needs_mcp
@posix
def test_ctrl_c_twice_does_not_wait_for_a_server_that_ends_for_nobody(tmp_path, notes):
    gate = make_gate(tmp_path)
    program = started("asyncio", gate=str(gate), log=notes.path, stays=True)
    wait_for(notes, "waiting")
    end = held(gate)
    program.send_signal(signal.SIGINT)
    wait_for(notes, "ending")
    program.send_signal(signal.SIGUSR1)
    _, errors = program.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in errors
    assert has_no_reader(end)


def test_the_script_is_where_it_is_said_to_be():
    assert Path(RAW).is_file()
