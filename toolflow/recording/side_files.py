"""Results too large for a recording that people read: each in a file of its own beside it.

In the document such a value is ``{$file: results/DIGEST.txt}`` (or ``.json`` where it is no text);
the name is the digest of the content, so equal results share a file, and a file that was changed is
noticed. No other name is read: a recording is untrusted, and says nothing about files elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from toolflow.errors import Problem, RecordingError
from toolflow.recording.atomic import told

KEY: Final = "$file"
FOLDER: Final = "results"
LARGE: Final = 64 * 1024  # bytes from which the command line puts results aside
_NAME: Final = re.compile(rf"{FOLDER}/([0-9a-f]{{64}})\.(txt|json)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def put_aside(data: dict[str, Any], path: Path, above: int) -> None:
    """Put large results into files beside a recording; equal ones that are there stay.

    Args:
        data: The recording's data; the outcomes in it are replaced.
        path: Where the recording goes.
        above: How many bytes a result may have in the recording itself.

    Raises:
        RecordingError: If a file cannot be written.
    """
    for _, _, call in _calls(data):
        outcome = call["outcome"]
        if "value" not in outcome or _size(outcome["value"]) <= above:
            continue
        content, ending = _content(outcome["value"])
        if len(content) <= above:
            continue
        name = f"{FOLDER}/{hashlib.sha256(content).hexdigest()}.{ending}"
        with told(path.parent / name):
            _write(path.parent / name, content)
        call["outcome"] = {**outcome, "value": {KEY: name}}


def fetch(data: Any, path: Path | None) -> Iterator[tuple[int, Problem]]:
    """Put the results in files beside a recording back into its data.

    Args:
        data: The document's value; it is changed.
        path: Where the recording is; ``None`` where it came from no file.

    Yields:
        What cannot be had: the place of its turn, and why.
    """
    for place, where, call in _calls(data):
        value = call["outcome"].get("value")
        if isinstance(value, dict) and value.keys() == {KEY}:
            try:
                call["outcome"]["value"] = _fetched(value[KEY], path)
            except RecordingError as error:
                said = error.problems[0].message
                yield place, Problem(f"{where}: {said}", str(path or "<recording>"))


def _calls(data: Any) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The calls with an outcome of a recording, as far as it has the form of one."""
    turns = data.get("turns") if isinstance(data, dict) else None
    for place, turn in enumerate(turns if isinstance(turns, list) else ()):
        calls = turn.get("calls") if isinstance(turn, dict) else None
        for number, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict) and isinstance(call.get("outcome"), dict):
                yield place, f"turns[{place}].calls[{number}].outcome.value", call


def _size(value: Any) -> int:
    """About how large a value is; a text has at least as many bytes as characters."""
    return len(value) * 4 if isinstance(value, str) else len(json.dumps(value, default=dict)) * 4


def _content(value: Any) -> tuple[bytes, str]:
    if isinstance(value, str) and not _SURROGATE.search(value):
        return value.encode(), "txt"
    return json.dumps(value, default=dict).encode("ascii"), "json"


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        part = path.with_suffix(".part")
        part.write_bytes(content)
        part.replace(path)


def _fetched(name: object, path: Path | None) -> Any:
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise RecordingError(f"{name!r} is no file of results. Use {FOLDER}/ and a digest.")
    if path is None:
        raise RecordingError(f"{name} is beside a file. Load the recording from its file.")
    file = path.parent / match[0]
    try:
        if not file.resolve().is_relative_to(path.parent.resolve()):
            raise RecordingError(f"{name} leads out of the recording's folder.")
        content = file.read_bytes()
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise RecordingError(f"{name} cannot be read: {said}.") from error
    if hashlib.sha256(content).hexdigest() != match[1]:
        raise RecordingError(f"{name} is not what was recorded: its content was changed.")
    try:
        return content.decode() if match[2] == "txt" else json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{name} cannot be read: {error}.") from error
