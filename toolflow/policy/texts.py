"""What people and models read of a call: its label, its question, the reason of a denial."""

from __future__ import annotations

from typing import Final

from toolflow.model.tool import Args
from toolflow.policy.expressions import Expression, ExpressionError, Names
from toolflow.policy.labels import default_label, one_line
from toolflow.policy.redact import Redactor
from toolflow.policy.rules import Rule

_QUESTION: Final = 500


class Texts:
    """Writes the texts of calls, without the secrets that the policy names.

    A text that cannot be worked out is replaced by a plain one: the label is for people only, a
    question must be asked, and what is denied stays denied.

    Args:
        redactor: What masks secrets.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def plain_label(self, tool: str, args: Args) -> str:
        """The label of a call that no rule shows in another way."""
        return default_label(tool, self._redactor.masked_args(args))

    def label(self, rule: Rule | None, tool: str, args: Args, names: Names) -> str:
        """The label of a call: the rule's ``show``, else tool and arguments."""
        if rule is not None and rule.show is not None:
            shown = one_line(self._text(rule.show, names) or "")
            if shown:
                return shown
        return self.plain_label(tool, args)

    def question(self, rule: Rule, label: str, names: Names) -> str:
        """The question of a rule: its ``ask``, else whether to run what the label shows."""
        asked = self._text(rule.ask, names) if isinstance(rule.ask, Expression) else None
        return one_line(asked or "", _QUESTION) or f"Run {label}?"

    def denial(self, rule: Rule, doubt: str | None, names: Names) -> str:
        """Why a rule denies a call: its ``deny``, else that it does.

        Args:
            rule: The rule.
            doubt: Why it is not known whether the rule matches, or ``None``: a rule that denies
                is taken to match then, since running the call could do what it forbids.
            names: What the names in templates stand for.
        """
        if doubt is not None:
            return f"The policy may not allow this call ({rule.name}: when {doubt})."
        said = self._text(rule.deny, names) if isinstance(rule.deny, Expression) else None
        return said or f"The policy does not allow this call ({rule.name})."

    def _text(self, text: Expression, names: Names) -> str | None:
        if text.constant:
            return text.text
        masked = self._redactor.masked_args(names["args"])
        try:
            return str(text(names if masked is names["args"] else {**names, "args": masked}))
        except ExpressionError:
            return None
