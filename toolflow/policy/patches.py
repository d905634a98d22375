"""Which files a patch touches, told from its headers.

Agents that edit by patch (Codex's ``apply_patch``) name the files inside of one text, so a key
cannot be made from an argument alone. Every line that may be the header of a file counts, wherever
it stands, even if it is a line of context that looks like one: a key too many makes a call wait, a
key too few lets two calls write one file. A text in which no file is named is an error, and so is
one of another form: the call then fails before it runs, rather than run without a key.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final

from toolflow.errors import UsageError

MAX_LENGTH: Final = 1_000_000  # characters
_BEGIN: Final = "*** Begin Patch"
_HEADER: Final = re.compile(r"\*\*\* (?:Add File|Update File|Delete File|Move to):(.*)")
_OPERATIONS: Final = frozenset({"create_file", "update_file", "delete_file"})


def patch_files(patch: object, folder: object = None) -> list[str]:
    """The files that a patch adds, updates, deletes or moves.

    Args:
        patch: The text between ``*** Begin Patch`` and ``*** End Patch``; a command that is such a
            text (``["apply_patch", text]``); or one operation of OpenAI Responses, an object with
            ``type`` and ``path``.
        folder: Where relative paths start, if not in the folder of the call.

    Returns:
        The paths as written, sorted, each once.

    Raises:
        UsageError: If it is nothing of these, or names no file.
    """
    found = set(_paths(patch))
    if not found:
        raise UsageError("The patch names no file. Use '*** Update File: path' and the like.")
    if isinstance(folder, str) and folder:
        found = {posixpath.join(folder, path) for path in found}
    return sorted(found)


def _paths(patch: object) -> Iterator[str]:
    if isinstance(patch, Mapping):
        path = patch.get("path")
        if patch.get("type") in _OPERATIONS and isinstance(path, str) and path:
            yield path
        return
    if isinstance(patch, list | tuple) and len(patch) == 2 and patch[0] == "apply_patch":
        patch = patch[1]
    if not isinstance(patch, str):
        raise UsageError(f"The patch is a value of type {type(patch).__name__}. Use text.")
    if len(patch) > MAX_LENGTH:
        raise UsageError(f"The patch is too long. Use at most {MAX_LENGTH:,} characters.")
    lines = [line.strip() for line in patch.splitlines()]
    if _BEGIN not in lines:
        raise UsageError(f"The patch has no line {_BEGIN!r}, so it cannot be told what it changes.")
    for line in lines:
        header = _HEADER.match(line)
        if header and (path := header[1].strip()):
            yield path
