"""The official MCP package, which is an extra: ``pip install 'toolflow[mcp]'``.

Its import takes seconds, so the modules of this folder import it inside functions, once a server
is really wanted.
"""

from __future__ import annotations

import logging
from importlib import metadata
from typing import TYPE_CHECKING

from toolflow.errors import UsageError

if TYPE_CHECKING:
    from mcp.types import Implementation

_INSTALL = "Install it: pip install 'toolflow[mcp]'."


def need_sdk() -> None:
    """Load the MCP package.

    Raises:
        UsageError: If it is not installed, or too old.
    """
    try:
        import mcp  # noqa: PLC0415  # an extra, and slow to import
    except ImportError as error:
        raise UsageError(
            f"MCP servers need the package mcp, which is not here. {_INSTALL}"
        ) from error
    if not hasattr(mcp, "Client"):
        raise UsageError(f"MCP servers need the package mcp from version 2 on. {_INSTALL}")
    # What a server does wrong is told by us; without a handler of the program's own, Python would
    # print the package's warnings, with tracebacks, to the terminal.
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


def client_info() -> Implementation:
    """How toolflow introduces itself to servers."""
    from mcp.types import Implementation  # noqa: PLC0415  # an extra, and slow to import

    try:
        version = metadata.version("toolflow")
    except metadata.PackageNotFoundError:  # run from its source
        version = "0"
    return Implementation(name="toolflow", version=version)
