"""The policy file as pydantic models: what may stand in it (spec 4).

Each kind of value has one function that takes what was read and gives what the program uses, or
raises ``ValueError`` with a sentence that says what is allowed; `toolflow.yamlio.validate` puts
place, path and value before it. Expressions are compiled here, so that a fault in one is told
with its place when the policy is loaded.

This module imports pydantic; it is loaded with the first policy.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from toolflow.policy.durations import DURATION_PATTERN, duration
from toolflow.policy.expressions import Expression, ExpressionError, compile_expression

_RULE_OF_BASE = "rule [1-9][0-9]{0,5} of .+"
_SAFE = "Use true, false or a {{ template }}."


def _compiled(text: str) -> Expression:
    try:
        return compile_expression(text)
    except ExpressionError as error:
        raise ValueError(str(error)) from error


def _condition(value: object) -> bool | Expression:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or "{{" not in value:
        raise ValueError(_SAFE)
    expression = _compiled(value.strip())
    if not expression.single:
        raise ValueError("It gives text, never true. Use one {{ template }} with nothing around.")
    return expression


def _text(value: object) -> Expression:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("Use text that is not empty; it may hold {{ templates }}.")
    return _compiled(value.strip())


def _text_or_true(value: object) -> Expression | Literal[True]:
    if value is True:
        return True
    if not isinstance(value, str) or not value.strip():
        raise ValueError("Use text that is not empty, or true for a text made from the call.")
    return _compiled(value.strip())


def _key(value: object) -> Expression:
    if not isinstance(value, str) or not value.strip():
        raise ValueError('Use text that is not empty, such as "file:{{ args.path | file_key }}".')
    return _compiled(value.strip())


def _listed(value: object) -> object:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return [value]
    raise ValueError("Use text or a list of texts.")


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("Use text that is not empty.")
    return value


def _count(value: object) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("Use an integer of at least 1.")
    return value


def _rule_number(value: object) -> int | str:
    if isinstance(value, str) and re.fullmatch(_RULE_OF_BASE, value):
        return value
    if type(value) is not int or value < 1:
        raise ValueError("Use an integer of at least 1, or 'rule N of BASE' for a rule of a base.")
    return value


def _version(value: object) -> object:
    if type(value) is not int:  # true and 1.0 are equal to 1 in Python
        raise ValueError("Use 1.")
    return value


_SCHEMA_TEXT: dict[str, Any] = {"type": "string", "pattern": r"\S"}
_SCHEMA_TEXTS: dict[str, Any] = {"anyOf": [_SCHEMA_TEXT, {"type": "array", "items": _SCHEMA_TEXT}]}
_SCHEMA_NAMES: dict[str, Any] = {
    "anyOf": [_SCHEMA_TEXT, {"type": "array", "items": _SCHEMA_TEXT, "minItems": 1}]
}
_SCHEMA_COUNT = {"type": "integer", "minimum": 1}
_SCHEMA_RULE = {"anyOf": [_SCHEMA_COUNT, {"type": "string", "pattern": f"^{_RULE_OF_BASE}$"}]}
_SCHEMA_DURATION = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "pattern": f"^(?!0+(\\.0+)?[a-z]){DURATION_PATTERN}$"},
    ]
}
_SCHEMA_TEMPLATE = {"type": "string", "pattern": r"^\s*\{\{[\s\S]*\}\}\s*$"}
_SCHEMA_CONDITION = {"anyOf": [{"type": "boolean"}, _SCHEMA_TEMPLATE]}
_SCHEMA_TEXT_OR_TRUE = {"anyOf": [_SCHEMA_TEXT, {"const": True}]}

Condition = Annotated[
    bool | Expression, PlainValidator(_condition), WithJsonSchema(_SCHEMA_CONDITION)
]
Text = Annotated[Expression, PlainValidator(_text), WithJsonSchema(_SCHEMA_TEXT)]
TextOrTrue = Annotated[
    Expression | Literal[True], PlainValidator(_text_or_true), WithJsonSchema(_SCHEMA_TEXT_OR_TRUE)
]
Key = Annotated[Expression, PlainValidator(_key)]
Keys = Annotated[list[Key], BeforeValidator(_listed), WithJsonSchema(_SCHEMA_TEXTS)]
Name = Annotated[str, PlainValidator(_name), WithJsonSchema(_SCHEMA_TEXT)]
Names = Annotated[
    list[Name], Field(min_length=1), BeforeValidator(_listed), WithJsonSchema(_SCHEMA_NAMES)
]
Duration = Annotated[float, PlainValidator(duration), WithJsonSchema(_SCHEMA_DURATION)]
Count = Annotated[int, PlainValidator(_count), WithJsonSchema(_SCHEMA_COUNT)]
RuleNumber = Annotated[int | str, PlainValidator(_rule_number), WithJsonSchema(_SCHEMA_RULE)]
Version = Annotated[Literal[1], BeforeValidator(_version)]
OnError = Literal["continue", "stop"]


class Part(BaseModel):
    """What every part of the file shares: unknown fields are errors, types are exact."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True
    )


