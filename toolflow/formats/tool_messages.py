"""``tool_calls``, and results of role ``tool``: what OpenAI Chat and Cohere have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from toolflow.formats.arguments import arguments_text
from toolflow.formats.layout import Keys, of_messages
from toolflow.formats.plain import plain
from toolflow.formats.results import labelled_pictures, result_text
from toolflow.formats.tool_names import NameRule
from toolflow.model import Call, Outcome, Turn

# No rule for names holds for every server: only blanks and halves of characters are replaced.
NAMES = NameRule(re.compile("[^\\s\ud800-\udfff]+"), re.compile("[\\s\ud800-\udfff]"))


def call_block(call: Call, call_id: str) -> dict[str, Any]:
    """A call of a turn that was made by hand, as it stands in ``tool_calls``."""
    body = {"name": NAMES.valid(call.tool), "arguments": arguments_text(call)}
    return {"id": call_id, "type": "function", "function": body}


def mended_block(
    block: dict[str, Any], call: Call, call_id: str, *, part: str = "function", whole: bool
) -> dict[str, Any]:
    """A call that the provider takes; the same block if it is one.

    Args:
        block: The call as it was read.
        call: The call.
        call_id: Its id, as it is written.
        part: The field of the block with the name.
        whole: Whether the provider takes the arguments as they are.
    """
    if whole and call.id == call_id and NAMES.takes(call.tool):
        return block
    body = {**plain(block[part]), "name": NAMES.valid(call.tool)}
    if not whole:
        body["arguments"] = arguments_text(call)
    return {**block, "id": call_id, part: body}


def tool_messages(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> list[Any]:
    """One message a call, then one of the user with all pictures, then the texts.

    Args:
        turn: The turn.
        outcomes: One a call, in call order.
        ids: The ids to write, in call order.
        texts: What the user says after the results.
    """
    results: list[Any] = [
        {"role": "tool", "tool_call_id": call_id, "content": _content(outcome)}
        for call_id, outcome in zip(ids, outcomes, strict=True)
    ]
    pictures: list[Any] = []
    for label, images in labelled_pictures(turn, outcomes, ids, NAMES.valid):
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


def _id_keys(message: Any) -> Keys | None:
    is_result = isinstance(message, dict) and message.get("role") == "tool"
    return ("tool_call_id",) if is_result else None


LAYOUT = of_messages(_id_keys)
