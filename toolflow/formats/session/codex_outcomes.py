"""The outcome that a result of a Codex rollout tells.

The API knows no status of a result; the program writes what happened into its text. Only its own
fixed forms are looked for: JSON with ``metadata.exit_code``, the heads that commands get, and the
sentences below. An event of the same call (``exec_command_end`` and others) says it outright.

=====================================================  =====================
the log                                                status
=====================================================  =====================
exit code 0, or none of the forms below                ``ok``
``Process running with session ID``                    ``running``
another exit code; ``success: false``                  ``failed``
exit code 124 with ``command timed out``               ``timed_out``
``exec command rejected by user``, status ``declined``  ``declined``
``This action was rejected due to unacceptable risk``  ``denied``
``aborted by user`` ..., ``aborted``                   ``aborted``
``unsupported call``                                   ``unknown_tool``
``failed to parse function arguments``                 ``invalid_arguments``
=====================================================  =====================

The value of a result that is ok, and the error of any other, is the text as the model got it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from toolflow.formats.plain import text_of
from toolflow.formats.session.parts import content, sentences, status_of
from toolflow.model import Outcome
from toolflow.model.outcome import Status

_SENTENCES = sentences(
    (r"(?:exec command|patch) rejected by user", "declined"),
    (r"This action was rejected due to unacceptable risk", "denied"),
    (r"(?:Wall time: [\d.]+ seconds\n)?aborted(?: by user(?: after [\d.]+s)?)?\s*\Z", "aborted"),
    (r"unsupported (?:custom tool )?call: ", "unknown_tool"),
    (r"failed to parse function arguments", "invalid_arguments"),
    (r"(?:execution error|failed in sandbox|err): ", "failed"),
    (r"(?:exec_command|write_stdin|apply_patch(?: verification)?) failed", "failed"),
)
_HEAD = re.compile(
    r"(?:Exit code: (-?\d{1,9})\nWall time: [\d.]+ seconds\n"
    r"|(?:Chunk ID: \w{1,40}\n)?Wall time: [\d.]+ seconds\n"
    r"Process (?:exited with code (-?\d{1,9})|(running) with session ID \d+)\n)"
)
_TIMED_OUT = "command timed out after"
_TIMEOUT_CODE = 124


class Ending(NamedTuple):
    """What an event tells about a call that ended.

    Attributes:
        status: How it settled, or ``None`` where the event does not say.
        at: The time of the event.
        seconds: How long the call took.
    """

    status: Status | None
    at: datetime | None
    seconds: float | None


_STATUSES: Mapping[str, Status] = {"declined": "declined", "failed": "failed", "completed": "ok"}


def ending_of(kind: str, event: Mapping[str, Any], at: datetime | None) -> Ending | None:
    """What an event tells about the call that it names, or ``None`` where it is of another kind."""
    if kind not in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"):
        return None
    status = _STATUSES.get(text_of(event.get("status")))
    result = event.get("result")
    if kind == "mcp_tool_call_end" and isinstance(result, dict):
        good = result.get("Ok")
        failed = "Err" in result or (isinstance(good, dict) and good.get("isError") is True)
        status = "failed" if failed else "ok"
    elif status is None and event.get("success") is False:
        status = "failed"
    return Ending(status, at, _seconds(event.get("duration")))


def _seconds(duration: Any) -> float | None:
    if not isinstance(duration, dict):
        return None
    whole, part = duration.get("secs"), duration.get("nanos")
    if type(whole) is int and type(part) is int and 0 <= whole < 10**8 and 0 <= part < 10**9:
        return whole + part / 10**9
    return None


def outcome_of(item: Mapping[str, Any], ending: Ending | None) -> Outcome:
    """The outcome that an output item tells.

    Args:
        item: The item; its output is text, a list of parts, one part, or (older) an object with
            ``content`` and ``success``.
        ending: What an event told about the call, if there was one.
    """
    output, success = item.get("output"), None
    if isinstance(output, dict):
        success = output.get("success")
        output = output.get("content", [output])
    value, images = content(output)
    status = "failed" if success is False else _status(value)
    if status == "ok" and ending is not None and ending.status is not None:
        status = ending.status
    if status in ("ok", "running"):
        return Outcome(status, value, images=images)
    if isinstance(value, str) and value:
        return Outcome(status, None, value, images)
    return Outcome(status, value or None, "The call failed without a message.", images)


def _status(value: Any) -> Status:
    if not isinstance(value, str):
        return "ok"
    found = status_of(value, _SENTENCES, "ok")
    if found != "ok":
        return found
    head = _HEAD.match(value)
    if head is not None:
        if head[3]:
            return "running"
        return _of_code(int(head[1] or head[2]), value[head.end() : head.end() + 200])
    if value.startswith("{"):
        inside = _json(value)
        more = inside.get("metadata")
        code = more.get("exit_code") if isinstance(more, dict) else None
        if "output" in inside and type(code) is int:
            return _of_code(code, text_of(inside["output"])[:200])
    return "ok"


def _of_code(code: int, text: str) -> Status:
    if code == _TIMEOUT_CODE and _TIMED_OUT in text:
        return "timed_out"
    return "ok" if code == 0 else "failed"


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
