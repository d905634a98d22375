"""Keys of files: one key for all spellings of one file (spec 4.5).

A key is the real path: links followed, ``.`` and ``..`` resolved, also for a file that is not
there yet (the nearest existing parent is resolved, the rest is joined lexically). A link that
leads nowhere stands for the place to which it leads. How names are spelled is `Speller`'s matter.
Paths on other machines are taken as they are spelled, see `toolflow.policy.remotepaths`.

The cost is one look at the disk for each part of the path. `FileKeys` remembers folders while
one turn is classified, which leaves one look a file; links are never remembered longer.
"""

from __future__ import annotations

import errno
import os
from typing import Final

from toolflow.errors import UsageError
from toolflow.policy.pathoptions import DEFAULT_PATHS, Case, PathOptions, Unicode
from toolflow.policy.remotepaths import is_odd, local_path, remote_key
from toolflow.policy.spelling import Speller

AnyPath = str | os.PathLike[str]

_UP: Final = ".."
_DEEP: Final = 100  # folders above a file that are resolved one by one
_LONGEST: Final = 32_768  # characters; no system takes longer paths
_TREE: Final = "/**"
_NOT_A_TREE: Final = "/."  # added to a path that would look like a tree; no real path ends so


def file_key(
    path: AnyPath,
    *,
    cwd: AnyPath | None = None,
    case: Case = "auto",
    unicode: Unicode = "auto",
    inode: bool = False,
) -> str:
    """The real path of a file, in one spelling; put ``file:`` before it to make a lock key.

    Args:
        path: The file, there or not; the empty text is the folder ``cwd``. ``~`` is a name like
            any other. It may be on another machine: ``ssh://host/...``, ``s3://bucket/...``,
            ``user@host:...``, a share; it may be a ``file:`` address.
        cwd: The folder that a relative path starts from; the process's own by default.
        case: Whether upper and lower case are one: see `PathOptions`.
        unicode: Whether composed and decomposed accents are one: see `PathOptions`.
        inode: Give the identity of a file that exists (``inode:DEVICE:NUMBER``) instead of its
            path, so that hard links are one. Such a key lies under no tree key.

    Returns:
        An absolute path with ``/`` between its parts, or an address. It never ends in ``/**``.

    Raises:
        UsageError: If the path is no text, holds a NUL character, or its links run in a circle.
    """
    keys = FileKeys(cwd, PathOptions(case, unicode, inode))
    if inode and (identity := keys.identity(path)):
        return identity
    return keys.file(path)


def dir_key(
    path: AnyPath, *, cwd: AnyPath | None = None, case: Case = "auto", unicode: Unicode = "auto"
) -> str:
    """The tree key of a folder: it covers the folder and everything below it.

    Args:
        path: The folder, there or not.
        cwd: As for `file_key`.
        case: As for `file_key`.
        unicode: As for `file_key`.

    Returns:
        The real path and ``/**``.

    Raises:
        UsageError: As `file_key`.
    """
    return FileKeys(cwd, PathOptions(case, unicode)).tree(path)


