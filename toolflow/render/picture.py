"""Pictures of plans that a program draws: SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence

from toolflow.model import Outcome, PlanData, Times
from toolflow.render import facts
from toolflow.render import program as programs
from toolflow.render.cleaning import clean
from toolflow.render.dot import dot_text


def svg(
    plan: PlanData,
    *,
    outcomes: Sequence[Outcome | None] | None = None,
    times: Sequence[Times | None] | None = None,
    title: str | None = None,
    legend: bool = True,
    program: str | None = None,
    timeout: float = programs.TIMEOUT,
) -> str:
    """Draw a plan, or a run of it, as SVG.

    Args:
        plan: The plan.
        outcomes: How each call settled, in call order; ``None`` draws the plan alone.
        times: When things happened to each call, in seconds since the run began.
        title: The picture's title; ``None`` for one that counts calls and nodes.
        legend: Whether to say what shapes and lines mean, for those that occur.
        program: The program that lays it out; ``None`` takes ``dot``, else ``graphviz-pure``.
        timeout: How many seconds the program may take.

    Returns:
        One ``svg`` element without scripts, links or references; it opens offline.

    Raises:
        UsageError: If there are not as many outcomes or times as calls.
        RenderError: If there is no program to draw with, or it fails or takes too long.
    """
    dot = dot_text(plan, outcomes=outcomes, times=times, title=title, legend=legend)
    raw = programs.draw(dot, "svg", program=program, timeout=timeout)
    return clean(raw, facts.title_of(plan) if title is None else title)


def png(
    plan: PlanData,
    *,
    outcomes: Sequence[Outcome | None] | None = None,
    times: Sequence[Times | None] | None = None,
    title: str | None = None,
    legend: bool = True,
    program: str | None = None,
    timeout: float = programs.TIMEOUT,
) -> bytes:
    """Draw a plan, or a run of it, as PNG with 144 dots an inch.

    Args:
        plan: The plan.
        outcomes: As for `svg`.
        times: As for `svg`.
        title: As for `svg`.
        legend: As for `svg`.
        program: The program that draws it; ``None`` takes ``dot``, else ``graphviz-pure``.
        timeout: As for `svg`.

    Returns:
        The bytes of the picture.

    Raises:
        UsageError, RenderError: As for `svg`.
    """
    dot = dot_text(plan, outcomes=outcomes, times=times, title=title, legend=legend)
    return programs.draw(dot, "png", program=program, timeout=timeout)
