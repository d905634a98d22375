"""A policy as values: what its file says, ready for use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

from toolflow.model import Limits
from toolflow.model.batch import OnError
from toolflow.model.turn import EMPTY
from toolflow.policy.pathoptions import DEFAULT_PATHS, PathOptions
from toolflow.policy.redact import Redactor
from toolflow.policy.rules import Rule, RuleBook

if TYPE_CHECKING:
    from toolflow.policy.schema import PolicyFile, RulePart
    from toolflow.yamlio import Document


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a policy file says. The defaults are the empty policy.

    Attributes:
        limits: Bounds of a run.
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
    timeout: float | None = None
    on_error: OnError = "continue"
    ids: Literal["strict", "renumber"] = "strict"
    approvals: Literal["inline", "first"] = "inline"
    trusted: frozenset[str] = frozenset()
    paths: PathOptions = DEFAULT_PATHS
    redactor: Redactor = field(default_factory=Redactor)
    book: RuleBook = field(default_factory=RuleBook)
    aliases: Mapping[str, str] = EMPTY


def settings_of(file: PolicyFile, document: Document) -> Settings:
    """The settings that a checked policy file stands for.

    Args:
        file: The file.
        document: The document that it was made from, for the lines of its rules.
    """
    rules = [
        _rule(part, index, document.where(("rules", index))[0])
        for index, part in enumerate(file.rules)
    ]
    aliases = {
        alias: part.tool[0] for part in file.rules if part.tool for alias in part.aliases or ()
    }
    return Settings(
        limits=Limits(file.limits.pool, dict(sorted(file.limits.resources.items()))),
        timeout=file.defaults.timeout,
        on_error=file.defaults.on_error,
        ids=file.ids,
        approvals=file.approvals,
        trusted=frozenset(file.trust.annotations),
        paths=PathOptions(file.paths.case, file.paths.unicode, file.paths.inode),
        redactor=Redactor(file.redact),
        book=RuleBook(rules),
        aliases=aliases,
    )


def _rule(part: RulePart, index: int, line: int | None) -> Rule:
    lifted = part.timeout is None and "timeout" in part.model_fields_set
    return Rule(
        index=index,
        line=line,
        tools=_frozen(part.tool),
        servers=_frozen(part.server),
        argument_aliases=part.argument_aliases,
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
