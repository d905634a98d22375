"""``toolflow render``: a plan or a run as a picture, its times, or a trace of many runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal

import typer

from toolflow.cli.audit_pictures import with_labels
from toolflow.cli.console import harmless, tell
from toolflow.cli.inputs import (
    Input,
    chosen,
    each_turn,
    look_at,
    plan_of,
    plans_of,
    policy_of,
    the_only,
)
from toolflow.compiler import Plan, dump_plan
from toolflow.compiler.text import plan_text
from toolflow.errors import UsageError
from toolflow.model.recording import RecordedTurn
from toolflow.policy import Policy
from toolflow.render import (
    dot_text,
    mermaid_text,
    svg,
    timeline_png,
    timeline_svg,
    timeline_text,
    trace_pieces,
)
from toolflow.render.save import save, write_bytes, write_pieces

Kind = Literal["dot", "svg", "png", "mermaid", "text", "json", "yaml", "trace"]
_ENDINGS: dict[str, Kind] = {
    ".dot": "dot", ".gv": "dot", ".svg": "svg", ".png": "png", ".mmd": "mermaid",
    ".mermaid": "mermaid", ".txt": "text", ".trace.json": "trace", ".json": "json",
    ".yaml": "yaml", ".yml": "yaml",
}  # fmt: skip
_TIMELINES = ("svg", "png", "text")


def render(
    what: str = typer.Argument(..., metavar="X", help="A turn, log, recording, plan or flow."),
    to: str | None = typer.Option(
        None, "--to", "-o", help="The file to write; its ending says how: svg, png, mmd, txt ..."
    ),
    kind: Kind | None = typer.Option(
        None, "--as", help="What to write, whatever the file is called; without --to: to stdout."
    ),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="A policy file, or shipped:NAME."
    ),
    turn: str | None = typer.Option(None, "--turn", "-t", help="Which turn: its id or number."),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths in keys start."),
    timeline: bool = typer.Option(False, "--timeline", help="The times of a run instead."),
) -> int:
    """Draw a plan, or a run with what became of its calls.

    Without --to and --as: DOT on standard output. A trace (--as trace, or --to FILE.trace.json) is
    the timeline of all turns for chrome://tracing and ui.perfetto.dev.
    """
    given = look_at(what, forced=form)
    if given.kind == "flow":
        if policy or turn or cwd or timeline or kind:
            raise UsageError(f"{what}: this is a flow. Only --to goes with one.")
        from toolflow.cli.flows import draw_flow  # noqa: PLC0415  # flows load much, turns do not

        return draw_flow(given.path, to)
    chosen_kind = _kind(to, kind, timeline=timeline)
    if chosen_kind == "trace":
        own = policy_of(policy) if policy is not None else None
        _write(to, trace_pieces(_timed(given, own, form=form, turn=turn, cwd=cwd)))
    else:
        found = list(plans_of(given, policy, form=form, turn=turn, cwd=cwd))
        recorded, plan = the_only(found, what)
        if timeline:
            _draw_times(given, recorded, chosen_kind, to)
        else:
            _draw_plan(recorded, plan, chosen_kind, to)
    if to is not None:
        tell(f"written: {to}")
    return 0


def _kind(to: str | None, kind: Kind | None, *, timeline: bool) -> Kind:
    """What is to be written: what the user said, what the ending says, or the default."""
    name = Path(to).name.lower() if to is not None else ""
    ending = next((each for each in _ENDINGS if name.endswith(each)), None)
    found = kind or (_ENDINGS[ending] if ending else None)
    if to is None:
        found = found or ("text" if timeline else "dot")
        if found == "png":
            raise UsageError("--as png: a PNG is written to a file. Say which: --to FILE.png.")
    if timeline and found not in {*_TIMELINES, "trace"}:
        where = f"--to {to}" if kind is None else f"--as {kind}"
        raise UsageError(f"{where}: a timeline is svg, png, text or trace. Use --to FILE.svg.")
    if found is None:
        suffix = Path(to or "").suffix
        raise UsageError(
            f"--to {to}: the ending is {suffix or 'empty'}. "
            f"Use one of {', '.join(_ENDINGS)}, or say --as KIND."
        )
    return found


def _draw_plan(recorded: RecordedTurn | None, plan: Plan, kind: Kind, to: str | None) -> None:
    ran = recorded is not None and recorded.events
    outcomes, times = (recorded.outcomes, recorded.times) if ran and recorded else (None, None)
    if to is not None:
        word = "txt" if kind == "text" else kind
        save(plan, to, format=word, outcomes=outcomes, times=times)
    elif kind in {"json", "yaml"}:
        _write(None, [dump_plan(plan, "json" if kind == "json" else "yaml")])
    elif kind == "text":
        _write(None, [plan_text(plan), "\n"])
    else:
        draw = {"dot": dot_text, "mermaid": mermaid_text, "svg": svg}[kind]
        _write(None, [draw(plan, outcomes=outcomes, times=times)])


def _draw_times(given: Input, recorded: RecordedTurn | None, kind: Kind, to: str | None) -> None:
    if recorded is None or not recorded.times:
        raise UsageError(f"{given.path} has no times to draw. Use a recording.")
    if kind == "png":
        write_bytes(to or "", timeline_png(recorded))
    else:
        _write(to, [timeline_svg(recorded) if kind == "svg" else timeline_text(recorded)])


def _timed(
    given: Input, policy: Policy | None, *, form: str | None, turn: str | None, cwd: str | None
) -> Iterator[RecordedTurn]:
    """The turns of a trace, one by one; that there is one with times is seen to at once."""
    if given.kind == "plan":
        raise UsageError(f"{given.path} is a plan, which has no times. Use a recording.")
    turns: Iterable[RecordedTurn] = each_turn(given, form)
    turns = iter(turns if turn is None else chosen(turns, turn))
    before: list[RecordedTurn] = []
    for each in turns:
        before.append(each)
        if each.times:
            break
    else:
        raise UsageError(f"{given.path} has no times to draw. Use a recording.")
    return (
        with_labels(each, plan_of(each.turn, policy, cwd))
        if each.plan is None and policy is not None
        else each
        for each in chain(before, turns)
    )


def _write(to: str | None, pieces: Iterable[str]) -> None:
    if to is not None:
        write_pieces(to, pieces)
        return
    for piece in pieces:
        typer.echo(harmless(piece), nl=False)
