"""Keys of hosts: what two addresses have to share to reach the same server (spec 4.5)."""

from __future__ import annotations

import re
import socket
from urllib.parse import SplitResult, urlsplit

from toolflow.errors import UsageError

_HAS_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
_NUMBERS = re.compile(
    r"(?:0x)?[0-9a-f]+(?:\.(?:0x)?[0-9a-f]+){0,3}"
)  # how an IPv4 address may look
_PORTS = {
    "amqp": 5672,
    "ftp": 21,
    "git": 9418,
    "http": 80,
    "https": 443,
    "mongodb": 27017,
    "mysql": 3306,
    "postgres": 5432,
    "postgresql": 5432,
    "redis": 6379,
    "rediss": 6379,
    "sftp": 22,
    "ssh": 22,
    "ws": 80,
    "wss": 443,
}


def host_key(url: str) -> str:
    """The host and port of an address, in one spelling.

    The host is in lower case and in its ASCII form (``xn--...``), without a last dot; a number has
    one spelling (``127.1`` is ``127.0.0.1``, ``[0:0::1]`` is ``[::1]``). Who logs in does not
    count. Names are not looked up: ``localhost`` and ``127.0.0.1`` are two hosts. Where no port is
    given it is the scheme's own; without a scheme it is 443; for a scheme that is not known its
    name stands in place of the port.

    Args:
        url: Such as ``https://Example.com/path``, ``example.com`` or ``example.com:8080``.

    Returns:
        Such as ``example.com:443`` or ``[::1]:80``.

    Raises:
        UsageError: If there is no host in it, or its port is none.
    """
    if not isinstance(url, str):
        raise UsageError(f"The address is {url!r}. Use text such as 'https://example.com'.")
    try:
        url = url.strip()
        parts = urlsplit(url if _HAS_SCHEME.match(url) else f"https://{url}")
        host, port = _host(parts), parts.port
    except ValueError as error:
        raise UsageError(f"The address {url[:80]!r} cannot be read: {error}.") from error
    if not host:
        raise UsageError(f"The address {url[:80]!r} names no host.")
    scheme = parts.scheme.lower() or "https"
    return f"{host}:{port if port is not None else _PORTS.get(scheme, scheme)}"


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if ":" in host:
        return _number(host)
    if not host.isascii():
        host = host.casefold().encode("idna").decode("ascii")
    host = host.rstrip(".")
    if _NUMBERS.fullmatch(host) and any(letter.isdigit() for letter in host):
        try:
            return socket.inet_ntoa(socket.inet_aton(host))
        except OSError:  # a name after all
            pass
    return host


def _number(host: str) -> str:
    from ipaddress import IPv6Address  # noqa: PLC0415  # rarely wanted

    try:
        found = IPv6Address(host)
    except ValueError:  # a form of the future, or one that nobody knows
        return f"[{host}]"
    return f"[{found}]" if found.ipv4_mapped is None else str(found.ipv4_mapped)
