"""Whatever is written reads back the same, and whatever is read never crashes."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from toolflow import yamlio
from toolflow.errors import DocumentError

TRICKY = "ab :#-?,[]{}\n\t\r'\"\\|>&*!%@`~0.x1e<=\x85\u2028\ufeff😀é"
texts = (
    st.text(max_size=12)
    | st.text(alphabet=TRICKY, max_size=14)
    | st.sampled_from(["<<", "no", "010", "- a", "a: b", "x #y", " \n", "a\n \n", "...", "--- a"])
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
keys = texts | st.text("k", min_size=110, max_size=130)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)


@given(values)
def test_written_yaml_reads_back_equal_with_either_parser(value: object) -> None:
    text = yamlio.dump(value)
    assert yamlio.load(text).value == value
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CLoader", raising=False)
        assert yamlio.load(text).value == value


@given(values)
def test_json_reads_like_json(value: object) -> None:
    document = yamlio.load(json.dumps(value), source="x.json")
    assert document.value == value
    assert len(document.positions) == _count(value)


@given(st.text(alphabet=TRICKY, max_size=60) | st.text(max_size=40) | st.binary(max_size=40))
def test_any_text_gives_a_document_or_problems_with_places(text: str | bytes) -> None:
    try:
        document = yamlio.load(text)
    except DocumentError as error:
        said = [str(problem) for problem in error.problems]
    else:
        said = [document.source]
        assert len(document.positions) == _count(document.value)
    assert said
    assert not any("\n" in line for line in said)


def _count(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1
