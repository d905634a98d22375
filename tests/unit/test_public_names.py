"""The surface: what `toolflow` promises, no more and no less."""

from __future__ import annotations

import inspect

import pytest

import toolflow

NAMES = [
    "Answer", "Call", "Checkpoint", "Context", "Control", "Deny", "Engine", "Event", "Hooks",
    "Image", "KeyedLock", "Outcome", "Plan", "Policy", "Question", "Recording", "RunResult",
    "ShellEffects", "Toolbox", "ToolflowError", "Transcript", "Turn", "TurnGate", "dir_key",
    "file_key", "host_key", "load_flow", "load_plan", "load_policy", "load_recording", "locks",
    "read_turn", "replay", "run_flow", "schedule", "shell_effects",
    "workspace", "write_turn",
]  # fmt: skip


def test_the_names_are_these_and_sorted() -> None:
    assert toolflow.__all__ == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_and_documented(name: str) -> None:
    value = getattr(toolflow, name)
    assert name in dir(toolflow)
    assert inspect.getdoc(value)


def test_other_names_are_refused_in_the_usual_way() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = toolflow.nonsense  # type: ignore[attr-defined]
