"""Lists of tools: what a server offers or a request declares. They hold no turns, and that is told.

People keep them beside their logs (``tools/list`` of MCP, schemas in the form of a provider). To
say "this is a list of 12 tools, which are no calls" (``no_calls``) is more use than to say that the
format cannot be told.

Source: the MCP specification on ``tools/list``, and the providers' references on declaring tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.model import Notice, RecordedTurn

NAME = "tool-list"
_SCHEMAS = ("inputSchema", "input_schema")
_OBJECTS = frozenset({"object", "OBJECT"})
_TALK = frozenset({"messages", "input", "contents", "role", "choices", "output"})


def _recognise(head: Sequence[Any]) -> bool:
    return bool(head) and all(_tools(record) for record in head)


def _tools(record: Any) -> list[Any]:
    """The tools that a record is or holds; empty where it is anything else."""
    if _is_tool(record):
        return [record]
    if not isinstance(record, dict) or not _TALK.isdisjoint(record):
        return []
    result = record.get("result")  # of an answer as it came over the wire
    tools = (result if isinstance(result, dict) else record).get("tools")
    return tools if isinstance(tools, list) and tools and all(map(_is_tool, tools)) else []


def _is_tool(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    inner = value.get("function")
    tool = inner if isinstance(inner, dict) else value
    if not isinstance(tool.get("name"), str):
        return False
    if any(isinstance(tool.get(key), dict) for key in _SCHEMAS):
        return True
    schema = tool.get("parameters")  # some models' calls have arguments under this name
    return (
        isinstance(schema, dict)
        and isinstance(schema.get("type"), str)
        and schema["type"] in _OBJECTS
    )


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    count = 0
    for number, record in reading.objects(log):
        tools = _tools(record)
        count += len(tools)
        if not tools:
            reading.skip(number, "it holds no tools")
    reading.note(tools=count)
    noun = "tool, which is no call" if count == 1 else "tools, which are no calls"
    reading.oddities.append(Notice("no_calls", f"The file is a list of {count} {noun}."))
    yield from ()


FORMAT = SessionFormat(
    name=NAME,
    about="tools with a name and a schema, one a line or in a list, alone or under tools",
    recognise=_recognise,
    read=_read,
)
