"""Bases: the policies that a policy extends, read in the order in which their rules are tried.

A policy is worth what its rules say, so it must be the same wherever it is read: bases are named
relative to the policy that was asked for, never by where it lies, and the text of a policy that
goes into a recording carries theirs along under ``bases``, so that a replay needs no file. Taking
over the merged rules as one text was the alternative: it would have lost the lines and remarks
that people know them by.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from toolflow.errors import DocumentError, PolicyError, Problem
from toolflow.policy.shelf import SHIPPED, is_shipped, no_such_policy, shipped_names, shipped_text
from toolflow.yamlio import Document, dump, load, load_file, path_text, validate
from toolflow.yamlio.document import Path as Place

if TYPE_CHECKING:
    from toolflow.policy.schema import PolicyFile

MAX_DEPTH: Final = 8
MAX_BASES: Final = 100
MAX_BASE_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Member:
    """One of the policies that make up a policy.

    Attributes:
        name: Its name, relative to the folder of the policy that was asked for, or
            ``shipped:NAME``; ``None`` for that policy itself.
        document: Its text and places.
        file: What it says.
    """

    name: str | None
    document: Document
    file: PolicyFile


def members_of(document: Document, folder: Path | None) -> tuple[Member, ...]:
    """A policy and its bases, each once, in the order in which their rules are tried.

    Args:
        document: The policy.
        folder: The folder that paths in it start from; ``None`` where there is none.

    Returns:
        The policy, then each base, followed by its own bases.

    Raises:
        PolicyError: With every problem of all of them.
    """
    gathering = _Gathering(document, folder)
    gathering.add(None, document, ())
    if gathering.problems:
        raise PolicyError(gathering.problems)
    return tuple(gathering.members)


def with_bases(members: tuple[Member, ...]) -> tuple[Any, str | None]:
    """What a policy and its bases say together: for its digest, and as a text of its own.

    Args:
        members: What `members_of` gave.

    Returns:
        A value that is the same wherever the bases were read, and YAML text that needs no file.
    """
    own = members[0].document
    value = _plain(own.value)
    text = own.text or _written(own.value, own.source)
    if len(members) == 1:
        return value, text
    bases = {str(each.name): each.document for each in members[1:]}
    said = {name: _plain(document.value) for name, document in bases.items()}
    if "bases" in own.value:  # they travel along already
        return {**value, "bases": said}, text
    texts = {name: document.text for name, document in bases.items()}
    return {**value, "bases": said}, _appended(text, own.value, {"bases": texts})


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if key != "bases"}


def _appended(text: str, value: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    """A text with fields added at its end, where the lines of the others can stay what they are."""
    whole = {**value, **more}
    longer = f"{text.rstrip()}\n{dump(more)}"
    try:
        if load(longer).value == whole:
            return longer
    except DocumentError:
        pass  # JSON, flow style, two documents: written anew
    return _written(whole, "<policy>")


def _written(value: Any, source: str) -> str:
    try:
        return dump(value)
    except ValueError:
        pass  # lone surrogates, which JSON can hold as escapes
    try:
        return json.dumps(value) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        said = f"It holds what no document can hold: {error}."
        raise PolicyError(Problem(said, source)) from error


class _Gathering:
    """Reads bases, and keeps what is wrong with any of them."""

    def __init__(self, document: Document, folder: Path | None) -> None:
        self.members: list[Member] = []
        self.problems: list[Problem] = []
        self._folder = folder
        self._own = None if folder is None else posixpath.basename(Path(document.source).as_posix())
        self._seen: set[str] = set()
        value = document.value.get("bases") if isinstance(document.value, dict) else None
        self._carried = value if isinstance(value, dict) else {}
        self._top = document

    def add(self, name: str | None, document: Document, chain: tuple[str, ...]) -> None:
        """Add a policy, then its bases."""
        from toolflow.policy.schema import PolicyFile  # noqa: PLC0415 - loads pydantic

        try:
            file = validate(document, PolicyFile, error=PolicyError)
        except PolicyError as error:
            self.problems += error.problems
        else:
            self.members.append(Member(name, document, file))
        if name is not None and isinstance(document.value, dict) and "bases" in document.value:
            said = "bases belongs to a policy that is used as it is. Leave it out of a base."
            self.problems.append(document.problem(("bases",), said, key=True))
        for place, entry in _entries(document.value):
            self._extend(name, document, place, entry, chain)
        if name is None:
            self._check_carried()

    def _extend(
        self, name: str | None, document: Document, place: Place, entry: str, chain: tuple[str, ...]
    ) -> None:
        base = _named(entry, name)
        whole = (*chain, name or self._own or "this policy", base)
        said = None
        if base in whole[:-1]:
            circle = " > ".join(whole[whole.index(base) :])
            said = f"It closes a circle: {circle}. Leave one of them out."
        elif base in self._seen:
            return
        elif len(chain) >= MAX_DEPTH:
            said = f"It is more than {MAX_DEPTH} policies deep. Put some of them together."
        elif len(self._seen) >= MAX_BASES:
            said = f"There are more than {MAX_BASES} bases. Put some of them together."
        if said is None:
            self._seen.add(base)
            found = self._read(base)
            if isinstance(found, Document):
                self.add(base, found, whole[:-1])
                return
            said = found
        if said:
            text = f"{path_text(place)} is {entry!r}. {said}"
            self.problems.append(document.problem(place, text, code="extends"))

    def _read(self, base: str) -> Document | str:
        """A base, or what is wrong with its name; nothing where its own problems are told."""
        try:
            return self._opened(base)
        except PolicyError as error:
            (first, *_) = error.problems
            if first.code == "file":
                return f"{first.message.rstrip('.')}. Name a file that is there, or shipped:NAME."
            if first.code == "size":
                return f"It is too big. A base has at most {MAX_BASE_BYTES:,} bytes."
            if first.code == "unknown_policy":
                return first.message
            self.problems += error.problems
            return ""

    def _opened(self, base: str) -> Document:
        carried = self._carried.get(base)
        if isinstance(carried, str):
            return load(carried, source=base, error=PolicyError, max_bytes=MAX_BASE_BYTES)
        if is_shipped(base):
            if base.removeprefix(SHIPPED) not in shipped_names():
                said = no_such_policy(base.removeprefix(SHIPPED))
                raise PolicyError(Problem(said, base, code="unknown_policy"))
            return load(shipped_text(base), source=base, error=PolicyError)
        if self._folder is None:
            said = "This policy is no file, so no path can start from it"
            raise PolicyError(Problem(said, base, code="file"))
        return load_file(self._folder / base, error=PolicyError, max_bytes=MAX_BASE_BYTES)

    def _check_carried(self) -> None:
        """Texts that nothing extends would be taken for rules that hold."""
        for name in self._carried:
            if name not in self._seen:
                said = f"bases[{name!r}] is extended by nothing. Name it under extends."
                self.problems.append(self._top.problem(("bases", name), said, key=True))


def _entries(value: object) -> Iterator[tuple[Place, str]]:
    """The bases that a policy names, whatever else is wrong with it."""
    named = value.get("extends") if isinstance(value, dict) else None
    if isinstance(named, str):
        yield ("extends",), named
    elif isinstance(named, list):
        for index, entry in enumerate(named):
            if isinstance(entry, str):
                yield ("extends", index), entry


def _named(entry: str, name: str | None) -> str:
    """The name of a base: its path from the folder of the policy that was asked for."""
    if is_shipped(entry):
        return entry
    folder = "" if name is None or is_shipped(name) else posixpath.dirname(name)
    return posixpath.normpath(posixpath.join(folder, entry.replace("\\", "/")))
