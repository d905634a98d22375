"""Which tools a policy of the package knows, so that a policy to start from can build on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from toolflow.model import ToolSpec
from toolflow.policy.policy import Policy, load_policy
from toolflow.policy.shelf import shipped_names

_MOST: Final = 0.5  # the part of the tools that has to be known where the names are all there is
_NEARLY_ALL: Final = 0.8
_FEW: Final = 3


@dataclass(frozen=True, slots=True)
class Bases:
    """What to build on.

    Attributes:
        names: Policies of the package that decide some of the tools.
        known: The tools that they decide: each by its name and its server.
        remarks: Sentences about what may be of use.
    """

    names: tuple[str, ...] = ()
    known: frozenset[tuple[str, str | None]] = field(default_factory=frozenset)
    remarks: tuple[str, ...] = ()


def bases_of(tools: Sequence[ToolSpec], harness: str | None = None) -> Bases:
    """Find the policies of the package that know some of the tools.

    A policy about a server is built on where the server has its name: its rules are about nothing
    else. A policy about a harness is built on only where the source is one of its logs; names such
    as ``read_file`` may be anybody's.

    Args:
        tools: The tools.
        harness: The policy of the harness that the source is of, or ``None``.
    """
    names: list[str] = []
    known: set[tuple[str, str | None]] = set()
    remarks: list[str] = []
    for name, policy in _shelf():
        servers = _servers(policy)
        every = {(spec.name, spec.server) for spec in tools}
        decided = {each for each in every if _names(policy, *each)}
        if decided and (servers or name == harness):
            names.append(name)
            known |= decided
        elif remark := _remark(name, policy, servers, tools):
            remarks.append(remark)
    if harness in names:  # its logs are of it before they are of any server
        names.sort(key=lambda name: name != harness)
    return Bases(tuple(names), frozenset(known), tuple(remarks))


def server_of(tools: Sequence[ToolSpec]) -> str | None:
    """The server whose tools these seem to be, by their names; ``None`` where that is not clear.

    Args:
        tools: What a server listed, by its own names.
    """
    for name, policy in _shelf():
        if name in _servers(policy):
            alike = sum(_names(policy, spec.name, name) for spec in tools)
            if alike >= _FEW and alike >= _NEARLY_ALL * len(tools):
                return name
    return None


def _remark(
    name: str, policy: Policy, servers: frozenset[str], tools: Sequence[ToolSpec]
) -> str | None:
    """What to say of a policy that would know the tools if they were whose it thinks."""
    loose = {spec.name for spec in tools}
    server = next(iter(sorted(servers)), None)
    if servers:
        loose = {spec.name.rpartition("__")[2] for spec in tools}
    alike = {tool for tool in loose if _names(policy, tool, server)}
    if len(alike) < min(_FEW, len(loose)) or len(alike) < _MOST * len(loose):
        return None
    if server is None:
        return f"`extends: shipped:{name}` has rules for {len(alike)} tools of these names: yours?"
    return (
        f"`extends: shipped:{name}` decides {len(alike)} of these tools if you call the server "
        f"`{server}`."
    )


@cache
def _shelf() -> tuple[tuple[str, Policy], ...]:
    """All policies of the package, which do not change while the program runs."""
    return tuple((name, load_policy(f"shipped:{name}")) for name in shipped_names())


def _names(policy: Policy, tool: str, server: str | None) -> bool:
    """Whether a rule names the tool; a rule about all of a server does not count."""
    return any(rule.tools is not None for rule in policy.settings.book.about(tool, server))


def _servers(policy: Policy) -> frozenset[str]:
    """The servers that a policy is about; none where a rule is about tools of no server, too."""
    rules = policy.settings.book.rules
    if any(rule.servers is None for rule in rules):
        return frozenset()
    return frozenset(server for rule in rules for server in rule.servers or ())
