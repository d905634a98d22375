"""Hooks: what a harness can do before, around and after every call (spec 6.4).

Before- and after-hooks run one at a time and in call order, whichever call finished first; only
bodies overlap. Several hooks are entered in the given order and left in the reverse one.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.runtime.results import outcome_of

Proceed = Callable[[], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Deny:
    """A before-hook's no: the body does not run, the model gets the reason.

    Attributes:
        reason: A sentence for the model.
    """

    reason: str


@dataclass(slots=True)
class HookContext:
    """What a hook knows beside the call.

    Attributes:
        run: The run's name.
        turn: The turn's name.
        source: ``main``, or the path of parent calls of a nested turn.
        extra: Texts that are appended after all results of the turn, in call order.
    """

    run: str
    turn: str
    source: str
    extra: list[str] = field(default_factory=list)

    def add_context(self, text: str) -> None:
        """Give the model a text after all results of the turn (conformance 57)."""
        self.extra.append(text)


class Hooks:
    """The base of hooks; override what you need. Methods may be plain functions, too.

    A before-hook returns ``None`` to go on, a mapping or a changed `CallPlan` to go on with other
    arguments, or `Deny`. An after-hook returns ``None`` to keep the outcome, an `Outcome`, or any
    other value to replace what the tool returned. A hook that raises fails its own call only.
    """

    def before_call(self, call: CallPlan, context: HookContext) -> Any:
        """Called before a call starts, in call order."""

    async def around_call(
        self,
        call: CallPlan,  # noqa: ARG002  # for those who override it
        context: HookContext,  # noqa: ARG002
        proceed: Proceed,
    ) -> Any:
        """Called around the body; these overlap. Return what ``await proceed()`` gives, or else."""
        return await proceed()

    def after_call(self, call: CallPlan, outcome: Outcome, context: HookContext) -> Any:
        """Called when the outcome is known, in call order; denied calls come here, too."""


def several(hooks: Hooks | Sequence[Hooks]) -> tuple[Hooks, ...]:
    """Hooks as a tuple; one alone is one of them."""
    return (hooks,) if isinstance(hooks, Hooks) else tuple(hooks)


class HookChain:
    """Several hooks as one.

    Args:
        hooks: The hooks, outermost first.
    """

    def __init__(self, hooks: Sequence[Hooks]) -> None:
        self._hooks = tuple(hooks)
        self._around = [h for h in hooks if type(h).around_call is not Hooks.around_call]

    def __bool__(self) -> bool:
        return bool(self._hooks)

    async def before(self, call: CallPlan, context: HookContext) -> Deny | CallPlan:
        """Run all before-hooks; each sees the arguments that the one before it left.

        Returns:
            The call, with other arguments where a hook changed them, or the first denial.

        Raises:
            ValueError: If a hook changed the id or the tool, or returned something else.
            Exception: What a hook raises.
        """
        current = call
        for hook in self._hooks:
            shown = replace(current, args=deepcopy(dict(current.args)))
            answer = await _awaited(hook.before_call(shown, context))
            if isinstance(answer, Deny):
                return answer
            if answer is not None:
                current = _changed(current, answer)
        return current

    @property
    def around(self) -> bool:
        """Whether any hook wants to stand around bodies."""
        return bool(self._around)

    def wrap(self, call: CallPlan, context: HookContext, body: Proceed) -> Proceed:
        """A body with all around-hooks around it, the first one outermost."""
        for hook in reversed(self._around):
            body = _wrapped(hook, call, context, body)
        return body

    async def after(self, call: CallPlan, outcome: Outcome, context: HookContext) -> Outcome:
        """Run all after-hooks, the innermost first; each sees what the one before it made.

        Returns:
            The outcome as they leave it.
        """
        for hook in reversed(self._hooks):
            answer = await _awaited(hook.after_call(call, outcome, context))
            if answer is not None:
                outcome = answer if isinstance(answer, Outcome) else outcome_of(answer)
        return outcome


def _changed(call: CallPlan, answer: Any) -> CallPlan:
    if isinstance(answer, CallPlan):
        for name in ("index", "name", "id", "tool"):
            if getattr(answer, name) != getattr(call, name):
                raise ValueError(
                    f"A hook changed the {name} of call {call.name!r} to "
                    f"{getattr(answer, name)!r}. It may change the arguments only."
                )
        answer = answer.args
    if not isinstance(answer, Mapping):
        raise TypeError(
            f"A before-hook returned {type(answer).__name__} for call {call.name!r}. "
            "Use None, a mapping of arguments, the changed call, or Deny."
        )
    return call if answer == call.args else replace(call, args=dict(answer), parsed=None)


def _wrapped(hook: Hooks, call: CallPlan, context: HookContext, body: Proceed) -> Proceed:
    return lambda: hook.around_call(call, context, body)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
