"""The way out of classification for calls that are answered without running (spec 5.1)."""

from __future__ import annotations

from typing import NoReturn

from toolflow.model import Verdict
from toolflow.policy.rules import Rule


class Settled(Exception):  # noqa: N818 - no error: the way out of classification for a call
    """The call is answered without running.

    Args:
        status: The status of its outcome.
        reason: The sentence for the model.
        rule: The rule that said so, or ``None``.
    """

    def __init__(self, status: str, reason: str, rule: Rule | None = None) -> None:
        super().__init__(reason)
        if rule is None:
            self.verdict = Verdict("settled", reason, status=status)
        else:
            self.verdict = rule.verdict_of("settled", reason, status)


def settle(status: str, reason: str, rule: Rule | None = None) -> NoReturn:
    """Leave classification with an answer: see `Settled`."""
    raise Settled(status, reason, rule)
