"""The short texts that say why one thing waits for another (spec 5.2, conformance 141).

Key edges, with K a key and T a tree key that covers it::

    key K [in T] write               a write after a write
    key K [in T] read after write    a read after a write
    key K [in T] write after read    a write after a read

Where the two calls name one key, it stands alone; where a tree key meets what lies below it, the
narrower key stands first. An edge that leads into a gate tells what came before it: ``key K [in T]
write`` or ``key K [in T] read``.

Order edges tell which barrier makes the order: ``git is exclusive, rule 4 (line 19)``.
"""

from __future__ import annotations

from typing import Literal

from toolflow.model.batch import CallPlan
from toolflow.model.keys import covers

Mode = Literal["read", "write"]


def key_cause(before_key: str, before: Mode, after_key: str, after: Mode | None) -> str:
    """The cause of a key edge.

    Args:
        before_key: The key of what comes first.
        before: What it does with it.
        after_key: The key of what waits; it meets the other one.
        after: What it does with it, or ``None`` where a gate waits.

    Returns:
        One line in the grammar above.
    """
    if after is None:
        action: str = before
    elif after == "write":
        action = "write" if before == "write" else "write after read"
    else:
        action = "read after write"
    return f"key {_meeting(before_key, after_key)} {action}"


def barrier_cause(call: CallPlan) -> str:
    """The cause of an order edge: why a call runs alone."""
    verdict = call.verdict
    text = f"{call.tool} is exclusive"
    if verdict.rule is not None:
        text += f", rule {verdict.rule + 1}"
        if verdict.base is not None:
            text += f" of {verdict.base}"
        if verdict.line is not None:
            text += f" (line {verdict.line})"
    return text


def _meeting(one: str, other: str) -> str:
    if one == other:
        return one
    return f"{other} in {one}" if covers(one, other) else f"{one} in {other}"
