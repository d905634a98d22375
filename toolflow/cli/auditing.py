"""``toolflow audit``: what a log of real turns says about safety and speed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from toolflow.cli.audit_pictures import write_pictures
from toolflow.cli.audit_text import Pictures, audit_lines
from toolflow.cli.audit_turn import turn_lines
from toolflow.cli.console import Output, say, say_data, tell, terminal_width
from toolflow.cli.importing import files_of
from toolflow.cli.inputs import look_at, policy_of
from toolflow.cli.progress import bytes_read
from toolflow.errors import DocumentError, TurnError, UsageError
from toolflow.formats.base import printable
from toolflow.model.recording import RecordedTurn
from toolflow.policy import Policy
from toolflow.policy.shelf import SHIPPED, shipped_names
from toolflow.recording.audit import Collector, Placed, Totals, TurnAudit, audit_turns
from toolflow.recording.audit.forms import summary_data, totals_data, turn_data
from toolflow.recording.importing import Progress, open_log
from toolflow.recording.journal import is_journal
from toolflow.recording.turn_reader import TurnSource

_RECORDING = re.compile(rb'\s*\{?\s*"?version"?\s*:\s*1\b')  # what a recording begins with
_DOCUMENTS = frozenset({".json", ".yaml", ".yml"})


@dataclass(slots=True)
class _Found:
    """What was found in all logs so far."""

    wanted: str | None
    whole: Collector = field(default_factory=Collector)
    logs: list[tuple[str, Totals]] = field(default_factory=list)
    turns: list[Placed] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def take(self, name: str, audits: Iterable[TurnAudit]) -> None:
        """Take the turns of one log."""
        own = Collector()
        try:
            for number, audit in enumerate(audits, 1):
                own.add(audit, name)
                self.whole.add(audit, name)
                if self.wanted in (audit.id, str(number)):
                    self.turns.append(Placed(name, audit))
        finally:  # what was found before a log turned out to be broken is told
            totals = own.summary().totals
            if totals.turns:
                self.logs.append((name, totals))


def audit_(
    sessions: list[str] = typer.Argument(
        ..., metavar="SESSION...", help="Session logs or recordings, or folders of them."
    ),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="The policy to judge by; by default the plans of recordings."
    ),
    turn: str | None = typer.Option(None, "--turn", "-t", help="One turn in detail: id or number."),
    pictures: str | None = typer.Option(
        None, "--pictures", help="Draw the worst turns into this folder."
    ),
    pool: int | None = typer.Option(None, "--pool", help="How many calls run at once."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths in keys start."),
    form: str | None = typer.Option(None, "--format", help="The logs' format."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Say which calls of real turns meet, what went wrong, and what time was lost.

    Nothing is run. Ends with 0 if there is no harm and no risk of it, else with 1.
    """
    rules = None if policy is None else policy_of(policy)
    found = _Found(turn)
    several = len(sessions) > 1 or not Path(sessions[0]).is_file()
    for path, name in files_of(sessions):
        audits = _audits(path, rules, form, pool, cwd)
        if not several:
            found.take(name, audits)
            break
        try:
            found.take(name, audits)
        except DocumentError as error:
            _skip(found, path, name, error)
    if several and not found.logs:
        raise UsageError(f"{', '.join(sessions)}: no log that can be read. Name logs.")
    if turn is not None:
        return _tell_turns(found, turn, output)
    return _tell(found, rules, pictures, output)


def _audits(
    path: Path, policy: Policy | None, form: str | None, pool: int | None, cwd: str | None
) -> Iterator[TurnAudit]:
    if not path.is_file():
        what = "a folder" if path.is_dir() else "not there"
        raise UsageError(f"{path}: this file is {what}. Name the log of a session.")
    with bytes_read(str(path), path.stat().st_size) as progress:
        turns, about = _opened(path, form, progress)
        if policy is None and not isinstance(turns, TurnSource):
            names = " or ".join(f"{SHIPPED}{name}" for name in shipped_names())
            raise UsageError(
                f"--policy is not given. Name the file of a policy, or {names}; only recordings "
                f"have plans to be judged by, and {path} is none."
            )
        yield from audit_turns(turns, policy, pool=pool, cwd=cwd, about=about)


def _opened(
    path: Path, form: str | None, progress: Progress | None
) -> tuple[Iterable[RecordedTurn], Callable[[], Mapping[str, Any]]]:
    """The turns of a log or a recording, and what is known of it so far."""
    recording = _recording(path) if form is None else None
    if recording is not None:
        return recording, lambda: recording.head.source
    log = open_log(path, format=form, progress=progress)
    return log.turns, log.source


def _recording(path: Path) -> TurnSource | None:
    with path.open("rb") as file:
        begins = _RECORDING.match(file.read(256)) is not None
    if not is_journal(path) and not (begins and path.suffix.lower() in _DOCUMENTS):
        return None
    given = look_at(str(path))
    return given.recording() if given.kind == "recording" else None


def _skip(found: _Found, path: Path, name: str, error: DocumentError) -> None:
    """Tell on one line why a file was skipped, or read in part."""
    unknown = isinstance(error, TurnError) and error.problems[0].code == "unknown_format"
    reason = (
        f"{printable(path)}: no log of a known format, and no messages."
        if unknown
        else str(error).splitlines()[0]
    )
    partly = bool(found.logs) and found.logs[-1][0] == name
    if not partly:
        found.skipped.append(name)
    tell(f"{'read in part' if partly else 'skipped'}: {reason}")


def _tell_turns(found: _Found, wanted: str, output: Output) -> int:
    if not found.turns:
        raise UsageError(f"--turn is {wanted!r}: there is no such turn. Use an id or a number.")
    if output != "text":
        turns = [{"log": each.log, **turn_data(each.audit)} for each in found.turns]
        say_data(turns[0] if len(turns) == 1 else {"turns": turns}, output)
    else:
        for number, each in enumerate(found.turns):
            if number:
                say()
            for line in turn_lines(each.log, each.audit, terminal_width()):
                say(line)
    bad = any(finding.level != "note" for each in found.turns for finding in each.audit.findings)
    return int(bad)


def _tell(found: _Found, policy: Policy | None, folder: str | None, output: Output) -> int:
    summary = found.whole.summary()
    pictures: Pictures = write_pictures(summary.worst, folder) if folder is not None else ()
    if output != "text":
        data = summary_data(summary)
        for turn, (files, _) in zip(data["worst"], pictures, strict=False):
            turn["pictures"] = list(files)
        logs = [{"log": name, **totals_data(totals)} for name, totals in found.logs]
        head = {
            "policy": None if policy is None else policy.source,
            "policy_digest": None if policy is None else policy.digest,
        }
        say_data({**head, "logs": logs, "skipped": found.skipped, **data}, output)
    else:
        for line in audit_lines(summary, found.logs, pictures, terminal_width()):
            say(line)
        _tell_skipped(found.skipped)
    return 0 if summary.totals.is_clean else 1


def _tell_skipped(skipped: Sequence[str]) -> None:
    if skipped:
        noun = "file" if len(skipped) == 1 else "files"
        say()
        say(f"{len(skipped)} {noun} skipped: no log that can be read.")
