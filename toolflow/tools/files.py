"""Reading and changing single files under a root (spec 13).

Text is exact: bytes are decoded as UTF-8 and nothing else, and no line ending is ever changed. A
change is atomic: the new text is written to a file beside the old one and takes its place in one
step, with the old one's mode. A reader sees the old file or the new one, never a part; a crash
leaves the old one. The price: a hard link to the old file keeps the old text.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from toolflow.runtime.results import ToolFailure
from toolflow.tools.root import NO_LINK, Root, RootedPath, told

MAX_BYTES = 10_000_000  # that a file tool takes into memory
TEMPORARY = ".toolflow-"  # how the names of files in the making begin


def read_file(root: Root, path: str, offset: int | None, limit: int | None) -> str:
    """The text of a file, or some lines of it.

    Args:
        root: What the path is confined to.
        path: The file.
        offset: The first line, counted from 1.
        limit: How many lines.

    Raises:
        ToolFailure: If it cannot be read, is too large or is not UTF-8.
    """
    for name, value in (("offset", offset), ("limit", limit)):
        if value is not None and value < 1:
            raise ToolFailure(f"{name} is {value}. Use a number of lines of at least 1.")
    place = root.locate(path)
    if offset is None and limit is None:
        return decoded(read_bytes(place), place)
    start = (offset or 1) - 1
    stop = None if limit is None else start + limit
    with told(place):
        return decoded(b"".join(_lines(place, start, stop)), place)


def write_file(root: Root, path: str, text: str) -> str:
    """Write a whole file, made with its folders where it is missing; says what was done.

    Raises:
        ToolFailure: If it cannot be written.
    """
    place = root.locate(path)
    with told(place):
        new = not Path(place).exists()
        _replace_bytes(place, _encoded(text, "text"))
    many = "1 character" if len(text) == 1 else f"{len(text)} characters"
    return f"{'Created' if new else 'Wrote'} {place.root.shown(place)} ({many})."


def edit_file(root: Root, path: str, old: str, new: str, *, replace_all: bool) -> str:
    """Replace text in a file; says what was done.

    Args:
        root: What the path is confined to.
        path: The file.
        old: The text that is there, exactly.
        new: The text in its place.
        replace_all: Every place; else there must be only one.

    Raises:
        ToolFailure: If the text is not there or not unique, or the file cannot be changed.
    """
    place = root.locate(path)
    name = place.root.shown(place)
    if not old or old == new:
        raise ToolFailure("old is empty or equal to new. Give the text to replace, and another.")
    text = decoded(read_bytes(place), place)
    first = text.find(old)
    if first < 0:
        raise ToolFailure(
            f"old is not in {name}. Give the text exactly as the file has it.{_hint(text, old)}"
        )
    if not replace_all and text.find(old, first + 1) >= 0:
        raise ToolFailure(
            f"old is in {name} more than once. Give more of the text around it, or replace_all."
        )
    times = text.count(old)
    changed = _encoded(text.replace(old, new), "new")
    with told(place):
        _replace_bytes(place, changed)
    return f"Replaced {times} {'place' if times == 1 else 'places'} in {name}."


def delete_file(root: Root, path: str) -> str:
    """Delete one file; of a link the link itself, not what it leads to.

    Raises:
        ToolFailure: If it is not there, is a folder, or cannot be deleted.
    """
    place = root.locate(path, follow=False)
    with told(place), place.root.folder(place) as (held, name):
        if stat.S_ISDIR(os.stat(name, dir_fd=held, follow_symlinks=False).st_mode):
            raise ToolFailure(f"{place.root.shown(place)} is a folder. Only files are deleted.")
        os.unlink(name, dir_fd=held)
    return f"Deleted {place.root.shown(place)}."


def read_bytes(place: RootedPath) -> bytes:
    """All bytes of a regular file.

    Raises:
        ToolFailure: If it is none, cannot be read, or is too large.
    """
    with told(place), opened(place) as file:
        data = read_up_to(file, MAX_BYTES)
    if data is None:
        raise ToolFailure(
            f"{place.root.shown(place)} has more than {MAX_BYTES} bytes. "
            "Use read_file with offset and limit, or grep."
        )
    return data


def read_up_to(file: BinaryIO, most: int) -> bytes | None:
    """All bytes of a file, or ``None`` where there are more than that.

    Its size is asked first: reading with a limit would set aside memory for the whole limit.
    """
    if os.fstat(file.fileno()).st_size > most:
        return None
    data = file.read()
    return data if len(data) <= most else None


@contextmanager
def opened(place: RootedPath) -> Iterator[BinaryIO]:
    """Open a regular file for reading.

    Raises:
        OSError: If it cannot be opened.
        ToolFailure: If it is no regular file.
    """
    descriptor = place.root.open(place)
    with open(descriptor, "rb") as file:  # noqa: PTH123  # of a descriptor
        _check_regular(os.fstat(descriptor), place)
        yield file


def decoded(data: bytes, place: RootedPath) -> str:
    """The text of a file's bytes.

    Raises:
        ToolFailure: If they are not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ToolFailure(
            f"{place.root.shown(place)} is no UTF-8 text (byte {error.start} is "
            f"0x{data[error.start]:02x}). Only text can be read and edited."
        ) from None


def _encoded(text: str, field: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailure(
            f"{field} has a lone surrogate at character {error.start}. Use text without."
        ) from None


def _lines(place: RootedPath, start: int, stop: int | None) -> Iterator[bytes]:
    size = 0
    with opened(place) as file:
        lines = iter(lambda: file.readline(MAX_BYTES + 1), b"")
        for line in islice(lines, start, stop):
            size += len(line)
            if size > MAX_BYTES:
                raise ToolFailure(
                    f"These lines of {place.root.shown(place)} have more than {MAX_BYTES} bytes. "
                    "Use a smaller limit."
                )
            yield line


def _replace_bytes(place: RootedPath, data: bytes) -> None:
    with place.root.folder(place, make=True) as (held, name):
        mode = _old_mode(place, held, name)
        beside = str(Path(name).with_name(TEMPORARY + secrets.token_hex(8)))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK | getattr(os, "O_BINARY", 0)
        descriptor = os.open(beside, flags, 0o666, dir_fd=held)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123  # of a descriptor
                file.write(data)
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(descriptor, mode)
            os.replace(beside, name, src_dir_fd=held, dst_dir_fd=held)
        except BaseException:
            os.unlink(beside, dir_fd=held)
            raise


def _old_mode(place: RootedPath, held: int | None, name: str) -> int | None:
    try:
        status = os.stat(name, dir_fd=held, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _check_regular(status, place)
    mode = stat.S_IMODE(status.st_mode)
    if not mode & 0o222:  # replacing would get around what its owner said
        raise ToolFailure(f"{place.root.shown(place)} is read-only.")
    return mode


def _check_regular(status: os.stat_result, place: RootedPath) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailure(f"{place.root.shown(place)} is no regular file.")


def _hint(text: str, old: str) -> str:
    if "\r\n" in text and "\n" in old and "\r\n" not in old:
        return " Its lines end in CR LF."
    return ""
