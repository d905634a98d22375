"""The recording as one YAML document, made to be read by people in a review (spec 10.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any, Literal

from toolflow import yamlio
from toolflow.errors import Problem, RecordingError, ToolflowError, UsageError
from toolflow.model.recording import Recording
from toolflow.recording.atomic import replacing, told
from toolflow.recording.forms import notice_data
from toolflow.recording.sealing import seal, sealed_in
from toolflow.recording.side_files import put_aside
from toolflow.recording.turn_form import turn_data
from toolflow.recording.turn_reader import TURNS, VERSION, RecordingReader
from toolflow.yamlio import Document


def recording_data(recording: Recording) -> dict[str, Any]:
    """A recording as JSON-like data, in the order in which people read it.

    Args:
        recording: The recording.

    Raises:
        RecordingError: If it holds what JSON cannot.
    """
    data: dict[str, Any] = {"version": VERSION}
    if recording.source:
        data["source"] = recording.source
    if recording.policy_digest:
        data["policy_digest"] = recording.policy_digest
    if recording.policy is not None:
        data["policy"] = recording.policy
    if recording.notices:
        data["notices"] = [notice_data(notice) for notice in recording.notices]
    turns = []
    for recorded in recording.turns:
        try:
            turns.append(turn_data(recorded))
        except (TypeError, ValueError, RecursionError, ToolflowError) as error:
            raise RecordingError(unwritable(recorded.turn.id, error)) from error
    data["turns"] = turns
    return data


def dump_recording(recording: Recording, form: Literal["yaml", "json"] = "yaml") -> str:
    """Write a recording as text.

    Args:
        recording: The recording.
        form: ``yaml`` for people, or ``json``, which is read several times faster.

    Returns:
        The text; equal recordings give equal text. `load_recording` gives back an equal recording,
        with times rounded to microseconds.

    Raises:
        RecordingError: If it holds what JSON cannot.
        UsageError: If the form is another one.
    """
    if form not in {"yaml", "json"}:
        raise UsageError(f"The form is {form!r}. Use 'yaml' or 'json'.")
    data = recording_data(recording)
    if form == "json":
        return json_text(data)
    return yaml_text(data)


def yaml_text(
    data: Mapping[str, Any], dump: Callable[[Mapping[str, Any]], str] = yamlio.dump
) -> str:
    """Data as YAML; where YAML cannot hold a part of it, that part is sealed.

    Args:
        data: The data of a recording.
        dump: What writes it, or a part of it.

    Raises:
        RecordingError: If it holds what cannot be sealed either.
    """
    try:
        text = dump(data)
        if not sealed_in(text):
            return text
    except (ValueError, RecursionError):
        pass  # lone surrogates, or nesting too deep for YAML: these parts are sealed
    try:
        return dump(seal(data))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordingError(unwritable("<recording>", error)) from error


def save_recording(recording: Recording, path: str | FilePath, *, aside: int | None = None) -> None:
    """Write a recording to a file: in one step, so that nobody ever sees half of it.

    Args:
        recording: The recording.
        path: The file; what was in it is replaced. A name that ends in ``.json`` gives JSON.
        aside: Results of more bytes than this go into files of their own, ``results/DIGEST.txt``
            beside it; ``None``: all stand in the recording itself.

    Raises:
        RecordingError: If the recording cannot be written, or a file cannot.
    """
    form: Literal["yaml", "json"] = "json" if str(path).endswith(".json") else "yaml"
    if aside is None:
        write_file(dump_recording(recording, form), path)
        return
    try:
        data = seal(recording_data(recording))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordingError(unwritable("<recording>", error)) from error
    put_aside(data, FilePath(path), aside)
    text = json.dumps(data, ensure_ascii=False, indent=1) if form == "json" else yamlio.dump(data)
    write_file(text, path)


def json_text(data: dict[str, Any]) -> str:
    """Data as JSON text of several lines, with what JSON cannot hold sealed.

    Raises:
        RecordingError: If it holds what cannot be sealed either.
    """
    try:
        return json.dumps(seal(data), ensure_ascii=False, indent=1) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordingError(unwritable("<recording>", error)) from error


def write_file(text: str, path: str | FilePath) -> None:
    """Write text to a file in one step.

    Raises:
        RecordingError: If the file cannot be written; what was in it is still there.
    """
    with told(path), replacing(FilePath(path)) as file:
        file.write(text)


def load_recording(
    source: str | FilePath | Mapping[str, Any] | Document, *, strict: bool = False
) -> Recording:
    """Load a recording.

    A turn in which something is wrong does not keep the others from being loaded: what can be read
    of it is, and every problem becomes a notice ``corrupt_turn`` with its place.

    Args:
        source: A file; YAML text (it holds a line feed, or begins with ``{``); a mapping; or a
            document.
        strict: Whether a corrupt turn is an error.

    Returns:
        The recording.

    Raises:
        RecordingError: If the document cannot be used, or no turn of it can; every problem with
            its line and column.
    """
    reader = RecordingReader(yamlio.Whole(_document(source), TURNS), _path(source))
    recording = reader.recording()
    if strict and reader.problems:
        raise RecordingError(reader.problems)
    return recording


def _path(source: object) -> FilePath | None:
    """The file that a recording is loaded from, if it is one."""
    if isinstance(source, FilePath) or (isinstance(source, str) and not _is_text(source)):
        return FilePath(source)
    return FilePath(source.source) if isinstance(source, Document) and source.text else None


def _is_text(source: str) -> bool:
    return "\n" in source or source.lstrip().startswith("{")


def _document(source: str | FilePath | Mapping[str, Any] | Document) -> Document:
    if isinstance(source, Document):
        return source
    if isinstance(source, Mapping):
        return yamlio.of_value(source, source="<recording>", error=RecordingError)
    if isinstance(source, str) and _is_text(source):
        return yamlio.load(source, source="<recording>", error=RecordingError)
    return yamlio.load_file(source, error=RecordingError)


def unwritable(source: str, error: Exception) -> Problem:
    """The problem of something that JSON cannot hold."""
    return Problem(f"It holds what JSON cannot hold: {str(error).rstrip('.')}.", source)
