"""Pictures of plans that the compiler made."""

from __future__ import annotations

from dataclasses import replace

import plans
from drawing import assert_harmless, drawing_programs, parsed, texts

from toolflow.compiler import compile_plan
from toolflow.model import Batch, Call, CallPlan, Turn
from toolflow.render import dot_text, svg

SRC = "file:/repo/project/src/"


def compiled(*calls: CallPlan) -> Batch:
    placed = [
        replace(one, index=at, name=f"c{at + 1}", id=f"c{at + 1}") for at, one in enumerate(calls)
    ]
    turn = Turn("turn-1", tuple(Call(one.index, one.id, one.tool) for one in placed))
    return Batch(turn, tuple(placed))


def test_causes_of_the_compiler_become_short_labels() -> None:
    dot = dot_text(
        compile_plan(
            compiled(
                plans.read("a.py"),
                plans.edit("a.py"),
                plans.edit("a.py"),
                plans.call("list_files src", tool="list_files", reads=[f"{SRC}**"]),
            )
        )
    )
    assert 'label=" …/src/a.py \\n write after read "' in dot
    assert 'label=" …/src/a.py write "' in dot
    assert 'label=" …/src/a.py \\n read after write "' in dot
    assert f'tooltip="key {SRC}a.py in {SRC}** read after write"' in dot


def test_gates_between_many_readers_and_writers_of_trees_are_drawn() -> None:
    trees = [
        plans.call(f"list {at}", reads=[f"{SRC}**"]) if at % 12 < 6 else
        plans.call(f"delete {at}", writes=[f"{SRC}{at}/**", f"{SRC}x{at}/**"])
        for at in range(36)
    ]  # fmt: skip
    plan = compile_plan(compiled(*trees))
    assert plan.gates
    for program in drawing_programs():
        graph = parsed(dot_text(plan), program)
        names = {one["name"] for one in graph["objects"]}
        assert {f"gate_{at}" for at in range(1, len(plan.gates) + 1)} <= names
        drawn = svg(plan, program=program)
        assert_harmless(drawn)
        assert len(texts(drawn)) == len(plan.calls) + 1
