"""The outcome that a ``tool_result`` block of a Claude Code log tells.

A log says only "error" or not; the rest is in fixed sentences of the harness, which are looked
for at the start of an error's text. A text that is no error is never interpreted.

===========================================================  ====================
the log                                                      status
===========================================================  ====================
no error                                                     ``ok``
no error, with a ``backgroundTaskId``                        ``running``
no error, marked as interrupted                              ``aborted``
``[Request interrupted by user`` ...                         ``aborted``
``The user doesn't want to`` ... (rejected in a question)    ``declined``
a permission that was asked for and not given                ``declined``
``Permission`` ... ``denied`` (by a rule or a hook)          ``denied``
``InputValidationError`` (arguments do not fit the tool)     ``invalid_arguments``
``No such tool available``                                   ``unknown_tool``
a sibling's failure cancelled it                             ``skipped``
any other error                                              ``failed``
===========================================================  ====================
"""

from __future__ import annotations

from typing import Any

from toolflow.formats.session.parts import content, error, sentences
from toolflow.model import Image, Outcome

_SENTENCES = sentences(
    (r"\[Request interrupted by user", "aborted"),
    (r"The user doesn['\u2019]t want to (proceed with|take) this", "declined"),
    (r"Claude requested permissions to .{1,4000}haven['\u2019]t granted it yet", "declined"),
    (r"Permission (to use .{1,200}|for this .{1,200})has been denied", "denied"),
    (r"<tool_use_error>InputValidationError", "invalid_arguments"),
    (r"<tool_use_error>Error: No such tool available", "unknown_tool"),
    (r"<tool_use_error>(Sibling tool call errored|Cancelled: parallel tool call)", "skipped"),
)
_DURATIONS = (("durationMs", 0.001), ("durationSeconds", 1.0), ("totalDurationMs", 0.001))
_LONG = 1e12


def outcome_of(block: dict[str, Any], details: Any) -> Outcome:
    """The outcome that a result tells.

    Args:
        block: The ``tool_result`` block.
        details: The ``toolUseResult`` of its line, or ``None``.
    """
    value, images = content(block.get("content"))
    more = details if isinstance(details, dict) else {}
    if block.get("is_error") is True:
        return _error(value, images)
    if more.get("interrupted") is True:
        return Outcome("aborted", value, "[Request interrupted by user]", images)
    if isinstance(more.get("backgroundTaskId"), str):
        return Outcome("running", value, images=images, note="It was moved to the background.")
    return Outcome("ok", value, images=images)


def seconds_of(details: Any) -> float | None:
    """How long the body of a call took, where the tool has measured that.

    Args:
        details: The ``toolUseResult`` of the line of its result, or ``None``.
    """
    if not isinstance(details, dict):
        return None
    for name, unit in _DURATIONS:
        value = details.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LONG:
            return value * unit
    return None


def before_of(details: Any) -> str | None:
    """The text of a file before a call changed it, where the log keeps it.

    Args:
        details: The ``toolUseResult`` of the line of its result, or ``None``.
    """
    text = details.get("originalFile") if isinstance(details, dict) else None
    return text if isinstance(text, str) else None


def _error(value: Any, images: tuple[Image, ...]) -> Outcome:
    outcome = error(value, images, _SENTENCES)
    if outcome.status == "aborted":  # after the sentence stands what the call had put out so far
        first, _, rest = outcome.text.partition("\n")
        return Outcome("aborted", rest or None, first, images)
    return outcome
