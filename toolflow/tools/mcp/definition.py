"""How a server is reached: a command, or an address."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toolflow.errors import UsageError

START_TIMEOUT = 60.0  # seconds; a command may have to fetch the server first
GRACE = 2.0  # seconds
Protocol = Literal["auto", "initialize"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_ADDRESS = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioServer:
    """A server that is a command and talks over its standard input and output.

    Attributes:
        command: The program.
        args: Its arguments.
        env: Environment variables beside the few that every server gets (``PATH``, ``HOME`` and
            the like). The others of this process, which may hold secrets, are not handed on.
        cwd: The folder that it runs in; the present one by default.
        prefix: What stands before the names of its tools: ``SERVER__`` by default, ``""`` for
            their own names.
        start_timeout: Seconds until it must have listed its tools.
        grace: Seconds that it has to end by itself once its input is closed, and again after it
            was asked to end, before it is made to.
        protocol: ``initialize`` begins with the handshake that all servers know; ``auto`` asks
            for the newer one first.
    """

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None
    prefix: str | None = None
    start_timeout: float = START_TIMEOUT
    grace: float = GRACE
    protocol: Protocol = "auto"

    def __post_init__(self) -> None:
        if not _is_text(self.command):
            raise UsageError(f"command is {self.command!r}. Use the name of a program.")
        if isinstance(self.args, str) or not all(isinstance(item, str) for item in self.args):
            raise UsageError(f"args is {self.args!r}. Use a list of texts.")
        _check_texts("env", self.env or {})
        _check_seconds("start_timeout", self.start_timeout)
        _check_seconds("grace", self.grace)
        _check_protocol(self.protocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A server that is reached by HTTP (the transport that MCP calls Streamable HTTP).

    Attributes:
        url: Its address.
        headers: Headers of every request, such as ``Authorization``.
        prefix: As for `StdioServer`; so are ``start_timeout`` and ``protocol``.
        start_timeout: See ``prefix``.
        protocol: See ``prefix``.
    """

    url: str
    headers: Mapping[str, str] | None = None
    prefix: str | None = None
    start_timeout: float = START_TIMEOUT
    protocol: Protocol = "auto"

    def __post_init__(self) -> None:
        check_address(self.url)
        _check_texts("headers", self.headers or {})
        _check_seconds("start_timeout", self.start_timeout)
        _check_protocol(self.protocol)


Definition = StdioServer | HttpServer


def check_name(name: object) -> str:
    """The name of a server, if it can be one.

    Raises:
        UsageError: If it cannot.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(
            f"the name of a server is {name!r}. Use at most 64 letters, digits, '_', '-' and '.', "
            "with a letter or a digit first."
        )
    return name


def check_address(url: object) -> str:
    """The address of a server, if it can be one.

    Raises:
        UsageError: If it cannot.
    """
    if not isinstance(url, str) or not _ADDRESS.fullmatch(url):
        raise UsageError(f"url is {url!r}. Use an address that begins with https:// or http://.")
    return url


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _check_texts(field: str, value: Mapping[str, str]) -> None:
    for name, text in value.items():
        if not _is_text(name) or not isinstance(text, str):
            raise UsageError(f"{field} holds {name!r}: {text!r}. Use texts by name.")


def _check_seconds(field: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise UsageError(f"{field} is {value!r}. Use a number of seconds of at least 0.")


def _check_protocol(value: Protocol) -> None:
    if value not in ("auto", "initialize"):
        raise UsageError(f"protocol is {value!r}. Use 'auto' or 'initialize'.")
