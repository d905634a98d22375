"""Server-sent events: the text of a stream becomes its chunks.

Source: the event stream format of the HTML standard (section 9.2). Only the data of an event is
looked at, since providers repeat the event's name in it. The text ``[DONE]`` ends a stream of Chat
Completions and is no chunk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

_START = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*(?::|event:|data: ?(?:[{\[]|$))")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_DONE = b"[DONE]"


def is_sse(text: bytes) -> bool:
    """Whether text begins like server-sent events."""
    return _START.match(text) is not None


def joined(pieces: Iterable[str | bytes]) -> bytes:
    """The text of a stream of pieces: as they came from the wire, or its lines without their ends.

    Args:
        pieces: Pieces of any size; if none of them holds a line's end, they are taken for lines.
    """
    whole = [p.encode("utf-8", "surrogatepass") if isinstance(p, str) else p for p in pieces]
    lines = not any(b"\n" in piece or b"\r" in piece for piece in whole)
    return (b"\n" if lines else b"").join(whole)


def parse(text: bytes) -> list[Any]:
    """The chunks of a stream.

    Args:
        text: The whole text, or as much of it as came.

    Returns:
        The value of each event in order. Data that is no JSON, such as a torn last event, is given
        as text, which no format takes for a chunk: it is told by the format that joins them.
    """
    chunks = []
    data: list[bytes] = []
    for line in (*_LINE_END.split(text.removeprefix(b"\xef\xbb\xbf")), b""):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            whole = b"\n".join(data)
            data = []
            if whole.strip() != _DONE:
                chunks.append(_value(whole))
    return chunks


def _value(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")
