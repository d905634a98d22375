"""What a result looks like for a model, whatever the format: its text and its pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from toolflow.errors import UsageError
from toolflow.formats.base import printable
from toolflow.formats.ids import SURROGATE
from toolflow.model import Image, Outcome, Turn

SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
ONGOING = frozenset({"ok", "running"})


def result_text(outcome: Outcome, shown: AbstractSet[str] = SHOWN_TYPES) -> str:
    """What the model reads; a picture that the provider does not show is named in it.

    Args:
        outcome: The result.
        shown: The media types that the provider shows.

    Raises:
        UsageError: If the value is none that JSON can hold.
    """
    try:
        text = outcome.text
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"An outcome's value is no JSON value ({error}). Use JSON values."
        ) from error
    unshown = [image for image in outcome.images if image.media_type not in shown]
    for image in unshown:
        text += f"\n[A picture of type {printable(image.media_type)} cannot be shown.]"
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def shown_images(outcome: Outcome, shown: AbstractSet[str] = SHOWN_TYPES) -> list[Image]:
    """The pictures of a result that the provider shows, in order."""
    return [image for image in outcome.images if image.media_type in shown]


def is_error(outcome: Outcome) -> bool:
    """Whether a result is marked as an error. A call moved to the background is none."""
    return outcome.status not in ONGOING


def told(value: Any, images: tuple[Image, ...] = (), *, failed: bool = False) -> Outcome:
    """The outcome that a result in a conversation tells.

    Args:
        value: Its text, or what else it holds, as JSON values.
        images: Its pictures.
        failed: Whether it is marked as an error; why, the provider's forms do not say.
    """
    if not failed:
        return Outcome("ok", value, images=images)
    if isinstance(value, str) and value:
        return Outcome("failed", None, value, images)
    return Outcome("failed", value or None, "The call failed without a message.", images)


def labelled_pictures(
    turn: Turn,
    outcomes: Sequence[Outcome],
    ids: Sequence[str],
    valid_name: Callable[[str], str],
    *,
    errors_only: bool = False,
    shown: AbstractSet[str] = SHOWN_TYPES,
) -> Iterator[tuple[str, list[Image]]]:
    """The pictures that stand apart from their results, with the words before those of each call.

    Args:
        turn: The turn.
        outcomes: One a call, in call order.
        ids: The ids that are written, in call order.
        valid_name: Makes a tool's name one that the provider takes.
        errors_only: Whether only the pictures of errors stand apart.
        shown: The media types that the provider shows.
    """
    for call, call_id, outcome in zip(turn.calls, ids, outcomes, strict=True):
        if not outcome.images or (errors_only and not is_error(outcome)):
            continue
        if images := shown_images(outcome, shown):
            yield picture_label(call_id, valid_name(call.tool), len(images)), images


def image_of(media_type: Any, data: Any) -> Image | None:
    """The picture of a media type and of data as base64; ``None`` where one of them is no text."""
    if isinstance(media_type, str) and isinstance(data, str):
        return Image(media_type, data)
    return None


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
