"""``toolflow render``: a plan or a run as a picture."""

from __future__ import annotations

import typer

from toolflow.cli.console import say, tell
from toolflow.cli.flows import draw_flow
from toolflow.cli.inputs import look_at, plans_of, the_only
from toolflow.errors import UsageError
from toolflow.render import dot_text, timeline_svg, timeline_text
from toolflow.render.save import save


def render(
    what: str = typer.Argument(..., metavar="X", help="A turn, log, recording, plan or flow."),
    to: str | None = typer.Option(
        None, "--to", "-o", help="The file to write; its ending says how: svg, png, dot, txt ..."
    ),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="A policy file, or shipped:NAME."
    ),
    turn: str | None = typer.Option(None, "--turn", "-t", help="Which turn: its id or number."),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths in keys start."),
    timeline: bool = typer.Option(False, "--timeline", help="The times of a run instead."),
) -> int:
    """Draw a plan, or a run with what became of its calls. Without --to: DOT on standard output."""
    given = look_at(what, forced=form)
    if given.kind == "flow":
        if policy or turn or cwd or timeline:
            raise UsageError(f"{what}: this is a flow. Only --to goes with one.")
        return draw_flow(given.path, to)
    found = list(plans_of(given, policy, form=form, turn=turn, cwd=cwd))
    recorded, plan = the_only(found, what)
    if timeline:
        if recorded is None or not recorded.times:
            raise UsageError(f"{what} has no times to draw. Use a recording.")
        if to is None:
            say(timeline_text(recorded))
            return 0
        from toolflow.render.save import write_text  # noqa: PLC0415  # only for timelines

        write_text(to, timeline_svg(recorded))
    else:
        ran = recorded is not None and recorded.events
        outcomes, times = (recorded.outcomes, recorded.times) if ran and recorded else (None, None)
        if to is None:
            say(dot_text(plan, outcomes=outcomes, times=times))
            return 0
        save(plan, to, outcomes=outcomes, times=times)
    tell(f"written: {to}")
    return 0
