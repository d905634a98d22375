"""A rule about a tool of a server is also about the names that tell the server."""

from __future__ import annotations

import pytest

from toolflow.model import Call, ToolSpec, Turn
from toolflow.policy import load_policy
from toolflow.policy.servernames import names_with_server
from toolflow.runtime.toolbox import Toolbox

RULES = {
    "version": 1,
    "rules": [
        {"tool": ["read_file", "get_*"], "server": "fs", "safe": True, "writes": []},
        {"tool": "odd.name", "server": "my.server", "safe": True},
        {"tool": "any", "server": "team-*", "safe": True},
        {"server": "whole", "safe": True},
    ],
}


def kind(name, server=None, *, known=False):
    tools = None
    if known:
        tools = Toolbox()
        tools.add(ToolSpec(name, server=server), lambda: None)
    turn = Turn("turn", (Call(0, "c", name, {}),))
    return load_policy(RULES).classify(turn, tools).calls[0].verdict.kind


@pytest.mark.parametrize(
    "name",
    ["mcp__fs__read_file", "fs__read_file", "mcp_fs_read_file", "mcp__fs__get_x", "fs__get_"],
)
def test_a_name_that_tells_the_server_is_enough(name):
    assert kind(name) == "safe"
    assert kind(name, "fs", known=True) == "safe"


@pytest.mark.parametrize("name", ["mcp__my_server__odd_name", "my_server__odd_name"])
def test_signs_that_providers_refuse_are_underscores_in_such_names(name):
    assert kind(name) == "safe"


@pytest.mark.parametrize(
    "name",
    [
        "read_file",  # of whom?
        "mcp__fs2__read_file",
        "mcp__xfs__read_file",
        "xfs__read_file",
        "mcp__fs__read_file2",
        "MCP__fs__read_file",
        "fs_read_file",
        "mcp__team-a__any",  # a pattern for a server is no name
        "mcp__whole__any",  # a rule about all tools of a server
    ],
)
def test_any_other_name_is_not_of_the_rule(name):
    assert kind(name) == "exclusive"


def test_the_server_that_is_known_counts_more_than_the_name():
    assert kind("read_file", "fs", known=True) == "safe"
    assert kind("mcp__fs__read_file", "other", known=True) == "exclusive"
    assert kind("any", "team-a", known=True) == "safe"
    assert kind("read_file", known=True) == "exclusive"


def test_names_are_listed_once_each_in_order():
    assert names_with_server(["t"], ["s", "s", "p*"]) == ("mcp__s__t", "s__t", "mcp_s_t")
    assert names_with_server([], ["s"]) == ()
