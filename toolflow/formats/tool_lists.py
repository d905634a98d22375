"""Declarations of tools: what a server offers, or what a request tells a model that it may call.

Read are `tools/list` of MCP (the answer, its result, or a file that holds its ``tools``), the
definitions of Anthropic, of OpenAI Chat and Responses, and of Gemini; as a list, one by one, one a
line, or inside of the request that carries them. Each becomes a `ToolSpec`: name, what the model is
told, the schema of its arguments, its hints. A tool that the provider runs itself (a web search in
Responses) is no tool here: nobody has to schedule its calls.

Source: the MCP specification on ``tools/list``, and the providers' references on declaring tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolflow.model import ToolSpec
from toolflow.model.turn import EMPTY

_SCHEMAS: Final = ("inputSchema", "input_schema", "parameters", "parametersJsonSchema")
_HOLDERS: Final = (
    "tools",
    "function",
    "functions",
    "functionDeclarations",
    "function_declarations",
)
_CALLS: Final = frozenset({"role", "arguments", "args", "input", "call_id", "tool_call_id"})
_MAX_TOOLS: Final = 10_000
_NO_SCHEMA: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class ToolList:
    """What was declared.

    Attributes:
        tools: The tools in their order; of two with one name, the first.
        server: The server that the file names, or ``None``.
        of_server: Whether they are in the form in which MCP servers list their tools.
    """

    tools: tuple[ToolSpec, ...] = ()
    server: str | None = None
    of_server: bool = False


def read_tool_list(value: Any, *, server: str | None = None) -> ToolList | None:
    """Read declarations of tools.

    Args:
        value: A JSON-like value of any shape.
        server: The server that they are of; by default the one that the value names, if any.

    Returns:
        The tools, or ``None`` where the value holds no declarations.
    """
    named = server or _server_of(value)
    found: dict[str, ToolSpec] = {}
    of_server = False
    for declared in _declared(value, 0):
        spec = _spec(declared, named)
        of_server = of_server or "inputSchema" in declared
        found.setdefault(spec.name, spec)
        if len(found) >= _MAX_TOOLS:
            break
    return ToolList(tuple(found.values()), named, of_server) if found else None


def tool_lines(text: str) -> list[Any] | None:
    """The values of a text that is one JSON object a line, or ``None`` where it is not.

    Args:
        text: The text of a file.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        values = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    return values if len(values) > 1 else None


def _server_of(value: Any) -> str | None:
    name = value.get("server") if isinstance(value, dict) else None
    return name if isinstance(name, str) and name else None


def _declared(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The declarations in a value: itself, its items, what stands under ``tools`` and the like."""
    if depth > 4:
        return
    if isinstance(value, list):
        for item in value:
            yield from _declared(item, depth + 1)
        return
    if not isinstance(value, dict):
        return
    tool = _tool(value)
    if tool is not None:
        yield tool
        return
    result = value.get("result")
    for holder in (value, result if isinstance(result, dict) else {}):
        for name in _HOLDERS:
            if isinstance(holder.get(name), list):
                yield from _declared(holder[name], depth + 1)


def _tool(value: dict[str, Any]) -> dict[str, Any] | None:
    """The declaration that a value is: of a function, or of a tool that takes plain text."""
    inner = value.get("function")
    tool = inner if isinstance(inner, dict) and value.get("type") == "function" else value
    name = tool.get("name")
    if not isinstance(name, str) or not name.strip() or not _CALLS.isdisjoint({*value, *tool}):
        return None
    if value.get("type") in ("function", "custom") or _schema(tool) is not None:
        return tool
    hinted = isinstance(value.get("annotations"), dict)
    bare = isinstance(value.get("description"), str) and set(value) <= {"name", "description"}
    return tool if hinted or bare else None  # Gemini leaves the schema out where there is none


def _schema(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for name in _SCHEMAS:
        schema = tool.get(name)
        if isinstance(schema, dict) and ("type" in schema or "properties" in schema or not schema):
            return schema
    return None


def _spec(tool: Mapping[str, Any], server: str | None) -> ToolSpec:
    said, hints = tool.get("description"), tool.get("annotations")
    return ToolSpec(
        tool["name"].strip(),
        description=said if isinstance(said, str) else "",
        parameters=_schema(tool) or _NO_SCHEMA,
        server=server,
        hints=hints if isinstance(hints, dict) else EMPTY,
    )
