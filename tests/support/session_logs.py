"""Session logs made for a test: written to a file, read back, and looked at."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolflow.formats.session import read_session
from toolflow.model import Recording


def read_lines(path: Path, lines: Iterable[object], **options: Any) -> Recording:
    """Write JSON lines (text is written as it is) to a file and read them as a log."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts), encoding="utf-8", errors="surrogatepass")
    return read_session(path, **options)


def read_value(path: Path, value: object, **options: Any) -> Recording:
    """Write one JSON document to a file and read it as a log."""
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return read_session(path, **options)


def codes(recording: Recording) -> Counter[str]:
    """How often each kind of oddity was told."""
    return Counter(notice.code for notice in recording.notices)


def told(recording: Recording, code: str) -> list[str]:
    """The sentences of one kind of oddity, in order."""
    return [notice.message for notice in recording.notices if notice.code == code]


def statuses(recording: Recording) -> list[list[str | None]]:
    """The status of each call, turn by turn; ``None`` where the log holds no result."""
    return [[o.status if o else None for o in turn.outcomes] for turn in recording.turns]


def ids(recording: Recording) -> list[list[str]]:
    """The id of each call, turn by turn."""
    return [[call.id for call in turn.turn.calls] for turn in recording.turns]
