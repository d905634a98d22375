"""Pictures of the worst turns of an audit: the plan, and where times are known the timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from toolflow.cli.naming import file_name
from toolflow.errors import RenderError, UsageError
from toolflow.model import PlanData
from toolflow.model.recording import RecordedTurn
from toolflow.recording.audit import Placed, TurnAudit
from toolflow.render import timeline_svg
from toolflow.render.program import LARGEST
from toolflow.render.save import save, write_text


def write_pictures(worst: Sequence[Placed], folder: str) -> list[tuple[list[str], str | None]]:
    """Draw turns into a folder, which is made if it is not there.

    Args:
        worst: The turns, the worst first.
        folder: The folder.

    Returns:
        For each turn the files that were written, and why one could not be drawn, or ``None``.

    Raises:
        UsageError: If the folder cannot be made.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"--pictures {folder}: the folder cannot be made: {why}.") from error
    return [_drawn(each, place, number) for number, each in enumerate(worst, 1)]


def as_it_ran(audit: TurnAudit) -> RecordedTurn:
    """A turn for a timeline: with the labels of its plan, without barriers that were not there."""
    return with_labels(audit.recorded, audit.plan)


def with_labels(recorded: RecordedTurn, plan: PlanData) -> RecordedTurn:
    """A turn of a log with the labels and verdicts of a plan that it was not run by."""
    return replace(recorded, plan=replace(plan, nodes=(), edges=(), gates=()))


def _drawn(placed: Placed, folder: Path, number: int) -> tuple[list[str], str | None]:
    audit = placed.audit
    log, turn = file_name(Path(placed.log).stem), file_name(audit.id)
    stem = "-".join(part for part in (f"{number:02d}", log, turn) if part)
    files, faults = list[str](), list[str]()
    for path, draw in _pictures(audit, folder / stem):
        try:
            draw(path)
            files.append(path)
        except RenderError as error:
            faults.append(str(error).splitlines()[0].removeprefix("No picture: "))
    if len(audit.plan.calls) > LARGEST:
        faults.append(f"{len(audit.plan.calls)} calls are too many for the picture of a plan.")
    return files, faults[0] if faults else None


def _pictures(audit: TurnAudit, stem: Path) -> Iterator[tuple[str, Callable[[str], object]]]:
    """The files to write, and what writes each."""
    recorded = audit.recorded
    outcomes, times = recorded.outcomes, recorded.times or None
    if len(audit.plan.calls) <= LARGEST:
        yield f"{stem}.svg", lambda path: save(audit.plan, path, outcomes=outcomes, times=times)
    if audit.timed:
        drawn = as_it_ran(audit)
        yield f"{stem}-timeline.svg", lambda path: write_text(path, timeline_svg(drawn))
