"""What an item that answers a call tells: its outcome.

Only what a field says is believed: the ``status`` of a result, the ``outcome`` of a shell command,
the ``status`` of a patch. A text is never interpreted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolflow.formats.openai_content import content_of, picture_of
from toolflow.formats.openai_items import type_of
from toolflow.formats.plain import plain
from toolflow.model import Outcome


def outcome_of(item: Mapping[str, Any]) -> Outcome:
    """The outcome that an item tells.

    Args:
        item: An item of a type that answers a call.
    """
    kind = type_of(item)
    if kind == "computer_call_output":
        picture = picture_of(plain(item.get("output")))
        if picture is None:
            return Outcome("ok", plain(item.get("output")))
        return Outcome("ok", images=(picture,))
    if kind == "tool_search_output":
        return Outcome("ok", plain(item.get("tools")))
    if kind == "shell_call_output":
        return _shell(item)
    if kind == "apply_patch_call_output" and item.get("status") == "failed":
        said = item.get("output")
        return Outcome("failed", error=said if isinstance(said, str) and said else "It failed.")
    return _told(item)


def _told(item: Mapping[str, Any]) -> Outcome:
    value, images = content_of(item.get("output"))
    status = item.get("status")
    if status == "incomplete":
        if isinstance(value, str):
            return Outcome("aborted", None, value or "It was not completed.", images)
        return Outcome("aborted", value, "It was not completed.", images)
    if status == "in_progress":
        return Outcome("running", value, images=images)
    return Outcome("ok", value, images=images)


def _shell(item: Mapping[str, Any]) -> Outcome:
    """Each command's output as it stands; one that ran out of time makes the call timed out."""
    output = item.get("output")
    if not isinstance(output, list | tuple):
        return _told(item)
    entries = [plain(entry) for entry in output]
    if any(_ran_out(entry) for entry in entries):
        return Outcome("timed_out", entries, "A command ran out of time.")
    return Outcome("ok", entries)


def _ran_out(entry: Any) -> bool:
    outcome = plain(entry.get("outcome")) if isinstance(entry, dict) else None
    return isinstance(outcome, dict) and outcome.get("type") == "timeout"
