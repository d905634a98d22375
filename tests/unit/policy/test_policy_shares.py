"""Limits of tools and servers: resources without any rule, shared by what a pattern fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from policy_support import Tools, classify, turn

from toolflow.compiler import compile_plan, dump_plan, load_plan
from toolflow.engine import Engine
from toolflow.errors import PolicyError
from toolflow.locks import MemoryStore
from toolflow.model import ToolSpec
from toolflow.policy import Policy, load_policy
from toolflow.recording import Recorder, dump_recording, load_recording
from toolflow.recording.replayer import replay
from toolflow.recording.simulator import simulate
from toolflow.render import dot_text
from toolflow.runtime.toolbox import Toolbox

POLICY = """\
version: 1
limits:
  pool: 8
  resources: {disk: 1}
  tools: {grep: 2, "mcp__*": 4, "mcp__web__*": 1}
  servers: {browser: 1, "db-?": 3}
rules:
  - {tool: "*", safe: true}
  - {tool: scan, safe: true, uses: {disk: 1}}
"""


@pytest.mark.parametrize(
    ("tool", "server", "uses"),
    [
        ("grep", None, {"tool:grep": 1}),
        ("Grep", None, {}),
        ("read", None, {}),
        ("scan", None, {"disk": 1}),
        ("mcp__web__get", None, {"tool:mcp__*": 1, "tool:mcp__web__*": 1}),
        ("click", "browser", {"server:browser": 1}),
        ("grep", "db-1", {"server:db-?": 1, "tool:grep": 1}),
        ("query", "db-10", {}),
    ],
)
def test_a_call_takes_one_unit_of_every_limit_that_fits(
    tool: str, server: str | None, uses: dict[str, int]
) -> None:
    tools = Tools(ToolSpec(tool, server=server))
    call = classify(load_policy(POLICY), tool, {}, catalog=tools)
    assert dict(call.terms.uses) == uses


def test_the_limits_are_resources_of_the_plan() -> None:
    policy = load_policy(POLICY)
    assert dict(policy.limits.resources) == {
        "disk": 1,
        "server:browser": 1,
        "server:db-?": 3,
        "tool:grep": 2,
        "tool:mcp__*": 4,
        "tool:mcp__web__*": 1,
    }
    plan = compile_plan(policy.classify(turn(("grep", {}), ("read", {}))))
    assert load_plan(dump_plan(plan)) == plan
    assert "tool:grep: 2" in str(plan)
    assert "tool:grep" in dot_text(plan)


def greps(policy: Policy, count: int = 6) -> float:
    plan = compile_plan(policy.classify(turn(*[("grep", {})] * count)))
    return simulate(plan, {call.name: 1.0 for call in plan.calls}).total


def test_a_simulation_keeps_to_them() -> None:
    assert greps(load_policy(POLICY)) == 3.0
    assert greps(load_policy(POLICY.replace("grep: 2", "grep: 3"))) == 2.0


@pytest.mark.parametrize("field", ["tools", "servers"])
@pytest.mark.parametrize("value", ["0", "true", "many", "-1", "1.5"])
def test_what_is_no_limit_is_told_with_its_place(field: str, value: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(f"version: 1\nlimits:\n  {field}: {{grep: {value}}}\n")
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (3, 12 + len(field))
    assert problem.message.startswith(f"limits.{field}.grep is ")
    assert problem.message.endswith("Use an integer of at least 1.")


def test_names_of_limits_are_no_names_of_resources() -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(
            "version: 1\nlimits: {resources: {'tool:grep': 1}, tools: {grep: 1}}\n"
            "rules: [{tool: grep, uses: {'server:x': 2}}]\n"
        )
    assert [str(problem) for problem in caught.value.problems] == [
        (
            "<policy>:3:29: rules[0] uses 'server:x', which limits.resources does not name. "
            "Use one of its names: tool:grep."
        ),
        (
            "<policy>:2:22: limits.resources names 'tool:grep'. Names that begin with 'tool:' are "
            "made of limits.tools: write 'grep' there."
        ),
    ]


def test_limits_of_a_base_are_joined_and_the_own_one_wins(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(POLICY, "utf-8")
    policy = load_policy(
        {"version": 1, "extends": "base.yaml", "limits": {"tools": {"grep": 5, "ls": 1}}},
        folder=tmp_path,
    )
    resources = policy.limits.resources
    assert (resources["tool:grep"], resources["tool:ls"], resources["server:browser"]) == (5, 1, 1)
    assert dict(classify(policy, "grep").terms.uses) == {"tool:grep": 1}


def test_a_replay_keeps_to_them_and_what_if_does_without() -> None:
    tools = Toolbox()
    tools.tool(lambda: "found", name="grep", uses={"disk": 1})
    policy = POLICY.replace("tools: {grep: 2,", "tools: {grep: 1,")
    engine = Engine(tools, policy=policy, locks=MemoryStore())
    recorder = Recorder(policy=engine.policy)
    recorder.add(engine.run_sync(turn(("grep", {}), ("grep", {}))))
    recording = load_recording(dump_recording(recorder.recording))
    assert replay(recording).ok
    free = load_policy(POLICY.replace("tools: {grep: 2,", "tools: {"))
    (replayed,) = replay(recording, policy=free, strict=False).turns
    assert replayed.plan is not None
    assert [dict(call.terms.uses) for call in replayed.plan.calls] == [{"disk": 1}] * 2
