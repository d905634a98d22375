"""Paths on other machines: taken as they are spelled, for nobody looks there (spec 4.5).

What is left out of a key (who logs in, a query, whether a server minds upper case) can only make
two keys one that need not be. Two calls then take turns for nothing, which does no harm; two keys
for one file would.

Nor is this machine's disk asked whether a name with a colon is that of a local file: a key must not
change when the file is written. ``./host:/x`` is always local.
"""

from __future__ import annotations

import os
import re
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from toolflow.errors import UsageError
from toolflow.policy.hostkeys import host_key

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # one letter is a drive
_UNC = re.compile(r"[\\/]{2}([^\\/?.][^\\/]*)[\\/]+(.*)", re.DOTALL)
_SCP = re.compile(r"([^/:@\s]+@)?([^/:@\s\[\]]+|\[[0-9A-Fa-f:.]+\]):(.*)", re.DOTALL)
_FILE = re.compile(r"file:(?://(?:localhost)?)?(/(?!/).*)", re.DOTALL | re.IGNORECASE)
_SHELLS = frozenset({"git+ssh", "scp", "sftp", "ssh+git"})  # other words for ssh


def is_odd(path: str) -> bool:
    """Whether a path may be a remote one, or an address; for nearly all there is no doubt."""
    return ":" in path or path.startswith("\\\\") or (os.name == "nt" and path.startswith("//"))


def local_path(path: str) -> str:
    """The path that a ``file:`` address stands for; any other text as it is.

    Args:
        path: The path or address.
    """
    if (found := _FILE.fullmatch(path)) is None:
        return path
    here = unquote(found[1])
    return here[1:] if os.name == "nt" and re.match(r"/[A-Za-z]:", here) else here


def remote_key(path: str) -> str | None:
    """The one spelling of a path on another machine.

    Args:
        path: The path: ``scheme://host/...``, a share with two backslashes before its server,
            ``user@host:...``, ``host:/...`` or ``host:~...``. A colon elsewhere is a character
            like any other.

    Returns:
        ``scheme://host/path``, the port after the host where it is not the scheme's own;
        ``//server/share/path`` for a share; ``None`` for a path on this machine.

    Raises:
        UsageError: If it is an address that cannot be read.
    """
    if _URL.match(path):
        return _of_url(path)
    if (share := _UNC.fullmatch(path)) and (path[0] == "\\" or os.name == "nt"):
        return f"//{share[1]}/{_lexical(share[2])}".casefold()
    if (there := _SCP.fullmatch(path)) is None:
        return None
    user, host, rest = there.groups()
    if user is None and (len(host) == 1 or rest[:1] not in {"/", "~"}):
        return None
    return f"ssh://{_host('ssh', host)}/{_home(rest)}"


def _of_url(url: str) -> str:
    try:
        parts = urlsplit(url.replace("\\", "/"))
    except ValueError as error:
        raise UsageError(f"The address {url[:80]!r} cannot be read: {error}.") from error
    scheme = parts.scheme.lower()
    scheme = "ssh" if scheme in _SHELLS else scheme
    path = unquote(parts.path)
    if "\0" in path:
        raise UsageError(f"The path {url[:80]!r} holds a NUL character. Leave it out.")
    netloc = parts.netloc.rpartition("@")[2]
    return f"{scheme}://{_host(scheme, netloc)}/{_lexical(path)}"


def _host(scheme: str, netloc: str) -> str:
    """The host, with its port where it is not the scheme's own; some schemes need no host."""
    if not netloc:
        return ""
    key = host_key(f"{scheme}://{netloc}")
    own = host_key(f"{scheme}://x").removeprefix("x")
    return key.removesuffix(own)


def _home(path: str) -> str:
    """A path after ``host:``: one that does not begin with ``/`` begins in a home folder."""
    if path.startswith("/"):
        return _lexical(path)
    return _lexical(path if path.startswith("~") else f"~/{path}")


def _lexical(path: str) -> str:
    return normpath("/" + path.replace("\\", "/")).lstrip("/")
