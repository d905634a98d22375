"""Limits of tools and of MCP servers: resources that calls use without any rule saying so.

``limits: {tools: {grep: 2}}`` makes a resource ``tool:grep`` of two units, of which each call of
``grep`` takes one. So everything that knows resources knows these limits: plan, scheduler, lock
table, pictures. A pattern is one resource, which all that it fits share; a call takes a unit of
every limit that fits it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from typing import Final

from toolflow.model.turn import EMPTY

TOOL: Final = "tool:"
SERVER: Final = "server:"


@dataclass(frozen=True, slots=True)
class Shares:
    """The limits of a policy on tools and servers.

    Attributes:
        tools: How many calls of a tool run at once, by its name or pattern.
        servers: The same for MCP servers.
    """

    tools: Mapping[str, int] = EMPTY
    servers: Mapping[str, int] = EMPTY

    def resources(self) -> dict[str, int]:
        """The resources that stand for the limits, with their capacities."""
        tools = {f"{TOOL}{name}": units for name, units in self.tools.items()}
        return tools | {f"{SERVER}{name}": units for name, units in self.servers.items()}

    def of(self, tool: str, server: str | None) -> dict[str, int]:
        """What a call takes of them.

        Args:
            tool: Its tool.
            server: The tool's MCP server, or ``None``.
        """
        used = {f"{TOOL}{name}": 1 for name in _fitting(self.tools, tool)}
        if server is not None:
            used |= {f"{SERVER}{name}": 1 for name in _fitting(self.servers, server)}
        return used


def _fitting(names: Mapping[str, int], name: str) -> Iterator[str]:
    """The names and patterns that fit; upper and lower case differ, as in rules."""
    return (each for each in names if each == name or re.fullmatch(translate(each), name))
