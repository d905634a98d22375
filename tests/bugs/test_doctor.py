"""Faults that real users met in stored conversations: each is found, and mended as it should be."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import MAKERS, Maker, results

from toolflow.formats import read_turns
from toolflow.formats.doctor import examine
from toolflow.formats.repair import LOST, repair


def found(messages: list[Any], **options: Any) -> list[tuple[str, str | None, str | None]]:
    return [(n.code, n.turn, n.call) for n in examine(messages, **options).findings]


def stopped(maker: Maker, *kept: int) -> list[Any]:
    """A turn of two calls of which only some have a result, then a person goes on."""
    messages = [maker.user, *maker.make([("r1", "read"), ("r2", "write")]), maker.user]
    for number, place in reversed(list(enumerate(results(maker, messages)))):
        if number not in kept:
            del place.holder[place.index]
    return [
        message for message in messages if message.get("content", message.get("parts", 0)) != []
    ]


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_b001_a_turn_that_was_cut_short_gets_one_result_more_and_loading_twice_adds_nothing(name):
    maker = MAKERS[name]
    messages = stopped(maker, 0)
    lost = "r2" if maker.ids else "call-2"
    real = results(maker, messages)[0]
    kept = real.holder[real.index]

    assert found(messages, format=maker.form) == [("no_result", "turn-1", lost)]
    once = repair(messages, format=maker.form)
    twice = repair(once.messages, format=maker.form)

    first, second = [place.holder[place.index] for place in results(maker, once.messages)]
    if name != "mcp":  # there results may come in any order
        assert (first, str(second).count(LOST.error or "")) == (kept, 1)
    else:
        assert (second, str(first).count(LOST.error or "")) == (kept, 1)
    assert [change.code for change in once.changes] == ["result_added"]
    assert (twice.messages, twice.changes) == (once.messages, ())


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_b003_a_call_that_a_user_interrupted_is_answered_before_what_the_user_says(name):
    maker = MAKERS[name]
    messages = stopped(maker)

    repaired = repair(messages, format=maker.form)

    assert [code for code, _, _ in found(messages, format=maker.form)] == ["no_result"] * 2
    assert examine(repaired.messages, format=maker.form, whole=True).valid
    assert len(results(maker, repaired.messages)) == 2
    if name == "bedrock":  # one message: the results first, then what the user said
        assert repaired.messages[-1]["content"][-1:] == maker.user["content"]
    else:
        assert repaired.messages[-1] == maker.user


def test_b007_results_that_stand_apart_and_behind_a_text_become_one_message():
    def use(call_id: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": call_id, "name": "t", "input": {}}

    def result(call_id: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": call_id, "content": call_id, "x": [1]}

    text = {"type": "text", "text": "wait"}
    assistant = {"role": "assistant", "content": [use("k1"), use("k2")]}
    messages = [
        assistant,
        {"role": "user", "content": [text, result("k1")]},
        {"role": "user", "content": [result("k2")]},
    ]

    assert found(messages) == [
        ("results_not_first", "turn-1", "k1"),
        ("results_apart", "turn-1", "k2"),
    ]
    assert repair(messages).messages == [
        assistant,
        {"role": "user", "content": [result("k1"), result("k2"), text]},
    ]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "cohere", "ollama"])
def test_b007_results_behind_another_message_are_put_straight_after_the_turn(name):
    maker = MAKERS[name]
    turn = maker.make([("k1", "read"), ("k2", "write")])
    messages = [*turn[:-1], maker.user, turn[-1], maker.user]

    assert [code for code, _, _ in found(messages, format=maker.form)] == ["results_apart"]
    assert repair(messages, format=maker.form).messages == [*turn, maker.user, maker.user]


def test_b008_a_picture_behind_the_responses_of_gemini_is_no_answer():
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    messages = MAKERS["gemini"].make([("a", "x"), ("b", "y"), ("c", "z")])
    answers = messages[1]["parts"]

    assert examine([messages[0], {"role": "user", "parts": [*answers, picture]}]).valid
    between = [messages[0], {"role": "user", "parts": [answers[0], picture, *answers[1:]]}]
    assert [code for code, _, _ in found(between)] == ["results_not_first"] * 2
    assert repair(between).messages == [
        messages[0],
        {"role": "user", "parts": answers},
        {"role": "user", "parts": [picture]},
    ]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "bedrock"])
def test_b009_two_calls_with_one_id_get_their_results_in_order_under_ids_of_their_own(name):
    maker = MAKERS[name]
    messages = [*maker.make([("run7", "echo"), ("run7", "echo")]), maker.user]
    told = [n for n in examine(messages, format=maker.form).findings if n.code == "doubled_id"]

    repaired = repair(messages, format=maker.form)

    assert [notice.call for notice in told] == ["call-1", "call-2"]
    (turn,) = read_turns(repaired.messages, format=maker.form)
    assert [call.id for call in turn.calls] == ["run7", "run7_2"]
    assert [change.code for change in repaired.changes] == ["id_rewritten"]
    assert len(results(maker, repaired.messages)) == 2
    assert examine(repaired.messages, format=maker.form).valid


def test_b009_one_result_for_two_calls_with_one_id_is_given_to_neither():
    maker = MAKERS["openai-chat"]
    said, first, _ = maker.make([("run7", "echo"), ("run7", "echo")])
    messages = [said, first, maker.user]

    codes = [code for code, _, _ in found(messages)]
    repaired = repair(messages)

    assert codes.count("result_without_call") == 1
    assert codes.count("no_result") == 2
    told = [place.holder[place.index]["content"] for place in results(maker, repaired.messages)]
    assert told == [LOST.error, LOST.error]


def test_b011_calls_without_an_id_keep_their_results_and_get_ids():
    maker = MAKERS["openai-chat"]
    messages = [*maker.make([("", "put"), ("", "put"), ("c9", "put")]), maker.user]

    repaired = repair(messages)

    ids = [call.id for call in read_turns(repaired.messages)[0].calls]
    places = results(maker, repaired.messages)
    assert ids[2] == "c9"
    assert len(set(ids)) == 3
    assert [place.holder[place.index]["tool_call_id"] for place in places] == ids
    assert [place.holder[place.index]["content"] for place in places] == [
        "result of ",
        "result of ",
        "result of c9",
    ]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "bedrock", "mcp"])
def test_b013_an_id_that_comes_back_unanswered_is_told_by_turn(name):
    maker = MAKERS[name]
    first = maker.make([("k1", "read")])
    second = [message for message in maker.make([("k1", "read")]) if not _answers(maker, message)]
    messages = [*first, maker.answer, maker.user, *second, maker.user]

    assert found(messages, format=maker.form) == [("no_result", "turn-2", "k1")]
    repaired = repair(messages, format=maker.form)
    assert repaired.messages[: len(first)] == first
    assert examine(repaired.messages, format=maker.form).valid


def _answers(maker: Maker, message: dict[str, Any]) -> bool:
    return bool(results(maker, [message]))


def test_b014_a_call_that_is_mentioned_in_the_content_too_is_one_call_with_one_result():
    maker = MAKERS["openai-chat"]
    said, result = maker.make([("c1", "read")])
    said["content"] = [{"type": "tool-call", "toolCallId": "c1", "toolName": "read", "args": {}}]

    report = examine([said, result, maker.user])

    assert (report.calls, report.results, report.findings) == (1, 1, ())


def test_b077_glued_arguments_are_told_and_kept():
    maker = MAKERS["openai-chat"]
    said, result = maker.make([("c1", "read")])
    said["tool_calls"][0]["function"]["arguments"] = '{"ns":"a"}{"ns":"b"}'
    messages = [said, result, maker.user]

    repaired = repair(messages)

    assert found(messages) == [("unreadable_arguments", "turn-1", "c1")]
    assert "two objects in one field" in examine(messages).findings[0].message
    assert (repaired.messages, repaired.changes) == (messages, ())
    assert [notice.code for notice in repaired.left] == ["unreadable_arguments"]


def test_b078_one_corrupt_argument_text_in_old_history_is_told_at_its_turn():
    maker = MAKERS["openai-chat"]
    messages = []
    for number in range(1, 10):
        messages += maker.make([(f"c{number}", "read")])
    messages[2]["tool_calls"][0]["function"]["arguments"] = '{"a":'

    assert found(messages) == [("unreadable_arguments", "turn-2", "c2")]


def test_b079_names_that_a_provider_refuses_are_told_and_rewritten():
    maker = MAKERS["anthropic"]
    messages = [*maker.make([("a", " read"), ("b", "fs.read")]), maker.user]

    repaired = repair(messages)

    assert [code for code, _, _ in found(messages)] == ["refused_name"] * 2
    assert [call.tool for call in read_turns(repaired.messages)[0].calls] == ["read", "fs_read"]
    assert examine(repaired.messages).valid


def test_b083_a_message_that_ended_for_calls_but_has_none_is_no_fault():
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [], "finish_reason": "tool_calls"},
        {"role": "user", "content": "y"},
    ]

    report = examine(messages)

    assert (report.turns, report.findings) == (0, ())
