"""The shape of a saved plan, for checking it and for editors. Imported when first needed."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from toolflow.model.outcome import Status

_STATUSES = tuple(status for status in get_args(Status) if status not in {"ok", "running"})

Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]


class Shape(BaseModel):
    """What all parts of a saved plan share: no unknown fields, no types bent to fit."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CallShape(Shape):
    """One call."""

    name: Text
    id: str | None = None
    tool: str
    args: dict[str, Any] | None = None
    args_json: str | None = None
    label: str = ""
    verdict: Literal["safe", "exclusive", "settled"]
    status: Literal[_STATUSES] | None = None  # type: ignore[valid-type]  # one list of statuses
    reason: str = ""
    rule: Count | None = None
    line: Count | None = None
    reads: list[Text] | None = None
    writes: list[Text] | None = None
    uses: dict[str, Count] = {}
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    hold: Literal["call", "turn", "run"] = "call"
    stop: Literal["before", "after"] | None = None
    on_error: Literal["continue", "stop"] = "continue"
    idempotent: bool = False
    ask: str | None = None


class NodeShape(Shape):
    """A pool, a barrier or a settled call."""

    id: Text
    calls: Annotated[list[str], Field(min_length=1)]


class GateShape(Shape):
    """A joint of key edges."""

    name: Text
    key: Text


class EdgeShape(Shape):
    """One thing settles before another starts."""

    before: str
    after: str
    causes: Annotated[list[Text], Field(min_length=1)]


class LimitsShape(Shape):
    """Bounds of the run."""

    pool: Count = 10
    resources: dict[str, Count] = {}


class NoticeShape(Shape):
    """Something odd that was told."""

    code: str
    message: str
    line: int | None = None
    turn: str | None = None
    call: str | None = None


class DigestsShape(Shape):
    """What the plan was made from."""

    policy: str = ""
    turn: str = ""
    plan: str = ""


class PlanShape(Shape):
    """A saved plan."""

    format_version: Literal[1]
    turn: str
    message_id: str | None = None
    source: str = "main"
    approvals: Literal["inline", "first"] = "inline"
    limits: LimitsShape = LimitsShape()
    calls: list[CallShape]
    nodes: list[NodeShape] = []
    gates: list[GateShape] = []
    order: list[EdgeShape] = []
    edges: list[EdgeShape] = []
    notices: list[NoticeShape] = []
    digests: DigestsShape = DigestsShape()
