"""What a result looks like for a model, whatever the format: its text and its pictures."""

from __future__ import annotations

from collections.abc import Sequence

from toolflow.errors import UsageError
from toolflow.formats.base import printable
from toolflow.formats.ids import SURROGATE
from toolflow.model import Image, Outcome, Turn

SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
ONGOING = frozenset({"ok", "running"})


def result_text(outcome: Outcome) -> str:
    """What the model reads; a picture that no provider shows is named in it.

    Raises:
        UsageError: If the value is none that JSON can hold.
    """
    try:
        text = outcome.text
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"An outcome's value is no JSON value ({error}). Use JSON values."
        ) from error
    unshown = [image for image in outcome.images if image.media_type not in SHOWN_TYPES]
    for image in unshown:
        text += f"\n[A picture of type {printable(image.media_type)} cannot be shown.]"
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def shown_images(outcome: Outcome) -> list[Image]:
    """The pictures of a result that providers show, in order."""
    return [image for image in outcome.images if image.media_type in SHOWN_TYPES]


def is_error(outcome: Outcome) -> bool:
    """Whether a result is marked as an error. A call moved to the background is none."""
    return outcome.status not in ONGOING


def picture_label(call_id: str, tool: str, count: int) -> str:
    """The words before pictures that stand apart from their result."""
    noun = "Picture" if count == 1 else f"{count} pictures"
    return f"{noun} from the result of call {call_id} ({printable(tool)}):"


def check_outcomes(turn: Turn, outcomes: Sequence[Outcome]) -> None:
    """Refuse outcomes that are not exactly one a call.

    Raises:
        UsageError: If their number is not the number of calls.
    """
    if len(outcomes) != len(turn.calls):
        raise UsageError(
            f"{turn.id} has {len(turn.calls)} calls and {len(outcomes)} outcomes."
            " Give exactly one outcome a call, in call order."
        )
