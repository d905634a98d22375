"""What a journal holds already when it is opened, and the first line of each of its files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from toolflow.errors import JournalError
from toolflow.model.turn import Notice
from toolflow.recording.journal.segments import (
    HEAD,
    VERSION,
    read_bytes,
    segments,
    whole_lines,
)

_TURN: Final = re.compile(rb'^\{"line":"plan","turn":(\d{1,12})', re.MULTILINE)
_POLICY: Final = re.compile(rb'^\{"line":"policy","digest":"([^"\\]*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Found:
    """What is there.

    Attributes:
        segment: The number of the last file.
        good: How many of its bytes are whole lines.
        torn: What is behind them, as a notice; ``None`` where nothing is.
        turns: The highest number of a turn.
        policies: Digests of policies whose text is there.
    """

    segment: int
    good: int
    torn: Notice | None
    turns: int
    policies: frozenset[str]


def look(path: Path) -> Found:
    """See what a journal holds.

    Args:
        path: Its first file.

    Raises:
        JournalError: If it cannot be read, or is no journal.
    """
    turns, policies = 0, set[str]()
    number, file, content = 1, path, b""
    for found in segments(path):
        number, file = found
        content = read_bytes(file)
        if content and not (HEAD.startswith(content[: len(HEAD)]) or content.startswith(HEAD)):
            raise JournalError(f"{file}: this file is no journal. Name another one.")
        whole = content[: whole_lines(content)]
        turns = max([turns, *map(int, _TURN.findall(whole))])
        policies.update(each.decode("ascii", "replace") for each in _POLICY.findall(whole))
    good = whole_lines(content)
    torn = None
    if good < len(content):
        line = content.count(b"\n") + 1
        said = f"{file}:{line}: the last line was not written to its end, and is cut off."
        torn = Notice("torn_line", said, line)
    return Found(number, good, torn, turns, frozenset(policies))


def header(segment: int, about: Mapping[str, Any]) -> bytes:
    """The first line of a file.

    Args:
        segment: The file's number, counted from 1.
        about: What it says of the run, JSON values.
    """
    try:
        own = version("toolflow")
    except PackageNotFoundError:  # run from its sources
        own = ""
    head = {
        "line": "journal",
        "version": VERSION,
        "segment": segment,
        "created": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "toolflow": own,
        **({"about": dict(about)} if about else {}),
    }
    return json.dumps(head, separators=(",", ":")).encode("ascii") + b"\n"
