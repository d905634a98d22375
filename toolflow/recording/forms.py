"""The forms of small values in recordings and checkpoints: outcomes, calls, notices.

Each value has a function that makes JSON-like data of it and one that reads it back. What is
absent in the data is the default of the value, so that files hold only what says something.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from toolflow.errors import RecordingError
from toolflow.model.outcome import Image, Outcome, Status
from toolflow.model.turn import EMPTY, Call, Notice
from toolflow.recording.reader import Path, Reader
from toolflow.yamlio import of_value

STATUSES = frozenset(get_args(Status))
_STATUS_LIST = ", ".join(get_args(Status))
_OUTCOME = ("status", "value", "error", "images", "note")
_IMAGE = ("media_type", "data")
_NOTICE = ("code", "message", "line", "turn", "call")
CALL_FIELDS = ("id", "tool", "args", "raw", "problem", "extra")


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON-like data: its status, and what else it has.

    Args:
        outcome: The outcome.

    Returns:
        A new mapping that shares the value.
    """
    data: dict[str, Any] = {"status": outcome.status}
    if outcome.value is not None:
        data["value"] = outcome.value
    if outcome.error is not None:
        data["error"] = outcome.error
    if outcome.images:
        data["images"] = [
            {"media_type": image.media_type, "data": image.data} for image in outcome.images
        ]
    if outcome.note is not None:
        data["note"] = outcome.note
    return data


def outcome_from(data: Mapping[str, Any]) -> Outcome:
    """Read an outcome from JSON-like data.

    Args:
        data: What `outcome_data` gave.

    Returns:
        The outcome.

    Raises:
        RecordingError: If it is not such data; every problem is told.
    """
    reader = Reader(of_value(data, source="<outcome>", error=RecordingError))
    outcome = read_outcome(reader, reader.document.value, ())
    if reader.problems:
        raise RecordingError(reader.problems)
    return outcome


def read_outcome(reader: Reader, value: object, path: Path) -> Outcome:
    """Read an outcome that stands at a path of a document."""
    data = reader.mapping(value, path, _OUTCOME)
    status = data.get("status")
    if not isinstance(status, str) or status not in STATUSES:
        where = (*path, "status") if "status" in data else path
        reader.problem(where, f"The status of an outcome is {status!r}. Use {_STATUS_LIST}.")
        status = "outcome_unknown"
    return Outcome(
        status,  # type: ignore[arg-type]  # one of the statuses, see above
        data.get("value"),
        reader.field(data, path, "error", str, None),
        tuple(_read_image(reader, data, path)) if "images" in data else (),
        reader.field(data, path, "note", str, None),
    )


def _read_image(reader: Reader, data: Mapping[str, Any], path: Path) -> list[Image]:
    images = []
    for place, item in reader.items(data, path, "images", dict):
        fields = reader.mapping(item, place, _IMAGE)
        kind, content = (reader.field(fields, place, name, str) for name in _IMAGE)
        images.append(Image(kind, content))
    return images


def call_data(call: Call) -> dict[str, Any]:
    """A call of a turn as JSON-like data: id, tool, args, and what was odd about them."""
    data: dict[str, Any] = {"id": call.id, "tool": call.tool}
    if call.args or call.problem is None:
        data["args"] = call.args
    if call.raw is not None:
        data["raw"] = call.raw
    if call.problem is not None:
        data["problem"] = call.problem
    if call.extra:
        data["extra"] = call.extra
    return data


def read_call(reader: Reader, data: Mapping[str, Any], path: Path, index: int) -> Call:
    """Read a call of a turn from a mapping at a path.

    Arguments that are text and no mapping are kept raw, as a call that cannot run (faults 78).

    Args:
        reader: The document.
        data: The mapping; fields of others are not looked at.
        path: Its path.
        index: The call's place in the turn.
    """
    args, raw = data.get("args", EMPTY), reader.field(data, path, "raw", str, None)
    problem = reader.field(data, path, "problem", str, None)
    if not isinstance(args, Mapping):
        reader.wrong((*path, "args"), args, "Use a mapping.")
        raw = args if isinstance(args, str) else json.dumps(args)
        problem = problem or "The arguments are no mapping. Give one JSON object."
        args = EMPTY
    return Call(
        index,
        reader.field(data, path, "id", str),
        reader.field(data, path, "tool", str),
        args,
        raw,
        problem,
        reader.field(data, path, "extra", dict, EMPTY),
    )


def notice_data(notice: Notice, *, turn: str | None = None) -> dict[str, Any]:
    """A notice as JSON-like data.

    Args:
        notice: The notice.
        turn: The turn that it stands in; where it names this one, it does not repeat it.
    """
    data: dict[str, Any] = {"code": notice.code, "message": notice.message}
    if notice.line is not None:
        data["line"] = notice.line
    if notice.turn != turn:
        data["turn"] = notice.turn
    if notice.call is not None:
        data["call"] = notice.call
    return data


def read_notices(
    reader: Reader, owner: Mapping[str, Any], path: Path, *, turn: str | None = None
) -> tuple[Notice, ...]:
    """Read the field ``notices`` of a mapping at a path."""
    notices = []
    for place, item in reader.items(owner, path, "notices", dict):
        data = reader.mapping(item, place, _NOTICE)
        notices.append(
            Notice(
                reader.field(data, place, "code", str),
                reader.field(data, place, "message", str),
                reader.field(data, place, "line", int, None),
                reader.field(data, place, "turn", str, None) if "turn" in data else turn,
                reader.field(data, place, "call", str, None),
            )
        )
    return tuple(notices)
