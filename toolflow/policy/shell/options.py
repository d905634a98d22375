"""Options of commands, by allow-lists: what is not listed is not understood.

A list is written as people write options. After a name stands how it takes a value:

======== ==========================================================
``-a``   takes none; ``-abc`` are three
``-n=``  takes one: ``-n5``, ``-n 5``, ``--lines=5``, ``--lines 5``
``-U?``  takes one only if it is attached: ``-U3``, ``--color=always``
``-f<``  as ``=``, and the value is a path that is read
``-L~``  takes the next word, and has to be the last letter
``-#``   stands for numbers: ``-20``
``^``    letters are not put together
======== ==========================================================

No word that begins with ``-`` passes unless it is listed: neither as the value of another option
nor after ``--``. So a mistake about which options take values cannot hide one that writes. The
exception are commands that have no such option at all (``free``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from toolflow.policy.shell.lexer import Word

_SPELLED: Final = re.compile(r"(--[a-z0-9][a-z0-9-]*|-[^\s=?<~-]+)([=?<~]?)")


@dataclass(frozen=True, slots=True)
class Options:
    """An allow-list: each option with the sign for its value."""

    kinds: dict[str, str]
    numbers: bool = False
    alone: bool = False


@dataclass(slots=True)
class Given:
    """The words of a command, sorted.

    Attributes:
        operands: Words that are no options.
        names: The options that are given.
        paths: Values of options that are paths.
        odd: The first word that is not understood, or ``None``.
        values: The options with values, in order.
    """

    operands: list[Word] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    paths: list[Word] = field(default_factory=list)
    odd: Word | None = None
    values: list[tuple[str, Word]] = field(default_factory=list)


@lru_cache(maxsize=256)
def allowed(spelled: str) -> Options:
    """Read an allow-list, as the module describes it.

    Args:
        spelled: Names with blanks between them.
    """
    kinds: dict[str, str] = {}
    alone = spelled.startswith("^")
    for part in spelled.removeprefix("^").split():
        match = _SPELLED.fullmatch(part)
        assert match is not None, part
        name, kind = match[1], match[2]
        if name.startswith("--"):
            kinds[name] = kind
        else:
            assert not kind or len(name) == 2, part
            kinds.update({f"-{letter}": kind for letter in name[1:]})
    return Options(kinds, kinds.pop("-#", None) is not None, alone)


@lru_cache(maxsize=256)
def names_of(spelled: str) -> frozenset[str]:
    """Names with blanks between them as a set."""
    return frozenset(spelled.split())


def sort_words(words: Sequence[Word], options: Options, *, free: bool = False) -> Given:
    """Tell options, their values and operands apart.

    Args:
        words: The words after the command's name.
        options: Its allow-list.
        free: Whether no option of it writes or runs anything, so that a word whose value is not
            known, and may be any option, does no harm.

    Returns:
        The words; ``odd`` is set where one is not understood.
    """
    given = Given()
    rest = iter(words)
    only_operands = False
    for word in rest:
        if not word.option or (only_operands and free):
            given.operands.append(word)
        elif word.text == "--" and not only_operands:
            only_operands = True
        elif only_operands or not _option(word, rest, options, given, free=free):
            given.odd = word
            return given
        if given.odd is not None:
            return given
    return given


def _option(
    word: Word, rest: Iterator[Word], options: Options, given: Given, *, free: bool
) -> bool:
    text = word.text
    if text is None:
        known = word.one or word.glob  # then all of it is one word that begins like this
        name, sign, _ = word.head.partition("=")
        if known and name.startswith("--") and sign:
            return _value(name, word, options, given)
        if free and word.head[:1] != "-":
            given.operands.append(word)
            return True
        return False
    if options.numbers and re.fullmatch(r"-\d+", text, re.ASCII):
        return True
    if text.startswith("--"):
        name, sign, value = text.partition("=")
        if sign:
            return _value(name, _part(word, value), options, given)
        return _named(name, rest, options, given, free=free)
    return _letters(word, text, rest, options, given, free=free)


def _value(name: str, value: Word, options: Options, given: Given) -> bool:
    """``--name=value``."""
    kind = options.kinds.get(name, "")
    if kind not in ("=", "?", "<"):
        return False
    _put(name, value, kind, given)
    return True


def _named(name: str, rest: Iterator[Word], options: Options, given: Given, *, free: bool) -> bool:
    """An option as a word of its own; its value, if it takes one, is the next word."""
    kind = options.kinds.get(name)
    if kind is None:
        return False
    given.names.add(name)
    if kind in ("=", "<", "~"):
        value = next(rest, None)
        if value is None:
            return False
        if (value.option or not value.one) and not free:
            given.odd = value
            return True
        _put(name, value, kind, given)
    return True


def _letters(
    word: Word, text: str, rest: Iterator[Word], options: Options, given: Given, *, free: bool
) -> bool:
    """``-abc``: letters one after the other, the last of which may take a value."""
    for place in range(1, len(text)):
        name = f"-{text[place]}"
        kind = options.kinds.get(name)
        if kind is None:
            return False
        more = text[place + 1 :]
        if not kind:
            if options.alone and len(text) > 2:
                return False
            given.names.add(name)
        elif kind == "~" and more:
            return False
        elif more:
            _put(name, _part(word, more), kind, given)
            return True
        else:
            return _named(name, rest, options, given, free=free)
    return True


def _put(name: str, value: Word, kind: str, given: Given) -> None:
    given.names.add(name)
    given.values.append((name, value))
    if kind == "<":
        given.paths.append(value)


def _part(word: Word, text: str) -> Word:
    """A value that is attached to its option."""
    return Word(word.raw, text, text, plain=word.plain)
