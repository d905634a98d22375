"""Whatever a model sends, a shipped policy decides, and calls safe only what it has keys for."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolflow.compiler import compile_plan
from toolflow.model import Call, Turn
from toolflow.policy import load_policy
from toolflow.policy.shelf import shipped_names

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(
        ["", "/**", "**", "../x", "~/x", "a\0b", "\ud800", "{{ args }}", "-x", "*** x"]
    )
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=6,
)
COMMON = [
    "args", "chars", "cmd", "command", "event", "file_path", "input", "items", "issue_number",
    "method", "owner", "path", "paths", "pattern", "pullNumber", "query", "repo", "repo_path",
    "session_id", "target", "type", "url", "workdir",
]  # fmt: skip


@cache
def tools_of(name):
    policy = load_policy(f"shipped:{name}")
    tools = {
        f"mcp__{rule.servers[0]}__{tool}" if rule.servers else tool
        for rule in policy.settings.book.rules
        for tool in rule.tools or ()
    }
    return policy, sorted(tools)


@pytest.mark.parametrize("name", shipped_names())
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_arguments_are_decided(name, data):
    policy, tools = tools_of(name)
    args = st.dictionaries(st.sampled_from(COMMON) | st.text(max_size=5), VALUES, max_size=5)
    given_calls = data.draw(
        st.lists(st.tuples(st.sampled_from(tools), args), min_size=1, max_size=4)
    )
    calls = tuple(
        Call(index, f"c{index}", tool, args) for index, (tool, args) in enumerate(given_calls)
    )
    plan = compile_plan(policy.classify(Turn("t", calls), cwd="/repo"))
    for call in plan.calls:
        assert call.verdict.rule is not None
        if call.verdict.kind == "safe":
            assert call.writes is not None
