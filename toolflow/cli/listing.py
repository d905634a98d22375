"""``toolflow runs``: what runs there are, how each ended, and how to go on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from toolflow.cli.console import Output, say, say_data, tell
from toolflow.cli.naming import JOURNAL, RUNS
from toolflow.errors import JournalError, UsageError
from toolflow.recording.journal import JournalContent, is_written, read_journal

_HEAD = ("NAME", "WHEN", "STATE", "TURNS", "CALLS", "GO ON")
_GOES_ON = ("paused", "crashed")


def runs(
    folder: str = typer.Argument(str(RUNS), metavar="FOLDER", help="The folder of runs."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """List the runs in a folder: when they began, how they ended, how to go on.

    A run is `running` while a process writes its journal, and `crashed` if that process is gone
    and did not say how the run ended.
    """
    place = Path(folder)
    if not place.is_dir():
        if folder == str(RUNS):
            say("there are no runs here")
            return 0
        what = "a file" if place.exists() else "not there"
        raise UsageError(f"{folder}: this folder is {what}. Name a folder of runs.")
    rows = list(_rows(place))
    if output != "text":
        say_data({"folder": folder, "runs": rows}, output)
    elif rows:
        say("\n".join(_table(rows)))
    else:
        say("there are no runs here")
    return 0


def _rows(place: Path) -> Iterator[dict[str, Any]]:
    folders = [path.parent for path in place.glob(f"*/{JOURNAL}")]
    if (place / JOURNAL).is_file():
        folders.append(place)
    for folder in sorted(folders, key=_natural):
        journal = folder / JOURNAL
        running = is_written(journal)  # asked first: it may end while it is read
        try:
            content = read_journal(journal)
        except JournalError as error:
            tell(f"notice: {error}")
            continue
        yield _row(folder, content, running=running)


def _natural(path: Path) -> list[Any]:
    """The order of people: ``run-2`` before ``run-10``."""
    parts = re.split(r"(\d+)", path.name)
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts]


def _row(folder: Path, content: JournalContent, *, running: bool) -> dict[str, Any]:
    turns = [turn for turn in content.turns if not turn.continued]
    state = "running" if running else content.over or state_of(content)
    return {
        "name": folder.name,
        "started_at": content.created,
        "state": state,
        "turns": len(turns),
        "calls": sum(len(turn.plan.calls) for turn in turns),
        "settled": sum(outcome is not None for turn in turns for outcome in turn.outcomes),
        "resume": f"toolflow resume {folder}" if state in _GOES_ON else None,
    }


def state_of(content: JournalContent) -> str:
    """How a run ended whose process did not say so.

    That is a harness's own, which has turns and no end of all, or one whose process died.
    """
    main = [turn for turn in content.turns if turn.source == "main" and not turn.continued]
    states = {turn.status for turn in main}
    if "run" in content.about or not states or states & {"open", "failed"}:
        return "crashed"
    return next((each for each in ("paused", "aborted") if each in states), "done")


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    lines = [
        (
            row["name"],
            row["started_at"][:16].replace("T", " "),
            row["state"],
            str(row["turns"]),
            f"{row['settled']}/{row['calls']}",
            row["resume"] or "",
        )
        for row in rows
    ]
    widths = [max(len(each[n]) for each in (_HEAD, *lines)) for n in range(len(_HEAD))]
    for line in (_HEAD, *lines):
        cells = zip(line, widths, range(len(_HEAD)), strict=True)
        yield "  ".join(
            text.rjust(width) if n in {3, 4} else text.ljust(width) for text, width, n in cells
        ).rstrip()
