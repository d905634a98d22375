"""Expressions: ``{{ ... }}`` in text, compiled once (spec 4.4).

Text without ``{{`` is a constant and costs nothing. Text that is exactly one ``{{ expression }}``
yields the value of the expression; all other text yields text. Values are data: what an
expression yields is never looked at for expressions again.

Three ways of evaluating were measured for ``{{ args.path | file_key }}`` (without the cost of
the filter): rendering a Jinja2 template takes 9 µs, Jinja2's own compiled expression 6 µs, and
a chain of closures over the syntax tree 0.4 µs. Names, attributes, constants and the own filters
are closures here; all else goes through Jinja2, which also defines what the closures must do.

jinja2 takes 40 ms to import, so it is loaded when the first text with ``{{`` is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from toolflow.errors import ToolflowError

POLICY_NAMES: Final = frozenset({"args", "tool", "server", "cwd", "turn"})
MAX_LENGTH: Final = 20_000

Names = Mapping[str, Any]
Evaluate = Callable[[Names], Any]

_MARKS = re.compile(r"\{\{|\{%|\{#")


class ExpressionError(ToolflowError):
    """A text that cannot be compiled, or whose value cannot be worked out. One sentence."""


class Expression:
    """A compiled text.

    Attributes:
        text: The text as written.
        constant: Whether it holds no expression: it stands for itself.
        single: Whether it is exactly one expression, which yields the expression's own value.
        parts: Text and expressions in order.
    """

    __slots__ = ("_only", "constant", "parts", "single", "text")

    def __init__(self, text: str, parts: tuple[str | Evaluate, ...]) -> None:
        self.text = text
        self.parts = parts
        self.constant = all(isinstance(part, str) for part in parts)
        self.single = len(parts) == 1 and not self.constant
        self._only: Any = parts[0] if self.single else None

    def __call__(self, names: Names) -> Any:
        """Work out the value.

        Args:
            names: What the names in the expression stand for. The own filters are those of the
                `toolflow.policy.KeyFilters` under the name ``_keys``, if there is one.

        Returns:
            The value of a single expression, else text.

        Raises:
            ExpressionError: If it cannot be worked out, with a sentence that says why.
        """
        if self.single:
            try:
                return self._only(names)
            except ExpressionError:
                raise
            except Exception as error:  # expressions call what they are given: anything can come
                raise ExpressionError(f"{_words(error)} in {shorten(self.text)}") from error
        return "".join(map(str, self.values(names)))

    def values(self, names: Names) -> list[Any]:
        """Work out each part.

        Args:
            names: As for calling the expression.

        Returns:
            The text and values of the parts, in order.

        Raises:
            ExpressionError: If one cannot be worked out.
        """
        try:
            return [part if isinstance(part, str) else part(names) for part in self.parts]
        except ExpressionError:
            raise
        except Exception as error:  # expressions call what they are given, so anything can come
            raise ExpressionError(f"{_words(error)} in {shorten(self.text)}") from error

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


def compile_expression(text: str, *, names: Iterable[str] = POLICY_NAMES) -> Expression:
    """Compile a text that may hold expressions.

    Args:
        text: The text.
        names: The names that its expressions may use.

    Returns:
        The compiled text; equal texts share one.

    Raises:
        ExpressionError: If it is too long, its syntax is wrong, or it uses a name or filter that
            is not known. The message says what is wrong and what is allowed.
    """
    return _compile(text, frozenset(names))


@lru_cache(maxsize=2048)
def _compile(text: str, names: frozenset[str]) -> Expression:
    if not _MARKS.search(text):
        return Expression(text, (text,))
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"It is too long. Use at most {MAX_LENGTH:,} characters.")
    from toolflow.policy.parts import compile_parts  # noqa: PLC0415 - loads jinja2, see above

    return Expression(text, compile_parts(text, names))


def shorten(text: str) -> str:
    """A text for a message: quoted, on one line, and short."""
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:56]}...{shown[-1]}"


def _words(error: Exception) -> str:
    if isinstance(error, ToolflowError):
        return str(error).rstrip(".")
    if isinstance(error, RecursionError):
        return "the value is nested too deep"
    missing = re.fullmatch(r"'.*' has no (?:attribute|element) (.*)", str(error))
    if missing:
        return f"there is no {missing[1]}"
    said = str(error).splitlines()
    return (said[0][:200] if said else type(error).__name__).rstrip(".")
