"""A policy as values: what its file says, ready for use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from toolflow.model import Limits
from toolflow.model.batch import OnError
from toolflow.model.turn import EMPTY
from toolflow.policy.pathoptions import DEFAULT_PATHS, PathOptions
from toolflow.policy.redact import Redactor
from toolflow.policy.rules import Rule, RuleBook
from toolflow.policy.shares import Shares

if TYPE_CHECKING:
    from toolflow.policy.bases import Member
    from toolflow.policy.schema import PolicyFile, RulePart


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a policy file says. The defaults are the empty policy.

    Attributes:
        limits: Bounds of a run, those of tools and servers among its resources.
        shares: The limits of tools and servers.
        timeout: Seconds where neither rule nor tool says any, or ``None``.
        on_error: What a failure does to later calls where no rule says so.
        ids: What happens to empty and doubled call ids.
        approvals: When questions are asked.
        trusted: MCP servers whose hints are believed.
        paths: How file keys are normalised.
        redactor: What is kept out of labels, questions and records.
        book: The rules.
        aliases: Other names of tools, each with the tool's own.
    """

    limits: Limits = field(default_factory=Limits)
    shares: Shares = field(default_factory=Shares)
    timeout: float | None = None
    on_error: OnError = "continue"
    ids: Literal["strict", "renumber"] = "strict"
    approvals: Literal["inline", "first"] = "inline"
    trusted: frozenset[str] = frozenset()
    paths: PathOptions = DEFAULT_PATHS
    redactor: Redactor = field(default_factory=Redactor)
    book: RuleBook = field(default_factory=RuleBook)
    aliases: Mapping[str, str] = EMPTY


def settings_of(members: Sequence[Member]) -> Settings:
    """The settings that a policy and its bases stand for.

    What the policy itself says wins, then what the nearest base says; mappings and lists are
    joined. Trust is not taken over: whom to believe is for the policy that people asked for.

    Args:
        members: The policy, then its bases.
    """
    files = [member.file for member in members]
    own = files[0]
    shares = Shares(
        _joined(file.limits.tools for file in files),
        _joined(file.limits.servers for file in files),
    )
    resources = _joined(file.limits.resources for file in files) | shares.resources()
    return Settings(
        limits=Limits(_said(files, "limits", "pool"), dict(sorted(resources.items()))),
        shares=shares,
        timeout=_said(files, "defaults", "timeout"),
        on_error=_said(files, "defaults", "on_error"),
        ids=_said(files, "ids"),
        approvals=_said(files, "approvals"),
        trusted=frozenset(own.trust.annotations),
        paths=PathOptions(*(_said(files, "paths", name) for name in ("case", "unicode", "inode"))),
        redactor=Redactor(dict.fromkeys(name for file in files for name in file.redact)),
        book=RuleBook(_rules(members)),
        aliases=_joined(_aliases(file) for file in files),
    )


def _said(files: Sequence[PolicyFile], *path: str) -> Any:
    """The first value that a file gives itself, else the default."""
    for file in files:
        value: Any = file
        for name in path:
            if name not in value.model_fields_set:
                break
            value = getattr(value, name)
        else:
            return value
    default: Any = files[0]
    for name in path:
        default = getattr(default, name)
    return default


def _joined(mappings: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """Mappings as one, in which earlier ones win."""
    joined: dict[str, T] = {}
    for mapping in mappings:
        for name, value in mapping.items():
            joined.setdefault(name, value)
    return joined


def _aliases(file: PolicyFile) -> dict[str, str]:
    return {alias: part.tool[0] for part in file.rules if part.tool for alias in part.aliases or ()}


def _rules(members: Sequence[Member]) -> Iterator[Rule]:
    rank = 0
    for member in members:
        for index, part in enumerate(member.file.rules):
            line = member.document.where(("rules", index))[0]
            yield _rule(part, index, line, member.name, rank)
            rank += 1


def _rule(part: RulePart, index: int, line: int | None, base: str | None, rank: int) -> Rule:
    lifted = part.timeout is None and "timeout" in part.model_fields_set
    return Rule(
        index=index,
        line=line,
        base=base,
        rank=rank,
        tools=_frozen(part.tool),
        servers=_frozen(part.server),
        argument_aliases=part.argument_aliases,
        has_aliases=bool(part.aliases),
        when=part.when,
        safe=part.safe,
        reads=_frozen(part.reads),
        writes=_frozen(part.writes),
        uses=part.uses,
        timeout=float("inf") if lifted else part.timeout,
        hold=part.hold,
        ask=part.ask,
        deny=part.deny,
        stop=part.stop,
        on_error=part.on_error,
        idempotent=part.idempotent,
        show=part.show,
    )


def _frozen(values: list[T] | None) -> tuple[T, ...] | None:
    return None if values is None else tuple(values)
