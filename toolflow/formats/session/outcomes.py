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

import re
from typing import Any

from toolflow.model import Image, Outcome
from toolflow.model.outcome import Status

_TABLE: tuple[tuple[str, Status], ...] = (
    (r"\[Request interrupted by user", "aborted"),
    (r"The user doesn['\u2019]t want to (proceed with|take) this", "declined"),
    (r"Claude requested permissions to .{1,4000}haven['\u2019]t granted it yet", "declined"),
    (r"Permission (to use .{1,200}|for this .{1,200})has been denied", "denied"),
    (r"<tool_use_error>InputValidationError", "invalid_arguments"),
    (r"<tool_use_error>Error: No such tool available", "unknown_tool"),
    (r"<tool_use_error>(Sibling tool call errored|Cancelled: parallel tool call)", "skipped"),
)
_SENTENCES = tuple((re.compile(pattern), status) for pattern, status in _TABLE)


def outcome_of(block: dict[str, Any], details: Any) -> Outcome:
    """The outcome that a result tells.

    Args:
        block: The ``tool_result`` block.
        details: The ``toolUseResult`` of its line, or ``None``.
    """
    value, images = _content(block.get("content"))
    more = details if isinstance(details, dict) else {}
    if block.get("is_error") is True:
        return _error(value, images)
    if more.get("interrupted") is True:
        return Outcome("aborted", value, "[Request interrupted by user]", images)
    if isinstance(more.get("backgroundTaskId"), str):
        return Outcome("running", value, images=images, note="It was moved to the background.")
    return Outcome("ok", value, images=images)


def _error(value: Any, images: tuple[Image, ...]) -> Outcome:
    text = value if isinstance(value, str) else ""
    status: Status = "failed"
    for pattern, meant in _SENTENCES:
        if pattern.match(text):
            status = meant
            break
    if status == "aborted":  # what follows the sentence is what the call had put out so far
        first, _, rest = text.partition("\n")
        return Outcome(status, rest or None, first, images)
    if text:
        return Outcome(status, None, text, images)
    return Outcome(status, value or None, "The call failed without a message.", images)


def _content(content: Any) -> tuple[Any, tuple[Image, ...]]:
    """The value and the pictures of a result: text, or the blocks that are neither."""
    if content is None:
        return "", ()
    if not isinstance(content, list):
        return content, ()
    images = tuple(image for block in content if (image := _image(block)) is not None)
    rest = [block for block in content if _image(block) is None]
    texts = [block["text"] for block in rest if _is_text(block)]
    if len(texts) == len(rest):
        return "\n".join(texts), images
    return rest, images


def _is_text(block: Any) -> bool:
    return (
        isinstance(block, dict) and block.get("type") == "text" and type(block.get("text")) is str
    )


def _image(block: Any) -> Image | None:
    if not isinstance(block, dict) or block.get("type") != "image":
        return None
    source = block.get("source")
    if not isinstance(source, dict) or source.get("type") != "base64":
        return None
    media_type, data = source.get("media_type"), source.get("data")
    if type(media_type) is str and type(data) is str:
        return Image(media_type, data)
    return None
