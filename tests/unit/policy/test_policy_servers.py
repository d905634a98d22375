"""Rules about servers: their hints in both spellings, and limits of a whole server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolflow.model import Call, ToolSpec, Turn
from toolflow.policy import load_policy
from toolflow.policy.hints import hint
from toolflow.runtime.toolbox import Toolbox


def plan(policy, **declared):
    tools = Toolbox()
    tools.add(ToolSpec("t", **declared), lambda: None)
    turn = Turn("turn", (Call(0, "c", "t", {}),))
    return load_policy({"version": 1, **policy}).classify(turn, tools).calls[0]


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ({}, None),
        ({"readOnlyHint": True}, True),
        ({"read_only_hint": True}, True),
        ({"readOnlyHint": False}, False),
        ({"read_only_hint": False}, False),
        ({"readOnlyHint": True, "read_only_hint": True}, True),
        ({"readOnlyHint": True, "read_only_hint": False}, False),
        ({"readOnlyHint": False, "read_only_hint": True}, False),
        ({"readOnlyHint": True, "read_only_hint": None}, True),
        ({"readOnlyHint": None}, None),
        ({"readOnlyHint": 1}, None),
        ({"readOnlyHint": "true"}, None),
        ({"readOnlyHint": True, "read_only_hint": "no"}, None),
        ({"readonlyhint": True}, None),
    ],
)
def test_a_hint_counts_in_both_spellings_and_the_stricter_one_wins(hints, said):
    assert hint(hints, "readOnlyHint") is said


VALUES = st.sampled_from([True, False, None, 1, "true"])


@given(st.dictionaries(st.sampled_from(["readOnlyHint", "read_only_hint"]), VALUES))
def test_a_hint_is_true_only_where_something_says_so_and_nothing_against_it(hints):
    said = [value for value in hints.values() if value is not None]
    assert (hint(hints, "readOnlyHint") is True) == (bool(said) and all(v is True for v in said))


@pytest.mark.parametrize("name", ["readOnlyHint", "read_only_hint"])
def test_a_trusted_server_makes_its_reading_tools_safe(name):
    trust = {"trust": {"annotations": ["s"]}}
    assert plan(trust, server="s", hints={name: True}).verdict.kind == "safe"
    assert plan(trust, server="x", hints={name: True}).verdict.kind == "exclusive"
    assert plan(trust, server="s", hints={name: False}).verdict.kind == "exclusive"


@pytest.mark.parametrize("name", ["readOnlyHint", "read_only_hint"])
def test_a_tools_own_no_wins_over_a_rule_about_its_server(name):
    rules = {"rules": [{"server": "s", "safe": True}]}
    assert plan(rules, server="s", hints={name: False}).verdict.kind == "exclusive"


@pytest.mark.parametrize("name", ["idempotentHint", "idempotent_hint"])
def test_what_a_trusted_server_says_of_a_second_run_counts(name):
    trust = {"trust": {"annotations": ["s"]}}
    assert plan(trust, server="s", hints={name: True}).terms.idempotent
    assert not plan(trust, server="x", hints={name: True}).terms.idempotent


LIMIT = {"limits": {"resources": {"mcp:browser": 2, "gpu": 1}}}


@pytest.mark.parametrize(
    ("rules", "uses"),
    [
        ([], {"mcp:browser": 1}),
        ([{"server": "browser", "safe": True}], {"mcp:browser": 1}),
        ([{"tool": "t", "uses": {"gpu": 1}}], {"gpu": 1, "mcp:browser": 1}),
        ([{"tool": "t", "uses": {"mcp:browser": 2}}], {"mcp:browser": 2}),
    ],
)
def test_a_server_that_the_limits_name_is_limited_without_any_rule(rules, uses):
    assert plan({**LIMIT, "rules": rules}, server="browser").terms.uses == uses


def test_what_a_tool_uses_itself_stays():
    found = plan(LIMIT, server="browser", uses={"gpu": 1})
    assert found.terms.uses == {"gpu": 1, "mcp:browser": 1}


def test_other_tools_are_not_limited():
    assert plan(LIMIT, server="other").terms.uses == {}
    assert plan(LIMIT).terms.uses == {}
    assert plan({}, server="browser").terms.uses == {}
