"""A recording written turn by turn, in memory that does not grow with it.

The facts about the whole (source, notices) stand first in a recording, where people look first, but
are known last. So the turns are written to a file of their own, which is copied behind them in the
end; the target is replaced in one step.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from toolflow import yamlio
from toolflow.errors import RecordingError, ToolflowError
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.recording.atomic import replacing, told
from toolflow.recording.file import json_text, recording_data, unwritable, yaml_text
from toolflow.recording.turn_form import turn_data


def save_turns(
    turns: Iterable[RecordedTurn], about: Callable[[], Recording], path: str | Path
) -> int:
    """Write a recording to a file, as its turns come.

    Args:
        turns: The turns, in order; read once.
        about: Called after the last turn: everything else of the recording, without turns.
        path: The file; what was in it is replaced in one step. A name that ends in ``.json``
            gives JSON.

    Returns:
        How many turns were written.

    Raises:
        RecordingError: If a turn cannot be written, or the file cannot; what was in it is still
            there.
    """
    target = Path(path)
    join = _join_json if target.suffix == ".json" else _join_yaml
    as_text = _json_item if target.suffix == ".json" else _yaml_item
    count = 0
    with told(path), TemporaryFile("w+", encoding="utf-8", newline="\n") as body:
        for recorded in turns:
            body.write(as_text(_data(recorded), first=count == 0))
            count += 1
        body.seek(0)
        with replacing(target) as file:
            join(file, recording_data(about()), body, empty=count == 0)
    return count


def _data(recorded: RecordedTurn) -> dict[str, Any]:
    try:
        return turn_data(recorded)
    except (TypeError, ValueError, RecursionError, ToolflowError) as error:
        raise RecordingError(unwritable(recorded.turn.id, error)) from error


def _yaml_item(data: dict[str, Any], *, first: bool) -> str:  # noqa: ARG001  # as for JSON
    return yaml_text({"turns": [data]}, lambda whole: yamlio.dump_item(whole["turns"][0], 2))


def _join_yaml(file: IO[str], head: dict[str, Any], body: IO[str], *, empty: bool) -> None:
    text = yaml_text(head)
    file.write(text if empty else f"{text.rpartition('turns:')[0]}turns:\n")
    shutil.copyfileobj(body, file)


def _json_item(data: dict[str, Any], *, first: bool) -> str:
    text = json_text(data).rstrip("\n").replace("\n", "\n  ")
    return f"{'' if first else ','}\n  {text}"


def _join_json(file: IO[str], head: dict[str, Any], body: IO[str], *, empty: bool) -> None:
    text = json_text(head)
    if empty:
        file.write(text)
        return
    file.write(text.rpartition("[]")[0] + "[")
    shutil.copyfileobj(body, file)
    file.write("\n ]\n}\n")
