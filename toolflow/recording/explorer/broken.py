"""How the explorer says that a rule does not hold."""

from __future__ import annotations


class Broken(Exception):  # noqa: N818  # it is caught by the explorer and told as a violation
    """A rule does not hold.

    Args:
        rule: A short name of the rule.
        message: What is wrong, with the calls by index.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(f"{rule}: {message}")
        self.rule = rule
        self.message = message


def need(holds: object, rule: str, message: str) -> None:
    """Raise `Broken` unless something holds."""
    if not holds:
        raise Broken(rule, message)
