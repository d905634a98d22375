"""A plan as Graphviz DOT: plain text, made without any program (spec 11).

What had alternatives:

* Graphviz can set a label as markup (``<...>``), with bold and grey parts. Such labels are never
  used: a label is always a quoted text, so that nothing from a tool can be anything but text.
* The names of vertices are made from places in the turn (``call_3``), never from ids.
* The `graphviz` package could put the text together. It passes on backslashes and ``&``, both of
  which mean something to the program, and takes a text in angle brackets for markup; what would
  be left to use is smaller than `dotwriter`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from toolflow.model import CallPlan, Edge, Outcome, PlanData, Times
from toolflow.render import facts, looks
from toolflow.render.dotwriter import attributes
from toolflow.render.frames import Frame, arrows_of, check, frames_of, settled_of
from toolflow.render.layout import Row, rows_of
from toolflow.render.legend import legend_lines


def dot_text(
    plan: PlanData,
    *,
    outcomes: Sequence[Outcome | None] | None = None,
    times: Sequence[Times | None] | None = None,
    title: str | None = None,
    legend: bool = True,
) -> str:
    """Draw a plan, or a run of it, as DOT.

    Args:
        plan: The plan.
        outcomes: How each call settled, in call order; ``None`` draws the plan alone.
        times: When things happened to each call, in seconds since the run began.
        title: The picture's title; ``None`` for one that counts calls and nodes.
        legend: Whether to say what shapes and lines mean, for those that occur.

    Returns:
        The text of a directed graph; equal input gives equal text, in every process.

    Raises:
        UsageError: If there are not as many outcomes or times as calls.
        RenderError: If the parts of the plan do not belong together.
    """
    check(plan)
    scene = _scene(plan, facts.match(len(plan.calls), facts.masked(plan, outcomes), times))
    return _graph(
        _legend(legend_lines(scene.plan, scene.run) if legend else ()),
        _cluster(scene, facts.title_of(plan) if title is None else title),
    )


def dot_pair(before: PlanData, after: PlanData, *, titles: tuple[str, str]) -> str:
    """Draw two plans side by side as DOT, such as those that two policies make of one turn.

    Args:
        before: The plan at the left.
        after: The plan at the right.
        titles: What stands above each of them.

    Returns:
        The text of a directed graph.

    Raises:
        RenderError: If the parts of a plan do not belong together.
    """
    lines: list[str] = []
    legend: list[str] = []
    for plan, prefix, title in ((before, "a_", titles[0]), (after, "b_", titles[1])):
        check(plan)
        scene = _scene(plan, facts.match(len(plan.calls), None, None), prefix)
        lines += _cluster(scene, title)
        legend += legend_lines(scene.plan, scene.run)
    return _graph(_legend(tuple(dict.fromkeys(legend))), lines)


def _graph(legend: Iterable[str], lines: Iterable[str]) -> str:
    return "\n".join(
        [
            "digraph plan {",
            *(f"  {kind} {attributes(look)}" for kind, look in looks.DEFAULTS),
            *(f"  {line}" for line in legend),
            *(f"  {line}" for line in lines),
            "}",
            "",
        ]
    )


def _cluster(scene: _Scene, title: str) -> Iterator[str]:
    """A whole plan."""
    yield f"subgraph cluster_{scene.prefix}plan {{"
    yield f"  graph {attributes(looks.title_look(title))}"
    yield from (f"  {line}" for at in range(len(scene.frames)) for line in _frame(scene, at))
    yield from (f"  {line}" for line in _aside(scene))
    yield "}"
    yield from _order_edges(scene)


@dataclass(frozen=True, slots=True)
class _Scene:
    """Everything that the parts of a picture need to know, worked out once."""

    plan: PlanData
    run: facts.Run
    frames: tuple[Frame, ...]
    vertex: Mapping[str, str]
    prefix: str
    joined: frozenset[tuple[str, str]]


def _scene(plan: PlanData, run: facts.Run, prefix: str = "") -> _Scene:
    vertex = {call.name: f"{prefix}call_{call.index + 1}" for call in plan.calls}
    vertex |= {gate.name: f"{prefix}gate_{at}" for at, gate in enumerate(plan.gates, 1)}
    joined = frozenset((edge.before, edge.after) for edge in plan.edges if edge.kind == "key")
    return _Scene(plan, run, frames_of(plan), vertex, prefix, joined)


def _legend(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        look: looks.Look = {"label_left": "\n".join(lines), "labelloc": "b", "labeljust": "l"}
        yield f"graph {attributes(look)}"


def _frame(scene: _Scene, at: int) -> Iterator[str]:
    frame = scene.frames[at]
    node, limits = frame.node, scene.plan.limits
    title = facts.node_title(node, limits.pool, keyed=bool(frame.edges))
    yield f"subgraph cluster_{scene.prefix}{at + 1} {{"
    yield f"  graph {attributes(looks.frame_look(title, node.kind))}"
    single = all(len(row) == 1 for row in frame.rows)
    least = max(looks.title_width(title) if single else 0.0, looks.key_width(_at_the_right(frame)))
    calls = [scene.plan.calls[index] for index in node.calls]
    yield from (f"  {line}" for line in _calls(scene, calls, least))
    for gate in frame.gates:
        yield f"  {scene.vertex[gate.name]} {attributes(looks.gate_look(gate))}"
    yield from (f"  {line}" for line in _places(scene, frame.rows))
    yield from (f"  {line}" for line in _key_edges(scene, frame))
    yield "}"


def _at_the_right(frame: Frame) -> list[Edge]:
    """The key edges between rows in the last column, whose keys may jut out of the frame."""
    place = _place(frame)
    last = max(map(len, frame.rows)) - 1
    return [
        edge
        for edge in frame.edges
        if place[edge.after][1] == last and place[edge.before][0] != place[edge.after][0]
    ]


def _place(frame: Frame) -> dict[str | None, tuple[int, int]]:
    return {
        name: (row_at, at) for row_at, row in enumerate(frame.rows) for at, name in enumerate(row)
    }


def _calls(scene: _Scene, calls: Sequence[CallPlan], least: float) -> Iterator[str]:
    """The boxes of the calls of one frame, all of one width, so that columns are straight."""
    run = scene.run
    lines = [
        looks.call_lines(call, run.outcomes[call.index], run.times[call.index]) for call in calls
    ]
    width = max(least, *map(looks.width_of, lines))
    for call, text in zip(calls, lines, strict=True):
        look = looks.call_look(call, run.outcomes[call.index], text, width)
        yield f"{scene.vertex[call.name]} {attributes(look)}"


def _aside(scene: _Scene) -> Iterator[str]:
    """The settled calls: one below the other, beside everything else."""
    calls = settled_of(scene.plan)
    if not calls:
        return
    wide = 3 if not scene.frames else 1 if len(calls) < 8 else 2
    yield f"subgraph cluster_{scene.prefix}settled {{"
    yield f"  graph {attributes(looks.frame_look(facts.ASIDE, 'settled'))}"
    yield from (f"  {line}" for line in _calls(scene, calls, looks.title_width(facts.ASIDE)))
    rows = rows_of([call.name for call in calls], (), columns=wide)
    yield from (f"  {line}" for line in _places(scene, rows))
    yield "}"


def _places(scene: _Scene, rows: Sequence[Row]) -> Iterator[str]:
    """Rows become ranks; unseen edges keep rows and columns in order and straight."""
    above: dict[int, str] = {}
    spine = None
    for row in rows:
        names = [name for name in row if name is not None]
        if len(names) > 1:
            yield f"{{ rank=same; {'; '.join(scene.vertex[name] for name in names)} }}"
        if spine is not None:
            yield from _unseen(scene, spine, names[0], "0")
        spine = names[0]
        for left, right in pairwise(names):
            yield from _unseen(scene, left, right, "1")
        for at, name in enumerate(row):
            if name is not None:
                if at in above:
                    yield from _unseen(scene, above[at], name, "5")
                above[at] = name


def _unseen(scene: _Scene, before: str, after: str, weight: str) -> Iterator[str]:
    if (before, after) not in scene.joined and (after, before) not in scene.joined:
        yield f"{scene.vertex[before]} -> {scene.vertex[after]} [style=invis, weight={weight}]"


def _key_edges(scene: _Scene, frame: Frame) -> Iterator[str]:
    """Thin arrows. Within a row they must run to the right, or `dot` turns the row round."""
    place = _place(frame)
    for arrow in arrows_of(frame):
        edge = arrow.edge
        ends = [scene.vertex[edge.before], scene.vertex[edge.after]]
        before, after = place[edge.before], place[edge.after]
        back = before[0] == after[0] and before[1] > after[1]
        look = looks.key_look(edge, labelled=arrow.labelled, back=back, into_gate=arrow.into_gate)
        yield f"{' -> '.join(ends[::-1] if back else ends)} {attributes(look)}"


def _order_edges(scene: _Scene) -> Iterator[str]:
    """Thick arrows from frame to frame."""
    frames = {frame.node.id: (at, frame) for at, frame in enumerate(scene.frames, 1)}
    for edge in scene.plan.edges:
        if edge.kind == "order" and edge.before in frames and edge.after in frames:
            (tail_at, tail), (head_at, head) = frames[edge.before], frames[edge.after]
            look = looks.order_look(edge)
            # Where arrows have labels, `dot` makes every step twice as long by itself.
            look |= {"minlen": None if scene.joined else 2.0}
            name = f"cluster_{scene.prefix}"
            look |= {"ltail": f"{name}{tail_at}", "lhead": f"{name}{head_at}"}
            foot, last, top = (scene.vertex[each] for each in (tail.foot, tail.last, head.top))
            yield f"{foot} -> {top} {attributes(look)}"
            if last != foot:
                yield f"{last} -> {top} [style=invis, weight=0]"
