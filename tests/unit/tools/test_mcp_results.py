"""Results of servers as outcomes."""

from __future__ import annotations

import pytest
from mcp_servers import needs_mcp

from toolflow.model import Image, Outcome

pytestmark = needs_mcp

DATA = "iVBORw0KGgo="


def outcome(**result):
    from mcp.types import CallToolResult

    from toolflow.tools.mcp.results import outcome_of_result

    return outcome_of_result(CallToolResult.model_validate({"content": [], **result}))


def text(said):
    return {"type": "text", "text": said}


def test_texts_are_joined():
    assert outcome(content=[text("a"), text("b")]) == Outcome("ok", "a\nb")


def test_nothing_is_nothing():
    assert outcome() == Outcome("ok")


def test_an_error_is_a_failure_with_the_servers_words():
    assert outcome(content=[text("No such page.")], isError=True) == Outcome(
        "failed", error="No such page."
    )


def test_an_error_without_words_is_told_all_the_same():
    told = "The tool failed, and its server does not say why."
    assert outcome(isError=True) == Outcome("failed", error=told)


def test_an_error_keeps_its_structured_value():
    found = outcome(content=[text("bad")], structuredContent={"code": 4}, isError=True)
    assert found == Outcome("failed", {"code": 4}, "bad")


@pytest.mark.parametrize(
    ("structured", "texts", "value"),
    [
        ({"city": "Rome", "degrees": 21.5}, ['{"degrees": 21.5, "city": "Rome"}'], None),
        ({"result": 3}, ["3"], 3),
        ({"result": "three"}, ["three"], "three"),
        ({"result": ["Ada", "Grace"]}, ["Ada", "Grace"], ["Ada", "Grace"]),
        ({"result": [{"a": 1}]}, ['{"a": 1}'], [{"a": 1}]),
        ({"result": 3}, ['{"result": 3}'], 3),
        ({"result": None}, [], "nothing"),
        ({"a": None}, [], None),
    ],
)
def test_a_structured_value_is_the_value_and_texts_that_say_the_same_are_dropped(
    structured, texts, value
):
    found = outcome(content=[text(one) for one in texts], structuredContent=structured)
    wanted = structured if value is None else None if value == "nothing" else value
    assert found == Outcome("ok", wanted)


def test_a_text_that_says_something_else_is_kept_as_a_note():
    found = outcome(content=[text("It is warm.")], structuredContent={"degrees": 21.5})
    assert found == Outcome("ok", {"degrees": 21.5}, note="The server's text: It is warm.")


def test_an_object_with_more_than_a_result_is_not_opened():
    both = {"result": 1, "more": 2}
    assert outcome(structuredContent=both).value == both


def test_pictures_go_to_the_images():
    found = outcome(content=[text("x"), {"type": "image", "data": DATA, "mimeType": "image/png"}])
    assert found == Outcome("ok", "x", images=(Image("image/png", DATA),))


def test_other_content_is_a_text_that_tells_of_it():
    found = outcome(
        content=[
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "name": "notes", "uri": "file:///notes.txt"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "the notes"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
            {
                "type": "resource",
                "resource": {"uri": "file:///c", "blob": DATA, "mimeType": "image/png"},
            },
        ]
    )
    assert found.value.split("\n") == [
        "<sound left out: audio/wav, 3 bytes>",
        "notes <file:///notes.txt>",
        "the notes",
        "file:///b: <file left out: application/octet-stream, 3 bytes>",
    ]
    assert found.images == (Image("image/png", DATA),)
