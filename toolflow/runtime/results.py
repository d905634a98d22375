"""What tools return and raise, as outcomes (spec 6.5 and 9.4): every value, every exception."""

from __future__ import annotations

import inspect
from typing import Any, get_args

from toolflow.model.outcome import Outcome, Status
from toolflow.runtime.cut import limit_outcomes
from toolflow.runtime.failure import ToolFailure, describe
from toolflow.runtime.jsonable import Writer
from toolflow.runtime.plain import clean_text

__all__ = ["ToolFailure", "failed_outcome", "limit_outcomes", "outcome_of"]

_NOTHING = Outcome("ok")
_STATUSES = frozenset(get_args(Status))


def outcome_of(value: object) -> Outcome:
    """Turn anything that a tool returned into an outcome that can be written down.

    JSON values stay as they are. Other values become a readable form, lone surrogates are
    replaced, live objects become their type name, pictures (`Image`, or the bytes of one) go to
    the outcome's images; the note tells of all of it. A tool may return an outcome itself, say
    ``running`` for a call that goes on in the background; it is only made writable.

    Args:
        value: What the tool returned.

    Returns:
        An outcome whose value, error and note are JSON and valid UTF-8. A coroutine that nobody
        awaited is a failure: its work was not done.
    """
    if value is None:
        return _NOTHING
    if type(value) is str and value.isascii():
        return Outcome("ok", value)
    try:
        return _outcome(value)
    except Exception as error:  # noqa: BLE001  # a value that lies about what it is
        name = type(value).__name__
        return Outcome("ok", f"<{name}>", note=f"{name} cannot be read ({type(error).__name__}).")


def failed_outcome(error: BaseException) -> Outcome:
    """Turn anything that a tool raised into an outcome with a sentence (conformance 83).

    Args:
        error: The exception. A `ToolFailure` says exactly its message; of others the type is
            told too; groups are unfolded.

    Returns:
        A failed outcome.
    """
    try:
        text = describe(error)
    except Exception:  # noqa: BLE001  # an exception of the tool's own, with code of its own
        text = f"{type(error).__name__} (it cannot be read)"
    text, lone = clean_text(text)
    note = f"Lone surrogates were replaced: {lone}." if lone else None
    return Outcome("failed", error=text, note=note)


def _outcome(value: object) -> Outcome:
    if isinstance(value, Outcome):
        return _writable(value)
    if inspect.iscoroutine(value):
        value.close()
        return Outcome("failed", error="The tool returned a coroutine and did not await it.")
    writer = Writer()
    written = writer.write(value)
    if writer.images and isinstance(written, str):
        written = None  # the picture is the whole result
    return Outcome("ok", written, images=tuple(writer.images), note=writer.note)


def _writable(outcome: Outcome) -> Outcome:
    writer = Writer()
    value = writer.write(outcome.value)
    for image in outcome.images:
        writer.write(image)
    error = _optional_text(outcome.error)
    status = outcome.status
    if status not in _STATUSES:
        status, error = "failed", f"The tool reported the unknown status {outcome.status!r}."
    note = "\n".join(text for text in (_optional_text(outcome.note), writer.note) if text)
    return Outcome(status, value, error, tuple(writer.images), note or None)


def _optional_text(value: Any) -> str | None:
    return None if value is None else clean_text(str(value))[0]
