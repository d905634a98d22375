"""Checking a loaded document field by field, with every problem at its place.

A pydantic model of a whole recording was the alternative. It would check the free parts (messages,
arguments, values) node by node and copy them, which costs more than reading the YAML; and one
corrupt turn would fail the whole document, where the others are to be read (faults 78).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from toolflow import yamlio
from toolflow.errors import Problem
from toolflow.yamlio import Document

Path = tuple[str | int, ...]
_MISSING = object()
_WORDS: Mapping[type, str] = {
    str: "text",
    int: "an integer",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
}


class Reader:
    """Reads the fields of one document and collects what is wrong with them.

    Args:
        document: The document.

    Attributes:
        problems: Everything that is wrong so far.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def problem(self, path: Path, message: str, *, key: bool = False) -> None:
        """Note a problem of the value at a path; the message is a whole sentence."""
        self.problems.append(self.document.problem(path, message, key=key))

    def line_problem(self, path: Path, number: int, message: str) -> None:
        """Note a problem of one line of a block text.

        Args:
            path: The path of the text.
            number: The line's place in the text, counted from 0.
            message: A whole sentence.
        """
        line, column = self.document.where(path)
        if line is not None:
            line, column = line + 1 + number, None
        name = f"{yamlio.path_text(path)}, line {number + 1}"
        self.problems.append(
            Problem(f"{name}: {message}", self.document.source, line, column, "invalid")
        )

    def wrong(self, path: Path, value: object, allowed: str) -> None:
        """Note that a value is not what its place allows; ``allowed`` is a whole sentence."""
        self.problem(path, f"{yamlio.path_text(path)} is {yamlio.show(value)}. {allowed}")

    def mapping(self, value: object, path: Path, known: Sequence[str]) -> dict[str, Any]:
        """A mapping with known fields; unknown ones are problems.

        Args:
            value: The value at the path.
            path: Its path.
            known: The names of its fields.

        Returns:
            The mapping; an empty one where there is none.
        """
        if not isinstance(value, dict):
            self.wrong(path, value, "Use a mapping.")
            return {}
        if not value.keys() <= set(known):
            for name in value:
                if name not in known:
                    self._unknown((*path, name), name, known)
        return value

    def field(
        self,
        owner: Mapping[str, Any],
        path: Path,
        name: str,
        kind: type,
        default: Any = _MISSING,
    ) -> Any:
        """A field of a mapping.

        Args:
            owner: The mapping.
            path: Its path.
            name: The field's name.
            kind: What it must be: ``str``, ``int``, ``bool``, ``dict`` or ``list``.
            default: What stands for an absent or empty field; without one the field is needed.

        Returns:
            The value; where it is missing or wrong, the default, or an empty value of the kind.
        """
        value = owner.get(name)
        if type(value) is kind:
            return value
        if value is None and default is not _MISSING:
            return default
        if name in owner:
            self.wrong((*path, name), value, f"Use {_WORDS[kind]}.")
        else:
            self.problem(path, f"{yamlio.path_text((*path, name))} is missing.")
        return kind() if default is _MISSING else default

    def items(
        self, owner: Mapping[str, Any], path: Path, name: str, kind: type
    ) -> list[tuple[Path, Any]]:
        """A field that is a list of values of one kind; others are problems, and left out.

        Returns:
            The path and the value of each item.
        """
        good = []
        for index, item in enumerate(self.field(owner, path, name, list, [])):
            place = (*path, name, index)
            if type(item) is kind:
                good.append((place, item))
            else:
                self.wrong(place, item, f"Use {_WORDS[kind]}.")
        return good

    def _unknown(self, path: Path, name: str, known: Sequence[str]) -> None:
        near = get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"Use one of: {', '.join(known)}."
        self.problem(path, f"{yamlio.path_text(path)} is not a known field. {hint}", key=True)
