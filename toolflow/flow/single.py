"""Turns and plans run like a flow: each is a stage, behind the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolflow import yamlio
from toolflow.compiler import Plan
from toolflow.flow.load import Flow, Stage
from toolflow.flow.schema import Tools
from toolflow.model.turn import Turn
from toolflow.policy import Policy, load_policy


def flow_of_turns(
    name: str,
    turns: Sequence[Turn | Plan],
    *,
    like: Flow | None = None,
    tools: Sequence[str] = (),
    policy: Policy | None = None,
    folder: Path = Path(),
) -> Flow:
    """A flow that runs turns, or plans, one after the other.

    Args:
        name: Its name.
        turns: What it runs.
        like: A flow whose tools, folder, locks and policy it has.
        tools: Python tools instead, each as ``module:name``.
        policy: The policy, instead of that of the flow.
        folder: Where Python tools are looked for first.

    Returns:
        The flow.
    """
    if like is None:
        source = {"tools": {"python": list(tools)}}
        like = Flow(
            name=name,
            description="",
            folder=folder,
            policy=policy or load_policy(None),
            tools=Tools(python=list(tools)),
            stages=(),
            source="--tools",
            document=yamlio.of_value(source, source="--tools"),
        )
    stages: list[Stage] = []
    for turn in turns:
        own = turn.turn_id if isinstance(turn, Plan) else turn.id
        needs = (stages[-1].id,) if stages else ()
        stages.append(Stage(own, needs, lambda _: True, (), None, turn))
    return replace(like, name=name, stages=tuple(stages), policy=policy or like.policy)
