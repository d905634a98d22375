"""Checking a document against a model: every problem at its place, in our words."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from toolflow import yamlio
from toolflow.errors import ConfigError


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _safe(value: object) -> object:
    if isinstance(value, bool):
        return value
    raise ValueError("Use true, false or a {{ template }}.")


class Limits(_Strict):
    pool: int = Field(10, ge=1)
    resources: dict[str, Annotated[int, Field(ge=1)]] = {}


class Rule(_Strict):
    tool: str | list[str] | None = None
    safe: Annotated[bool, BeforeValidator(_safe)] | None = None
    hold: Literal["call", "turn", "run"] = "call"
    limits: Limits | str | None = None


class Policy(_Strict):
    version: Literal[1]
    limits: Limits = Limits()
    rules: list[Rule] = Field([], max_length=5)
    timeout: float | str | None = None
    one: list[int] = Field([], min_length=1)
    note: str = Field("x", min_length=1)
    ratio: float = Field(1, gt=0, lt=2)


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        yamlio.validate(yamlio.load(text, source="p.yaml"), Policy)
    return str(caught.value).splitlines()


def test_a_good_document_becomes_the_model() -> None:
    policy = yamlio.validate(yamlio.load("version: 1\nlimits: {pool: 3}\n"), Policy)
    assert policy.limits.pool == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limits: {}", "p.yaml:1:1: version is missing."),
        ("version: 2", "p.yaml:1:10: version is 2. Use 1."),
        ("- a", "p.yaml:1:1: The document is a list. Use a mapping."),
        ("null", "p.yaml:1:1: The document is null. Use a mapping."),
        (
            "version: 1\nlimits: {pool: 0}",
            "p.yaml:2:16: limits.pool is 0. Use an integer of at least 1.",
        ),
        ("version: 1\nlimits: {pool: true}", "p.yaml:2:16: limits.pool is true. Use an integer."),
        ("version: 1\nlimits: {pool: 1.5}", "p.yaml:2:16: limits.pool is 1.5. Use an integer."),
        (
            'version: 1\nlimits: {resources: {"mcp:b": x}}',
            "p.yaml:2:31: limits.resources['mcp:b'] is 'x'. Use an integer.",
        ),
        (
            "version: 1\nlimits: {pol: 3}",
            "p.yaml:2:10: limits.pol is not a known field. Did you mean 'pool'?",
        ),
        (
            "version: 1\nrules:\n  - {zzz: 3}",
            "p.yaml:3:6: rules[0].zzz is not a known field. Use one of: tool, safe, hold, limits.",
        ),
        (
            "version: 1\nrules:\n  - limits: {pul: 3}",
            "p.yaml:3:14: rules[0].limits.pul is not a known field. Did you mean 'pool'?",
        ),
        (
            "version: 1\nrules:\n  - safe: yess",
            "p.yaml:3:11: rules[0].safe is 'yess'. Use true, false or a {{ template }}.",
        ),
        ("version: 1\nrules: [{tool: 3}]", "p.yaml:2:16: rules[0].tool is 3. Use text or a list."),
        (
            "version: 1\nrules: [{hold: ever}]",
            "p.yaml:2:16: rules[0].hold is 'ever'. Use 'call', 'turn' or 'run'.",
        ),
        ("version: 1\nrules: [7]", "p.yaml:2:9: rules[0] is 7. Use a mapping."),
        ("version: 1\nrules: {}", "p.yaml:2:8: rules is an empty mapping. Use a list."),
        (
            "version: 1\nrules: [{}, {}, {}, {}, {}, {}]",
            "p.yaml:2:8: rules is a list. Use at most 5 of them.",
        ),
        ("version: 1\ntimeout: [1]", "p.yaml:2:10: timeout is a list. Use a number or text."),
        ("version: 1\none: []", "p.yaml:2:6: one is an empty list. Use at least 1 of them."),
        ("version: 1\nnote: ''", "p.yaml:2:7: note is ''. Use text that is not empty."),
        ("version: 1\nratio: 2.5", "p.yaml:2:8: ratio is 2.5. Use a number of less than 2.0."),
        (
            f"version: 1\nrules: [{{safe: {'x' * 90}}}]",
            (
                f"p.yaml:2:16: rules[0].safe is '{'x' * 55}...'. "
                "Use true, false or a {{ template }}."
            ),
        ),
    ],
)
def test_a_problem_names_place_value_and_what_is_allowed(text: str, said: str) -> None:
    assert problems(text) == [said]


def test_all_problems_are_told_in_text_order() -> None:
    text = "rules:\n  - safe: yess\n    tool: 3\n  - saef: true\nlimits: {pool: 0}\n"
    assert [line.split(" ")[0] for line in problems(text)] == [
        "p.yaml:1:1:",
        "p.yaml:2:11:",
        "p.yaml:3:11:",
        "p.yaml:4:5:",
        "p.yaml:5:16:",
    ]


def test_a_document_of_values_is_checked_the_same_way_without_places() -> None:
    with pytest.raises(ConfigError) as caught:
        yamlio.validate(yamlio.of_value({"version": 1, "rules": ({"tool": 3},)}), Policy)
    assert str(caught.value) == "<value>: rules[0].tool is 3. Use text or a list."
