"""A tool's declaration, checked and brought into the form that classification asks (spec 4.1)."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from toolflow.errors import UsageError
from toolflow.model.tool import Args, ToolSpec

Keys = Sequence[str] | Callable[..., object] | None
OPTIONS: Final = (
    "name",
    "description",
    "safe",
    "reads",
    "writes",
    "uses",
    "timeout",
    "idempotent",
    "server",
    "replace",
)


def known_options(names: Iterable[str]) -> None:
    """Check the names of what is said of a tool where it is declared.

    Args:
        names: The names that were used.

    Raises:
        UsageError: At the first one that is none of `OPTIONS`.
    """
    for name in names:
        if name not in OPTIONS:
            near = get_close_matches(name, OPTIONS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Use one of: {', '.join(OPTIONS)}."
            raise UsageError(f"tool: {name!r} is no option of a tool. {hint}")


def declared_spec(
    tool: str,
    *,
    known: Sequence[str],
    takes_any: bool,
    safe: object = None,
    reads: Keys = None,
    writes: Keys = None,
    uses: Mapping[str, int] | None = None,
    timeout: float | None = None,
    idempotent: bool | None = None,
    server: str | None = None,
) -> ToolSpec:
    """Check what a tool says of how it may run.

    Args:
        tool: The tool's name.
        known: The names of the tool's parameters.
        takes_any: Whether the tool takes arguments of any other name.
        safe: See `declared_safe`.
        reads: See `declared_keys`.
        writes: See `declared_keys`.
        uses: See `declared_uses`.
        timeout: See `declared_timeout`.
        idempotent: See `declared_idempotent`.
        server: The server that it belongs to.

    Returns:
        A declaration with nothing else in it.

    Raises:
        UsageError: At the first of these that is not allowed.
    """
    about: dict[str, Any] = {"tool": tool, "known": known, "takes_any": takes_any}
    return ToolSpec(
        tool,
        safe=declared_safe(safe, **about),
        reads=declared_keys(reads, field="reads", **about),
        writes=declared_keys(writes, field="writes", **about),
        uses=declared_uses(uses, tool=tool),
        timeout=declared_timeout(timeout, tool=tool),
        idempotent=declared_idempotent(idempotent, tool=tool),
        server=server,
    )


def declared_safe(
    value: object, *, tool: str, known: Sequence[str], takes_any: bool
) -> bool | Callable[[Args], object] | None:
    """Check what a tool says of being safe.

    Args:
        value: ``True``, ``False``, ``None`` or a function of the tool's arguments.
        tool: The tool's name, for messages.
        known: The names of the tool's parameters.
        takes_any: Whether the tool takes arguments of any other name.

    Raises:
        UsageError: If it is anything else; no other value is taken for a yes.
    """
    if value is None or isinstance(value, bool):
        return value
    if callable(value):
        return by_name(value, tool=tool, field="safe", known=known, takes_any=takes_any)
    raise UsageError(
        f"tool {tool!r}: safe is {value!r}. Use True, False or a function of the arguments."
    )


def declared_keys(
    value: Keys, *, tool: str, field: str, known: Sequence[str], takes_any: bool
) -> tuple[str, ...] | Callable[[Args], object] | None:
    """Check what a tool says that it reads or writes; parameters as in `declared_safe`."""
    if value is None:
        return None
    if callable(value):
        return by_name(value, tool=tool, field=field, known=known, takes_any=takes_any)
    given: object = value  # whatever it is said to be
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    if not listed or not all(isinstance(key, str) for key in value):
        raise UsageError(
            f"tool {tool!r}: {field} is {value!r}. "
            "Use a list of lock keys or a function of the arguments."
        )
    return tuple(value)


def declared_uses(value: Mapping[str, int] | None, *, tool: str) -> dict[str, int]:
    """Check the units of scarce resources that a tool takes.

    Raises:
        UsageError: If they are no mapping, or one is no integer of at least 1.
    """
    if value is not None and not isinstance(value, Mapping):
        raise UsageError(f"tool {tool!r}: uses is {value!r}. Use a mapping of names to units.")
    for name, units in (value or {}).items():
        if type(units) is not int or units < 1:
            raise UsageError(
                f"tool {tool!r}: uses[{name!r}] is {units!r}. Use an integer of at least 1."
            )
    return dict(value or {})


def declared_timeout(value: float | None, *, tool: str) -> float | None:
    """Check a time limit in seconds.

    Raises:
        UsageError: If it is no finite number above 0.
    """
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value) or value <= 0:
        raise UsageError(f"tool {tool!r}: timeout is {value!r}. Use seconds above 0.")
    return value


def declared_idempotent(value: object, *, tool: str) -> bool | None:
    """Check what a tool says of running twice: after a crash, a yes runs a call again unasked.

    Raises:
        UsageError: If it is not ``True``, ``False`` or ``None``; no other value is taken for a yes.
    """
    if value is not None and not isinstance(value, bool):
        raise UsageError(f"tool {tool!r}: idempotent is {value!r}. Use True or False.")
    return value


def by_name(
    function: Callable[..., object],
    *,
    tool: str,
    field: str,
    known: Sequence[str],
    takes_any: bool = False,
) -> Callable[[Args], object]:
    """Turn a function of some of a tool's arguments into a function of all of them.

    Args:
        function: It is given only the arguments that its own parameters name; ``**kwargs`` gets
            all that are left.
        tool: The tool's name, for messages.
        field: The field that declares it, for messages.
        known: The names of the tool's parameters.
        takes_any: Whether the tool takes arguments of any other name.

    Raises:
        UsageError: If it is a coroutine function, or needs an argument that the tool has not.
    """
    if inspect.iscoroutinefunction(function):
        raise UsageError(f"tool {tool!r}: {field} is asynchronous. Use a plain function.")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise UsageError(
            f"tool {tool!r}: the signature of {field} cannot be read. Use a plain function."
        ) from None
    rest = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    strange = [
        p.name for p in named if p.name not in known and p.default is p.empty and not takes_any
    ]
    if strange:
        raise UsageError(
            f"tool {tool!r}: {field} asks for {', '.join(map(repr, strange))}. "
            f"Use the tool's own parameters ({', '.join(known) or 'it has none'})."
        )
    by_place = [p.name for p in named if p.kind is p.POSITIONAL_ONLY]
    by_word = [p.name for p in named if p.kind is not p.POSITIONAL_ONLY]

    def call(args: Args) -> object:
        words: dict[str, Any] = (
            {name: value for name, value in args.items() if name not in by_place}
            if rest
            else {name: args[name] for name in by_word if name in args}
        )
        return function(*(args[name] for name in by_place), **words)

    return call