class FileKeys:
    """Works out file keys from one folder, and remembers resolved folders.

    Make one for each turn: links may change between turns.

    Args:
        cwd: The folder that relative paths start from; the process's own by default.
        options: How paths are normalised.
    """

    __slots__ = ("_files", "_folders", "_speller", "cwd")

    def __init__(self, cwd: AnyPath | None = None, options: PathOptions = DEFAULT_PATHS) -> None:
        self.cwd = _folder(cwd)
        self._files: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self._speller = Speller(options)

    def file(self, path: AnyPath) -> str:
        """The key of a file, as `file_key` gives it."""
        if type(path) is str and (known := self._files.get(path)) is not None:
            return known
        key = self._path(path)
        key = key + _NOT_A_TREE if key.endswith(_TREE) else key
        if type(path) is str:
            self._files[path] = key
        return key

    def tree(self, path: AnyPath) -> str:
        """The key of a folder and all below it, as `dir_key` gives it."""
        return self._path(path).rstrip("/") + _TREE

    def identity(self, path: AnyPath) -> str | None:
        """The identity of a file that exists and is no folder, else ``None``."""
        text = _text(path)
        if is_odd(text):
            text = local_path(text)
            if remote_key(text) is not None:
                return None
        full = self._absolute(text)
        try:
            found = os.stat(full)  # noqa: PTH116 - see `_folder`
        except (OSError, ValueError):
            return None
        is_folder = (found.st_mode & 0o170000) == 0o040000
        return None if is_folder else f"inode:{found.st_dev}:{found.st_ino}"

    def _path(self, path: AnyPath) -> str:
        text = _text(path)
        if is_odd(text):
            text = _text(local_path(text))
            if (remote := remote_key(text)) is not None:
                return self._speller.spell_remote(remote)
        real = self._real(self._absolute(text), text)
        if os.sep != "/":
            real = real.replace(os.sep, "/")
        return self._speller.spell(real)

    def _real(self, full: str, spelled: str) -> str:
        """The real path; that of its folder is remembered, and so is every folder above it."""
        if _UP in full:  # what stands before it may be a link, or not be there
            return _real(full, spelled)
        folder, name = _split(full)
        if not name or name == "." or os.path.islink(full):  # noqa: PTH114 - see `_folder`
            return _real(full, spelled)
        real = self._folders.get(folder)
        if real is None:
            deep = folder.count(os.sep) > _DEEP
            real = _real(folder, spelled) if deep else self._real(folder, spelled)
            self._folders[folder] = real
        return f"{real}{name}" if real.endswith(os.sep) else f"{real}{os.sep}{name}"

    def _absolute(self, text: str) -> str:
        if os.sep == "/":  # what join does on POSIX, three times as fast
            return text if text[:1] == "/" else f"{self.cwd}/{text}"
        return os.path.join(self.cwd, text)  # noqa: PTH118 - see `_folder`


def _folder(cwd: AnyPath | None) -> str:
    try:
        # Text in, text out in this module: a Path costs ten times as much.
        return os.getcwd() if cwd is None else os.path.abspath(_text(cwd))  # noqa: PTH100, PTH109
    except OSError:
        raise UsageError("The current folder is gone. Give another one as cwd.") from None


def _split(path: str) -> tuple[str, str]:
    if os.sep != "/":
        return os.path.split(path)
    folder, _, name = path.rpartition("/")
    return folder or "/", name


def _text(path: AnyPath) -> str:
    if type(path) is str and path.isascii() and "\0" not in path and len(path) <= _LONGEST:
        return path
    try:
        text: object = os.fspath(path)
    except TypeError:
        text = None
    if not isinstance(text, str):
        raise UsageError(f"The path is {repr(path)[:80]}. Use text.")
    if len(text) > _LONGEST:
        raise UsageError(
            f"The path {text[:60]!r}... is too long. Use at most {_LONGEST:,} characters."
        )
    if "\0" in text:
        raise UsageError(f"The path {text[:80]!r} holds a NUL character. Leave it out.")
    if not text.isascii():
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            said = f"The path {text[:80]!r} holds a lone surrogate. Leave it out."
            raise UsageError(said) from None
    return text


def _real(path: str, spelled: str) -> str:
    try:
        return os.path.realpath(path, strict=True)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _circle(spelled) from None
    real = os.path.realpath(path)  # something is not there, or may not be seen
    there = real
    while not os.path.lexists(there) and there != (above := os.path.dirname(there)):  # noqa: PTH120 - see `_folder`
        there = above
    if os.path.islink(there):  # noqa: PTH114 - see `_folder`
        raise _circle(spelled)
    return real


def _circle(spelled: str) -> UsageError:
    return UsageError(f"The links of the path {spelled[:80]!r} run in a circle. Mend the links.")
