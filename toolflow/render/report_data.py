"""A recording as the data of a page: its turns, and what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final, Protocol

from toolflow.model import Notice, RecordedTurn, Recording
from toolflow.render.labels import visible_lines
from toolflow.render.report_call import brief
from toolflow.render.report_texts import block_json, line_text, shortened
from toolflow.render.report_turns import Kept, Turns
from toolflow.render.style import STATES

_NOTICES: Final = 50
_POLICY: Final = 200_000


class TurnsWithHead(Protocol):
    """Turns that are read one by one, and what stands beside them once they were read."""

    @property
    def head(self) -> Recording:
        """The recording without turns."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was odd about it."""

    def __iter__(self) -> Iterator[RecordedTurn]:
        """The turns, in order."""


Source = Recording | TurnsWithHead | Iterable[RecordedTurn]


@dataclass(frozen=True, slots=True)
class PageData:
    """What a page is made of.

    Attributes:
        title: Its title.
        text: The data for its script, as JSON for a block of the page.
        pictures: The pictures of plans, as safe SVG; a turn names its own by its place.
        turns: How many turns it shows.
        left: How many of those wanted had no room.
    """

    title: str
    text: str
    pictures: tuple[str, ...]
    turns: int
    left: int


def page_data(
    recording: Source, *, title: str | None, turns: Sequence[str], pictures: bool
) -> PageData:
    """Make the data of a page.

    Args:
        recording: The turns.
        title: The title, or ``None`` for one that names the source.
        turns: Ids or numbers of the turns wanted; all where there are none.
        pictures: Whether plans are drawn.

    Raises:
        UsageError: If there is no such turn.
    """
    taken = Turns(turns, pictures=pictures)
    for recorded in recording.turns if isinstance(recording, Recording) else recording:
        taken.take(recorded)
    kept = taken.chosen()
    drawn = tuple(one.picture for one in kept if one.picture)
    head = _head(recording)
    page_title = brief(title if title is not None else _title(head), 200)
    beside = {
        "title": page_title,
        "facts": list(_facts(head)),
        "notices": [brief(notice.message) for notice in head.notices[:_NOTICES]],
        "moreNotices": max(len(head.notices) - _NOTICES, 0),
        "left": taken.left,
        "policy": visible_lines(shortened(head.policy or "", _POLICY)),
        "states": {name: asdict(state) for name, state in STATES.items()},
        "places": _places(kept),
    }
    texts = ",".join(one.text for one in kept)
    text = f'{block_json(beside)[:-1]},"turns":[{texts}]}}'
    return PageData(page_title, text, drawn, len(kept), taken.left)


def _head(recording: Source) -> Recording:
    """What stands beside the turns, with its notices; asked for when all turns were read."""
    if isinstance(recording, Recording):
        return recording
    head = getattr(recording, "head", None)
    if not isinstance(head, Recording):
        return Recording(())
    notices = tuple(getattr(recording, "notices", ()))
    return Recording((), head.source, head.policy, head.policy_digest, notices)


def _title(head: Recording) -> str:
    for name in ("name", "session", "path"):
        if isinstance(text := head.source.get(name), str) and text:
            return text.rpartition("/")[2] or text
    return "Recorded run"


def _facts(head: Recording) -> Iterator[list[str]]:
    for name, value in islice(head.source.items(), 20):
        yield [brief(str(name), 60), brief(line_text(value), 400)]
    if head.policy_digest:
        yield ["policy", visible_lines(head.policy_digest[:12])]


def _places(kept: Sequence[Kept]) -> list[dict[str, Any]]:
    """What a turn has of being among others: its picture, and its name in addresses.

    The name is ``turn-N`` by place, unless another turn is called so.
    """
    numbers = {one.id: one.number for one in reversed(kept)}
    places = []
    drawn = 0
    for one in kept:
        key = f"turn-{one.number}"
        is_free = numbers.get(key, one.number) == one.number
        picture = drawn if one.picture else -1
        places.append({"key": key if is_free else str(one.number), "picture": picture})
        drawn += bool(one.picture)
    return places
