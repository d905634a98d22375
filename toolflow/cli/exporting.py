"""``toolflow export``: recorded turns as messages of any provider."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from toolflow.cli.console import Output, tell
from toolflow.cli.inputs import Input, chosen, each_turn, look_at
from toolflow.errors import UsageError
from toolflow.formats import FORMATS
from toolflow.formats.jsontext import json_text, yaml_text
from toolflow.formats.message_file import who
from toolflow.model.recording import RecordedTurn
from toolflow.model.turn import Notice
from toolflow.recording.atomic import write_text
from toolflow.recording.exporting import export_turns
from toolflow.recording.importing import open_log

_ENDINGS = {".json": "json", ".jsonl": "lines", ".yaml": "yaml", ".yml": "yaml"}


def export(
    recording: str = typer.Argument(
        ..., metavar="RECORDING", help="A recording, journal, session log, or messages."
    ),
    form: str = typer.Option(..., "--format", help="The wire format to write."),
    turn: str | None = typer.Option(None, "--turn", "-t", help="Only this turn: its id or number."),
    source: str | None = typer.Option(
        None, "--source", help="Whose turns: main, or the name of a sub-agent."
    ),
    to: str | None = typer.Option(
        None, "--to", help="Write to this file; its ending says how: json, jsonl or yaml."
    ),
    given_form: str | None = typer.Option(None, "--from", help="The format of what is read."),
    output: Output = typer.Option("json", "--output", "-o", help="json or yaml."),
) -> int:
    """Write turns with their results in the form of any provider, as one conversation."""
    given = look_at(recording, forced=given_form)
    turns = chosen(_turns(given, given_form), turn)
    if not turns:
        raise UsageError(f"{recording}: there are no turns with calls in it.")
    if turn is not None and source is None:
        source = turns[0].turn.source
    exported = export_turns(turns, format=form, source=source)
    kind = _ENDINGS.get(Path(to).suffix.lower(), output) if to is not None else output
    text = _text(exported.messages, kind)
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_text(to, text)
    for notice in exported.notices:
        tell(_line(notice))
    if to is not None:
        tell(f"written: {to} ({exported.turns} turn{'' if exported.turns == 1 else 's'})")
    return 0


def _turns(given: Input, form: str | None) -> Iterable[RecordedTurn]:
    """The turns with their outcomes: a list of messages is read as a log, for its results."""
    if given.kind == "turns" and form not in FORMATS and Path(given.path).is_file():
        return open_log(given.path, format=form).turns
    return each_turn(given, form)


def _line(notice: Notice) -> str:
    return ": ".join(filter(None, [who(notice), notice.message]))


def _text(value: object, kind: str) -> str:
    if kind == "yaml":
        return yaml_text(value)
    if kind == "lines" and isinstance(value, list):
        return "".join(json_text(message) + "\n" for message in value)
    return json_text(value, 2) + "\n"
