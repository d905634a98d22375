"""Steering a run from outside: interrupt, abort, messages that arrive meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from toolflow.runtime.loops import Caller


class Controlled(Protocol):
    """What a control acts on."""

    call_back: Caller

    def halt(self) -> None:
        """Stop at the next possible place."""

    def abort(self, cause: str) -> None:
        """Stop now."""


class Control:
    """A handle on a run, callable from any thread, before, during and after it.

    Give one to `Engine.run`. Interrupt and abort may come at any moment, twice, or after the end
    (spec 6.9): the first cause of an abort counts, and an abort outranks an interrupt. After the
    end nothing changes any more: an interrupt is forgotten, so that it does not stop the resumed
    run; an abort holds for every further run that is given this control.
    """

    def __init__(self) -> None:
        self._run: Controlled | None = None
        self._used = False
        self._interrupted = False
        self._abort_cause: str | None = None
        self._messages: list[Any] = []

    def interrupt(self) -> None:
        """Let running calls finish, start no further one, then pause."""
        if self._run is not None or not self._used:
            self._interrupted = True
        self._tell(lambda run: run.halt())

    def abort(self, cause: str = "by the user") -> None:
        """Stop now; every call of the turn still gets its one result.

        Args:
            cause: Who or what stopped the run, for the record.
        """
        if self._abort_cause is None:
            self._abort_cause = cause
        first = self._abort_cause
        self._tell(lambda run: run.abort(first))

    def steer(self, message: Any) -> None:
        """Give the model a message after the whole turn (spec 6.10).

        Args:
            message: A message in the provider's form.
        """
        self._messages.append(message)

    def take_messages(self) -> list[Any]:
        """The steering messages so far; they are given out once."""
        messages, self._messages = self._messages, []
        return messages

    def attach(self, run: Controlled) -> None:
        """A run begins: what was asked for before counts now."""
        self._run, self._used = run, True
        if self._abort_cause is not None:
            run.abort(self._abort_cause)
        elif self._interrupted:
            run.halt()

    def detach(self, *, over: bool = True) -> None:
        """The run has ended.

        Args:
            over: Whether that was the run itself, not something that had to come before it. What
                was asked for meanwhile then still counts.
        """
        self._run = None
        if over:
            self._interrupted = False
        else:
            self._used = False

    def _tell(self, what: Callable[[Controlled], None]) -> None:
        run = self._run
        if run is not None:
            run.call_back(lambda: what(run))
