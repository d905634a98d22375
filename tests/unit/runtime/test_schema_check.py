"""The light check of arguments against a JSON Schema from elsewhere."""

from __future__ import annotations

import pytest

from toolflow.runtime.schema_check import schema_check


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, 1),
        ({"type": "integer"}, 3.0),
        ({"type": "number"}, 1),
        ({"type": "null"}, None),
        ({"type": ["string", "null"]}, None),
        ({"type": "thing"}, 1),
        ({"type": ["thing", "string"]}, 1),
        ({"type": 3}, 1),
        ({"enum": [1, "a"]}, "a"),
        ({"const": None}, None),
        ({"enum": "abc"}, "d"),
        (True, 1),
        ("nonsense", 1),
        ({"type": "array", "items": {"type": "string"}}, ["a"]),
        ({"anyOf": [{"type": "string"}]}, 1),
        ({"$ref": "#/$defs/x"}, 1),
        ({"type": "object", "required": "abc", "properties": []}, {}),
        ({"additionalProperties": False, "patternProperties": {".*": {}}}, {"a": 1}),
    ],
)
def test_what_may_fit_is_let_through(schema, value):
    args = {"x": value}
    assert schema_check({"properties": {"x": schema}})(args) is args


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        ({"type": "integer"}, True, "x is True, but should be integer"),
        ({"type": "integer"}, 1.5, "x is 1.5, but should be integer"),
        ({"type": "number"}, False, "x is False, but should be number"),
        ({"type": "object"}, [], "x is [], but should be object"),
        ({"enum": [1, 2]}, 3, "x is 3, but should be one of [1, 2]"),
        ({"const": 1}, 2, "x is 2, but should be 1"),
        (False, 2, "x is unknown"),
        ({"items": {"type": "string"}}, ["a", 1], "x.1 is 1, but should be string"),
        ({"properties": {"y": {"type": "string"}}}, {"y": 1}, "x.y is 1, but should be string"),
        ({"required": ["y"]}, {}, "x.y is missing"),
    ],
)
def test_what_cannot_fit_is_told(schema, value, fault):
    with pytest.raises(ValueError) as told:
        schema_check({"properties": {"x": schema}})({"x": value})
    assert str(told.value) == f"The arguments do not fit: {fault}."


def test_a_schema_that_contains_itself_is_looked_at_so_far_only():
    schema: dict = {"properties": {}}
    schema["properties"]["x"] = schema
    args: dict = {}
    inner = args
    for _ in range(100):
        inner["x"] = {}
        inner = inner["x"]
    assert schema_check(schema)(args) is args


def test_many_faults_are_counted():
    with pytest.raises(ValueError, match=r"; 12 more\.$"):
        schema_check({"required": [f"a{n}" for n in range(20)]})({})
