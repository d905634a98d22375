"""Tools as a log shows them: names, and the arguments that calls gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolflow.model import Call, ToolSpec

_MOST_EXAMPLES: Final = 50
_MOST_TOOLS: Final = 1_000
_KINDS: Final = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


@dataclass(frozen=True, slots=True)
class SeenTools:
    """What calls tell of their tools.

    Attributes:
        tools: One for each name, in order of the first call. An argument is required if every call
            had it; its type is that of the first value, where all have the same.
        examples: The arguments of the first calls of each tool, by its name.
    """

    tools: tuple[ToolSpec, ...]
    examples: Mapping[str, Sequence[Mapping[str, Any]]]


def seen_tools(calls: Iterable[Call]) -> SeenTools:
    """Gather the tools of calls.

    Args:
        calls: The calls; those whose arguments could not be read count by their name only.
    """
    made: dict[str, _Tool] = {}
    for call in calls:
        name = call.tool.strip()
        if name and (name in made or len(made) < _MOST_TOOLS):
            tool = made.setdefault(name, _Tool())
            if call.problem is None:
                tool.add(call.args)
    specs = tuple(ToolSpec(name, parameters=tool.schema()) for name, tool in made.items())
    return SeenTools(specs, {name: tuple(tool.examples) for name, tool in made.items()})


class _Tool:
    """What is known of one tool so far."""

    def __init__(self) -> None:
        self.examples: list[Mapping[str, Any]] = []
        self._kinds: dict[str, str | None] = {}
        self._always: set[str] | None = None

    def add(self, args: Mapping[str, Any]) -> None:
        """Look at the arguments of one more call."""
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(args)
        self._always = set(args) if self._always is None else self._always & set(args)
        for name, value in args.items():
            kind = _KINDS.get(type(value))
            if self._kinds.setdefault(name, kind) != kind:
                self._kinds[name] = None

    def schema(self) -> Mapping[str, Any]:
        """A schema of the arguments."""
        properties = {name: {"type": kind} if kind else {} for name, kind in self._kinds.items()}
        return {"type": "object", "properties": properties, "required": sorted(self._always or ())}
