"""The outcome that an observation of OpenHands tells.

=====================================================  =============
the log                                                status
=====================================================  =============
``error``, ``AgentErrorEvent``, ``is_error``           ``failed``
``user_rejected``, ``UserRejectObservation``           ``declined``
the same, made by a hook (``rejection_source``)        ``denied``
an exit code of -1 (the command has not ended)         ``running``
an exit code other than 0                              ``failed``
anything else                                          ``ok``
=====================================================  =============
"""

from __future__ import annotations

from typing import Any

from toolflow.formats.session.parts import content
from toolflow.model import Image, Outcome

_RESULTS = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})
KINDS = _RESULTS | {"ActionEvent", "MessageEvent", "SystemPromptEvent"}
"""The kinds of newer events that tell the format."""
_NO_RESULTS = frozenset({"agent_state_changed", "null", "recall", "message"})


def is_result(event: dict[str, Any]) -> bool:
    """Whether an event is the result of a call."""
    kind, observation = event.get("kind"), event.get("observation")
    if isinstance(kind, str):
        return kind in _RESULTS
    told = isinstance(observation, str) and observation not in _NO_RESULTS
    return told and ("cause" in event or "tool_call_metadata" in event)


def outcome_of(event: dict[str, Any]) -> Outcome:
    """The outcome of a result (see `is_result`)."""
    kind = event.get("kind")
    if kind == "AgentErrorEvent":
        return _failed("", (), event.get("error"))
    if kind == "UserRejectObservation":
        reason = event.get("rejection_reason")
        by_hook = event.get("rejection_source") == "hook"
        return Outcome("denied" if by_hook else "declined", None, _text(reason, "It was rejected."))
    if kind == "ObservationEvent":
        body = event.get("observation")
        if not isinstance(body, dict):
            return Outcome("ok", body)
        value, images = content(body["content"]) if "content" in body else (body, ())
        if body.get("is_error") is True:
            return _failed("", images, value)
        return _ended(value, images, body)
    value, images = content(event.get("content"))
    if event.get("observation") == "error":
        return _failed("", images, value)
    if event.get("observation") == "user_rejected":
        return Outcome("declined", None, _text(value, "The user rejected it."), images)
    extras = event.get("extras")
    return _ended(value, images, extras if isinstance(extras, dict) else {})


def _ended(value: Any, images: tuple[Image, ...], facts: dict[str, Any]) -> Outcome:
    """What came of something that may have been a command."""
    code = facts.get("exit_code")
    for name in ("metadata", "cmd_output_metadata"):
        inner = facts.get(name)
        if code is None and isinstance(inner, dict):
            code = inner.get("exit_code")
    if not isinstance(code, int) or isinstance(code, bool) or code == 0:
        return Outcome("ok", value, images=images)
    if code == -1:
        return Outcome("running", value, images=images, note="The command had not ended.")
    shown = str(code) if abs(code) < 2**63 else "out of range"
    return Outcome("failed", value, f"The command ended with exit code {shown}.", images)


def _failed(value: Any, images: tuple[Image, ...], said: Any) -> Outcome:
    if isinstance(said, str) and said:
        return Outcome("failed", value or None, said, images)
    return Outcome("failed", said or None, "The call failed without a message.", images)


def _text(value: Any, otherwise: str) -> str:
    return value if isinstance(value, str) and value else otherwise
