"""Messages as lines of JSON, read with patience: a server may write anything (spec 16).

A line that is no message is passed over. But an answer that cannot be read must still answer, or
its call would wait for ever: it becomes an error for the call with its id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from toolflow.runtime.plain import clean_text

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

MAX_MESSAGE = 100_000_000  # bytes
_PARSE_ERROR = -32700
_MAX_DIGITS = 4_000  # of an integer; Python refuses to read much longer ones
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"'
_ID = rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{0,100}")'
_ID_FIRST = re.compile(rb"\s*\{\s*(?:%s\s*,\s*)?%s" % (_VERSION, _ID))
_ID_LAST = re.compile(rb"%s\s*(?:,\s*%s\s*)?\}\s*$" % (_ID, _VERSION))


class TooLong(Exception):  # noqa: N818  # the way out of reading
    """A line is longer than any message may be."""


class Lines:
    """Cuts a stream of bytes into lines, in linear time.

    Args:
        most: The most bytes that a line may have.
    """

    def __init__(self, most: int = MAX_MESSAGE) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take the next bytes.

        Args:
            chunk: Any number of bytes.

        Yields:
            The lines that are whole now, without their ends.

        Raises:
            TooLong: If a line is too long.
        """
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._add(end)
            line = b"".join(self._parts)
            self._parts, self._size = [], 0
            yield line
        self._add(rest)

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._most:
            raise TooLong
        if part:
            self._parts.append(part)


def read_line(line: bytes) -> SessionMessage | None:
    """The message that a line holds.

    Args:
        line: A line of a server's output.

    Returns:
        The message; an error in place of an answer that cannot be read; ``None`` for any line
        that is no message.
    """
    from mcp.shared.message import SessionMessage  # noqa: PLC0415  # an extra, and slow to import
    from mcp_types import jsonrpc_message_adapter  # noqa: PLC0415  # the same

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        pass
    try:
        value = _clean(json.loads(line, parse_int=_integer))
    except (ValueError, RecursionError):
        return _unreadable(_found_id(line))
    if not isinstance(value, dict):
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))
    except ValueError:
        return None if "method" in value else _unreadable(value.get("id"))


def write_line(message: SessionMessage) -> bytes:
    """The line for a message.

    Raises:
        ValueError: If it holds something that JSON cannot.
    """
    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode() + b"\n"


def refusal(message: SessionMessage, why: str) -> SessionMessage | None:
    """An error as the answer to a request of ours that cannot be sent; ``None`` for others."""
    request = getattr(message.message, "id", None)
    asks = getattr(message.message, "method", None) is not None
    return _error(request, why) if asks and request is not None else None


def _unreadable(request: object) -> SessionMessage | None:
    if isinstance(request, bool) or not isinstance(request, int | str):
        return None
    return _error(request, "its answer cannot be read")


def _found_id(line: bytes) -> int | str | None:
    """The id of an answer that is no JSON, if it stands first or last, where ids stand.

    Elsewhere it could be a part of the result, and some other call would get the blame.
    """
    if not line[:200].lstrip().startswith(b"{") or b'"method"' in line[:200]:
        return None
    found = _ID_FIRST.match(line)
    if found is None and line.count(b"{") == line.count(b"}"):  # nothing is cut off
        found = _ID_LAST.search(line, max(0, len(line) - 200))
    if found is None:
        return None
    text = found[1].decode("utf-8", "replace")
    return text[1:-1] if text.startswith('"') else int(text)


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= _MAX_DIGITS else text


def _error(request: int | str, why: str) -> SessionMessage:
    from mcp.shared.message import SessionMessage  # noqa: PLC0415  # an extra, and slow to import
    from mcp_types import ErrorData, JSONRPCError  # noqa: PLC0415  # the same

    error = ErrorData(code=_PARSE_ERROR, message=why)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request, error=error))


def _clean(value: Any) -> Any:
    """The same without lone surrogates, which JSON may hold and nobody can write down."""
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(name)[0]: _clean(item) for name, item in value.items()}
    return value
