"""A folder that file tools cannot leave (spec 13 and 16).

A path is confined twice. When a call is planned, its path is resolved: every link followed, also
for a file that is not there yet; what lies outside is refused in one line. When the call runs, the
path is resolved again, and must still lead to the same place: the lock key was made for that one.
Then the file is opened folder by folder from the root, refusing links, so that nobody can swap a
link in between. Where the system has no such opening (Windows), the second resolving has to do.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolflow.errors import UsageError
from toolflow.runtime.results import ToolFailure

BY_FOLDER = {os.open, os.mkdir, os.unlink, os.rename} <= os.supports_dir_fd
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CLOSED = getattr(os, "O_CLOEXEC", 0)
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | NO_LINK | _CLOSED
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = {
    errno.ENOENT: "is not there",
    errno.ENOTDIR: "leads through something that is no folder",
    errno.EISDIR: "is a folder",
    errno.EACCES: "may not be used: permission denied",
    errno.EPERM: "may not be used: permission denied",
    errno.ELOOP: "leads through a link that goes in a circle or has changed",
    errno.ENAMETOOLONG: "is too long a name",
    errno.ENXIO: "is no regular file",
}


class RootedPath(str):
    """The real path of a file under a root, as text; knows its root.

    Attributes:
        root: The root that it was resolved against.
    """

    __slots__ = ("root",)
    root: Root

    @classmethod
    def of(cls, real: str, root: Root) -> RootedPath:
        """A real path that was found to lie under a root."""
        path = cls(real)
        path.root = root
        return path


class Root:
    """A folder that nothing below leads out of.

    Args:
        folder: Where it lies.

    Raises:
        UsageError: If it is no folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            self.path = os.path.realpath(folder)
            there = Path(self.path).is_dir()
        except (OSError, ValueError):
            there = False
        if not there:
            raise UsageError(f"root {os.fspath(folder)!r} is no folder. Use one that exists.")
        self._prefix = self.path.rstrip(os.sep) + os.sep

    def __contains__(self, real: str) -> bool:
        """Whether a real path is the root or lies below it."""
        path = os.path.normcase(real)
        return path == os.path.normcase(self.path) or path.startswith(
            os.path.normcase(self._prefix)
        )

    def narrowed(self, folder: Path) -> Root:
        """A root inside this one; a relative folder counts from here.

        Raises:
            UsageError: If it is no folder, or lies elsewhere.
        """
        narrow = Root(Path(self.path, folder))
        if narrow.path not in self:
            raise UsageError(f"root {str(folder)!r} lies outside {self.path!r}. Use one inside.")
        return narrow

    def locate(self, path: str, *, follow: bool = True) -> RootedPath:
        """The real path that a path leads to.

        Args:
            path: Relative to the root, or absolute; or one located before, which must still lead
                to the same place and stays with its own root where that is narrower.
            follow: Whether a link at the very end is followed. If not, its target must still
                lie inside.

        Raises:
            ToolFailure: If it leads outside, is no usable path, or leads elsewhere than before.
        """
        root = path.root if isinstance(path, RootedPath) and path.root.path in self else self
        if not path or "\0" in path or _SURROGATE.search(path):
            raise ToolFailure(f"path {path!r} is not usable. Use the path of a file or folder.")
        real, target = _resolved(root.path, path, follow=follow)
        if real not in root or target not in root:
            raise ToolFailure(f"path {path!r} lies outside the workspace. Use a path inside it.")
        if follow and os.path.islink(real):  # noqa: PTH114  # text all the way
            raise ToolFailure(f"path {path!r} has links that run in a circle. Mend the links.")
        if isinstance(path, RootedPath) and real != path:
            raise ToolFailure(
                f"path {root.shown(path)!r} leads elsewhere than when the call was planned. "
                "Call again."
            )
        return RootedPath.of(real, root)

    def shown(self, real: str) -> str:
        """A real path as people read it: relative to the root, with slashes."""
        rest = real[len(self._prefix) :].replace(os.sep, "/")
        return rest or "."

    @contextmanager
    def folder(self, path: RootedPath, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
        """Open the folder of a file, walking down from the root without following links.

        Args:
            path: The file.
            make: Whether folders that are missing are made.

        Yields:
            What to give to functions of ``os``: ``dir_fd`` and the name in it.
        """
        if not BY_FOLDER:  # no cover on POSIX
            if make:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self.locate(str(Path(path).parent))
            yield None, path
            return
        *above, name = self.shown(path).split("/")
        held = os.open(self.path, _PASS & ~NO_LINK)
        try:
            for part in above:
                below = _step(held, part, make=make)
                os.close(held)
                held = below
            yield held, name
        finally:
            os.close(held)

    def open(self, path: RootedPath) -> int:
        """Open what is there for reading, a folder or a file, without following links.

        Args:
            path: As located.

        Returns:
            The file descriptor; opening a pipe does not wait for its other end.
        """
        flags = os.O_RDONLY | _CLOSED | NO_LINK | getattr(os, "O_NONBLOCK", 0)
        flags |= getattr(os, "O_BINARY", 0)
        with self.folder(path) as (held, name):
            return os.open(name, flags, dir_fd=held)


def _resolved(base: str, path: str, *, follow: bool) -> tuple[str, str]:
    joined = os.path.join(base, path)  # noqa: PTH118  # text all the way, as realpath wants it
    target = os.path.realpath(joined)
    above, name = os.path.split(joined)  # as above
    if follow or name in ("", ".", ".."):
        return target, target
    return os.path.join(os.path.realpath(above), name), target  # noqa: PTH118  # as above


def _step(held: int, part: str, *, make: bool) -> int:
    if make:
        try:
            os.mkdir(part, dir_fd=held)
        except FileExistsError:
            pass
    return os.open(part, _PASS, dir_fd=held)


@contextmanager
def told(path: RootedPath) -> Iterator[None]:
    """Turn an error of the system into a sentence about this path.

    Raises:
        ToolFailure: In place of an ``OSError``.
    """
    try:
        yield
    except OSError as error:
        what = _WORDS.get(error.errno or 0) or f"cannot be used: {error.strerror or error}"
        raise ToolFailure(f"{path.root.shown(path)} {what}.") from error
