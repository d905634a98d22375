"""What the tools of an MCP server are called where a name has to tell the server.

A server calls its tool ``read_file``. Models are given one list of the tools of all servers, so
harnesses put the server's name before it: ``mcp__filesystem__read_file`` (Claude Code, Codex),
``filesystem__read_file`` (toolflow, and others), ``mcp_filesystem_read_file`` (Gemini CLI). In logs
that name is all there is. A rule that names a tool *and* its server is about all of these, so that
a policy need not be written three times.

Only a server that is named in full has such names: a pattern for a server, and a rule about a whole
server, say too little to go by a name alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_SIGNS: Final = "*?["  # what makes a name a pattern
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")  # providers take no other signs in names
_FORMS: Final = ("mcp__{}__", "{}__", "mcp_{}_")


def names_with_server(tools: Iterable[str], servers: Iterable[str]) -> tuple[str, ...]:
    """The names and patterns of tools with their server's name before them.

    Args:
        tools: The server's own names of its tools, or patterns of them.
        servers: Names of servers; patterns are passed over.

    Returns:
        Each with each server's name in every form, in order, each once.
    """
    own = tuple(tools)
    found = (
        form.format(spelled) + tool
        for server in servers
        if not is_pattern(server)
        for spelled in _spellings(server)
        for form in _FORMS
        for name in own
        for tool in _spellings(name)
    )
    return tuple(dict.fromkeys(found))


def is_pattern(name: str) -> bool:
    """Whether a name stands for several."""
    return any(sign in name for sign in _SIGNS)


def _spellings(name: str) -> Iterator[str]:
    yield name
    if not is_pattern(name) and (taken := _OTHER.sub("_", name)) != name:
        yield taken
