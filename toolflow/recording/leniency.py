"""What a replay may pass over, by name: the lenient modes (spec 10.3).

Calls, tools, arguments, verdicts, pools and barriers, and how calls settled always count: where
they differ it is another run. The rest can be let pass, one kind at a time, and is then told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import pairwise
from typing import Final

from toolflow.errors import DivergenceError, UsageError
from toolflow.model.recording import RecordedTurn
from toolflow.recording.drive import diverged

IGNORABLE: Final[Mapping[str, str]] = {
    "ids": "ids and names of calls",
    "keys": "lock keys, and the edges that come of them",
    "limits": "other limits under which calls start at other points",
    "messages": "the bytes of the committed messages",
    "order": "the order of starts of calls that may start together",
    "terms": "timeouts, resources, holds, stop points, on_error, idempotent",
    "text": "words of questions, and of why a call was answered without running",
    "times": "times of a call that contradict each other",
}
_ORDERS = (("queued", "granted", "started", "settled"), ("started", "stopped"))


def ignored_kinds(names: Iterable[str]) -> frozenset[str]:
    """Check the names of lenient modes.

    Args:
        names: The names, as the user gave them.

    Returns:
        The names.

    Raises:
        UsageError: If one of them is none.
    """
    found = frozenset(names)
    for name in sorted(found - IGNORABLE.keys()):
        near = get_close_matches(name, IGNORABLE, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"ignore: {name!r} is unknown. {hint}Use {', '.join(IGNORABLE)}.")
    return found


class Judge:
    """Decides which differences end a replay, and keeps those that do not.

    Args:
        ignore: The kinds that may pass.

    Attributes:
        passed: What was passed over, in the order found.
    """

    def __init__(self, ignore: frozenset[str] = frozenset()) -> None:
        self.ignore = ignore
        self.passed: list[DivergenceError] = []

    def look(self, differences: Iterable[DivergenceError]) -> None:
        """Look at differences in their order.

        Raises:
            DivergenceError: The first one that counts.
        """
        for difference in differences:
            if difference.kind not in self.ignore:
                raise difference
            self.passed.append(difference)


def times_differences(recorded: RecordedTurn) -> Iterable[DivergenceError]:
    """Calls whose recorded times cannot be: a body that stopped before it started, and the like.

    Args:
        recorded: The turn.
    """
    names = [call.name for call in recorded.plan.calls] if recorded.plan is not None else []
    for name, times in zip(names, recorded.times, strict=False):
        for order in _ORDERS:
            known = [(word, getattr(times, word)) for word in order]
            known = [(word, at) for word, at in known if at is not None]
            for (one, earlier), (other, later) in pairwise(known):
                if later < earlier:
                    before = f"{other} at {later:g} s"
                    yield diverged(name, before, f"{one} only at {earlier:g} s", kind="times")
