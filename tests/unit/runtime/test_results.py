"""Anything that a tool returns or raises can be written down."""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import json
import threading
import types
import uuid
from pathlib import PurePosixPath
from typing import NamedTuple

import pydantic
import pytest

from toolflow.model import Image, Outcome
from toolflow.runtime.results import ToolFailure, failed_outcome, outcome_of

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8


class Color(enum.Enum):
    RED = (1, 2)


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    YES = "yes"


@dataclasses.dataclass
class Point:
    x: int
    y: set


class Model(pydantic.BaseModel):
    when: dt.date
    secret: pydantic.SecretStr = pydantic.SecretStr("hidden")


class Shown:
    def __repr__(self):
        return "Shown(1)"


class Unreadable:
    def __repr__(self):
        raise RuntimeError("no")


class Liar:
    @property
    def __class__(self):
        raise RuntimeError("outside of anything")


class Endless(dict):
    def items(self):
        raise KeyError


class Pair(NamedTuple):
    a: int
    b: int


def written(value):
    outcome = outcome_of(value)
    json.dumps(outcome.value, allow_nan=False, ensure_ascii=False).encode()
    return outcome


@pytest.mark.parametrize(
    "value",
    [None, "", "text", "ü😀", True, 0, -1, 1.5, 10**300, [], {}, {"a": [1, None, {"b": "c"}]}],
)
def test_json_stays_as_it_is_without_a_note(value):
    assert written(value) == Outcome("ok", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2,)), [1, [2]]),
        (Pair(1, 2), [1, 2]),
        (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (Level.LOW, 1),
        (Word.YES, "yes"),
    ],
)
def test_what_json_takes_in_another_form_needs_no_note(value, expected):
    assert written(value) == Outcome("ok", expected)


@pytest.mark.parametrize(
    ("value", "expected", "note"),
    [
        ({3, 1, 2}, [1, 2, 3], "set written as a sorted list"),
        (frozenset(), [], "set written"),
        ({"b", 1, None}, ["b", 1, None], "set written"),
        (collections.deque([1]), [1], "deque written as a list"),
        ({"a": 1}.values(), [1], "dict_values written as a list"),
        (types.MappingProxyType({"a": 1}), {"a": 1}, "mappingproxy written as an object"),
        (Color.RED, [1, 2], None),
        (Point(1, {2}), {"x": 1, "y": [2]}, "Point written as an object; set written"),
        (
            Model(when=dt.date(2024, 1, 2)),
            {"when": "2024-01-02", "secret": "SecretStr('**********')"},
            "Model written as an object",
        ),
        (pydantic.RootModel[list[int]]([1]), {"root": [1]}, "written as an object"),
        (dt.datetime(2024, 1, 2, tzinfo=dt.UTC), "2024-01-02T00:00:00+00:00", "written as text"),
        (dt.timedelta(seconds=1), "0:00:01", "written as text"),
        (decimal.Decimal("1.10"), "1.10", "written as text"),
        (uuid.UUID(int=1), str(uuid.UUID(int=1)), "written as text"),
        (PurePosixPath("a/b"), "a/b", "written as text"),
        (1j, "1j", "written as text"),
        (float("nan"), "NaN", "not finite"),
        ([float("inf"), -float("inf")], ["Infinity", "-Infinity"], "at 0 and 1 more"),
        (b"abc\n", "abc\n", "bytes written as text"),
        (bytearray(b"\xff"), "base64:/w==", "bytes written in base64"),
        (b"\0", "base64:AA==", "bytes written in base64"),
        (ValueError("x"), "ValueError: x", "exception written as text"),
        (Shown(), "Shown(1)", "written as text"),
        (object(), "<object>", "object is alive"),
        (len, "<builtin_function_or_method>", "is alive"),
        (Shown, "<type>", "is alive"),
        (json, "<module>", "is alive"),
        (threading.Lock(), "<lock>", "lock is alive"),
        (Unreadable(), "<Unreadable>", "cannot be read (RuntimeError)"),
        (Endless(a=1), "<Endless>", "cannot be read (KeyError)"),
        ({None: "a", True: 0}, {"null": "a", "true": 0}, "key that is not text"),
    ],
)
def test_other_values_become_readable_and_the_note_tells(value, expected, note):
    outcome = written(value)
    assert outcome.value == expected
    assert outcome.status == "ok"
    assert (outcome.note or "") == "" if note is None else note in outcome.note


def test_integers_that_python_refuses_to_write_become_hexadecimal():
    assert written(10**4000) == Outcome("ok", 10**4000)
    outcome = written([10**5000])
    assert outcome.value == [hex(10**5000)]
    assert "integer too long" in outcome.note


def test_a_value_that_lies_about_what_it_is_does_no_harm():
    assert written(Liar()).value == "<Liar>"
    assert written([Liar(), 1]).value == ["<Liar>", 1]


def test_open_files_become_their_type_name(tmp_path):
    with (tmp_path / "f").open("w") as file:
        assert written({"f": file}).value == {"f": "<TextIOWrapper>"}
        file.write("still open")


def test_keys_that_meet_are_kept_apart():
    assert written({1: "a", "1": "b", (1, 2): "c"}).value == {"1": "a", "1 (2)": "b", "[1, 2]": "c"}


def test_the_note_names_the_place():
    assert written({"a": [0, {1}]}).note == (
        "Not as returned: set written as a sorted list at a.1."
    )


