"""The mask of one turn: everything that is kept of the turn goes through it (spec 9.4).

A provider's message has names of its own (``content``, ``input``, ``id`` ...). A policy that
redacts such a name means the argument of that name, so the message itself keeps them; inside of
arguments and results every name counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.turn import Call, Notice, Turn
from toolflow.policy.redact import MASK, Redactor

_ARGUMENTS: Final = frozenset({"input", "arguments", "args", "parameters", "tool_input"})
_OF_MESSAGES: Final = frozenset({
    *_ARGUMENTS,
    *("calls", "content", "function", "functionCall", "function_call", "id", "index", "message"),
    *("messages", "name", "parts", "role", "text", "tool", "toolUse", "tool_calls", "type"),
    *("call_id", "callId", "toolUseId", "tool_call_id", "tool_use_id", "output", "result"),
    *("functionResponse", "function_response", "response", "toolResult", "status", "model"),
})  # fmt: skip
_FIXED: Final = frozenset({
    *("id", "type", "role", "name", "tool", "call_id", "callId", "toolUseId", "tool_call_id"),
    *("tool_use_id", "status", "object", "model", "stop_reason", "finish_reason", "phase"),
})  # fmt: skip


class Mask:
    """Masks what belongs to one turn.

    Args:
        redactor: What the policy names.
        secrets: What was found under these names in the turn.

    Attributes:
        secrets: As given.
    """

    __slots__ = ("_known", "_redactor", "secrets")

    def __init__(self, redactor: Redactor, secrets: frozenset[str] = frozenset()) -> None:
        self._redactor = redactor
        self.secrets = secrets
        spelled = {form for secret in secrets for form in _spellings(secret)}
        joined = "|".join(map(re.escape, sorted(spelled, key=lambda text: (-len(text), text))))
        self._known = re.compile(joined) if joined else None

    def value(self, value: Any) -> Any:
        """Arguments or a result."""
        return self._redactor.masked(value, self._known)

    def text(self, text: str) -> str:
        """A text that people or models read."""
        masked: str = self.value(text)
        return masked

    def message(self, value: Any) -> Any:
        """A message, or a part of one, in a provider's form."""
        if not self._redactor:
            return value
        if isinstance(value, Mapping):
            return {key: self._part(key, inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.message(inner) for inner in value]
        return self.value(value)

    def turn(self, turn: Turn) -> Turn:
        """A turn; the turn itself where nothing is named."""
        if not self._redactor:
            return turn
        return replace(
            turn,
            calls=tuple(map(self._call, turn.calls)),
            message=self.message(turn.message),
            notices=self.notices(turn.notices),
            extra=self.message(turn.extra),
        )

    def notices(self, notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
        """What was odd about a turn."""
        return tuple(replace(notice, message=self.text(notice.message)) for notice in notices)

    def outcome(self, outcome: Outcome) -> Outcome:
        """An outcome; the outcome itself where it holds no secret."""
        value, error, note = map(self.value, (outcome.value, outcome.error, outcome.note))
        if (value, error, note) == (outcome.value, outcome.error, outcome.note):
            return outcome
        return replace(outcome, value=value, error=error, note=note)

    def planned(self, call: CallPlan) -> CallPlan:
        """A call of a plan; its label and its keys hold no secrets anyhow."""
        args, reason = self.value(call.args), self.text(call.verdict.reason)
        if args == call.args and reason == call.verdict.reason:
            return call
        parsed = None if call.parsed is None else self.value(call.parsed)
        verdict = replace(call.verdict, reason=reason)
        ask = None if call.ask is None else self.text(call.ask)
        label = self.text(call.label)
        return replace(call, args=args, verdict=verdict, ask=ask, label=label, parsed=parsed)

    def data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What belongs to an event: the names on top are the event's own."""
        return {key: self.value(inner) for key, inner in data.items()}

    def _call(self, call: Call) -> Call:
        return Call(
            call.index,
            call.id,
            call.tool,
            self.value(call.args),
            None if call.raw is None else self.text(call.raw),
            None if call.problem is None else self.text(call.problem),
            self.message(call.extra),
        )

    def _part(self, key: object, value: Any) -> Any:
        if self._redactor.names_it(key) and key not in _OF_MESSAGES:
            return MASK
        if key in _ARGUMENTS:
            return self.value(value)
        if key in _FIXED and isinstance(value, str):
            return value
        return self.message(value)


def parts_of(message: Any, redactor: Redactor) -> Iterator[Any]:
    """The parts of a message that may hold secrets: values in which every name counts.

    Args:
        message: A message, or a part of one, in a provider's form.
        redactor: What the policy names.
    """
    if isinstance(message, Mapping):
        for key, inner in message.items():
            if key in _ARGUMENTS:
                yield inner
            elif key not in _OF_MESSAGES and redactor.names_it(key):
                yield {key: inner}
            else:
                yield from parts_of(inner, redactor)
    elif isinstance(message, list | tuple):
        for inner in message:
            yield from parts_of(inner, redactor)
    elif isinstance(message, str):
        yield message


def _spellings(secret: str) -> set[str]:
    """A text as it stands, and as it stands inside of JSON and of Python's ``repr``."""
    forms = {secret}
    for _ in range(2):
        forms |= {
            json.dumps(form, ensure_ascii=plain)[1:-1] for form in forms for plain in (False, True)
        }
    return forms | {repr(secret)[1:-1]}
