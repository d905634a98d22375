"""The turn: one assistant message with its calls, in the model's order (spec 2 and 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from toolflow.model.value import quick


class _Empty(dict[str, Any]):
    """An empty mapping that stays empty: a default that values can share, and JSON can hold."""

    def __hash__(self) -> int:  # type: ignore[override]  # it never changes
        return 0

    def __setitem__(self, key: str, value: Any) -> NoReturn:
        raise TypeError("This shared empty mapping cannot be changed.")

    setdefault = update = __ior__ = __setitem__  # type: ignore[assignment]

    def __reduce__(self) -> str:
        return "EMPTY"


EMPTY: Mapping[str, Any] = _Empty()


@dataclass(frozen=True, slots=True)
class Notice:
    """Something odd that was found and told, but is no error.

    Attributes:
        code: A short stable word for the kind, such as ``doubled_id``.
        message: A sentence for people.
        line: The line of the source, counted from 1, where known.
        turn: The id of the turn, where it belongs to one.
        call: The name of the call, where it belongs to one.
    """

    code: str
    message: str
    line: int | None = None
    turn: str | None = None
    call: str | None = None


@quick
@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a turn, as read (spec 3.4 and 3.5).

    Attributes:
        index: Its place in the turn, counted from 0. Turn and index name a call for certain.
        id: The provider's id, verbatim; it may be empty or held twice.
        tool: The tool's name, verbatim.
        args: The parsed arguments; empty where ``problem`` says why they could not be parsed.
        raw: The argument text as received, kept where it could not be parsed.
        problem: Why the arguments cannot be used, as a sentence, or ``None``.
        extra: What else the provider's block held, verbatim.
    """

    index: int
    id: str
    tool: str
    args: Mapping[str, Any] = EMPTY
    raw: str | None = None
    problem: str | None = None
    extra: Mapping[str, Any] = EMPTY


@quick
@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant message and its calls.

    Attributes:
        id: The turn's name within its run or recording, such as ``turn-1``.
        calls: The calls in the model's order.
        format: The wire format that it was read from: ``openai-chat``, ``anthropic``, ``calls``...
        message: The provider's assistant message, verbatim and JSON-like.
        message_id: The provider's id of the message, where it has one.
        source: ``main``, or the name of the sub-agent or parent call that it belongs to.
        carries_ids: Whether the format carries call ids. Where it does not, the ids were made
            by the reader and are unique.
        notices: What the reader found odd.
        extra: What else the document held beside the message (a response's usage, say), verbatim.
    """

    id: str
    calls: tuple[Call, ...]
    format: str = "calls"
    message: Any = None
    message_id: str | None = None
    source: str = "main"
    carries_ids: bool = True
    notices: tuple[Notice, ...] = ()
    extra: Mapping[str, Any] = EMPTY


def call_names(calls: Sequence[Call]) -> tuple[str, ...]:
    """A unique, readable name for every call of a turn.

    A call's name is its id where no other call of the turn has the same; else ``call-N`` with
    N its place counted from 1, with ``+`` added until nobody else has that name.

    Args:
        calls: The calls of one turn, in order.

    Returns:
        One name a call, in the same order; equal input gives equal names.
    """
    ids = Counter(call.id for call in calls)
    taken = set(ids)
    names = []
    for call in calls:
        name = call.id
        if not name or ids[name] > 1:
            name = f"call-{call.index + 1}"
            while name in taken:
                name += "+"
            taken.add(name)
        names.append(name)
    return tuple(names)
