"""Declarations of tools in the forms of all providers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolflow.formats.tool_lists import read_tool_list, tool_lines

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
ABOUT = {"name": "read_it", "description": "Read it."}

FORMS = {
    "mcp": [{**ABOUT, "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}],
    "mcp-answer": {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": [{**ABOUT, "inputSchema": SCHEMA}]},
    },
    "mcp-result": {"tools": [{**ABOUT, "inputSchema": SCHEMA}], "nextCursor": None},
    "mcp-python": [{**ABOUT, "input_schema": SCHEMA, "annotations": {"read_only_hint": True}}],
    "anthropic": [{**ABOUT, "input_schema": SCHEMA}],
    "anthropic-request": {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "tools": [
            {**ABOUT, "input_schema": SCHEMA},
            {"type": "web_search_1", "name": "web_search"},
        ],
    },
    "openai-chat": [{"type": "function", "function": {**ABOUT, "parameters": SCHEMA}}],
    "openai-old": {"functions": [{**ABOUT, "parameters": SCHEMA}]},
    "openai-responses": [
        {"type": "function", **ABOUT, "parameters": SCHEMA, "strict": True},
        {"type": "web_search"},
    ],
    "gemini": {"tools": [{"functionDeclarations": [{**ABOUT, "parameters": SCHEMA}]}]},
    "gemini-json-schema": [
        {"function_declarations": [{**ABOUT, "parametersJsonSchema": SCHEMA}]},
        {"googleSearch": {}},
    ],
    "alone": {**ABOUT, "parameters": SCHEMA},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_tool_is_found_in_every_form(form):
    found = read_tool_list(FORMS[form])
    assert found is not None
    (tool,) = found.tools
    assert (tool.name, tool.description, tool.parameters) == ("read_it", "Read it.", SCHEMA)
    assert found.of_server == (form in ("mcp", "mcp-answer", "mcp-result"))
    assert tool.safe is None


def test_hints_are_kept_as_they_came():
    assert read_tool_list(FORMS["mcp"]).tools[0].hints == {"readOnlyHint": True}
    assert read_tool_list(FORMS["mcp-python"]).tools[0].hints == {"read_only_hint": True}


def test_tools_without_a_schema_have_no_arguments():
    bare = {"functionDeclarations": [{"name": "now", "description": "Tell the time."}]}
    text = [{"type": "custom", "name": "patch", "description": "A patch.", "format": {}}]
    for value in (bare, text):
        assert read_tool_list(value).tools[0].parameters["properties"] == {}


def test_the_server_is_the_one_that_is_named():
    tools = FORMS["mcp"]
    assert read_tool_list({"server": "fs", "tools": tools}).tools[0].server == "fs"
    assert read_tool_list({"server": "fs", "tools": tools}, server="mine").tools[0].server == "mine"
    assert read_tool_list(tools).server is None


def test_of_two_tools_with_one_name_the_first_counts():
    twice = [{**ABOUT, "inputSchema": SCHEMA}, {"name": "read_it", "inputSchema": {}}]
    assert [tool.parameters for tool in read_tool_list(twice).tools] == [SCHEMA]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        "read_it",
        {"tools": []},
        {"tools": "read_it"},
        [{"name": "x"}],
        [{"name": "", "inputSchema": {}}],
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}],
        },
        [{"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}],
        {"calls": [{"id": "a", "tool": "x", "args": {}}]},
        {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
    ],
)
def test_what_declares_no_tools_is_none(value):
    assert read_tool_list(value) is None


def test_tools_may_stand_one_a_line():
    text = "\n".join(json.dumps({"name": n, "parameters": SCHEMA}) for n in "ab")
    assert [tool.name for tool in read_tool_list(tool_lines(text)).tools] == ["a", "b"]
    assert tool_lines("{}") is None
    assert tool_lines("{}\n{") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "tools", "result", "function", "parameters", "type", "annotations"]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_value_is_read_or_is_none(value):
    found = read_tool_list(value)
    assert found is None or all(tool.name for tool in found.tools)
