"""Recorded HTTP traffic (VCR cassettes) as requests and responses, for tests that read messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from toolflow import yamlio
from toolflow.formats import sse


class Exchange(NamedTuple):
    """One request and what came back.

    Attributes:
        request: The body of the request, as JSON values.
        response: The body of the response: JSON values, or the text of a stream.
    """

    request: Any
    response: Any

    @property
    def answer(self) -> Any:
        """The response as JSON values; of a stream, the list of its events."""
        text = self.response
        return sse.parse(text.encode()) if isinstance(text, str) else text


def exchanges(path: Path) -> list[Exchange]:
    """Every exchange of a cassette, in order."""
    cassette = yamlio.load(path.read_text(encoding="utf-8"), source=path.name).value
    return [
        Exchange(_body(pair["request"]), _body(pair["response"]))
        for pair in cassette["interactions"]
    ]


def _body(message: dict[str, Any]) -> Any:
    if "parsed_body" in message:
        return message["parsed_body"]
    body = message["body"]
    text = body["string"] if isinstance(body, dict) else body
    try:
        return json.loads(text)
    except ValueError:
        return text
