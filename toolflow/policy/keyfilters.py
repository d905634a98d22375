"""The own filters of expressions, bound to one policy's ``paths`` and one call's folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from toolflow.errors import UsageError
from toolflow.policy.filekeys import AnyPath, FileKeys
from toolflow.policy.hostkeys import host_key
from toolflow.policy.pathoptions import DEFAULT_PATHS, PathOptions

_KINDS = {"host_key": "address"}
_HOME = ("~/", "~\\")


class KeyFilters:
    """``file_key``, ``dir_key``, ``host_key`` and ``expand_home``, for values and lists of them.

    Args:
        cwd: The folder that relative paths start from; the process's own by default.
        options: How paths are normalised.
    """

    __slots__ = ("_by_name", "_keys")

    def __init__(self, cwd: AnyPath | None = None, options: PathOptions = DEFAULT_PATHS) -> None:
        self._keys = FileKeys(cwd, options)
        file = self._both if options.inode else self._keys.file
        self._by_name: dict[str, Callable[[Any], Any]] = {
            "file_key": file,
            "dir_key": self._keys.tree,
            "host_key": host_key,
            "expand_home": expand_home,
        }

    @property
    def cwd(self) -> str:
        """The folder that relative paths start from, as an absolute path."""
        return self._keys.cwd

    def apply(self, name: str, value: Any) -> Any:
        """Apply a filter to a value, or to each of a list.

        Args:
            name: ``file_key``, ``dir_key``, ``host_key`` or ``expand_home``.
            value: A path or address, or a list of them.

        Returns:
            A key, or a list of keys.

        Raises:
            UsageError: If a value has no key.
        """
        one = self._by_name[name]
        if isinstance(value, list | tuple):
            return [key for item in value for key in _several(one(item))]
        if value is None:
            raise UsageError(f"The {_KINDS.get(name, 'path')} is null.")
        return one(value)

    def _both(self, path: AnyPath) -> str | list[str]:
        """The path's key, and the file's identity where it exists: trees and hard links meet."""
        key, identity = self._keys.file(path), self._keys.identity(path)
        return key if identity is None else [key, identity]


def expand_home(path: Any) -> Any:
    """A path in which ``~`` at the beginning is the home folder, for tools that take it so.

    To `file_key` the sign is a name like any other, since most programs see it so.

    Args:
        path: The path. Only ``~`` alone and ``~/`` count; what is no text is left to `file_key`.
    """
    if isinstance(path, str) and (path == "~" or path.startswith(_HOME)):
        return os.path.expanduser(path)  # noqa: PTH111 - text in, text out, as in file keys
    return path


def _several(key: str | list[str]) -> list[str]:
    return [key] if isinstance(key, str) else key
