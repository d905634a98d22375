"""A recording as the data of a page: its turns, as many as a page can hold, and what is about them.

Turns are taken one after the other and none is kept, so a recording of any size can be given. A
page that would grow too large ends with the last turn that has room, and says so; the rest is only
counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final, Protocol

from toolflow.errors import RenderError, UsageError
from toolflow.model import Notice, RecordedTurn, Recording
from toolflow.render.picture import svg
from toolflow.render.report_call import brief
from toolflow.render.report_texts import line_text, shortened, shown
from toolflow.render.report_turn import masked, turn_data
from toolflow.render.style import STATES

MOST_TURNS: Final = 1_000
MOST_CHARACTERS: Final = 24_000_000
"""Characters of turns and pictures in one page; it may be one turn longer."""
MOST_DRAWN: Final = 200
"""Turns whose plans are drawn: a program is started for each."""
MOST_CALLS: Final = 500
"""Calls of a plan that is drawn."""
_NOTICES = 50
_POLICY = 200_000


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
class Pages:
    """What a page is made of.

    Attributes:
        data: JSON values, for the script of the page.
        pictures: The pictures of plans, as safe SVG; a turn names its own by its place.
        size: How many characters they have together, about.
    """

    data: dict[str, Any]
    pictures: tuple[str, ...]
    size: int


def pages_of(
    recording: Source, *, title: str | None, turns: Sequence[str], pictures: bool
) -> Pages:
    """Make the data of a page.

    Args:
        recording: The turns.
        title: The title, or ``None`` for one that names the source.
        turns: Ids or numbers of the turns wanted; all where there are none.
        pictures: Whether plans are drawn.

    Raises:
        UsageError: If there is no such turn.
    """
    collected = _Collected(turns, is_drawing=pictures)
    for number, recorded in enumerate(_turns(recording), 1):
        collected.take(recorded, number)
    kept = collected.chosen()
    head, notices = _head(recording)
    shown_title = title if title is not None else _title(head)
    data: dict[str, Any] = {
        "title": brief(shown_title, 200),
        "facts": list(_facts(head)),
        "notices": [brief(notice.message) for notice in notices[:_NOTICES]],
        "moreNotices": max(len(notices) - _NOTICES, 0),
        "total": collected.count,
        "left": collected.left,
        "policy": shown(shortened(head.policy, _POLICY)) if head.policy is not None else "",
        "states": {name: asdict(state) for name, state in STATES.items()},
        "turns": [turn for turn, _ in kept],
    }
    drawn: list[str] = []
    for turn, picture in kept:
        turn["picture"] = -1
        if picture:
            turn["picture"] = len(drawn)
            drawn.append(picture)
    _name_turns(data["turns"])
    return Pages(data, tuple(drawn), collected.size)


def _turns(recording: Source) -> Iterable[RecordedTurn]:
    return recording.turns if isinstance(recording, Recording) else recording


def _head(recording: Source) -> tuple[Recording, tuple[Notice, ...]]:
    """What stands beside the turns; asked for when all were read."""
    if isinstance(recording, Recording):
        return recording, recording.notices
    head = getattr(recording, "head", None)
    if isinstance(head, Recording):
        return head, tuple(getattr(recording, "notices", ()))
    return Recording(()), ()


class _Collected:
    """The turns of a page, as they come. Mutable: it lives for one page."""

    def __init__(self, wanted: Sequence[str], *, is_drawing: bool) -> None:
        self._wanted = tuple(dict.fromkeys(wanted))
        self._numbers = {_number(text): text for text in self._wanted}
        self._drawing = MOST_DRAWN if is_drawing else 0
        self._is_drawing = is_drawing
        self._kept: list[tuple[dict[str, Any], str]] = []
        self._named: set[str] = set()
        self.count = self.left = self.size = 0

    def take(self, recorded: RecordedTurn, number: int) -> None:
        """Keep a turn if it is wanted and has room."""
        self.count = number
        name = recorded.turn.id
        if self._wanted and name not in self._wanted and number not in self._numbers:
            return
        if name in self._wanted:
            self._named.add(name)
        if len(self._kept) >= MOST_TURNS or self.size >= MOST_CHARACTERS:
            self.left += 1
            return
        recorded = masked(recorded)
        data = {**turn_data(recorded, number), "asked": name if name in self._wanted else ""}
        picture, data["undrawn"] = self._picture(recorded)
        self.size += len(json.dumps(data, ensure_ascii=False)) + len(picture)
        self._kept.append((data, picture))

    def chosen(self) -> list[tuple[dict[str, Any], str]]:
        """The turns that were wanted: by id, or by number where no turn has that id."""
        missing = [
            text
            for text in self._wanted
            if text not in self._named and not 0 < _number(text) <= self.count
        ]
        if missing:
            raise UsageError(
                f"--turn is {missing[0]!r}. Use an id, or a number from 1 to {self.count}."
            )
        numbers = {n for n, text in self._numbers.items() if text not in self._named}
        return [
            (data, picture)
            for data, picture in self._kept
            if data.pop("asked") or not self._wanted or data["number"] in numbers
        ]

    def _picture(self, recorded: RecordedTurn) -> tuple[str, str]:
        """The picture of a turn's plan, or why there is none."""
        plan = recorded.plan
        if plan is None:
            return "", "No plan is recorded."
        if len(plan.calls) > MOST_CALLS:
            return "", f"Plans of more than {MOST_CALLS} calls are not drawn."
        if not self._is_drawing:
            return "", "Plans were not to be drawn."
        if not self._drawing:
            return (
                "",
                f"The plans of the first {MOST_DRAWN} turns are drawn. Name this with --turn.",
            )
        self._drawing -= 1
        ran = bool(recorded.events)
        outcomes, times = (recorded.outcomes, recorded.times) if ran else (None, None)
        try:
            return svg(plan, outcomes=outcomes, times=times), ""
        except (RenderError, UsageError) as error:
            return "", brief(str(error).splitlines()[0], 400)


def _number(text: str) -> int:
    """The number that a text is, or 0."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def _title(head: Recording) -> str:
    for name in ("name", "session", "path"):
        if isinstance(text := head.source.get(name), str) and text:
            return text.rpartition("/")[2] or text
    return "Recorded run"


def _facts(head: Recording) -> Iterator[list[str]]:
    for name, value in islice(head.source.items(), 20):
        yield [brief(str(name), 60), brief(line_text(value), 400)]
    if head.policy_digest:
        yield ["policy", shown(head.policy_digest[:12])]


def _name_turns(turns: list[dict[str, Any]]) -> None:
    """Names for links: ``turn-N`` by place, unless another turn is called so."""
    ids = {turn["id"]: turn["number"] for turn in reversed(turns)}
    for turn in turns:
        key = f"turn-{turn['number']}"
        turn["key"] = key if ids.get(key, turn["number"]) == turn["number"] else str(turn["number"])
