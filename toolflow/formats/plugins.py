"""Formats of other packages: entry points of the group ``toolflow.formats``.

An entry point names a `Format` or a `SessionFormat`. The metadata of what is installed is looked at
only where no format of ours fits a name or a message, and a package is imported only then, so that
they cost nothing on import and for what toolflow reads itself. Entry points were taken rather than
a function to register with, so that the command line knows the formats too.

Foreign code is never trusted to keep the rules: what it raises, on import and later, becomes one
line that names the format and its package. One that is broken keeps no other from being used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

from toolflow.errors import Problem, ToolflowError, TurnError, UsageError
from toolflow.formats.base import Format, Misfit, printable, quoted
from toolflow.model import RecordedTurn, Turn

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from toolflow.formats.session.base import SessionFormat

GROUP = "toolflow.formats"


def names() -> tuple[str, ...]:
    """The names of all formats of other packages, sorted; nothing is imported for it."""
    return tuple(sorted({entry.name for entry in _found()}))


def named(name: str) -> Format | SessionFormat | None:
    """The format of that name that another package gives, or ``None`` where there is none.

    Raises:
        UsageError: If it cannot be used; one line that says which package it is of, and why.
    """
    entries = [entry for entry in _found() if entry.name == name]
    if not entries:
        return None
    if len(entries) > 1:
        given = ", ".join(sorted(_package(entry) for entry in entries))
        raise UsageError(f"format {quoted(name)} is given by several packages ({given}). Keep one.")
    found = _loaded(entries[0])
    if isinstance(found, str):
        raise UsageError(found)
    return found


def each(taken: Sequence[str], broken: list[str]) -> Iterator[Format | SessionFormat]:
    """The formats of all other packages, for detection, in the order of their names.

    Args:
        taken: The names of our own formats, which no package can have.
        broken: Gets a line for each format that cannot be used.
    """
    for name in names():
        if name in taken:
            broken.append(f"format {quoted(name)} of another package has the name of ours.")
            continue
        try:
            form = named(name)
        except UsageError as error:
            broken.append(str(error))
        else:
            if form is not None:
                yield form


def recognises(form: Format | SessionFormat, data: Any, broken: list[str]) -> bool:
    """Whether a format of another package recognises data; one that fails at it does not."""
    try:
        return bool(form.recognise(data))
    except ToolflowError as error:
        broken.append(str(error))
        return False


def listed(broken: Sequence[str]) -> str:
    """The end of a message about what was not found: the formats that could not be asked."""
    return "".join(f" Not asked: {line}" for line in broken)


def _found() -> Sequence[EntryPoint]:
    return _found_on(tuple(sys.path))


@cache
def _found_on(path: tuple[str, ...]) -> Sequence[EntryPoint]:  # noqa: ARG001  # the key of the cache
    from importlib.metadata import entry_points  # noqa: PLC0415  # slow to import, rarely needed

    return tuple(entry_points(group=GROUP))


def _package(entry: EntryPoint) -> str:
    package = entry.dist
    return "an unknown package" if package is None else f"{package.name} {package.version}"


@cache
def _loaded(entry: EntryPoint) -> Format | SessionFormat | str:
    """The format of an entry point, or one line about why it cannot be used; tried once."""
    from toolflow.formats.session.base import SessionFormat  # noqa: PLC0415  # it imports this

    who = f"format {quoted(entry.name)} of {printable(_package(entry))}"
    try:
        form = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # foreign code; it can raise anything
        return f"{who} cannot be loaded: {_said(error)}."
    if not isinstance(form, Format | SessionFormat):
        kind = type(form).__name__
        return f"{who} is a value of type {kind}. Use a Format or a SessionFormat."
    if form.name != entry.name:
        return f"{who} calls itself {quoted(form.name)}. Use one name for both."
    if isinstance(form, SessionFormat):
        recognise = _guarded(form.recognise, who)
        return replace(form, recognise=recognise, read=_each_checked(form.read, who, RecordedTurn))
    guarded: dict[str, Any] = {
        name: _guarded(function, who)
        for name in _GUARDED
        if (function := getattr(form, name, None)) is not None
    }
    if form.layout is not None:
        moves: dict[str, Any] = {
            name: _guarded(getattr(form.layout, name), who) for name in _LAYOUT
        }
        guarded["layout"] = replace(form.layout, **moves)
    if form.steps is not None:
        guarded["steps"] = _each_checked(form.steps, who, tuple | Turn)
    return replace(form, **{**guarded, "read": _checked(form.read, who)})


_GUARDED = ("recognise", "write", "is_chunk", "join", "split")
_LAYOUT = ("cut", "joined", "takes", "id_of", "with_id")


def _guarded(function: Callable[..., Any], who: str) -> Callable[..., Any]:
    """A function of a package; what it raises against the rules is told as its fault."""

    @wraps(function)
    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except (Misfit, ToolflowError, RecursionError):
            raise
        except Exception as error:
            raise _failed(who, _said(error)) from error

    return call


def _checked(read: Callable[..., Any], who: str) -> Callable[..., Any]:
    guarded = _guarded(read, who)

    def call(*args: Any) -> list[Turn]:
        turns = guarded(*args)
        if not isinstance(turns, list) or not all(isinstance(turn, Turn) for turn in turns):
            raise _failed(who, "it gave something else than a list of turns")
        return turns

    return call


def _each_checked(read: Callable[..., Any], who: str, kind: Any) -> Callable[..., Any]:
    def call(*args: Any) -> Iterator[Any]:
        items = _guarded(lambda: iter(read(*args)), who)()
        step = _guarded(lambda: next(items, None), who)
        while (item := step()) is not None:
            if not isinstance(item, kind):
                raise _failed(who, f"it gave a value of type {type(item).__name__}")
            yield item

    return call


def _failed(who: str, why: str) -> TurnError:
    return TurnError(Problem(f"{who} failed: {why}.", f"<{GROUP}>", code="plugin"))


def _said(error: BaseException) -> str:
    """What an exception says, on one line."""
    try:
        text = " ".join(printable(line) for line in str(error).splitlines())[:200].rstrip(".")
    except Exception:  # noqa: BLE001  # its own text fails: then its type has to do
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
