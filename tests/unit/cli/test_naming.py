"""Names of files made of names in documents."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolflow.cli.naming import file_name, file_names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gather", "gather"),
        ("my stage-2.b", "my_stage-2.b"),
        ("../../up", "up"),
        ("/etc/passwd", "etc_passwd"),
        ("a\\b:c\x00d\ne", "a_b_c_d_e"),
        (".hidden", "hidden"),
        ("übersicht", "übersicht"),
        ("CON", "CON_"),
        ("lpt1.txt", "lpt1.txt_"),
        ("...", ""),
        ("x" * 100, "x" * 60),
    ],
)
def test_a_name_is_made_harmless_and_stays_readable(name: str, expected: str) -> None:
    assert file_name(name) == expected


def test_equal_names_get_numbers_whatever_the_case() -> None:
    assert file_names(["a/b", "a_b", "A B", "..", "a_b-2"], taken=["a_B-3"]) == [
        "a_b",
        "a_b-2",
        "A_B-4",
        "unnamed",
        "a_b-2-2",
    ]


@given(st.lists(st.text(), max_size=6))
def test_names_stay_in_their_folder_and_are_never_the_same(names: list[str]) -> None:
    found = file_names(names)
    assert len({each.casefold() for each in found}) == len(names)
    for name in found:
        assert os.path.basename(name) == name  # noqa: PTH119  # of text, with no file behind it
        assert not name.startswith(".")
        assert name.isprintable()
        assert 0 < len(name) < 80
