"""The body of a recorded request or response, in the shapes that cassettes have for it.

Text, text in base64, bytes that are packed with gzip or deflate, or the parsed JSON value itself.
Nothing is guessed from headers, which are often left out: a body is what it can be read as.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

from toolflow.formats import sse

MAX_UNPACKED: Final = 64 * 1024 * 1024
_PACKED = (b"\x1f\x8b", b"x\x01", b"x\x9c", b"x\xda")
_ANY_HEADER = 47  # zlib: gzip or zlib, told by the header


class _Unread:
    """Stands for a body that cannot be read; ``None`` is a JSON value."""


UNREAD: Final = _Unread()


def body_of(side: Mapping[str, Any]) -> Any:
    """The JSON value of the body of a request or a response.

    Args:
        side: The request or the response, as a cassette has it.

    Returns:
        The value, the list of the chunks where the body is a stream, or `UNREAD`.
    """
    if "parsed_body" in side:
        return side["parsed_body"]
    body = next((side[key] for key in ("body", "content", "text") if key in side), None)
    if isinstance(body, dict):
        if isinstance(packed := body.get("base64_string"), str):
            return _parsed(_base64(packed) or b"")
        if not isinstance(body.get("string"), str):
            return body if "string" not in body else UNREAD
        body = body["string"]
    if not isinstance(body, str):
        return UNREAD if body is None else body
    found = _parsed(_as_bytes(body))
    if found is UNREAD and (inside := _base64(body)) is not None:
        found = _parsed(inside)
    return found


def _as_bytes(text: str) -> bytes:
    """The bytes of a body: text in UTF-8, or bytes that were written as characters up to U+00FF."""
    if text[:2].encode("utf-8", "replace") != text[:2].encode("latin-1", "replace"):
        try:
            raw = text.encode("latin-1")
        except UnicodeEncodeError:
            raw = b""
        if raw.startswith(_PACKED):
            return raw
    return text.encode("utf-8", "surrogatepass")


def _base64(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _parsed(data: bytes) -> Any:
    """The value of bytes: unpacked where need be; JSON, a stream of events, or JSON lines."""
    if data.startswith(_PACKED) and (unpacked := _unpacked(data)) is not None:
        data = unpacked
    if sse.is_sse(data[:64]):
        return sse.parse(data)
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) < 2 or not lines[0].startswith(b"{"):
        return UNREAD
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return UNREAD


def _unpacked(data: bytes) -> bytes | None:
    """The unpacked bytes, or ``None`` where they are torn or larger than 64 MiB."""
    try:
        machine = zlib.decompressobj(_ANY_HEADER)
        whole = machine.decompress(data, MAX_UNPACKED)
    except zlib.error:
        return None
    return whole if machine.eof else None
