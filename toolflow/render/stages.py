"""The stages of a flow as a picture: a frame for each, arrows from those that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolflow.model import PlanData
from toolflow.render import facts, labels, looks, style
from toolflow.render import program as programs
from toolflow.render.cleaning import clean
from toolflow.render.dotwriter import attributes

_MOST = 6  # calls that are named in a frame
_WIDTH = 44  # characters


@dataclass(frozen=True, slots=True)
class StageBox:
    """What is shown of a stage.

    Attributes:
        id: Its name.
        needs: Names of the stages right before it.
        when: Its condition as written; empty where it has none.
        calls: Its calls, each in a few words.
        plan: Its plan, where that is known.
    """

    id: str
    needs: tuple[str, ...] = ()
    when: str = ""
    calls: tuple[str, ...] = ()
    plan: PlanData | None = None


def stages_dot(stages: Sequence[StageBox], *, title: str) -> str:
    """Draw the stages of a flow as DOT.

    Args:
        stages: The stages in the order of the file.
        title: The picture's title.

    Returns:
        The text of a directed graph; equal input gives equal text.
    """
    places = {stage.id: f"stage_{place}" for place, stage in enumerate(stages, 1)}
    lines = ["digraph flow {"]
    lines += [f"  {kind} {attributes(look)}" for kind, look in looks.DEFAULTS]
    lines.append(f"  graph {attributes({'ranksep': 0.8})}")  # room for arrows between frames
    lines += ["  subgraph cluster_flow {", f"    graph {attributes(looks.title_look(title))}"]
    for stage in stages:
        lines += [f"    {line}" for line in _frame(stage, places[stage.id])]
    lines.append("  }")
    for stage in stages:
        for need in stage.needs:
            if need in places:
                one, other = places[need], places[stage.id]
                ends: looks.Look = {"ltail": f"cluster_{one}", "lhead": f"cluster_{other}"}
                lines.append(f"  {one} -> {other} {attributes({**_ARROW, **ends})}")
    return "\n".join([*lines, "}", ""])


def stages_svg(stages: Sequence[StageBox], *, title: str) -> str:
    """Draw the stages of a flow as SVG; the arguments are those of `stages_dot`.

    Raises:
        RenderError: If there is no program to draw with, or it fails.
    """
    return clean(programs.draw(stages_dot(stages, title=title), "svg"), title)


def stages_png(stages: Sequence[StageBox], *, title: str) -> bytes:
    """Draw the stages of a flow as PNG; the arguments are those of `stages_dot`.

    Raises:
        RenderError: If there is no program to draw with, or it fails.
    """
    return programs.draw(stages_dot(stages, title=title), "png")


_ARROW: looks.Look = {"penwidth": 2.5, "color": style.INK, "arrowsize": 0.8, "class": "order"}


def _frame(stage: StageBox, name: str) -> Iterator[str]:
    """A stage: its name above, its condition and calls inside."""
    look = looks.frame_look(labels.short(stage.id, 60), "pool")
    if stage.when:
        look |= {"style": "rounded,dashed,filled"}
    inside: looks.Look = {
        "label_left": "\n".join(_lines(stage)), "shape": "plaintext", "style": "solid",
        "margin": "0.02,0.01", "height": 0.1,
    }  # fmt: skip
    yield f"subgraph cluster_{name} {{"
    yield f"  graph {attributes({**look, 'class': 'stage', 'margin': 8.0})}"
    yield f"  {name} {attributes(inside)}"
    yield "}"


def _lines(stage: StageBox) -> Iterator[str]:
    if stage.when:
        yield from labels.wrap(f"only when {stage.when}", width=_WIDTH, most=3)
    if stage.plan is not None:
        yield facts.nodes_of(stage.plan)
    for call in stage.calls[:_MOST]:
        yield f"  {labels.cut(labels.visible(call), _WIDTH)}"
    if len(stage.calls) > _MOST:
        yield f"  and {len(stage.calls) - _MOST} more"
