"""How a call settled (spec 6, 9.4; ADR 0003: outcomes, not exceptions)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from toolflow.model.value import quick

Status = Literal[
    "ok",
    "failed",  # the tool raised, or said so
    "timed_out",
    "aborted",  # it had started when the run was aborted
    "not_started",  # the run was aborted before it was dispatched
    "skipped",  # an earlier call with `on_error: stop` failed, or a stage was left out
    "declined",  # a person said no
    "denied",  # the policy or a hook said no
    "invalid_id",
    "invalid_arguments",
    "unknown_tool",
    "lock_cycle",
    "held",  # a body that never stopped still holds what it needs
    "outcome_unknown",  # it started, and nobody knows how it ended
    "running",  # moved to the background: neither ok nor failed
]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a result.

    Attributes:
        media_type: Such as ``image/png``.
        data: The bytes in base64.
    """

    media_type: str
    data: str


@quick
@dataclass(frozen=True, slots=True)
class Outcome:
    """How one call settled.

    Attributes:
        status: The kind of ending.
        value: What the tool returned, as JSON values; ``None`` where it returned nothing.
        error: The sentence that the model gets where the call is not ok; else ``None``.
        images: Pictures that belong to the result, in order.
        note: What else is worth knowing: a value that came after an abort, a cut, a replacement.
    """

    status: Status
    value: Any = None
    error: str | None = None
    images: tuple[Image, ...] = ()
    note: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the call did what it was asked to do."""
        return self.status == "ok"

    @property
    def text(self) -> str:
        """What the model reads: the value as text, or the error, with partial output if any."""
        value = "" if self.value is None else as_text(self.value)
        if self.error is None:
            return value
        return f"{self.error}\n{value}" if value else self.error


@quick
@dataclass(frozen=True, slots=True)
class Times:
    """When things happened to a call, in seconds since its run began; ``None``: never.

    Attributes:
        queued: It could have run but for a permit, a resource or a key.
        granted: All its keys and resources were granted.
        started: Its body was entered.
        settled: Its outcome was reported.
        stopped: Its body had really ended.
    """

    queued: float | None = None
    granted: float | None = None
    started: float | None = None
    settled: float | None = None
    stopped: float | None = None


def as_text(value: Any) -> str:
    """Write a JSON value for the model: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
