"""toolflow: the tool calls of a model's turn, compiled into a plan and run safely and fast.

    import toolflow

    tools = toolflow.Toolbox()

    @tools.tool(safe=True)
    async def now() -> str: ...

    engine = toolflow.Engine(tools, policy="policy.yaml")
    plan = engine.plan(toolflow.read_turn(message))
    result = await engine.run(plan)

Every public name is loaded when it is first used, so importing the package costs next to nothing
(spec 15).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolflow import locks as locks
    from toolflow.compiler import Plan as Plan
    from toolflow.compiler import load_plan as load_plan
    from toolflow.engine import Engine as Engine
    from toolflow.errors import ToolflowError as ToolflowError
    from toolflow.flow import load_flow as load_flow
    from toolflow.flow import run_flow as run_flow
    from toolflow.formats import read_turn as read_turn
    from toolflow.formats import write_turn as write_turn
    from toolflow.locks import KeyedLock as KeyedLock
    from toolflow.model.event import Event as Event
    from toolflow.model.outcome import Image as Image
    from toolflow.model.outcome import Outcome as Outcome
    from toolflow.model.recording import Recording as Recording
    from toolflow.model.turn import Call as Call
    from toolflow.model.turn import Turn as Turn
    from toolflow.policy import Policy as Policy
    from toolflow.policy import dir_key as dir_key
    from toolflow.policy import file_key as file_key
    from toolflow.policy import host_key as host_key
    from toolflow.policy import load_policy as load_policy
    from toolflow.policy.shell import ShellEffects as ShellEffects
    from toolflow.policy.shell import shell_effects as shell_effects
    from toolflow.recording import load_recording as load_recording
    from toolflow.recording import replay as replay
    from toolflow.recording.checkpoint import Checkpoint as Checkpoint
    from toolflow.recording.result import RunResult as RunResult
    from toolflow.runtime.approvals import Answer as Answer
    from toolflow.runtime.approvals import Question as Question
    from toolflow.runtime.context import Context as Context
    from toolflow.runtime.control import Control as Control
    from toolflow.runtime.gate import TurnGate as TurnGate
    from toolflow.runtime.hooks import Deny as Deny
    from toolflow.runtime.hooks import Hooks as Hooks
    from toolflow.runtime.schedule import schedule as schedule
    from toolflow.runtime.toolbox import Toolbox as Toolbox
    from toolflow.runtime.transcript import Transcript as Transcript
    from toolflow.tools import workspace as workspace

_HOMES = {
    "Answer": "runtime.approvals",
    "Call": "model.turn",
    "Checkpoint": "recording.checkpoint",
    "Context": "runtime.context",
    "Control": "runtime.control",
    "Deny": "runtime.hooks",
    "Engine": "engine",
    "Event": "model.event",
    "Hooks": "runtime.hooks",
    "Image": "model.outcome",
    "KeyedLock": "locks",
    "Outcome": "model.outcome",
    "Plan": "compiler",
    "Policy": "policy",
    "Question": "runtime.approvals",
    "Recording": "model.recording",
    "RunResult": "recording.result",
    "ShellEffects": "policy.shell",
    "Toolbox": "runtime.toolbox",
    "ToolflowError": "errors",
    "Transcript": "runtime.transcript",
    "Turn": "model.turn",
    "TurnGate": "runtime.gate",
    "dir_key": "policy",
    "file_key": "policy",
    "host_key": "policy",
    "load_flow": "flow",
    "load_plan": "compiler",
    "load_policy": "policy",
    "load_recording": "recording",
    "locks": "",
    "read_turn": "formats",
    "replay": "recording",
    "run_flow": "flow",
    "schedule": "runtime.schedule",
    "shell_effects": "policy.shell",
    "workspace": "tools",
    "write_turn": "formats",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605  # a list all the same, made from the one table


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolflow' has no attribute {name!r}")
    value = import_module(f"toolflow.{home}") if home else import_module(f"toolflow.{name}")
    if home:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
