"""What the tools of servers are called."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from toolflow.tools.mcp.names import LONGEST, model_names


def test_a_name_begins_with_its_server():
    assert model_names("fs__", ["read_file", "list"]) == {
        "read_file": "fs__read_file",
        "list": "fs__list",
    }


def test_an_empty_prefix_leaves_names_as_they_are():
    assert model_names("", ["read-file"]) == {"read-file": "read-file"}


def test_signs_that_providers_refuse_become_underscores():
    assert model_names("b__", ["page.click", "päge/open"]) == {
        "page.click": "b__page_click",
        "päge/open": "b__p_ge_open",
    }


def test_of_names_that_would_become_one_the_plain_one_keeps_it():
    names = model_names("", ["a.b", "a_b", "a/b"])
    assert names["a_b"] == "a_b"
    assert re.fullmatch("a_b_[0-9a-f]{6}", names["a.b"])
    assert len(set(names.values())) == 3


def test_the_mark_does_not_depend_on_the_order():
    assert model_names("", ["a.b", "a/b"]) == model_names("", ["a/b", "a.b"])


def test_long_names_are_cut_and_stay_apart():
    first, second = model_names("s__", ["x" * 80, "x" * 81]).values()
    assert len(first) == len(second) == LONGEST
    assert first != second


@given(st.text(max_size=70), st.lists(st.text(max_size=80), unique=True))
def test_names_are_usable_and_no_two_are_one(prefix, tools):
    names = model_names(prefix, tools)
    assert len(set(names.values())) == len(tools)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{0,64}", name) for name in names.values())