class LimitsPart(Part):
    """``limits``: bounds of a run."""

    pool: Count = 10
    resources: dict[str, Count] = {}
    tools: dict[str, Count] = {}
    servers: dict[str, Count] = {}


class DefaultsPart(Part):
    """``defaults``: what holds where neither rule nor tool says anything."""

    timeout: Duration | None = None
    on_error: OnError = "continue"


class TrustPart(Part):
    """``trust``: MCP servers whose hints are believed."""

    annotations: list[Name] = []


class PathsPart(Part):
    """``paths``: how file keys are normalised."""

    case: Literal["auto", "fold", "keep"] = "auto"
    unicode: Literal["auto", "nfc", "keep"] = "auto"
    inode: bool = False


class RulePart(Part):
    """One rule: which calls it is about, and how they run."""

    @field_validator("*", mode="before")
    @classmethod
    def _given(cls, value: object, info: ValidationInfo) -> object:
        if value is None and info.field_name != "timeout":  # no timeout: a limit that is lifted
            raise ValueError("Give it a value, or leave it out.")
        return value

    tool: Names | None = None
    server: Names | None = None
    aliases: Names | None = None
    argument_aliases: dict[str, Name] = {}
    when: Condition | None = None
    safe: Condition | None = None
    reads: Keys | None = None
    writes: Keys | None = None
    uses: dict[str, Count] | None = None
    timeout: Duration | None = None
    hold: Literal["call", "turn", "run"] = "call"
    ask: TextOrTrue | None = None
    deny: TextOrTrue | None = None
    stop: Literal["before", "after"] | None = None
    on_error: OnError | None = None
    idempotent: bool | None = None
    show: Text | None = None

    @model_validator(mode="after")
    def _about_something(self) -> RulePart:
        if self.tool is None and self.server is None:
            raise ValueError("It names neither tool nor server. Use tool: '*' for every call.")
        exact = self.tool is not None and len(self.tool) == 1 and not is_pattern(self.tool[0])
        if self.aliases and not exact:
            raise ValueError(
                "It has aliases. Use them in a rule with exactly one tool's full name."
            )
        return self


class CaseCall(Part):
    """One call of a case."""

    tool: str
    args: dict[str, Any] = {}
    id: str | None = None
    server: Name | None = None
    annotations: dict[str, Any] = {}


class CaseExpectation(Part):
    """What a case expects of one call."""

    verdict: Literal["safe", "exclusive", "settled"] | None = None
    rule: RuleNumber | None = None
    status: str | None = None
    reads: list[str] | None = None
    writes: list[str] | None = None
    ask: str | None = None
    hold: Literal["call", "turn", "run"] = "call"
    timeout: Duration | None = None
    uses: dict[str, Count] = {}
    idempotent: bool = False


class CasePart(Part):
    """One of the policy's own tests."""

    name: str | None = None
    cwd: str | None = None
    turn: list[CaseCall]
    expect: list[CaseExpectation]

    @model_validator(mode="after")
    def _one_each(self) -> CasePart:
        if len(self.turn) != len(self.expect):
            calls, expected = len(self.turn), len(self.expect)
            raise ValueError(
                f"Its turn has {calls} calls, and it expects {expected}. Use one of each a call."
            )
        return self


class PolicyFile(Part):
    """The whole file."""

    version: Version
    extends: Names | None = None
    limits: LimitsPart = LimitsPart()
    defaults: DefaultsPart = DefaultsPart()
    ids: Literal["strict", "renumber"] = "strict"
    approvals: Literal["inline", "first"] = "inline"
    trust: TrustPart = TrustPart()
    paths: PathsPart = PathsPart()
    redact: list[Name] = []
    rules: list[RulePart] = []
    cases: list[CasePart] = []
    bases: dict[str, str] = {}


def is_pattern(name: str) -> bool:
    """Whether a name stands for several: it holds ``*``, ``?`` or ``[``."""
    return any(sign in name for sign in "*?[")
