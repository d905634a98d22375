"""The shape of a command line: commands, and what joins them."""

from __future__ import annotations

from dataclasses import dataclass

from toolflow.policy.shell.lexer import Word


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection.

    Attributes:
        number: The file descriptor before it, or an empty text.
        operator: Such as ``>`` or ``2>&1``'s ``>&``.
        target: The word after it.
    """

    number: str
    operator: str
    target: Word

    def __str__(self) -> str:
        return f"'{self.number}{self.operator} {self.target.raw[:40]}'"


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        words: Its name and its arguments.
        assignments: The assignments before its name.
        redirects: Its redirections.
    """

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands that run at once, each in a shell of its own, joined by ``|``."""

    parts: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Commands joined by ``&&`` and ``||``; each of ``rest`` has the operator before it."""

    first: Line
    rest: tuple[tuple[str, Line], ...]


@dataclass(frozen=True, slots=True)
class Not:
    """A command whose success is turned round by ``!``."""

    body: Line


@dataclass(frozen=True, slots=True)
class Block:
    """Commands one after the other.

    Attributes:
        parts: Each with the sign after it: ``;``, ``&``, or an empty text.
        apart: Whether they run in a shell of their own: ``( ... )``.
        redirects: Redirections of the whole.
    """

    parts: tuple[tuple[Line, str], ...]
    apart: bool = False
    redirects: tuple[Redirect, ...] = ()


Line = Command | Pipe | Chain | Not | Block
