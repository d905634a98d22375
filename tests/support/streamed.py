"""What a recording says when it is read turn by turn, and when it is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from toolflow.errors import RecordingError
from toolflow.model.recording import Recording
from toolflow.recording import load_recording, open_recording


@contextmanager
def never_at_once(chunk: int = 64) -> Iterator[None]:
    """Small recordings are read as large ones are, in chunks of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolflow.yamlio.items.SMALL", 0)
        patch.setattr("toolflow.yamlio.jsonitems.CHUNK", chunk)
        patch.setattr("toolflow.yamlio.yamlitems.CHUNK", chunk)
        yield


def streamed(path: Path) -> Any:
    """The recording, or the problems, turn by turn."""
    try:
        with open_recording(path) as reader:
            turns = tuple(reader)
            head = reader.head
            return Recording(turns, head.source, head.policy, head.policy_digest, reader.notices)
    except RecordingError as error:
        return error.problems


def loaded(path: Path) -> Any:
    """The recording, or the problems, as `load_recording` has them."""
    try:
        return load_recording(path)
    except RecordingError as error:
        return error.problems
