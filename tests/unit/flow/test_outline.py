"""What is told of a flow before it runs."""

from __future__ import annotations

from pathlib import Path

from flow_tools import LOG, made_flow

from toolflow.flow import load_flow
from toolflow.flow.outline import CallOutline, StageOutline, outline


def outlined(folder: Path, stages: str, **fields: str) -> dict[str, StageOutline]:
    return {each.id: each for each in outline(made_flow(folder, stages, **fields))}


def test_stages_that_use_no_results_have_their_plan(tmp_path: Path) -> None:
    LOG.clear()
    found = outlined(
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give, foreach: [1, 2], args: {value: "{{ item }}"}}]}
  - {id: two, needs: [], message: {calls: [{id: m, tool: unheard}]}}
  - {id: three, needs: [one, two], when: "{{ results.one.a }}", calls: [{tool: give}]}
""",
    )
    plans = {name: each.plan for name, each in found.items()}
    assert [call.name for call in plans["one"].calls] == ["a-1", "a-2"]
    assert plans["two"].calls[0].verdict.status == "unknown_tool"
    assert plans["three"].calls[0].verdict.kind == "safe"
    assert found["three"].needs == ("one", "two")
    assert found["three"].when == "{{ results.one.a }}"
    assert found["one"].when == ""
    assert LOG == []


def test_stages_that_use_results_wait_and_say_for_which(tmp_path: Path) -> None:
    found = outlined(
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give}]}
  - {id: two, calls: [{id: b, tool: give, args: {value: ["{{ results.one.a }}"]}}]}
  - {id: three, calls: [{tool: give, foreach: "{{ results.two.b }}"}]}
  - {id: four, when: false, calls: [{tool: give, args: {value: "{{ results | length }}"}}]}
""",
    )
    assert [each.plan is None for each in found.values()] == [False, True, True, True]
    assert found["two"].waits == "its calls use results of one"
    assert found["three"].waits == "its calls use results of two"
    assert found["three"].calls == (CallOutline("give-1", "give", each=True),)
    assert found["four"].waits == "its calls use results of one, three, two"
    assert found["four"].when == "false"


def test_tools_of_servers_are_known_when_these_have_started(tmp_path: Path) -> None:
    path = made_flow(tmp_path, "  - {id: one, calls: [{tool: fs__read}]}\n").source
    text = Path(path).read_text().replace("tools: {", "tools: {mcp: {fs: {command: nothing}}, ")
    Path(path).write_text(text)
    (stage,) = outline(load_flow(path))
    assert stage.plan is None
    assert stage.waits == "it has tools that are known once the MCP servers have started"
