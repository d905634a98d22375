"""A plan as a Mermaid flowchart: plain text, made without any program (spec 11).

It says what the DOT says, with the same words, of the same parts; only the shapes are fewer. What
had alternatives:

* Mermaid can draw calls as a `block` or `sequence` diagram too. A flowchart is the one kind that
  every host of Mermaid knows, and the only one with pools around calls and arrows between both.
* Vertices are named by their place in the turn (``call_3``), never by an id: a word such as
  ``end`` or ``click`` means something there. Texts are quoted by `mermaidwriter`.
* Hosts refuse more than 50,000 characters and 500 arrows, and a picture cannot ask for more. A
  larger plan is folded until it fits, and says so: nobody is helped by "text size exceeded".
* Pools and barriers are joined as such, not call by call: Mermaid then lays each of them out by
  itself, which keeps large plans quick and rows straight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from toolflow.model import CallPlan, Outcome, PlanData, Times
from toolflow.render import facts, looks, style
from toolflow.render import mermaidwriter as writer
from toolflow.render.folding import (
    DETAILS,
    EVERYTHING,
    Detail,
    Folded,
    chosen,
    ends,
    folded,
    rest_of,
    skipped_note,
)
from toolflow.render.frames import Frame, arrows_of, check, frames_of, settled_of
from toolflow.render.labels import lines_of
from toolflow.render.layout import Row, rows_of
from toolflow.render.legend import legend_lines

MOST_CHARACTERS, MOST_ARROWS = 50_000, 500
"""What hosts of Mermaid draw: its own limits, which only they can raise."""
_FOLDED = (
    "…: left out, because Mermaid draws at most 50,000 characters and 500 arrows.",
    "DOT, SVG and text show everything.",
)


def mermaid_text(
    plan: PlanData,
    *,
    outcomes: Sequence[Outcome | None] | None = None,
    times: Sequence[Times | None] | None = None,
    title: str | None = None,
    legend: bool = True,
    fold: bool = True,
) -> str:
    """Draw a plan, or a run of it, as a Mermaid flowchart.

    Args:
        plan: The plan.
        outcomes: How each call settled, in call order; ``None`` draws the plan alone.
        times: When things happened to each call, in seconds since the run began.
        title: The picture's title; ``None`` for one that counts calls and nodes.
        legend: Whether to say what shapes and lines mean, for those that occur.
        fold: Whether a plan too large for Mermaid's own limits is folded until it fits; for hosts
            that have raised them, ``False``.

    Returns:
        The text of a flowchart; equal input gives equal text, in every process.

    Raises:
        UsageError: If there are not as many outcomes or times as calls.
        RenderError: If the parts of the plan do not belong together.
    """
    check(plan)
    run = facts.match(len(plan.calls), facts.masked(plan, outcomes), times)
    whole = frames_of(plan)
    title = facts.title_of(plan) if title is None else title
    text = ""
    for detail in DETAILS if fold else (EVERYTHING,):
        text, arrows = _written(_scene(plan, run, whole, detail), title, legend=legend)
        # JavaScript counts in units of UTF-16.
        if arrows <= MOST_ARROWS and len(text.encode("utf-16-le")) <= 2 * MOST_CHARACTERS:
            break
    return text


@dataclass(frozen=True, slots=True)
class _Scene:
    """Everything that the parts of the text need to know, worked out once.

    Attributes:
        plan: The plan.
        run: What is known of its run.
        frames: The pools and barriers that are drawn, by their number from 1 on.
        skipped: Those that are not.
        aside: The settled calls that are drawn.
        vertex: The names of calls and gates in the text.
    """

    plan: PlanData
    run: facts.Run
    frames: Mapping[int, Folded]
    skipped: Sequence[Frame]
    aside: Sequence[CallPlan]
    vertex: Mapping[str, str]

    @property
    def folded(self) -> bool:
        """Whether anything is left out."""
        drawn = sum(len(each.frame.node.calls) for each in self.frames.values() if not each.note)
        return drawn + len(self.aside) < len(self.plan.calls)


def _scene(plan: PlanData, run: facts.Run, whole: Sequence[Frame], detail: Detail) -> _Scene:
    head, tail = ends(whole, detail.frames)
    frames = {at + 1: folded(plan, whole[at], run.outcomes, detail) for at in (*head, *tail)}
    skipped = whole[head.stop : tail.start if tail else len(whole)]
    vertex = {call.name: f"call_{call.index + 1}" for call in plan.calls}
    vertex |= {gate.name: f"gate_{at}" for at, gate in enumerate(plan.gates, 1)}
    aside = chosen(settled_of(plan), run.outcomes, detail.calls)
    return _Scene(plan, run, frames, skipped, aside, vertex)


def _written(scene: _Scene, title: str, *, legend: bool) -> tuple[str, int]:
    """The text, and how many arrows it has, unseen ones included."""
    keys = [line for each in scene.frames.values() for line in _key_edges(scene, each.frame)]
    arrows = [*keys, *_order_edges(scene), *_unseen_edges(scene)]
    vertices = [*_vertices(scene)]
    if legend and scene.plan.calls:
        vertices.append(f"legend[{writer.quote(_legend(scene))}]:::legend")
        arrows.append(f"{_last(scene)} ~~~ legend")
    lines = [
        *writer.HEAD,
        f"subgraph plan[{writer.quote(lines_of(title, width=90, most=3))}]",
        "  direction TB",
        *(f"  {line}" for line in vertices),
        "end",
        *arrows,
        *_classes(scene, legend=legend),
    ]
    if keys:
        numbers = ",".join(map(str, range(len(keys))))
        lines.append(f"linkStyle {numbers} stroke:{style.BLUE},color:{style.BLUE}")
    return "\n".join([*lines, ""]), sum(line.count(" ~~~ ") or 1 for line in arrows)


def _legend(scene: _Scene) -> tuple[str, ...]:
    told = legend_lines(scene.plan, scene.run, words=writer.words)
    return (*told, *(_FOLDED if scene.folded else ()))


def _last(scene: _Scene) -> str:
    return f"node_{max(scene.frames)}" if scene.frames else "settled"


def _vertices(scene: _Scene) -> Iterator[str]:
    """Pools and barriers with their calls, then the settled calls."""
    before = 0
    for at, each in scene.frames.items():
        if at > before + 1:
            yield f"skipped({writer.quote(skipped_note(scene.skipped))}):::folded"
        yield from _frame(scene, at, each)
        before = at
    if calls := settled_of(scene.plan):
        note = rest_of(calls, scene.aside, scene.run.outcomes)
        yield from _subgraph("settled", facts.ASIDE, [*_boxes(scene, scene.aside), *_rest(0, note)])


def _frame(scene: _Scene, at: int, each: Folded) -> Iterator[str]:
    node, shown = each.whole.node, each.names
    title = facts.node_title(node, scene.plan.limits.pool, keyed=bool(each.whole.edges))
    calls = [scene.plan.calls[index] for index in node.calls]
    inside = [
        *_boxes(scene, [call for call in calls if call.name in shown]),
        *(f'{scene.vertex[gate.name]}((" ")):::gate' for gate in each.frame.gates),
        *_rest(at, each.note),
    ]
    yield from _subgraph(f"node_{at}", title, inside)


def _subgraph(name: str, title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"subgraph {name}[{writer.quote([title])}]"
    yield "  direction TB"
    yield from (f"  {line}" for line in lines)
    yield "end"


def _boxes(scene: _Scene, calls: Iterable[CallPlan]) -> Iterator[str]:
    run = scene.run
    for call in calls:
        outcome = run.outcomes[call.index]
        lines = looks.call_lines(call, outcome, run.times[call.index])
        yield writer.box(scene.vertex[call.name], looks.state_of(call, outcome), lines)


def _rest(at: int, note: Sequence[str]) -> Iterator[str]:
    if note:
        yield f"rest_{at}({writer.quote(note)}):::folded"


def _key_edges(scene: _Scene, frame: Frame) -> Iterator[str]:
    for arrow in arrows_of(frame):
        edge, line = arrow.edge, "---" if arrow.into_gate else "-->"
        label = f"|{writer.quote(facts.causes(edge))}|" if arrow.labelled else ""
        yield f"{scene.vertex[edge.before]} {line}{label} {scene.vertex[edge.after]}"


def _order_edges(scene: _Scene) -> Iterator[str]:
    """Thick arrows from pool to barrier and so on, over those that are left out."""
    name = {each.whole.node.id: f"node_{at}" for at, each in scene.frames.items()}
    name |= dict.fromkeys((frame.node.id for frame in scene.skipped), "skipped")
    found = (
        (name[edge.before], name[edge.after])
        for edge in scene.plan.edges
        if edge.kind == "order" and edge.before in name and edge.after in name
    )
    yield from (f"{a} ==> {b}" for a, b in dict.fromkeys(found) if a != b)


def _unseen_edges(scene: _Scene) -> Iterator[str]:
    """What keeps calls in rows: without it, those that wait for nobody make one long row."""
    vertex = scene.vertex
    for at, each in scene.frames.items():
        rows: list[Row] = [[name and vertex[name] for name in row] for row in each.frame.rows]
        later = {vertex[edge.after] for edge in each.frame.edges}
        earlier = {vertex[edge.before] for edge in each.frame.edges}
        if each.note:
            rows.append([f"rest_{at}"])
        yield from _below(rows, earlier, later)
    wide = 3 if not scene.frames else 1 if len(scene.aside) < 8 else 2
    rows = rows_of([vertex[call.name] for call in scene.aside], (), columns=wide)
    if len(scene.aside) < len(settled_of(scene.plan)):
        rows.append(["rest_0"])
    yield from _below(rows, set(), set())


def _below(rows: Sequence[Row], earlier: set[str], later: set[str]) -> Iterator[str]:
    """Unseen arrows to what stands below in the same column, but for what key edges place.

    What has nothing below it leads to the end of the next row: Mermaid moves whatever leads
    nowhere to the lowest row.
    """
    columns: dict[int, list[str]] = {}
    ends: list[tuple[str, str]] = []
    for row, following in zip_longest(rows, rows[1:], fillvalue=()):
        for at, name in enumerate(row):
            if name is None:
                continue
            column = columns.setdefault(at, [])
            if name in later and column:
                yield from _line(column)
                column.clear()
            column.append(name)
            lowest = at >= len(following) or following[at] is None
            if lowest and name not in earlier and following:
                ends.append((name, next(other for other in following[::-1] if other is not None)))
    for column in columns.values():
        yield from _line(column)
    for end in ends:
        yield from _line(end)


def _line(column: Sequence[str]) -> Iterator[str]:
    if len(column) > 1:
        yield " ~~~ ".join(column)


def _classes(scene: _Scene, *, legend: bool) -> Iterator[str]:
    """How everything looks: a class for each kind of thing that occurs."""
    yield f"classDef paper {writer.FRAMES['paper']}"
    yield "class plan paper"
    kinds: dict[str, list[str]] = {}
    for at, each in scene.frames.items():
        kinds.setdefault(each.whole.node.kind, []).append(f"node_{at}")
    if scene.aside:
        kinds["settled"] = ["settled"]
    for kind, names in kinds.items():
        yield f"classDef {kind} {writer.FRAMES[kind]}"
        yield f"class {','.join(names)} {kind}"
    others = {"gate": bool(scene.plan.gates), "folded": scene.folded, "legend": legend}
    yield from (
        f"classDef {name} {writer.FRAMES[name]}" for name, is_there in others.items() if is_there
    )
    states = (looks.state_of(call, scene.run.outcomes[call.index]) for call in scene.plan.calls)
    for state in dict.fromkeys(states):
        yield f"classDef {writer.class_of(state)} {writer.class_look(state)}"
