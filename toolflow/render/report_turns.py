"""The turns of a page: those wanted, one after the other, as many as a page can hold.

Turns are written as JSON when they come and are not kept, so a recording of any size can be given.
A page that would grow too large ends with the last turn that has room; the rest is only counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from toolflow.errors import RenderError, UsageError
from toolflow.model import RecordedTurn
from toolflow.render.picture import svg
from toolflow.render.report_call import brief
from toolflow.render.report_texts import block_json
from toolflow.render.report_turn import masked, turn_data

MOST_TURNS: Final = 1_000
MOST_CHARACTERS: Final = 24_000_000
"""Characters of turns and pictures in one page; it may be one turn longer."""
MOST_DRAWN: Final = 200
"""Turns whose plans are drawn: a program is started for each."""
MOST_CALLS: Final = 500
"""Calls of a plan that is drawn."""
_SECONDS: Final = 20.0  # for one picture
_FAILURES: Final = 3  # pictures that failed, after which no other is tried


@dataclass(frozen=True, slots=True)
class Kept:
    """A turn of a page.

    Attributes:
        number: Its place in the recording, counted from 1.
        id: Its id.
        text: Its data, as JSON for a block of the page.
        picture: The picture of its plan, as safe SVG, or nothing.
    """

    number: int
    id: str
    text: str
    picture: str


class Turns:
    """Takes turns as they come. Mutable: it lives for one page.

    Args:
        wanted: Ids or numbers of the turns wanted; all where there are none.
        pictures: Whether plans are drawn.

    Attributes:
        count: How many turns came.
        left: How many of those wanted have no room.
    """

    def __init__(self, wanted: Sequence[str], *, pictures: bool) -> None:
        self._wanted = tuple(dict.fromkeys(wanted))
        self._numbers = {_number(text) for text in self._wanted} - {0}
        self._pictures = pictures
        self._drawn = self._size = self._failed = 0
        self._why = ""
        self._kept: list[Kept] = []
        self._named: set[str] = set()
        self.count = self.left = 0

    def take(self, recorded: RecordedTurn) -> None:
        """Keep a turn if it is wanted and has room."""
        self.count += 1
        name = recorded.turn.id
        is_named = name in self._wanted
        if is_named:
            self._named.add(name)
        if self._wanted and not is_named and self.count not in self._numbers:
            return
        if len(self._kept) >= MOST_TURNS or self._size >= MOST_CHARACTERS:
            self.left += 1
            return
        recorded = masked(recorded)
        data = turn_data(recorded, self.count)
        picture, data["undrawn"] = self._picture(recorded)
        text = block_json(data)
        self._size += len(text) + len(picture)
        self._kept.append(Kept(self.count, name, text, picture))

    def chosen(self) -> tuple[Kept, ...]:
        """The turns that were wanted: by id, or by number where no turn has that id.

        Raises:
            UsageError: If there is no such turn.
        """
        if not self._wanted:
            return tuple(self._kept)
        numbers = set()
        for text in self._wanted:
            if text not in self._named:
                if not 0 < _number(text) <= self.count:
                    where = f"a number from 1 to {self.count}"
                    raise UsageError(f"--turn is {text!r}. Use an id, or {where}.")
                numbers.add(_number(text))
        return tuple(one for one in self._kept if one.id in self._wanted or one.number in numbers)

    def _picture(self, recorded: RecordedTurn) -> tuple[str, str]:
        """The picture of a turn's plan, or why there is none."""
        plan = recorded.plan
        if plan is None:
            return "", "No plan is recorded."
        if not self._pictures:
            return "", "Plans were not to be drawn."
        if len(plan.calls) > MOST_CALLS:
            return "", f"Plans of more than {MOST_CALLS} calls are not drawn."
        if self._drawn >= MOST_DRAWN:
            return "", f"Plans of the first {MOST_DRAWN} turns are drawn. Choose with --turn."
        if self._failed >= _FAILURES:
            return "", self._why
        self._drawn += 1
        ran = bool(recorded.events)
        outcomes, times = (recorded.outcomes, recorded.times) if ran else (None, None)
        try:
            return svg(plan, outcomes=outcomes, times=times, timeout=_SECONDS), ""
        except (RenderError, UsageError) as error:
            self._failed += 1
            self._why = brief(str(error).splitlines()[0], 400)
            return "", self._why


def _number(text: str) -> int:
    """The number that a text is, or 0."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
