"""The legend of a graph: a few words for each kind of thing that occurs in it, and no other."""

from __future__ import annotations

from collections.abc import Callable

from toolflow.model import PlanData
from toolflow.render.facts import Run
from toolflow.render.labels import wrap
from toolflow.render.style import SETTLED, STATES, State


def _words(state: State) -> str:
    return state.words


def legend_lines(
    plan: PlanData, run: Run, *, words: Callable[[State], str] = _words
) -> tuple[str, ...]:
    """What the shapes and lines of a picture mean.

    Args:
        plan: The plan that is drawn.
        run: What is known of its run.
        words: The shape of a state in words, where that is not the one of Graphviz.

    Returns:
        One short line for each thing that occurs, in a fixed order.
    """
    kinds = {node.kind for node in plan.nodes}
    edges = {edge.kind for edge in plan.edges}
    entries = (
        ("pool" in kinds, "Round corners: a pool; its calls run side by side."),
        ("barrier" in kinds, "Square corners, thick line: a barrier; its call runs alone."),
        (
            "settled" in kinds,
            f"{words(SETTLED).capitalize()}: a settled call; answered without running.",
        ),
        ("order" in edges, "Thick arrow: all before it settle first."),
        ("key" in edges, "Thin arrow with a key: this call waits for that one."),
        (bool(plan.gates), "Dot: opens when all that lead to it have settled."),
    )
    return (*(text for occurs, text in entries if occurs), *_states(run, words))


def _states(run: Run, words: Callable[[State], str]) -> tuple[str, ...]:
    seen = {outcome.status for outcome in run.outcomes if outcome is not None}
    if not seen:
        return ()
    shapes: dict[str, list[str]] = {}
    for status in STATES:
        if status in seen:
            shapes.setdefault(words(STATES[status]), []).append(status.replace("_", " "))
    text = ", ".join(f"{shape}: {' or '.join(names)}" for shape, names in shapes.items())
    return wrap(f"States: {text}.", width=100, most=4)
