"""Limits on the size of results: fair, deterministic, never inside a character (spec 9.4).

The limit of a turn is shared out like water: every result gets the same level, and what a small
result does not need raises the level of the others. So small results stay whole.

A character is what a reader takes for one: a letter with its combining marks, an emoji with its
modifiers. Where such a sequence goes on for longer than any real one, it is cut all the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from toolflow.errors import UsageError
from toolflow.model.outcome import Outcome, as_text

_LONGEST = 32  # code points of one character that are kept together
_JOINER = "\u200d"


def limit_outcomes(
    outcomes: Iterable[Outcome], *, per_call: int | None = None, per_turn: int | None = None
) -> tuple[Outcome, ...]:
    """Cut the texts of a turn's results to size.

    Args:
        outcomes: The outcomes of one turn, in call order.
        per_call: The most characters that one result's text may have, or ``None``.
        per_turn: The most characters that all of them may have together, or ``None``.

    Returns:
        The same outcomes; those over their share with head and tail kept, a line between them
        that says how much was left out, and a note. Pictures and notes do not count.

    Raises:
        UsageError: If a limit is no integer of at least 0.
    """
    for name, limit in (("per_call", per_call), ("per_turn", per_turn)):
        if limit is not None and (type(limit) is not int or limit < 0):
            raise UsageError(f"{name} is {limit!r}. Use an integer of at least 0, or None.")
    kept = tuple(outcomes)
    if per_call is None and per_turn is None:
        return kept
    sizes = [len(outcome.text) for outcome in kept]
    wanted = sizes if per_call is None else [min(size, per_call) for size in sizes]
    shares = wanted if per_turn is None else share_out(wanted, per_turn)
    return tuple(
        outcome if size <= share else _cut_outcome(outcome, share)
        for outcome, size, share in zip(kept, sizes, shares, strict=True)
    )


def share_out(wanted: Sequence[int], total: int) -> list[int]:
    """Share a total among those who want some of it, so that the least gets as much as can be.

    Args:
        wanted: How much each wants.
        total: What there is.

    Returns:
        What each gets: never more than wanted, in all never more than the total.
    """
    shares = [0] * len(wanted)
    left = total
    order = sorted(range(len(wanted)), key=lambda index: (wanted[index], -index))
    for place, index in enumerate(order):
        shares[index] = min(wanted[index], left // (len(order) - place))
        left -= shares[index]
    return shares


def cut_text(text: str, size: int) -> str:
    """Cut text to a size, keeping its head and its tail.

    Args:
        text: Any text.
        size: The most characters that the result may have.

    Returns:
        The text itself where it fits; else head, a line that tells how many characters were left
        out, and tail. Where there is no room for that line, as much of the head as fits.
    """
    if len(text) <= size:
        return text
    room = size - len(_mark(len(text)))
    if room < 0:
        return text[: _boundary(text, size)]
    head = _boundary(text, room - room // 2)
    tail = _boundary_after(text, len(text) - room // 2)
    return f"{text[:head]}{_mark(tail - head)}{text[tail:]}"


def _cut_outcome(outcome: Outcome, size: int) -> Outcome:
    """The error goes first: it is the shorter, and says what the value means."""
    total = len(outcome.text)
    if outcome.error is None:
        shorter = replace(outcome, value=cut_text(as_text(outcome.value), size))
    elif outcome.value is None or len(outcome.error) + 1 >= size:
        shorter = replace(outcome, value=None, error=cut_text(outcome.error, size))
    else:
        value = cut_text(as_text(outcome.value), size - len(outcome.error) - 1)
        shorter = replace(outcome, value=value)
    told = f"Cut to {len(shorter.text)} of {total} characters."
    return replace(shorter, note=f"{outcome.note}\n{told}" if outcome.note else told)


def _mark(left_out: int) -> str:
    return f"\n[... {left_out} characters left out ...]\n"


def _boundary(text: str, at: int) -> int:
    """The last place at or before this one that lies between two characters."""
    for place in range(at, max(at - _LONGEST, 0), -1):
        if not _joined(text, place):
            return place
    return 0 if at < _LONGEST else at


def _boundary_after(text: str, at: int) -> int:
    for place in range(at, min(at + _LONGEST, len(text))):
        if not _joined(text, place):
            return place
    return len(text) if at + _LONGEST > len(text) else at


def _joined(text: str, place: int) -> bool:
    """Whether the code points before and after a place belong to one character."""
    if place <= 0 or place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    if before == "\r":
        return after == "\n"
    if _JOINER in (before, after) or unicodedata.combining(after):
        return True
    return unicodedata.category(after) in ("Mn", "Me", "Mc") or _is_flag_half(text, place)


def _is_flag_half(text: str, place: int) -> bool:
    """Two regional indicators make a flag; emoji modifiers go with the emoji before them."""
    if "\U0001f3fb" <= text[place] <= "\U0001f3ff":
        return True
    if not _is_indicator(text[place]):
        return False
    start = place
    while start > 0 and _is_indicator(text[start - 1]):
        start -= 1
    return (place - start) % 2 == 1


def _is_indicator(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
