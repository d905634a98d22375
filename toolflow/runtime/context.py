"""What a tool's body can know and do while it runs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextvars import ContextVar
from copy import deepcopy
from typing import Any


class Interrupted(BaseException):  # not an error: a tool asks a person
    """A body asks a person and ends. Not an `Exception`, so that tools do not swallow it.

    Args:
        question: What is asked; any JSON value.
    """

    def __init__(self, question: Any) -> None:
        super().__init__(question)
        self.question = question


class Context:
    """The surroundings of one execution of one call. Every execution gets its own.

    Attributes:
        name: The call's unique name in its turn.
        id: The provider's id of the call.
        tool: The tool's name.
        turn: The turn's name.
        run: The run's name.
        source: ``main``, or the path of parent calls of a nested turn.
        messages: What every call of this turn sees: the committed transcript and the turn's own
            message, never a sibling's result (spec 9.2).
        fence: The fencing number of the call's lease on its keys, or ``None`` without keys. It
            grows from lease to lease, so a store that remembers the largest can refuse a late
            writer.
        attempt: 1, or how many times the body was entered with this one.
        lineage: The owners of keys that a nested turn may take again, nearest first.
        partial: What `keep` was given last.
        alive: Whether the call still runs.
    """

    __slots__ = (
        "_answers",
        "_args",
        "_asked",
        "_pausable",
        "alive",
        "attempt",
        "fence",
        "id",
        "lineage",
        "messages",
        "name",
        "partial",
        "run",
        "source",
        "tool",
        "turn",
    )

    def __init__(
        self,
        *,
        name: str,
        id: str,  # noqa: A002  # the field's name everywhere else
        tool: str,
        args: Mapping[str, Any],
        turn: str,
        run: str,
        source: str = "main",
        messages: Sequence[Any] = (),
        fence: int | None = None,
        attempt: int = 1,
        lineage: tuple[Hashable, ...] = (),
        answers: Sequence[Any] = (),
        pausable: bool = False,
    ) -> None:
        self.name = name
        self.id = id
        self.tool = tool
        self.turn = turn
        self.run = run
        self.source = source
        self.messages = messages
        self.fence = fence
        self.attempt = attempt
        self.lineage = lineage
        self.partial: Any = None
        self.alive = True
        self._args = args
        self._answers = answers
        self._pausable = pausable
        self._asked = 0

    @property
    def args(self) -> dict[str, Any]:
        """The arguments as JSON values; a copy, so that changing it changes nothing else."""
        return deepcopy(dict(self._args))

    def interrupt(self, question: Any) -> Any:
        """Ask a person. The run pauses; the body runs again from its start once there is an answer.

        Args:
            question: What is asked; any JSON value.

        Returns:
            The answer, when the body runs again: the first call of `interrupt` in it gets the
            first answer, the second the second.

        Raises:
            Interrupted: While there is no answer; let it pass.
            RuntimeError: If this run cannot pause, so nobody could ever answer.
        """
        place = self._asked
        self._asked += 1
        if place < len(self._answers):
            return self._answers[place]
        if not self._pausable:
            raise RuntimeError("The tool asks a person, but this run cannot pause.")
        raise Interrupted(question)

    def keep(self, partial: Any) -> None:
        """Keep what there is so far, as the result in case the call is cut off.

        Args:
            partial: Output or changes so far; it is recorded if the call is aborted or times out.
        """
        self.partial = partial


_current: ContextVar[Context | None] = ContextVar("toolflow_context", default=None)


def current_context() -> Context | None:
    """The context of the call whose body runs here, or ``None`` outside of one.

    A task that a body left running after its call ended is outside (spec 6.11).
    """
    context = _current.get()
    return context if context is not None and context.alive else None


def enter_context(context: Context) -> None:
    """Make a context the current one; called inside the body's own copy of the variables."""
    _current.set(context)
