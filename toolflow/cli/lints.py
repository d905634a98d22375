"""What ``toolflow check`` tells of policies that load: warnings, with the tools that are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolflow import yamlio
from toolflow.errors import DocumentError, Problem, UsageError
from toolflow.flow import Flow, load_flow
from toolflow.formats.tool_lists import read_tool_list, tool_lines
from toolflow.model import Call, ToolSpec, Turn
from toolflow.policy import Policy
from toolflow.policy.extras import missing_extras
from toolflow.policy.knowing import server_of
from toolflow.policy.lint import lint_policy
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools import shell_tool, workspace


@dataclass(frozen=True, slots=True)
class Known:
    """Tools that are known.

    Attributes:
        tools: Their declarations.
        complete: Whether there are no others.
    """

    tools: tuple[ToolSpec, ...] = ()
    complete: bool = True


def policy_problems(policy: Policy, lists: Iterable[str] = ()) -> tuple[Problem, ...]:
    """The faults and warnings of a policy.

    Args:
        policy: The policy.
        lists: Files with tools: see `known_tools`.

    Raises:
        UsageError: If such a file holds no tools.
    """
    known = [known_tools(name) for name in lists]
    return (*missing_extras(policy), *_linted(policy, known))


def flow_problems(flow: Flow, lists: Iterable[str] = ()) -> tuple[Problem, ...]:
    """Calls of tools that are not there; the warnings of its policy, held against its own tools.

    Args:
        flow: The flow.
        lists: Further files with tools.

    Raises:
        UsageError: If such a file holds no tools.
    """
    known = [tools_of_flow(flow), *(known_tools(name) for name in lists)]
    unknown = _unknown_tools(flow, known)
    found = (*missing_extras(flow.policy), *_linted(flow.policy, known))
    if flow.policy.source == "<policy>":
        line, column = flow.document.where(("policy",))  # it stands inside of the flow
        found = tuple(replace(one, source=flow.source, line=line, column=column) for one in found)
    return (*unknown, *found)


def _unknown_tools(flow: Flow, known: Sequence[Known]) -> Iterator[Problem]:
    """Calls that would settle as unknown tools, where all tools are known beforehand."""
    if not all(each.complete for each in known):
        return
    tools = Toolbox()
    for spec in {spec.name: spec for each in known for spec in each.tools}.values():
        tools.add(spec, lambda: None)
    for place, stage in enumerate(flow.stages):
        calls: list[tuple[tuple[str | int, ...], str]]
        if isinstance(stage.turn, Turn):
            calls = [(("message",), call.tool) for call in stage.turn.calls]
        else:
            calls = [(("calls", n, "tool"), call.spec.tool) for n, call in enumerate(stage.calls)]
        made = tuple(Call(n, str(n), tool) for n, (_, tool) in enumerate(calls))
        batch = flow.policy.classify(Turn(stage.id, made, carries_ids=False), tools)
        for (where, _), call in zip(calls, batch.calls, strict=True):
            if call.verdict.status == "unknown_tool":
                here = ("stages", place, *where)
                yield flow.document.problem(here, call.verdict.reason, code="unknown_tool")


def known_tools(name: str) -> Known:
    """The tools in a file: a list of tools in any form, or a flow.

    Args:
        name: The file.

    Raises:
        UsageError: If it holds none.
    """
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"--tools {name}: this file is not there. Name a list of tools or a flow.")
    try:
        value = yamlio.load_file(path).value
    except DocumentError:
        value = tool_lines(path.read_text("utf-8", "replace"))
    if isinstance(value, dict) and "stages" in value:
        return tools_of_flow(load_flow(path))
    found = read_tool_list(value)
    if found is None:
        raise UsageError(
            f"--tools {name}: there are no tools in it. Name what tools/list of MCP gives, the "
            "definitions of Anthropic, OpenAI or Gemini, or a flow."
        )
    server = found.server or (server_of(found.tools) if found.of_server else None)
    tools = tuple(replace(tool, server=server) for tool in found.tools)
    return Known(tools)


def tools_of_flow(flow: Flow) -> Known:
    """The tools that a flow declares, as far as they are known without importing or starting any.

    Args:
        flow: The flow.
    """
    tools = Toolbox()
    spec = flow.tools.workspace
    if spec is not None and (flow.folder / spec.root).is_dir():
        tools.include(workspace(flow.folder / spec.root))
    for name, shell in flow.tools.shell.items():
        try:
            shell_tool(tools, name, shell.argv, cwd=flow.folder, timeout=shell.timeout)
        except UsageError:
            continue  # running the flow tells it
    others = flow.tools.python or flow.tools.mcp
    return Known(tuple(tool.spec for tool in tools), complete=not others)


def _linted(policy: Policy, known: Sequence[Known]) -> tuple[Problem, ...]:
    if not known:
        return lint_policy(policy)
    tools = {(spec.name, spec.server): spec for each in known for spec in each.tools}
    complete = all(each.complete for each in known)
    return lint_policy(policy, tuple(tools.values()), complete=complete)
