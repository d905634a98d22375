"""``toolflow import``: session logs become recordings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import typer

from toolflow.cli.console import Output, say, say_data, tell
from toolflow.cli.progress import bytes_read
from toolflow.errors import TurnError, UsageError
from toolflow.recording.importing import Imported, import_log

_COLUMNS = ("file", "format", "messages", "turns", "parallel", "largest", "calls", "results")


def import_(
    sessions: list[str] = typer.Argument(
        ..., metavar="SESSION...", help="Session logs, or folders of them."
    ),
    to: str | None = typer.Option(
        None, "--to", "-o", help="Write the recording to this file; of several, into this folder."
    ),
    form: str | None = typer.Option(None, "--format", help="The logs' format."),
    output: Output = typer.Option("text", "--output", help="How to write the summary."),
) -> int:
    """Read session logs, say what is in them, and write them as recordings."""
    several = len(sessions) > 1 or Path(sessions[0]).is_dir()
    if not several:
        one = _import(sessions[0], form, to)
        _tell_one(one, output)
        return 0
    found = list(_files(sessions))
    if not found:
        raise UsageError(f"{', '.join(sessions)}: there are no files in it. Name logs.")
    done, skipped = [], []
    for path, name in found:
        try:
            done.append((name, _import(str(path), form, _place(to, name))))
        except TurnError as error:
            skipped.append(name)
            tell(f"skipped: {str(error).splitlines()[0]}")
    _tell_several(done, skipped, output)
    return 0 if done else 1


def _import(path: str, form: str | None, to: str | None) -> Imported:
    if not Path(path).is_file():
        what = "a folder" if Path(path).is_dir() else "not there"
        raise UsageError(f"{path}: this file is {what}. Name the log of a session.")
    with bytes_read(path, Path(path).stat().st_size) as progress:
        imported = import_log(path, format=form, to=to, progress=progress)
    if to is not None:
        tell(f"written: {to}")
    return imported


def _files(sessions: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Each file that is named or lies in a folder, sorted, with the name that people see."""
    for session in sessions:
        if not Path(session).is_dir():
            yield Path(session), session
            continue
        for folder, folders, names in os.walk(session):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(name for name in names if not name.startswith(".")):
                path = Path(folder) / name
                yield path, path.relative_to(session).as_posix()


def _place(to: str | None, name: str) -> str | None:
    """Where the recording of one of several logs is written."""
    if to is None:
        return None
    if Path(to).is_file():
        raise UsageError(f"{to}: this is a file, and there are several logs. Name a folder.")
    inside = Path(*(part for part in Path(name).parts if part not in {"..", "/"}))
    place = Path(to) / inside.with_name(f"{inside.name}.yaml")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{place.parent}: the folder cannot be made: {error.strerror}.") from None
    return str(place)


def _tell_one(one: Imported, output: Output) -> None:
    if output != "text":
        say_data(one.data(), output)
        return
    several, largest = one.parallel, one.largest
    say(f"{one.path}: {one.format}, {one.messages} messages of the model")
    say(f"  {one.turns} turns with calls, {several} with two or more, largest {largest}")
    say(f"  {one.calls} calls, {one.results} results")
    if one.tools:
        say(f"  tools: {_counts(one.tools)}")
    if one.oddities:
        say(f"  oddities: {_counts(one.oddities)}")


def _tell_several(
    done: Sequence[tuple[str, Imported]], skipped: Sequence[str], output: Output
) -> None:
    if output != "text":
        logs = [one.data() for _, one in done]
        say_data({"logs": logs, "skipped": list(skipped)}, output)
        return
    rows = [(*_row(name, one), _counts(one.oddities)) for name, one in done]
    numbers = [[int(cell) for cell in row[2:8]] for row in rows]
    totals = [sum(column) for column in zip(*numbers, strict=True)] if numbers else [0] * 6
    if numbers:
        totals[3] = max(row[3] for row in numbers)  # the largest turn of all
    total = (f"{len(done)} logs", "", *map(str, totals), "")
    table = [(*_COLUMNS, "oddities"), *rows, total]
    widths = [max(len(row[place]) for row in table) for place in range(len(_COLUMNS))]
    for row in table:
        cells = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        say("  ".join((*cells, row[-1])).rstrip())
    if skipped:
        say(f"{len(skipped)} files skipped: no log that can be read.")


def _row(name: str, one: Imported) -> tuple[str, ...]:
    numbers = (one.messages, one.turns, one.parallel, one.largest, one.calls, one.results)
    return (name, one.format, *map(str, numbers))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
