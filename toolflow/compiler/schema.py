"""The shape of a saved plan, for checking it and for editors. Imported when first needed."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from toolflow.model.outcome import Status

_STATUSES = tuple(status for status in get_args(Status) if status not in {"ok", "running"})


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("Use text.")  # noqa: TRY004 - what pydantic takes for a problem
    return value


def _some_text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("Use text that is not empty.")
    return value


# pydantic's own text refuses lone surrogates, which a model's ids and keys may hold.
_STRING = WithJsonSchema({"type": "string"})
_SOME_STRING = WithJsonSchema({"type": "string", "minLength": 1})
AnyText = Annotated[Any, AfterValidator(_text), _STRING]
Text = Annotated[Any, AfterValidator(_some_text), _SOME_STRING]
Count = Annotated[int, Field(ge=1)]


class Shape(BaseModel):
    """What all parts of a saved plan share: no unknown fields, no types bent to fit."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CallShape(Shape):
    """One call."""

    name: Text
    id: AnyText | None = None
    tool: AnyText
    args: dict[str, Any] | None = None
    args_json: str | None = None
    label: AnyText = ""
    verdict: Literal["safe", "exclusive", "settled"]
    status: Literal[_STATUSES] | None = None  # type: ignore[valid-type]  # one list of statuses
    reason: AnyText = ""
    rule: Count | None = None
    line: Count | None = None
    base: Text | None = None
    reads: list[AnyText] | None = None
    writes: list[AnyText] | None = None
    uses: dict[str, Annotated[int, Field(ge=0)]] = {}
    timeout: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    hold: Literal["call", "turn", "run"] = "call"
    stop: Literal["before", "after"] | None = None
    on_error: Literal["continue", "stop"] = "continue"
    idempotent: bool = False
    ask: AnyText | None = None


class NodeShape(Shape):
    """A pool, a barrier or a settled call."""

    id: Text
    calls: Annotated[list[AnyText], Field(min_length=1)]


class GateShape(Shape):
    """A joint of key edges."""

    name: Text
    key: AnyText


class EdgeShape(Shape):
    """One thing settles before another starts."""

    before: AnyText
    after: AnyText
    causes: Annotated[list[Text], Field(min_length=1)]


class LimitsShape(Shape):
    """Bounds of the run."""

    pool: Count = 10
    resources: dict[str, Count] = {}


class NoticeShape(Shape):
    """Something odd that was told."""

    code: AnyText
    message: AnyText
    line: int | None = None
    turn: AnyText | None = None
    call: AnyText | None = None


class DigestsShape(Shape):
    """What the plan was made from."""

    policy: AnyText = ""
    turn: AnyText = ""
    plan: AnyText = ""


class PlanShape(Shape):
    """A saved plan."""

    format_version: Literal[1]
    turn: AnyText
    message_id: AnyText | None = None
    source: AnyText = "main"
    approvals: Literal["inline", "first"] = "inline"
    limits: LimitsShape = LimitsShape()
    calls: list[CallShape]
    nodes: list[NodeShape] = []
    gates: list[GateShape] = []
    order: list[EdgeShape] = []
    edges: list[EdgeShape] = []
    notices: list[NoticeShape] = []
    masked: list[AnyText] = []
    digests: DigestsShape = DigestsShape()
