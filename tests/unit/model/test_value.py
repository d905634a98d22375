"""Values made quickly are the same as those made by the plain dataclass."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from inspect import signature
from typing import Any

import pytest

from toolflow.model import Call, Outcome, Times
from toolflow.model.batch import CallPlan, Verdict
from toolflow.model.value import quick

QUICK: tuple[Any, ...] = (
    Call(0, "a", "read", {"x": 1}),
    Outcome("ok", "text", note="n"),
    Times(started=1.0, stopped=2.0),
    Verdict("safe", "a rule says so", 1),
    CallPlan(0, "a", "a", "read", {}, Verdict("safe", "r"), parsed={"x": 2}),
)


@pytest.mark.parametrize("value", QUICK, ids=lambda value: type(value).__name__)
class TestQuick:
    def test_cannot_be_changed(self, value: Any) -> None:
        name = next(iter(value.__dataclass_fields__))
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, "other")
        with pytest.raises(FrozenInstanceError):
            delattr(value, name)

    def test_is_of_its_class_and_has_every_attribute(self, value: Any) -> None:
        fresh = type(value)(**{name: getattr(value, name) for name in value.__dataclass_fields__})
        assert type(fresh) is type(value)
        assert fresh == value
        assert repr(fresh) == repr(value)

    def test_can_be_copied_and_pickled(self, value: Any) -> None:
        assert copy.deepcopy(value) == value
        assert pickle.loads(pickle.dumps(value)) == value

    def test_keeps_the_signature(self, value: Any) -> None:
        assert list(signature(type(value)).parameters) == list(value.__dataclass_fields__)


def test_a_changed_copy_is_a_value_of_its_own() -> None:
    call = Call(0, "a", "read")
    other = replace(call, id="b")
    assert (call.id, other.id, other.tool) == ("a", "b", "read")


def test_a_missing_argument_is_told_as_python_does() -> None:
    with pytest.raises(TypeError, match=r"Call\.__init__\(\) missing 2 required positional"):
        Call(0)  # type: ignore[call-arg]


def test_classes_that_need_more_are_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Made:
        items: list[int] = field(default_factory=list)

    @dataclass(frozen=True, slots=True)
    class Checked:
        item: int

        def __post_init__(self) -> None:
            """Nothing: that it is there is enough."""

    for cls in (Made, Checked):
        with pytest.raises(TypeError, match="not of the kind that can be made quickly"):
            quick(cls)
