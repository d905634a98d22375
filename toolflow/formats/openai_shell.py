"""The output of a shell call, as Responses wants it: an entry with stdout, stderr and an ending.

A tool may return such entries itself, or one object with ``stdout``, ``stderr`` and ``exit_code``;
anything else is the text of stdout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolflow.formats.ids import SURROGATE
from toolflow.formats.results import result_text
from toolflow.model import Outcome


def shell_output(outcome: Outcome) -> list[dict[str, Any]]:
    """The entries of an outcome.

    Args:
        outcome: How the call settled.

    Raises:
        UsageError: If its value is none that JSON can hold.
    """
    text = result_text(outcome)
    value = outcome.value
    if isinstance(value, list) and value and all(_is_entry(entry) for entry in value):
        entries = [_whole(entry) for entry in value]
        if outcome.ok or outcome.status == "timed_out":
            return entries
    if isinstance(value, Mapping) and outcome.ok and _is_process(value):
        code = value.get("exit_code", value.get("returncode", 0))
        return [_entry(_text(value.get("stdout")), _text(value.get("stderr")), code)]
    if outcome.ok or outcome.status == "running":
        return [_entry(text, "", 0)]
    ending = {"type": "timeout"} if outcome.status == "timed_out" else None
    return [_entry("", text, 1, ending)]


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("outcome"), Mapping):
        return False
    return isinstance(entry.get("stdout"), str) and isinstance(entry.get("stderr"), str)


def _is_process(value: Mapping[str, Any]) -> bool:
    if "exit_code" not in value and "returncode" not in value:
        return False
    code = value.get("exit_code", value.get("returncode"))
    return type(code) is int and ("stdout" in value or "stderr" in value)


def _whole(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry, "stdout": _text(entry["stdout"]), "stderr": _text(entry["stderr"])}


def _text(value: Any) -> str:
    return SURROGATE.sub("\ufffd", value) if isinstance(value, str) else ""


def _entry(
    stdout: str, stderr: str, code: int, ending: dict[str, Any] | None = None
) -> dict[str, Any]:
    outcome = {"type": "exit", "exit_code": code} if ending is None else ending
    return {"stdout": stdout, "stderr": stderr, "outcome": outcome}
