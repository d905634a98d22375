"""Results as messages of role ``tool``: what OpenAI Chat and Cohere have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from toolflow.formats.results import picture_label, result_text, shown_images
from toolflow.model import Outcome, Turn


def tool_messages(
    turn: Turn,
    outcomes: Sequence[Outcome],
    ids: Sequence[str],
    texts: Sequence[str],
    valid_name: Callable[[str], str],
) -> list[Any]:
    """One message a call, then one of the user with all pictures, then the texts.

    Args:
        turn: The turn.
        outcomes: One a call, in call order.
        ids: The ids to write, in call order.
        texts: What the user says after the results.
        valid_name: Makes a tool's name one that the provider takes.
    """
    results: list[Any] = [
        {"role": "tool", "tool_call_id": call_id, "content": _content(outcome)}
        for call_id, outcome in zip(ids, outcomes, strict=True)
    ]
    pictures: list[Any] = []
    for call, call_id, outcome in zip(turn.calls, ids, outcomes, strict=True):
        if outcome.images and (images := shown_images(outcome)):
            label = picture_label(call_id, valid_name(call.tool), len(images))
            pictures.append({"type": "text", "text": label})
            pictures += [_picture(image.media_type, image.data) for image in images]
    if pictures:
        results.append({"role": "user", "content": pictures})
    return results + [{"role": "user", "content": text} for text in texts]


def _content(outcome: Outcome) -> str:
    text = result_text(outcome)
    if not text and outcome.images:
        return "The picture follows after the results."
    return text


def _picture(media_type: str, data: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
