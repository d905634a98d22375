"""``toolflow import``: session logs become recordings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import typer

from toolflow.cli.console import Output, say, say_data, tell, terminal_width
from toolflow.cli.import_table import Named, import_table
from toolflow.cli.inputs import file_in_run
from toolflow.cli.naming import JOURNAL, RECORDING, places_of_run
from toolflow.cli.progress import bytes_read
from toolflow.errors import TurnError, UsageError
from toolflow.formats.base import printable
from toolflow.recording.importing import Imported, import_log
from toolflow.recording.journal import is_journal

_RECORDINGS = (".yaml", ".yml", ".json")
_SHOWN = 20
"""How many tools are named for one log; ``--output json`` has all."""


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
    found = list(files_of(sessions))
    if not found:
        raise UsageError(f"{', '.join(sessions)}: there are no files in it. Name logs.")
    done, skipped = [], []
    for path, name in found:
        try:
            done.append((name, _import(str(path), form, _place(to, name))))
        except TurnError as error:
            skipped.append(name)
            tell(f"skipped: {_reason(path, error)}")
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


def _reason(path: Path, error: TurnError) -> str:
    """Why a file was skipped, on one line; what was looked for is told for one file only."""
    first = error.problems[0]
    if first.code == "unknown_format":
        return f"{printable(path)}: no log of a known format, and no messages."
    return str(error).splitlines()[0]


def files_of(sessions: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Each file that is named or lies in a folder, sorted, with the name that people see.

    Args:
        sessions: Files and folders; files whose names begin with a dot are left out of folders. Of
            the folder of a run, what it holds beside its recording, or the journal where that tells
            more, is left out, but for other recordings.
    """
    for session in sessions:
        named, among = places_of_run(session)
        place = among if not named.exists() and among.is_dir() else named
        if not place.is_dir():
            yield place, session
            continue
        for folder, folders, files in os.walk(place):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            names = [name for name in files if not name.startswith(".")]
            if JOURNAL in names and is_journal(Path(folder) / JOURNAL):
                names = _of_run(Path(folder), names)
                folders.clear()
            for name in sorted(names):
                path = Path(folder) / name
                yield path, path.relative_to(place).as_posix()


def _of_run(folder: Path, names: Sequence[str]) -> list[str]:
    """The files in the folder of a run that are looked at: of the run itself one."""
    told = file_in_run(folder)
    others = (name for name in names if name.endswith(_RECORDINGS) and name != RECORDING)
    return [*others, *([told.name] if told is not None else [])]


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
    say(f"{one.path}: {one.kind}, {_many(one.messages, 'message')} of the model")
    say(f"  {_many(one.turns, 'turn')} with calls, {several} with two or more, largest {largest}")
    say(f"  {_many(one.calls, 'call')}, {_many(one.results, 'result')}")
    if one.tools:
        say(f"  tools: {_counts(one.tools)}")
    if one.oddities:
        say(f"  oddities: {_counts(one.oddities)}")


def _tell_several(done: Sequence[Named], skipped: Sequence[str], output: Output) -> None:
    if output != "text":
        logs = [one.data() for _, one in done]
        say_data({"logs": logs, "skipped": list(skipped)}, output)
        return
    for line in import_table(done, terminal_width()):
        say(line)
    if skipped:
        say(f"{_many(len(skipped), 'file')} skipped: no log that can be read.")


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _counts(counts: Mapping[str, int]) -> str:
    """How often each was there; of many the first, and how many more there are."""
    shown = [f"{name} {count}" for name, count in list(counts.items())[:_SHOWN]]
    more = len(counts) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown)
