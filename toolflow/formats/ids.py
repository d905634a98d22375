"""The ids that are written: valid for the provider on both sides of a pair (spec 3.4).

The turn keeps the ids as they were read. What goes back to the provider are these: an id stays as
it is where the provider takes it and no other call of the turn has it; of the holders of a doubled
id the first keeps it. All else is rewritten, in call order, by rules that know nothing but the
ids, so that the same turn is always written in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolflow.formats.base import IdRule

SURROGATE = re.compile("[\ud800-\udfff]")
ANY_TEXT = IdRule(re.compile("[^\ud800-\udfff]+"), SURROGATE)


def valid_ids(ids: Sequence[str], rule: IdRule) -> tuple[str, ...]:
    """The ids to write for the calls of one turn.

    Args:
        ids: The ids as read, in call order; some may be empty, doubled or not allowed.
        rule: What the provider takes.

    Returns:
        As many ids, all different, all allowed.
    """
    kept: set[str] = set()
    result: list[str | None] = []
    for name in ids:
        good = name not in kept and is_valid(name, rule)
        result.append(name if good else None)
        if good:
            kept.add(name)
    if len(kept) == len(ids):
        return tuple(ids)
    counters: dict[str, int] = {}
    return tuple(
        new if new is not None else _fresh(_mended(ids[index], rule), rule, kept, counters)
        for index, new in enumerate(result)
    )


def is_valid(name: str, rule: IdRule) -> bool:
    """Whether the provider takes this id."""
    fits = rule.limit is None or len(name) <= rule.limit
    return fits and rule.legal.fullmatch(name) is not None


def _mended(name: str, rule: IdRule) -> str:
    mended = rule.illegal.sub(rule.filler, name)[: rule.limit] or "call"
    return mended.ljust(rule.least, rule.filler)


def _fresh(base: str, rule: IdRule, taken: set[str], counters: dict[str, int]) -> str:
    """An id like ``base`` that nobody has; counting goes on where it stopped, so it is linear."""
    name, number = base, counters.get(base, 1)
    while name in taken:
        number += 1
        ending = f"{rule.filler}{number}"
        room = None if rule.limit is None else rule.limit - len(ending)
        name = base[:room] + ending
    counters[base] = number
    taken.add(name)
    return name


def made_up_ids(ids: Sequence[str | None], prefix: str = "call") -> tuple[str, ...]:
    """Give calls without an id a stable one: ``call-N`` by place, which no given id has.

    Args:
        ids: The given ids in call order; ``None`` where there is none. Empty text is an id.
        prefix: What made-up ids begin with.

    Returns:
        As many ids; given ones unchanged.
    """
    taken = {name for name in ids if name is not None}
    result = []
    for index, given in enumerate(ids):
        name = given
        if name is None:
            name = f"{prefix}-{index + 1}"
            while name in taken:
                name += "+"
            taken.add(name)
        result.append(name)
    return tuple(result)
