"""What is known of a tool before any call of it: its declaration (spec 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolflow.model.turn import EMPTY

Args = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool's declaration. Scheduling facts in it are never shown to the model.

    Attributes:
        name: The name by which the model calls it.
        description: What the model is told about it.
        parameters: The JSON Schema of its arguments, as the model sees it, or ``None``.
        server: The MCP server that it comes from, or ``None``.
        hints: The MCP annotations (``readOnlyHint`` ...), verbatim.
        safe: The author's declaration: may it run beside other safe calls? A value, a function
            of the parsed arguments, or ``None`` where nothing is declared. Only exactly ``True``
            counts.
        reads: Keys that a call takes shared: a sequence, a function of the parsed arguments, or
            ``None`` where nothing is declared. ``()`` means: declared, reads nothing.
        writes: Keys that a call takes exclusively, in the same form.
        uses: Units of scarce resources that one call takes, by the resource's name.
        timeout: Seconds that the body may take, or ``None``.
        idempotent: Whether running a call twice is as good as once, or ``None``.
        parse: Validates the arguments of a call once and gives the parsed values; raises
            ``ValueError`` with a sentence where they are not valid. ``None``: no validation.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    server: str | None = None
    hints: Mapping[str, Any] = EMPTY
    safe: bool | Callable[[Args], object] | None = None
    reads: Sequence[str] | Callable[[Args], object] | None = None
    writes: Sequence[str] | Callable[[Args], object] | None = None
    uses: Mapping[str, int] = EMPTY
    timeout: float | None = None
    idempotent: bool | None = None
    parse: Callable[[Args], Args] | None = None


class Catalog(Protocol):
    """The tools that are there: what classification asks, and nothing more."""

    @property
    def version(self) -> int:
        """A number that changes whenever a tool is added, removed or replaced."""

    def find(self, name: str) -> ToolSpec | None:
        """The tool of exactly this name, or ``None``."""

    def names(self) -> Sequence[str]:
        """The names of all tools, sorted."""
