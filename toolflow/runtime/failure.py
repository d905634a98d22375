"""What an exception says, as one plain sentence (spec 6.5; conformance 83).

Exceptions come from tools that toolflow knows nothing of: their text may be empty, their
``__str__`` may raise, and a group may hold groups. Nothing in here raises.
"""

from __future__ import annotations

from typing import TypeVar

E = TypeVar("E", bound=BaseException)

_SHOWN = 10  # exceptions of a group that are told
_BRIEF = 300  # characters
_NOTES = 5  # notes of an exception that are told


class ToolFailure(Exception):  # noqa: N818  # what a tool says of its call, not an error of toolflow
    """Raised inside a tool to fail the call with exactly this sentence.

    Any other exception fails the call too; its sentence then begins with the exception's name.
    """


def describe(error: BaseException) -> str:
    """Say what happened: the exception's name and its message.

    Args:
        error: Any exception. Groups are unfolded; notes added to the exception are told too.

    Returns:
        One text, without a full stop at its end where the exception's message has none.
    """
    leaves = _leaves(error)
    if len(leaves) == 1:
        return _one(leaves[0])
    told = [_one(leaf) for leaf in leaves[:_SHOWN]]
    if len(leaves) > _SHOWN:
        told.append(f"{len(leaves) - _SHOWN} more")
    return f"{len(leaves)} errors: {'; '.join(told)}"


def brief(error: BaseException) -> str:
    """The same on one line, without a full stop, for use inside a sentence."""
    text = " ".join(describe(error).split()).rstrip(".")
    return text if len(text) <= _BRIEF else text[: _BRIEF - 3] + "..."


def first_of(error: BaseException, kind: type[E]) -> E | None:
    """The first exception of a kind: the given one, or one inside it if it is a group."""
    return next((leaf for leaf in _leaves(error) if isinstance(leaf, kind)), None)


def _leaves(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    stack = [error]
    while stack:
        current = stack.pop()
        if isinstance(current, BaseExceptionGroup):
            stack.extend(reversed(current.exceptions))
        else:
            found.append(current)
    return found


def _one(error: BaseException) -> str:
    name = type(error).__name__
    try:
        message = str(error).strip()
    except Exception:  # noqa: BLE001  # the tool's own __str__
        return f"{name} (its message cannot be read)"
    told = message if isinstance(error, ToolFailure) else f"{name}: {message}"
    if not message:
        told = f"{name} (without a message)"
    return "\n".join([told, *_notes(error)])


def _notes(error: BaseException) -> list[str]:
    notes = getattr(error, "__notes__", ())
    if not isinstance(notes, list | tuple):
        return []
    return [note for note in notes[:_NOTES] if type(note) is str]
