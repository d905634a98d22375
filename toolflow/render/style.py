"""The look of pictures: colours, shapes, and the words that stand for them.

Nothing is told by colour alone: a pool has round corners and a thin line, a barrier square
corners and a thick double one; each state has its word and a shape or a kind of line of its own.
The colours are those of Okabe and Ito, which people with any kind of colour blindness can tell
apart, and tints of them.
"""

from __future__ import annotations

from dataclasses import dataclass

INK = "#1f2933"
FAINT = "#66727f"
PAPER = "#ffffff"
BLUE, SKY, GREEN, ORANGE, RED, PINK = (
    "#0072b2",
    "#56b4e9",
    "#009e73",
    "#e69f00",
    "#d55e00",
    "#cc79a7",
)
POOL_FILL, BARRIER_FILL = "#eef6fb", "#fff6e0"


@dataclass(frozen=True, slots=True)
class State:
    """How calls of one state look.

    Attributes:
        shape: The shape of the box in a graph.
        line: The colour of its outline, and of bars.
        fill: A tint of it for the inside.
        style: Extra words of Graphviz's ``style``: ``dashed`` or ``dotted``, or nothing.
        width: How thick the outline is, in points.
        lines: How many outlines it has.
    """

    shape: str = "box"
    line: str = FAINT
    fill: str = PAPER
    style: str = ""
    width: float = 1.0
    lines: int = 1

    @property
    def words(self) -> str:
        """The shape in words, for legends."""
        lines = "double" if self.lines == 2 else ""
        return " ".join(word for word in (lines, self.style, self.shape) if word)


PLAIN = State()
_STOPPED = State("box", ORANGE, "#fdf1d6", width=1.5, lines=2)
_NOT_RUN = State("box", FAINT, "#f1f3f5", "dashed")
_REFUSED = State("note", FAINT, "#f1f3f5", "dashed")
_STUCK = State("octagon", PINK, "#faeef5", width=1.5, lines=2)
_UNKNOWN = State("box", SKY, "#eef6fb", "dotted", 2)

STATES = {
    "ok": State("box", GREEN, "#e3f5ef", width=2),
    "failed": State("octagon", RED, "#fdeadf", width=2),
    "timed_out": _STOPPED,
    "aborted": _STOPPED,
    "not_started": _NOT_RUN,
    "skipped": _NOT_RUN,
    "declined": _REFUSED,
    "denied": _REFUSED,
    "invalid_id": _REFUSED,
    "invalid_arguments": _REFUSED,
    "unknown_tool": _REFUSED,
    "lock_cycle": _STUCK,
    "held": _STUCK,
    "outcome_unknown": _UNKNOWN,
    "running": _UNKNOWN,
}
SETTLED = _REFUSED


def state_of(status: str | None) -> State:
    """How a state looks; one that is not known looks like none."""
    return PLAIN if status is None else STATES.get(status, PLAIN)
