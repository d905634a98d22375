"""What can only be told of a policy together with its bases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolflow.errors import Problem
from toolflow.policy.bases import Member
from toolflow.policy.shares import SERVER, TOOL


def together_problems(members: Sequence[Member]) -> list[Problem]:
    """What is wrong with policies that are right alone.

    Args:
        members: A policy, then its bases.

    Returns:
        The problems, each with its file, line and column.
    """
    resources = {name for member in members for name in member.file.limits.resources}
    problems: list[Problem] = []
    for member in members:
        problems += _unknown_resources(member, resources)
        problems += _made_resources(member)
        problems += _doubled_aliases(member)
    return problems


def _unknown_resources(member: Member, known: set[str]) -> Iterator[Problem]:
    names = ", ".join(sorted(known)) or "none"
    for index, rule in enumerate(member.file.rules):
        for name in rule.uses or ():
            if name not in known:
                said = (
                    f"rules[{index}] uses {name!r}, which limits.resources does not name. "
                    f"Use one of its names: {names}."
                )
                path = ("rules", index, "uses", name)
                yield member.document.problem(path, said, code="unknown_resource", key=True)


def _made_resources(member: Member) -> Iterator[Problem]:
    """Resources under names that limits of tools and servers have inside."""
    for name in member.file.limits.resources:
        for start, field in ((TOOL, "tools"), (SERVER, "servers")):
            if name.startswith(start):
                said = (
                    f"limits.resources names {name!r}. Names that begin with {start!r} are made of "
                    f"limits.{field}: write {name.removeprefix(start)!r} there."
                )
                yield member.document.problem(("limits", "resources", name), said, key=True)


def _doubled_aliases(member: Member) -> Iterator[Problem]:
    """An alias that two rules declare for two tools; between files the nearer one wins."""
    seen: dict[str, str] = {}
    for index, rule in enumerate(member.file.rules):
        for alias in rule.aliases or ():
            tool = rule.tool[0] if rule.tool else ""
            if seen.setdefault(alias, tool) != tool:
                said = f"{alias!r} is an alias of {seen[alias]!r} already. Use it for one tool."
                yield member.document.problem(("rules", index, "aliases"), said)
