"""What a policy uses that is not installed: told by ``toolflow check``, closed at run time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from toolflow.errors import Problem, UsageError
from toolflow.policy.expressions import Expression
from toolflow.policy.policy import Policy
from toolflow.policy.rules import Rule

_SHELL: Final = re.compile(r"\bshell_effects\s*\(")


def missing_extras(policy: Policy) -> tuple[Problem, ...]:
    """The rules that need an extra of the package which is not installed.

    Such a policy loads all the same: a condition that cannot be worked out makes the call
    exclusive, and a key that cannot be worked out fails it (spec 4.1, 4.2).

    Args:
        policy: The policy.

    Returns:
        One problem for each rule, with its line; none where everything is there.
    """
    rules = [rule for rule in policy.settings.book.rules if any(map(_uses, _texts(rule)))]
    if not rules:
        return ()
    from toolflow.policy.shell import require_grammar  # noqa: PLC0415 - most policies need none

    try:
        require_grammar()
    except UsageError as error:
        documents = {member.name: member.document for member in policy.members}
        return tuple(
            documents[rule.base].problem(
                ("rules", rule.index), f"rules[{rule.index}]: {error}", code="missing_extra"
            )
            for rule in rules
        )
    return ()


def _uses(text: object) -> bool:
    return isinstance(text, Expression) and not text.constant and bool(_SHELL.search(text.text))


def _texts(rule: Rule) -> Iterable[object]:
    keys = (*(rule.reads or ()), *(rule.writes or ()))
    return (rule.when, rule.safe, rule.ask, rule.deny, rule.show, *keys)
