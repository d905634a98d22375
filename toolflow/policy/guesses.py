"""What the declaration of a tool lets one guess: whether it reads, and what it touches.

Guesses are for a person to look at (see `toolflow.policy.starting`); nothing here makes a call
safe. Names are taken apart into words: ``readFile``, ``read_file`` and ``read-file`` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolflow.model import ToolSpec
from toolflow.policy.hints import hint

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ARGUMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_MOST_KEYS: Final = 4


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READS: Final = _set("""
    calculate cat check compare convert count describe diff display explain fetch find get
    glob grep head help info inspect list look lookup ls preview query read search show stat
    status summarize tail tree validate view whoami
""")
_WRITES: Final = _set("""
    accept add append apply approve archive assign attach book build buy call cancel change
    clear click close commit copy cp create delete deploy destroy disable dismiss drag drop
    edit enable exec execute fill fork import insert install invite kill lock make mark merge
    mkdir modify move mv navigate open order patch pay post press publish purge push put
    remove rename replace reset restart rm run save schedule select send set shell start stop
    submit sync terminal toggle touch transfer trigger type undo unlock update upload upsert
    wipe write
""")
_FOR_A_PERSON: Final = _set("""
    buy cancel delete deploy destroy drop merge pay publish purge remove rm send transfer wipe
""")
_FILES: Final = _set("file filename filenames filepath files path paths")
_FOLDERS: Final = _set("cwd dir directories directory folder folders workdir")
_PLACES: Final = _set("dest destination dst from source src target to")
_MOVES: Final = _set("copy cp file move mv rename")
_TREES: Final = _set("copy cp directory find glob grep list ls move mv rename search tree")
_NOUNS: Final = _set("""
    account booking bucket branch channel chat collection customer database db doc document
    event gist issue key message namespace note notebook order page payment player process
    product project queue record repo repository reservation room session table task thread
    ticket topic user wallet workspace
""")
_MARKS: Final = _set("id ids name number")
_SHELLS: Final = _set("bash command exec shell terminal")
_LINES: Final = ("command", "cmd")
_NO_PATHS: Final = _set("boolean BOOLEAN dict integer INTEGER number NUMBER object OBJECT")
_NO_IDS: Final = _set("boolean BOOLEAN dict object OBJECT")


@dataclass(frozen=True, slots=True)
class KeyGuess:
    """A lock key that a call may touch.

    Attributes:
        template: The key, as a rule has it.
        arguments: The arguments that it is made of, each with one that could be.
    """

    template: str
    arguments: Mapping[str, Any]


def reading(spec: ToolSpec) -> tuple[bool | None, str]:
    """Whether a tool seems to only read, and why; ``None`` where nothing tells.

    Args:
        spec: Its declaration.
    """
    said = hint(spec.hints, "readOnlyHint")
    if said is not None:
        return said, f"its server's hint readOnlyHint is {str(said).lower()}"
    words = _words(spec.name)
    for word in words:
        if word in _WRITES:
            return False, f"its name says {word!r}"
    for word in words:
        if word in _READS:
            return True, f"its name says {word!r}"
    return None, "nothing tells whether it only reads"


def for_a_person(spec: ToolSpec) -> str | None:
    """The word in its name that says that a person should decide, or ``None``.

    Args:
        spec: Its declaration.
    """
    if hint(spec.hints, "readOnlyHint") is True:
        return None
    return next((word for word in _words(spec.name) if word in _FOR_A_PERSON), None)


def shell_line(spec: ToolSpec) -> str | None:
    """The argument in which a tool takes a line for a shell, or ``None``.

    Args:
        spec: Its declaration.
    """
    known = (spec.parameters or {}).get("properties")
    if not isinstance(known, Mapping) or _SHELLS.isdisjoint(_words(spec.name)):
        return None
    lines = (name for name in _LINES if isinstance(known.get(name), Mapping))
    return next((name for name in lines if known[name].get("type", "string") == "string"), None)


def keys(spec: ToolSpec) -> tuple[KeyGuess, ...]:
    """The keys that the names of a tool's arguments suggest.

    Args:
        spec: Its declaration.
    """
    schema = spec.parameters or {}
    known = schema.get("properties")
    if not isinstance(known, Mapping):
        return ()
    required = schema.get("required")
    needed = frozenset(name for name in required or () if isinstance(name, str))
    if {"owner", "repo"} <= needed:
        made = "repo:{{ args.owner | lower }}/{{ args.repo | lower }}"
        return (KeyGuess(made, {"owner": "octo", "repo": "app"}),)
    found = (
        guess
        for name, said in known.items()
        if isinstance(name, str) and _ARGUMENT.fullmatch(name)
        for guess in _guesses(spec, name, said, name in needed)
    )
    return tuple(found)[:_MOST_KEYS]


def _guesses(spec: ToolSpec, name: str, said: Any, needed: bool) -> Iterator[KeyGuess]:  # noqa: FBT001  # a fact
    kind = said.get("type") if isinstance(said, Mapping) else None
    several = kind in ("array", "ARRAY", "list")
    words, tool = _words(name), set(_words(spec.name))
    path = _path_filter(words, tool)
    if path is not None and kind not in _NO_PATHS:
        spelled = _spelled(name) if needed else f"{_spelled(name)} | default(cwd, true)"
        sample: object = "src" if path == "dir_key" else "a.txt"
        yield KeyGuess(
            f"file:{{{{ {spelled} | {path} }}}}", {name: [sample] if several else sample}
        )
    elif needed and words[-1:] == ["url"] and not several:
        yield KeyGuess(
            f"host:{{{{ {_spelled(name)} | host_key }}}}", {name: "https://example.com/"}
        )
    elif needed and kind not in _NO_IDS and (noun := _noun(words)):
        sample = 1 if kind in ("integer", "number", "INTEGER", "NUMBER") else "x1"
        yield KeyGuess(
            f"{noun}:{{{{ {_spelled(name)} }}}}", {name: [sample] if several else sample}
        )


def _path_filter(words: list[str], tool: set[str]) -> str | None:
    """The filter for an argument that names files, ``None`` for all others."""
    if not words:
        return None
    if words[-1] in _FOLDERS or (words[-1] in _FILES and len(words) > 1 and words[-2] in _FOLDERS):
        return "dir_key"
    moved = words[-1] in _PLACES and not tool.isdisjoint(
        {"copy", "cp", "file", "move", "mv", "rename"}
    )
    if words[-1] in _FILES or moved or words[-2:] == ["file", "name"]:
        return "file_key" if tool.isdisjoint(_TREES) else "dir_key"
    return None


def _noun(words: list[str]) -> str | None:
    """What an argument names one of: ``issue`` of ``issue_number``; ``id`` of what, is not told."""
    if words[-1:] == ["uri"]:
        return "uri"
    while len(words) > 1 and words[-1] in _MARKS:
        words = words[:-1]
    return words[-1] if words and words[-1] in _NOUNS else None


def _spelled(name: str) -> str:
    return f"args.{name}" if _IDENTIFIER.fullmatch(name) else f"args['{name}']"


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name[:200])]
