"""What stands in the boxes of a graph and how they look: attributes of DOT, as plain values."""

from __future__ import annotations

from collections.abc import Iterable

from toolflow.model import CallPlan, Edge, Gate, Outcome, Times
from toolflow.render import facts, labels, style

Look = dict[str, str | float | None]

LABEL_WIDTH = 32
FONT, BOLD = "Helvetica", "Helvetica-Bold"
SIZE = 10.0

DEFAULTS: tuple[tuple[str, Look], ...] = (
    ("graph", {
        "rankdir": "TB", "compound": "true", "bgcolor": style.PAPER, "fontname": FONT,
        "fontsize": 9.0, "fontcolor": style.FAINT, "nodesep": 0.22, "ranksep": 0.34, "pad": 0.15,
    }),
    ("node", {
        "shape": "box", "style": "filled", "fontname": FONT, "fontsize": SIZE,
        "fontcolor": style.INK, "color": style.FAINT, "fillcolor": style.PAPER,
        "margin": "0.12,0.06", "width": 1.2, "height": 0.42,
    }),
    ("edge", {
        "fontname": FONT, "fontsize": 9.0, "fontcolor": style.BLUE, "color": style.BLUE,
        "arrowsize": 0.7,
    }),
)  # fmt: skip


def title_look(text: str) -> Look:
    """The frame around everything: without a line, with the title above."""
    return {
        "label": "\n".join(labels.lines_of(text, width=90, most=3)), "labelloc": "t",
        "labeljust": "c", "peripheries": 0.0, "fontname": BOLD, "fontsize": 13.0,
        "fontcolor": style.INK, "margin": 6.0,
    }  # fmt: skip


def frame_look(title: str, kind: str) -> Look:
    """The frame of a pool, a barrier, or of the settled calls."""
    look: Look = {
        "label_left": title, "labelloc": "t", "labeljust": "l", "fontname": BOLD, "fontsize": 10.0,
        "fontcolor": style.INK, "class": kind, "margin": 10.0, "peripheries": 1.0,
    }  # fmt: skip
    if kind == "pool":
        look |= {"style": "rounded,filled", "color": style.BLUE, "fillcolor": style.POOL_FILL}
    elif kind == "barrier":
        look |= {"style": "filled", "color": style.INK, "fillcolor": style.BARRIER_FILL}
        look |= {"penwidth": 3.0}
    else:
        look |= {"style": "dashed", "color": style.FAINT, "fontcolor": style.FAINT}
    return look


def call_lines(call: CallPlan, outcome: Outcome | None, times: Times | None) -> tuple[str, ...]:
    """What stands in the box of a call: its label, its name with badges, and how it settled."""
    settled = call.verdict.kind == "settled"
    return (
        *labels.lines_of(call.label or call.tool, width=LABEL_WIDTH, most=3),
        *_small(call),
        *(labels.wrap(call.verdict.reason, width=LABEL_WIDTH + 6, most=2) if settled else ()),
        *((facts.state_word(outcome, times),) if outcome and not settled else ()),
    )


def width_of(lines: Iterable[str], *, size: float = SIZE) -> float:
    """How wide a box must be for its lines, in inches; `dot` makes it wider if it must."""
    return round(max(map(labels.ems, lines), default=0.0) * size / 72 + 0.26, 2)


def title_width(title: str) -> float:
    """How wide the only box under a title must be: `dot` takes bold letters for narrow ones."""
    return round(labels.ems(title) * SIZE * 1.08 / 72, 2)


def key_width(edges: Iterable[Edge]) -> float:
    """How wide boxes must be, so that a key beside an arrow between two of them has room."""
    widest = max((labels.ems(line) for edge in edges for line in facts.causes(edge)), default=0.0)
    return round(2 * widest * 9 / 72 - 0.1, 2)


def state_of(call: CallPlan, outcome: Outcome | None) -> style.State:
    """How a call looks: as its outcome says, or as one that was answered without running."""
    if outcome is None and call.verdict.kind == "settled":
        return style.SETTLED
    return style.state_of(outcome.status if outcome else None)


def call_look(call: CallPlan, outcome: Outcome | None, lines: Iterable[str], width: float) -> Look:
    """The box of one call.

    Args:
        call: The call.
        outcome: How it settled, or ``None``.
        lines: What stands in it.
        width: How wide the boxes of its pool are at least, in inches.
    """
    state = state_of(call, outcome)
    return {
        "label_left": "\n".join(lines),
        "tooltip": facts.tooltip(call, outcome),
        "class": f"call call-{call.index + 1}",
        "shape": state.shape if state.shape != "box" else None,
        "color": state.line if state.line != style.FAINT else None,
        "fillcolor": state.fill if state.fill != style.PAPER else None,
        "style": f"filled,{state.style}" if state.style else None,
        "penwidth": state.width if state.width != 1 else None,
        "width": width,
        "margin": "0.02,0.02" if state.shape == "octagon" else None,
        "peripheries": float(state.lines) if state.lines != 1 else None,
    }


def _small(call: CallPlan) -> tuple[str, ...]:
    """The call's name and its badges, over as many lines as they take."""
    lines = [labels.cut(labels.short(call.name, 80), LABEL_WIDTH - 10)]
    for badge in facts.badges(call):
        longer = f"{lines[-1]} · {badge}"
        if len(longer) <= LABEL_WIDTH + 2:
            lines[-1] = longer
        else:
            lines.append(badge)
    return tuple(lines)


def gate_look(gate: Gate) -> Look:
    """The dot of a gate."""
    return {
        "shape": "point", "width": 0.12, "height": 0.12, "color": style.BLUE,
        "fillcolor": style.BLUE, "class": "gate",
        "label": "", "tooltip": labels.full(gate.key),
    }  # fmt: skip


def key_look(edge: Edge, *, labelled: bool, back: bool, into_gate: bool) -> Look:
    """A thin arrow with its key; one that runs to the left is turned round for `dot`."""
    text = "\n".join(edge.causes[:12])
    return {
        "label": "\n".join(f" {line} " for line in facts.causes(edge)) if labelled else None,
        "tooltip": labels.full(text),
        "labeltooltip": labels.full(text) if labelled else None,
        "class": "key",
        "dir": "back" if back else None,
        "arrowhead": "none" if into_gate else None,
        "weight": 10.0,
    }


def order_look(edge: Edge) -> Look:
    """A thick arrow without words."""
    return {
        "penwidth": 2.5, "color": style.INK, "arrowsize": 0.8, "class": "order",
        "tooltip": labels.full("\n".join(edge.causes[:12])), "weight": 8.0,
    }  # fmt: skip
