"""Lists of tools are told as such: they hold no turns."""

from __future__ import annotations

import pytest
from session_logs import read_lines, read_value, told

from toolflow.errors import TurnError
from toolflow.formats.session import SESSION_FORMATS

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
MCP = {"name": "read", "description": "Reads.", "inputSchema": SCHEMA}
CHAT = {"type": "function", "function": {"name": "read", "parameters": SCHEMA}}
LISTS = {
    "mcp": {"tools": [MCP, {**MCP, "name": "write"}]},
    "mcp with the server": {"info": {"name": "x"}, "server": "x", "tools": [MCP]},
    "an answer of mcp": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP], "nextCursor": "x"}},
    "chat": {"tools": [CHAT]},
    "a list": [MCP, MCP],
    "anthropic": [{"name": "read", "input_schema": SCHEMA}],
    "responses": [{"type": "function", "name": "read", "parameters": SCHEMA}],
}


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_of_tools_is_told_and_holds_no_turns(kind, tmp_path):
    recording = read_value(tmp_path / "tools.json", LISTS[kind])

    assert (recording.turns, recording.source["format"]) == ((), "tool-list")
    assert recording.source["broken_lines"] == 0
    count = recording.source["tools"]
    noun = "tool, which is no call" if count == 1 else "tools, which are no calls"
    assert told(recording, "no_calls") == [f"The file is a list of {count} {noun}."]


def test_tools_one_a_line_are_read_beside_what_is_broken(tmp_path):
    lines = [MCP, CHAT, "{", {"x": 1}]
    recording = read_lines(tmp_path / "tools.jsonl", lines, format="tool-list")

    assert recording.source["tools"] == 2
    assert told(recording, "broken_line")[1] == "Line 4 was skipped: it holds no tools."


@pytest.mark.parametrize(
    "value",
    [
        {"name": "get_weather", "parameters": {"city": "Paris"}},  # a call, as some models write it
        {"name": "read", "inputSchema": None},
        {"tools": []},
        {"tools": [7]},
        {"tools": [MCP, {"name": "x"}]},
        {"tools": [MCP], "messages": []},
        {"tools": [{"name": 7, "inputSchema": {}}]},
    ],
)
def test_anything_else_is_no_list_of_tools(value, tmp_path):
    assert not SESSION_FORMATS["tool-list"].recognise([value])
    with pytest.raises(TurnError):
        read_value(tmp_path / "x.json", value)


def test_a_request_that_declares_tools_is_a_conversation(tmp_path):
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}

    recording = read_value(tmp_path / "x.json", {"tools": [CHAT], "messages": [message]})

    assert [turn.turn.calls[0].tool for turn in recording.turns] == ["read"]
