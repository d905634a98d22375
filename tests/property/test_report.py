"""Whatever a recording holds, a page has the same elements, and shows it as text."""

from __future__ import annotations

import json
import re

import reported
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans import EVIL

from toolflow.render.report_texts import block_json

ANY = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(EVIL)
MARKUP = st.text("<>&\"'/!-=[]{};()\\u2028script \n", max_size=80)
TEXTS = st.lists(ANY | MARKUP, min_size=1, max_size=5)
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_the_elements_of_a_page_are_the_same_whatever_texts_are(texts: list[str]) -> None:
    plain = reported.page_of(reported.hostile(*("x" for _ in texts)))
    page = reported.page_of(reported.hostile(*texts))
    assert page.elements == plain.elements
    assert page.texts["script module"] == plain.texts["script module"]
    assert page.texts["style"] == plain.texts["style"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_nothing_unseen_is_in_a_page_and_it_can_be_encoded(texts: list[str]) -> None:
    page = reported.page_of(reported.hostile(*texts))
    page.texts["script application/json"].encode()
    for value in _strings(page.data):
        assert not _UNSEEN.search(value)


@given(st.recursive(ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)))
def test_json_in_a_page_holds_no_markup_and_is_the_same_value(value: object) -> None:
    text = block_json(value)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == value


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in _strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in _strings(one)]
    return []
