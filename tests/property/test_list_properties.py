"""A list that is read item by item is the list that is read at once: values, places, problems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolflow import yamlio
from toolflow.errors import DocumentError

KEY = "turns"
TRICKY = "ab :#-?,[]{}\n\t\r'\"\\|>&*!%@`~0.x1e<=\x85\u2028\ufeff😀é"
SETTINGS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=TRICKY, max_size=14)
    | st.sampled_from(["<<", "no", "010", "- a", "a: b", "x #y", " \n", "a\n \n", "...", "--- a"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(alphabet=TRICKY, max_size=8), inner, max_size=4)
    ),
    max_leaves=10,
)
styles = st.fixed_dictionaries(
    {
        "default_flow_style": st.sampled_from([True, False, None]),
        "indent": st.sampled_from([None, 2, 3, 7]),
        "width": st.sampled_from([4, 20, 80]),
        "explicit_start": st.booleans(),
        "line_break": st.sampled_from(["\n", "\r\n", "\r"]),
        "allow_unicode": st.booleans(),
        "default_style": st.sampled_from([None, None, '"', "'", "|"]),
    }
)
names = st.sampled_from(["version", "source", "notices", KEY, "- a", "", "#"])
documents = st.lists(names, unique=True, max_size=5).flatmap(
    lambda keys: st.fixed_dictionaries(dict.fromkeys(keys, values))
)
lists = st.lists(values, max_size=4)


class _Dumper(yaml.SafeDumper):
    """No aliases: the limit of them would hide everything else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


@st.composite
def texts(draw: st.DrawFn) -> str:
    data: dict[str, Any] = draw(documents)
    if KEY in data or draw(st.booleans()):
        data[KEY] = draw(lists)
    if draw(st.booleans()):
        return json.dumps(data, indent=draw(st.sampled_from([None, 0, 1])))
    style: dict[str, Any] = draw(styles)
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, **style)
    return text


@contextmanager
def small_chunks(size: int, *, python: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolflow.yamlio.jsonitems.CHUNK", size)
        patch.setattr("toolflow.yamlio.yamlitems.CHUNK", size)
        patch.setattr("toolflow.yamlio.yamlitems._BLOCK", size)
        if python:
            patch.delattr(yaml, "CLoader", raising=False)
        yield


def whole(path: Path) -> Any:
    """What is in a document, as `load_file` tells it."""
    try:
        document = yamlio.load_file(path)
    except DocumentError as error:
        return error.problems
    places = {
        key: document.where((key,), key=True)
        for key in (document.value if isinstance(document.value, dict) else ())
    }
    return document.value, places, document.positions


def streamed(path: Path) -> Any:
    """The same, read item by item."""
    try:
        listed = yamlio.open_list(path, KEY, small=0)
        items = list(listed)
    except DocumentError as error:
        return error.problems
    head = listed.head
    value, positions = head.value, dict(head.positions)
    for item in items:
        positions |= item.positions
    if isinstance(value, dict):
        if isinstance(value.get(KEY), list):
            value = {**value, KEY: [item.value for item in items]}
        places = {key: head.where((key,), key=True) for key in value}
        return value, places, positions
    return value, {}, positions


@SETTINGS
@given(
    texts(),
    st.integers(1, 40),
    st.booleans(),
    st.sampled_from(["l.yaml", "l.json"]),
    st.sampled_from(["", "", "\ufeff"]),
)
def test_any_style_reads_as_at_once(
    tmp_path: Path, text: str, size: int, python: bool, name: str, mark: str
) -> None:
    path = tmp_path / name
    path.write_bytes((mark + text).encode("utf-8", "surrogatepass"))
    with small_chunks(size, python=python):
        assert streamed(path) == whole(path)


@SETTINGS
@given(st.data(), texts(), st.integers(1, 40), st.booleans())
def test_a_spoilt_text_tells_the_same_problems(
    tmp_path: Path, data: st.DataObject, text: str, size: int, python: bool
) -> None:
    at = data.draw(st.integers(0, len(text)))
    more = data.draw(st.text(alphabet=TRICKY, max_size=3) | st.sampled_from(["&a ", "*a", "!t "]))
    cut = data.draw(st.integers(0, 3))
    path = tmp_path / "l.yaml"
    path.write_bytes((text[:at] + more + text[at + cut :]).encode("utf-8", "surrogatepass"))
    with small_chunks(size, python=python):
        assert streamed(path) == whole(path)
