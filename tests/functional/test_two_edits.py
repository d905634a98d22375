"""The fault that toolflow is for: two edits of one file in one turn, both of which must survive.

Real files, real threads, real time; what must hold does not depend on times.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

import toolflow
from toolflow.tools.workspace import workspace

ROUNDS = 200
LINES = [f"line {number}" for number in range(1, 101)]

KEYS = """
version: 1
rules:
  - tool: edit
    safe: true
    writes: ["file:{{ args.path | file_key }}"]
"""
NO_KEYS = """
version: 1
rules:
  - tool: edit
    safe: true
    writes: []
"""


def message(path: str) -> dict[str, Any]:
    return {
        "calls": [
            {
                "id": "a",
                "tool": "edit",
                "args": {"path": path, "old": "line 50\n", "new": "fifty\n"},
            },
            {"id": "b", "tool": "edit", "args": {"path": path, "old": "line 75\n", "new": "75!\n"}},
        ]
    }


def slow_editor() -> toolflow.Toolbox:
    """An edit tool that declares nothing, and reads and writes with a gap, as the real ones do."""
    tools = toolflow.Toolbox()

    @tools.tool
    async def edit(path: str, old: str, new: str) -> str:
        with open(path) as file:  # noqa: ASYNC230, PTH123  # the fault needs no more than this
            text = file.read()
        await anyio.lowlevel.checkpoint()
        assert old in text
        with open(path, "w") as file:  # noqa: ASYNC230, PTH123
            file.write(text.replace(old, new, 1))
        return "edited"

    return tools


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("policy", [KEYS, None], ids=["with a key", "without any rule"])
def test_both_edits_survive(
    tmp_path: Path, backend: str, policy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "lines.txt"
    engine = toolflow.Engine(slow_editor(), policy=policy, cwd=tmp_path)

    async def main() -> int:
        survived = 0
        for _ in range(ROUNDS):
            file.write_text("\n".join(LINES) + "\n", "utf-8")
            result = await engine.run(engine.plan(message("lines.txt")))
            assert result.ok, [o and o.text for o in result.outcomes]
            text = file.read_text("utf-8")
            survived += "fifty\n" in text and "75!\n" in text
        return survived

    assert anyio.run(main, backend=backend) == ROUNDS


def test_without_a_key_the_plan_shows_the_fault_before_it_happens(tmp_path: Path) -> None:
    engine = toolflow.Engine(slow_editor(), policy=NO_KEYS, cwd=tmp_path)
    plan = engine.plan(message("lines.txt"))
    assert [(node.kind, node.calls) for node in plan.nodes] == [("pool", (0, 1))]
    assert plan.why("a", "b") == ()
    assert plan.why("b", "a") == ()
    assert "b" in plan.beside("a")


def test_with_a_key_the_plan_says_why_the_second_edit_waits(tmp_path: Path) -> None:
    engine = toolflow.Engine(slow_editor(), policy=KEYS, cwd=tmp_path)
    plan = engine.plan(message("lines.txt"))
    (edge,) = plan.why("a", "b")
    assert (edge.before, edge.after) == ("a", "b")
    assert str(tmp_path / "lines.txt") in edge.causes[0]
    assert "b" not in plan.beside("a")


def test_without_a_key_an_edit_is_really_lost(tmp_path: Path) -> None:
    """Otherwise the tests above would prove nothing."""
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(LINES) + "\n", "utf-8")
    engine = toolflow.Engine(slow_editor(), policy=NO_KEYS, cwd=tmp_path)
    result = engine.run_sync(engine.plan(message(str(file))))
    assert result.ok
    text = file.read_text("utf-8")
    assert ("fifty\n" in text) != ("75!\n" in text)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_workspace_tools_need_no_rule(tmp_path: Path, backend: str) -> None:
    file = tmp_path / "lines.txt"
    engine = toolflow.Engine(workspace(tmp_path), cwd=tmp_path)

    async def main() -> None:
        for _ in range(ROUNDS // 10):
            file.write_text("\n".join(LINES) + "\n", "utf-8")
            turn = {
                "calls": [
                    {"id": c, "tool": "edit_file", "args": {"path": p, "old": old, "new": new}}
                    for c, p, old, new in [
                        ("a", "lines.txt", "line 50\n", "fifty\n"),
                        ("b", "./lines.txt", "line 75\n", "75!\n"),
                        ("c", str(file), "line 99\n", "99!\n"),
                    ]
                ]
            }
            plan = engine.plan(turn)
            assert len(plan.nodes) == 1
            result = await engine.run(plan)
            assert result.ok, [o and o.text for o in result.outcomes]
            text = file.read_text("utf-8")
            assert all(new in text for new in ("fifty\n", "75!\n", "99!\n"))

    anyio.run(main, backend=backend)
