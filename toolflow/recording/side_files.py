"""Results too large for a recording that people read: each in a file of its own beside it.

In the document such a value is ``{$file: results/DIGEST.txt}`` (or ``.json`` where it is no text);
the name is the digest of the content, so equal results share a file, and a file that was changed is
noticed. No other name is read: a recording is untrusted, and says nothing about files elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import re
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
    for turn in data["turns"]:
        for call in turn["calls"]:
            outcome = call.get("outcome", {})
            if "value" not in outcome or _size(outcome["value"]) <= above:
                continue
            content, ending = _content(outcome["value"])
            if len(content) <= above:
                continue
            name = f"{FOLDER}/{hashlib.sha256(content).hexdigest()}.{ending}"
            with told(path.parent / name):
                _write(path.parent / name, content)
            call["outcome"] = {**outcome, "value": {KEY: name}}


def fetched_turn(turn: Any, place: int, path: Path | None) -> tuple[Any, list[Problem]]:
    """A turn with its results that are in files beside the recording.

    Args:
        turn: The turn's value in the document; it is not changed.
        place: Which of the turns it is, counted from 0.
        path: Where the recording is; ``None`` where it came from no file.

    Returns:
        A turn with the results, and why some of them cannot be had.
    """
    calls = turn.get("calls") if isinstance(turn, dict) else None
    found, problems = list(calls) if isinstance(calls, list) else [], []
    for number, call in enumerate(found):
        outcome: Any = call.get("outcome") if isinstance(call, dict) else None
        value = outcome.get("value") if isinstance(outcome, dict) else None
        if isinstance(value, dict) and value.keys() == {KEY}:
            try:
                whole = {**outcome, "value": _fetched(value[KEY], path)}
            except RecordingError as error:
                where = f"turns[{place}].calls[{number}].outcome.value"
                said = f"{where}: {error.problems[0].message}"
                problems.append(Problem(said, str(path or "<recording>")))
            else:
                found[number] = {**call, "outcome": whole}
    return ({**turn, "calls": found} if found else turn), problems


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
