"""Terms of calls: the rule's, else the tool's, else the policy's defaults (spec 4.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from toolflow.model import Terms, ToolSpec
from toolflow.policy.hints import hint
from toolflow.policy.rules import Rule
from toolflow.policy.settings import Settings

_REMEMBERED: Final = 4096
_NO_RULE: Final = Rule(-1)


class SharedTerms:
    """Makes terms once for each pair of rule and tool, so that calls share them.

    Args:
        settings: The policy.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: dict[tuple[int, str], tuple[ToolSpec | None, Terms]] = {}

    def of(self, rule: Rule | None, tool: str, spec: ToolSpec | None) -> Terms:
        """The terms of a call.

        Args:
            rule: The rule that matched, or ``None``.
            tool: The tool's name.
            spec: The tool's declaration, or ``None``. A new one gives new terms.
        """
        rule = rule or _NO_RULE
        made = self._made.get((rule.rank, tool))
        if made is not None and made[0] is spec:
            return made[1]
        terms = _terms(rule, tool, spec, self._settings)
        if len(self._made) >= _REMEMBERED:
            self._made.clear()  # names come from models: without end, if they must
        self._made[rule.rank, tool] = (spec, terms)
        return terms


def _terms(rule: Rule, tool: str, spec: ToolSpec | None, settings: Settings) -> Terms:
    timeout = rule.timeout
    if timeout is None and spec is not None:
        timeout = spec.timeout
    if timeout is None:
        timeout = settings.timeout
    return Terms(
        uses=dict(sorted(_uses(rule, tool, spec, settings).items())),
        timeout=None if timeout is None or math.isinf(timeout) else timeout,
        hold=rule.hold,
        stop=rule.stop,
        on_error=rule.on_error or settings.on_error,
        idempotent=_idempotent(rule, spec, settings),
    )


def _uses(rule: Rule, tool: str, spec: ToolSpec | None, settings: Settings) -> Mapping[str, int]:
    """What a call takes; tools and servers that the limits name are limited without any rule."""
    uses = rule.uses if rule.uses is not None else {} if spec is None else spec.uses
    server = None if spec is None else spec.server
    shares = settings.shares.of(tool, server)
    if server is not None and f"mcp:{server}" in settings.limits.resources:
        uses = {f"mcp:{server}": 1, **uses}
    return {**uses, **shares} if shares else uses


def _idempotent(rule: Rule, spec: ToolSpec | None, settings: Settings) -> bool:
    if rule.idempotent is not None:
        return rule.idempotent
    if spec is None:
        return False
    if spec.idempotent is not None:
        return spec.idempotent is True
    trusted = spec.server is not None and spec.server in settings.trusted
    return trusted and hint(spec.hints, "idempotentHint") is True