def test_cycles_are_cut():
    value: list = [1]
    value.append({"self": value})
    assert written(value).value == [1, {"self": "<cycle: list>"}]


def test_one_part_twice_is_no_cycle():
    part = [1]
    assert written([part, part]) == Outcome("ok", [[1], [1]])


def test_deep_nesting_is_cut_where_json_and_yaml_can_still_follow():
    value: list = []
    for _ in range(100_000):
        value = [value]
    outcome = written(value)
    assert "nested too deeply" in outcome.note
    while value:  # taken apart step by step: letting it go at once would overflow the stack
        value = value[0]


def test_a_small_value_that_unfolds_without_end_is_bounded(monkeypatch):
    monkeypatch.setattr("toolflow.runtime.jsonable.MAX_PARTS", 1000)
    value: list = ["x"]
    for _ in range(50):
        value = [value] * 10
    assert "left out, for the value is too large" in written(value).note


def test_long_text_repeated_is_bounded(monkeypatch):
    monkeypatch.setattr("toolflow.runtime.jsonable.MAX_CHARACTERS", 1000)
    outcome = written(["x" * 400] * 100)
    assert outcome.value.count("<left out>") == 97


def test_generators_and_coroutines_are_closed():
    closed = []

    def generate():
        try:
            yield 1
        finally:
            closed.append("generator")

    async def work():
        pass

    generator = generate()
    next(generator)
    assert written([generator, work()]).value == ["<generator>", "<coroutine>"]
    assert closed == ["generator"]


def test_a_coroutine_that_nobody_awaited_is_a_failure():
    async def work():
        pass

    outcome = written(work())
    assert outcome.status == "failed"
    assert "did not await" in outcome.error


def test_pictures_go_to_the_images():
    image = Image("image/png", base64.b64encode(PNG).decode())
    assert written(image) == Outcome("ok", None, images=(image,))
    assert written(PNG) == Outcome("ok", None, images=(image,))
    assert written(["before", PNG, b"\xff\xd8\xff"]) == Outcome(
        "ok",
        ["before", "<image 1: image/png>", "<image 2: image/jpeg>"],
        images=(image, Image("image/jpeg", "/9j/")),
    )


@pytest.mark.parametrize("data", ["not base64!", "", b"bytes", None])
def test_a_picture_that_no_provider_would_take_is_left_out(data):
    outcome = written(Image("image/png", data))
    assert outcome.images == ()
    assert "no base64" in outcome.note


def test_numbers_of_numpy_become_plain_ones():
    class Array:  # what numpy's values have in common
        dtype = "int64"

        def tolist(self):
            return [1, 2]

    assert written(Array()).value == [1, 2]


def test_subclasses_of_text_and_numbers_become_plain_ones():
    class Text(str):
        __slots__ = ()

        def __str__(self):
            return "other"

    class Number(int):
        pass

    outcome = written([Text("x"), Number(3)])
    assert outcome.value == ["x", 3]
    assert [type(item) for item in outcome.value] == [str, int]


def test_an_outcome_is_only_made_writable():
    plain = Outcome("running", "job 9", note="moved to the background")
    assert written(plain) == plain
    odd = Outcome("failed", {"u": {1}}, "bad \ud800", note="before")
    assert written(odd) == Outcome(
        "failed",
        {"u": [1]},
        "bad \ufffd",
        note="before\nNot as returned: set written as a sorted list at u.",
    )


def test_an_unknown_status_is_a_failure():
    outcome = written(Outcome("fine", 1))  # type: ignore[arg-type]
    assert outcome.status == "failed"
    assert "'fine'" in outcome.error


def test_the_same_value_gives_the_same_outcome_twice():
    def value():
        return {"s": {"b", "a", "c"}, "o": object(), "l": lambda: 1}

    assert outcome_of(value()) == outcome_of(value())


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (KeyError("k"), "KeyError: 'k'"),
        (TimeoutError(), "TimeoutError (without a message)"),
        (ToolFailure("Exactly this."), "Exactly this."),
        (
            ExceptionGroup("g", [ValueError("a"), ExceptionGroup("h", [KeyError("b")])]),
            "2 errors: ValueError: a; KeyError: 'b'",
        ),
        (ExceptionGroup("g", [ValueError("alone")]), "ValueError: alone"),
        (BaseExceptionGroup("g", [SystemExit(3)]), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt (without a message)"),
        (OSError(2, "gone", "f"), "FileNotFoundError: [Errno 2] gone: 'f'"),
    ],
)
def test_an_exception_becomes_a_sentence(error, sentence):
    assert failed_outcome(error) == Outcome("failed", error=sentence)


def test_notes_added_to_an_exception_are_told():
    error = ValueError("bad")
    error.add_note("at line 3")
    assert failed_outcome(error).error == "ValueError: bad\nat line 3"


def test_an_exception_that_cannot_be_read_is_still_told():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    class Odder(Exception):
        def __str__(self):
            return 3  # noqa: PLE0307  # that is the point

    assert failed_outcome(Odd()).error == "Odd (its message cannot be read)"
    assert failed_outcome(Odder()).error == "Odder (its message cannot be read)"


def test_many_exceptions_are_counted():
    group = ExceptionGroup("g", [ValueError(str(n)) for n in range(50)])
    assert failed_outcome(group).error.startswith("50 errors: ValueError: 0; ")
    assert failed_outcome(group).error.endswith("; 40 more")
