"""The native chat of Ollama: like Chat Completions, but its calls have no ids.

Source: the published reference of ``POST /api/chat``. A response is ``{message, done, ...}``; in a
stream each line is one such object with a piece of the text, and calls come whole. Arguments are
objects, and a result is a ``tool`` message with ``tool_name``, told apart by order alone. So the
ids are made up here (``carries_ids`` is false), and results are written without any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.formats.base import Flaw, Joined, Misfit, flaw
from toolflow.formats.ids import made_up_ids
from toolflow.formats.openai_chat_parts import merged
from toolflow.formats.openai_stream import no_end, torn_events
from toolflow.formats.plain import plain
from toolflow.formats.results import picture_label, result_text, shown_images
from toolflow.model import Call, Outcome


def is_response(data: Mapping[str, Any]) -> bool:
    """Whether an object is a response, or a line of a stream."""
    return type(data.get("done")) is bool and isinstance(plain(data.get("message")), dict)


def is_chunk(data: Mapping[str, Any]) -> bool:
    """Whether an object is a line of a stream that goes on after it."""
    return data.get("done") is False and is_response(data)


def without_ids(blocks: Sequence[Any]) -> bool:
    """Whether these calls are Ollama's: none has an id, all have their arguments as an object."""
    return bool(blocks) and all(_has_no_id(block) for block in blocks)


def _has_no_id(block: Any) -> bool:
    if not isinstance(block, dict) or "id" in block:
        return False
    body = plain(block.get("function"))
    return isinstance(body, dict) and isinstance(body.get("arguments"), Mapping)


def ids_for(count: int) -> tuple[str, ...]:
    """The ids of calls that have none, by their place."""
    return made_up_ids([None] * count)


def join(lines: Sequence[Any]) -> Joined:
    """Put the lines of a stream together.

    Raises:
        Misfit: If a line is no such object.
    """
    flaws: list[Flaw] = []
    torn: list[int] = []
    whole: dict[str, Any] = {}
    fields: dict[str, list[Any]] = {}
    for number, line in enumerate(lines):
        if isinstance(line, str):
            torn.append(number)
            continue
        message = plain(line.get("message")) if isinstance(line, dict) else None
        if not isinstance(message, dict):
            flaws.append(flaw((number,), line, "Use an object with message and done."))
            continue
        for name, value in message.items():
            fields.setdefault(name, []).append(value)
        whole.update(line)
    if flaws:
        raise Misfit(flaws)
    notices = list(torn_events(torn))
    if whole.get("done") is not True:
        notices.append(no_end("done"))
    message = {name: merged(name, values) for name, values in fields.items()}
    message["content"] = message.get("content") or ""
    return Joined({**whole, "message": message}, tuple(notices))


def block(call: Call, name: str) -> dict[str, Any]:
    """A call of a turn that was made by hand.

    Args:
        call: The call.
        name: The name of its tool, as it is written.
    """
    return {"function": {"name": name, "arguments": dict(call.args)}}


def results(
    calls: Sequence[Call], names: Sequence[str], outcomes: Sequence[Outcome], texts: Sequence[str]
) -> list[Any]:
    """The messages of the results, in call order, then the pictures, then the texts.

    Args:
        calls: The calls.
        names: The name of each tool, as it is written.
        outcomes: How each call settled.
        texts: What the user says after the results.
    """
    told: list[Any] = [
        {"role": "tool", "tool_name": name, "content": result_text(outcome)}
        for name, outcome in zip(names, outcomes, strict=True)
    ]
    for call, name, outcome in zip(calls, names, outcomes, strict=True):
        if images := shown_images(outcome):
            label = picture_label(call.id, name, len(images))
            data = [image.data for image in images]
            told.append({"role": "user", "content": label, "images": data})
    return told + [{"role": "user", "content": text} for text in texts]


class Waiting:
    """The calls of a turn that have no result yet, for results that name a tool and no id.

    Args:
        calls: The calls of the turn, in order.
    """

    def __init__(self, calls: Sequence[Call] = ()) -> None:
        self._all = deque(calls)
        self._by_tool: dict[str, deque[Call]] = {}
        for call in calls:
            self._by_tool.setdefault(call.tool, deque()).append(call)
        self._answered: set[int] = set()

    def take(self, message: Mapping[str, Any]) -> str:
        """The id of the call that a result belongs to: the first of its tool that still waits.

        Args:
            message: The ``tool`` message.

        Returns:
            The id, or empty text where no call waits.
        """
        name = message.get("tool_name", message.get("name"))
        calls = self._by_tool.get(name, deque()) if isinstance(name, str) else self._all
        while calls:
            call = calls.popleft()
            if call.index not in self._answered:
                self._answered.add(call.index)
                return call.id
        return ""
