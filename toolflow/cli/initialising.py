"""``toolflow init``: a policy to start from, made of a list of tools, a log or a flow."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import typer

from toolflow import yamlio
from toolflow.cli.console import tell
from toolflow.cli.inputs import Input, look_at, turns_of
from toolflow.errors import DocumentError, UsageError
from toolflow.flow import Flow, load_flow
from toolflow.flow.servers import open_servers
from toolflow.flow.toolset import toolbox_of
from toolflow.formats import read_document
from toolflow.formats.session import open_session
from toolflow.formats.tool_lists import read_tool_list, tool_lines
from toolflow.model import Call, RecordedTurn, ToolSpec
from toolflow.model.turn import EMPTY
from toolflow.policy.knowing import server_of
from toolflow.policy.seen import seen_tools
from toolflow.policy.starting import starting_policy
from toolflow.recording.atomic import write_text
from toolflow.runtime.control import Control
from toolflow.tools.mcp.definition import check_name

_HARNESSES: Final = frozenset({"claude-code", "codex", "gemini-cli"})
_MOST: Final = 50_000_000  # bytes of a list of tools; logs are read as streams


@dataclass(frozen=True, slots=True)
class _Found:
    """Tools, where they were found: see `starting_policy`."""

    tools: Sequence[ToolSpec]
    harness: str | None = None
    examples: Mapping[str, Sequence[Mapping[str, Any]]] = EMPTY


def init(
    source: str = typer.Argument(
        ..., metavar="SOURCE", help="A list of tools, a log, or a flow with tools."
    ),
    to: str | None = typer.Option(None, "--to", help="Write the policy to this file."),
    force: bool = typer.Option(False, "--force", help="Replace the file if it is there."),
    server: str | None = typer.Option(
        None, "--server", help="What you call the MCP server whose tools are listed."
    ),
    form: str | None = typer.Option(None, "--format", help="The format of a log."),
) -> int:
    """Write a policy to start from: closed, with guesses to look at, and cases.

    SOURCE is a list of tools (tools/list of MCP, or definitions for Anthropic, OpenAI or Gemini), a
    session log or messages (names and arguments that were seen), or a flow, whose MCP servers are
    then started and asked.
    """
    if to is not None and Path(to).exists() and not force:
        raise UsageError(f"{to}: this file is there already. Name another one, or use --force.")
    if server is not None:
        check_name(server)
    found = _found(source, server, form)
    named = "standard input" if source == "-" else Path(source).name
    text = starting_policy(
        found.tools, made_of=named, harness=found.harness, examples=found.examples
    )
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_text(to, text)
        tell(f"written: {to}")
    return 0


def _found(source: str, server: str | None, form: str | None) -> _Found:
    if source == "-":
        return _from_input(sys.stdin.read(), server, form)
    if form is None and (listed := _listed(source, server)):
        return _Found(listed)
    if server is not None:
        raise UsageError(f"{source}: this is no list of tools, which --server is for.")
    given, calls = _looked_at(source, form)
    if given.kind == "flow":
        flow = load_flow(source)
        tools = anyio.run(partial(_tools_of, flow))
        return _Found(tools, "workspace" if flow.tools.workspace is not None else None)
    if given.kind in ("policy", "plan"):
        raise UsageError(f"{source}: this is {given.what}. Name tools, a log or a flow.")
    seen = seen_tools(calls)
    if not seen.tools:
        raise UsageError(f"{source}: there are neither tools nor calls in it.")
    harness = _log_format(given.path, form) if given.kind == "log" else None
    return _Found(seen.tools, harness if harness in _HARNESSES else None, seen.examples)


def _from_input(text: str, server: str | None, form: str | None) -> _Found:
    """Tools or turns that come over standard input."""
    try:
        value: Any = yamlio.load(text, source="<stdin>").value
    except DocumentError:
        value = tool_lines(text)
    if form is None and (listed := _of_server("<stdin>", value, server)):
        return _Found(listed)
    turns = read_document(text, source="<stdin>", format=form)
    seen = seen_tools(call for turn in turns for call in turn.calls)
    if not seen.tools:
        raise UsageError("<stdin>: there are neither tools nor calls in it.")
    return _Found(seen.tools, None, seen.examples)


def _looked_at(source: str, form: str | None) -> tuple[Input, Iterable[Call]]:
    """What a file is, and its calls; what is no document may be a log all the same."""
    try:
        given = look_at(source, forced=form)
    except DocumentError as error:
        given = Input(source, "log")
        try:
            return given, _calls(turns_of(given, form))
        except DocumentError:
            raise error from None
    logged = given.kind in ("log", "turns", "recording")
    return given, _calls(turns_of(given, form)) if logged else ()


def _calls(turns: Iterable[RecordedTurn]) -> Iterator[Call]:
    return (call for one in turns for call in one.turn.calls)


def _listed(source: str, server: str | None) -> tuple[ToolSpec, ...]:
    """The tools that a file declares; none where it is something else."""
    path = Path(source)
    try:
        if not path.is_file() or path.stat().st_size > _MOST:
            return ()
        value = _lines(path) if path.suffix == ".jsonl" else _document(path)
    except OSError:
        return ()  # whoever reads it next tells why it cannot be read
    is_flow = isinstance(value, dict) and "stages" in value
    return () if is_flow else _of_server(source, value, server)


def _lines(path: Path) -> Any:
    """The objects of a file with one a line; a log may be large, and its first line tells it."""
    with path.open("rb") as file:
        first = file.readline(1_000_000).decode("utf-8", "replace")
    if read_tool_list(tool_lines(f"{first}\n{first}")) is None:
        return None
    return tool_lines(path.read_text("utf-8", "replace"))


def _document(path: Path) -> Any:
    try:
        return yamlio.load_file(path).value
    except DocumentError:
        return tool_lines(path.read_text("utf-8", "replace"))


def _of_server(source: str, value: Any, server: str | None) -> tuple[ToolSpec, ...]:
    """The tools that a value declares, of the server that is named or that has such tools."""
    found = read_tool_list(value, server=server)
    if found is None:
        return ()
    if found.server is None and found.of_server and (known := server_of(found.tools)):
        tell(f"{source}: taken as the tools of the server {known!r}; --server names another one")
        return tuple(replace(tool, server=known) for tool in found.tools)
    return found.tools


def _log_format(path: str, form: str | None) -> str | None:
    try:
        return open_session(path, format=form).format.name
    except DocumentError:
        return None


async def _tools_of(flow: Flow) -> list[ToolSpec]:
    """The tools of a flow; its servers are started, asked and ended."""
    root = None if flow.tools.workspace is None else flow.folder / flow.tools.workspace.root
    tools = toolbox_of(flow, root)
    async with open_servers(flow, root, tools, Control()):
        return [tool.spec for tool in tools]
