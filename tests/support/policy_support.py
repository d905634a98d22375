"""Turns and catalogues for tests of classification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.model import Call, CallPlan, ToolSpec, Turn
from toolflow.policy import load_policy


class Tools:
    """A catalogue of the given tools."""

    def __init__(self, *specs: ToolSpec) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self.version = 0

    def find(self, name: str) -> ToolSpec | None:
        return self._specs.get(name)

    def names(self) -> Sequence[str]:
        return sorted(self._specs)


def turn(*calls: tuple[Any, ...], carries_ids: bool = True) -> Turn:
    """A turn of (tool, args) or (tool, args, id)."""
    made = tuple(
        Call(index, call[2] if len(call) > 2 else f"c{index}", call[0], call[1])
        for index, call in enumerate(calls)
    )
    return Turn("turn-1", made, carries_ids=carries_ids)


def rules(text: str) -> str:
    """A policy of these rules."""
    return f"version: 1\nrules:\n{text}\n"


def classify(
    policy: object, tool: str, args: Mapping[str, Any] | None = None, **options: Any
) -> CallPlan:
    """One call, classified under a policy."""
    catalog = options.pop("catalog", None)
    batch = load_policy(policy).classify(turn((tool, args or {})), catalog, **options)  # type: ignore[arg-type]
    return batch.calls[0]
