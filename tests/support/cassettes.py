"""The bodies in a recording of HTTP requests (VCR), for tests that read provider messages there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from toolflow.formats import sse


class Exchange(NamedTuple):
    """One request and its response: the bodies as values; a stream is the list of its events."""

    request: Any
    response: Any
    streamed: bool


def exchanges(path: Path) -> Iterator[Exchange]:
    """Every exchange of a cassette."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(path.read_text("utf-8"), Loader=loader)
    for each in document["interactions"]:
        request, response = each["request"], each["response"]
        asked = request.get("parsed_body")
        if asked is None:
            asked = json.loads(request["body"])
        told = response.get("parsed_body")
        text = "" if told is not None else response["body"]["string"]
        streamed = sse.is_sse(text.encode())
        if told is None:
            told = sse.parse(text.encode()) if streamed else json.loads(text)
        yield Exchange(asked, told, streamed)
