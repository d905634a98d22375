"""The doctor: what it counts, what it leaves alone, what it refuses."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import pytest
from conversations import MAKERS, conversation, results
from sdk_checks import CHECKS

from toolflow.errors import TurnError, UsageError
from toolflow.formats import FORMATS, read_turns
from toolflow.formats.doctor import examine
from toolflow.formats.repair import repair

ROWS = [[("a", "read"), ("b", "write")], [("a", "read")]]
NAMES = sorted(MAKERS)


def test_every_format_with_conversations_has_a_layout_and_is_tested():
    talking = {name for name, form in FORMATS.items() if form.steps is not None}

    assert {name for name, form in FORMATS.items() if form.layout is not None} == talking
    assert {maker.form for maker in MAKERS.values()} == talking == CHECKS.keys()


@pytest.mark.parametrize("name", NAMES)
def test_a_report_counts_what_is_there(name):
    maker = MAKERS[name]

    report = examine(conversation(maker, ROWS), format=maker.form)

    assert (report.format, report.turns, report.calls, report.results) == (maker.form, 2, 3, 3)
    assert report.valid


@pytest.mark.parametrize("name", [n for n in NAMES if n != "ollama"])
def test_what_is_mended_passes_the_types_of_the_sdk(name):
    maker = MAKERS[name]
    messages = conversation(maker, [*ROWS, [("x", "read"), ("é", "write"), ("", "read")]])
    places = results(maker, messages)
    place = places[0]
    messages.append(copy.deepcopy(messages[place.message]))  # results once more, at the end
    for place in reversed([p for p in places if p.message == places[0].message][1:]):
        del place.holder[place.index]

    repaired = repair(messages, format=maker.form, whole=True)

    assert repaired.changes
    assert repaired.left == ()
    CHECKS[maker.form](repaired.messages)


@pytest.mark.parametrize("name", NAMES)
def test_the_last_turn_is_left_alone_where_nothing_follows_it(name):
    maker = MAKERS[name]
    messages = [maker.user, *maker.make([("a", "read"), ("b", "write")])]
    for place in reversed(results(maker, messages)):
        del place.holder[place.index]
    if FORMATS[maker.form].layout.rule == "first":
        del messages[2:]

    assert examine(messages, format=maker.form).valid
    assert repair(messages, format=maker.form).messages == messages
    whole = repair(messages, format=maker.form, whole=True)
    assert len(examine(messages, format=maker.form, whole=True).findings) == 2
    assert len(results(maker, whole.messages)) == 2
    assert whole.messages[: len(messages)] == messages
    assert examine(whole.messages, format=maker.form, whole=True).valid


def test_ids_of_a_turn_that_is_still_to_be_run_are_told_and_left():
    (said, *_) = MAKERS["openai-chat"].make([("a", "read"), ("a", "read")])

    repaired = repair([said])

    assert (repaired.messages, repaired.changes) == ([said], ())
    assert [notice.code for notice in repaired.left] == ["doubled_id"] * 2


def test_a_turn_that_another_one_follows_at_once_lacks_its_results():
    maker = MAKERS["anthropic"]
    first, second = maker.make([("a", "read")])[0], maker.make([("b", "read")])

    report = examine([first, *second, maker.user])

    assert [(notice.code, notice.turn, notice.line) for notice in report.findings] == [
        ("no_result", "turn-1", 1)
    ]


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "bedrock", "gemini", "cohere"])
def test_readers_tell_of_a_turn_that_another_one_follows_at_once(name):
    maker = MAKERS[name]
    first, second = maker.make([("a", "read")])[0], maker.make([("b", "read")])

    one, other = read_turns([first, *second, maker.user], format=maker.form)

    assert [notice.code for notice in one.notices] == ["no_result"]
    assert other.notices == ()


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "bedrock", "gemini", "cohere"])
def test_a_result_behind_a_later_message_of_the_model_is_moved_to_its_turn(name):
    maker = MAKERS[name]
    said, answered = maker.make([("a", "read")])
    messages = [said, maker.answer, answered, maker.answer, maker.user]

    repaired = repair(messages, format=maker.form)

    assert "results_apart" in {n.code for n in examine(messages, format=maker.form).findings}
    assert repaired.messages[:2] == _bare(maker, [said, answered])
    assert examine(repaired.messages, format=maker.form, whole=True).valid


def _bare(maker: Any, messages: list[Any]) -> list[Any]:
    """The turn with nothing but results in its second message."""
    if maker.form == "anthropic":
        said, answered = messages
        return [said, {**answered, "content": answered["content"][:1]}]
    return messages


def test_bedrock_keeps_a_message_between_two_of_the_model():
    maker = MAKERS["bedrock"]
    stray = maker.make([("zz", "read")])[1]

    repaired = repair([maker.user, maker.answer, stray, maker.answer], format="bedrock")

    roles = [message["role"] for message in repaired.messages]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert [change.code for change in repaired.changes] == ["result_left_out"]
    CHECKS["bedrock"](repaired.messages)


def test_fields_of_messages_that_are_taken_apart_are_kept():
    maker = MAKERS["anthropic"]
    said, answered = maker.make([("é", "read")])
    said |= {"id": "msg_1", "type": "message", "model": "m", "stop_reason": "tool_use"}
    answered["content"][0]["cache_control"] = {"type": "ephemeral"}
    answered["x"] = 1

    mended = repair([said, answered, maker.user]).messages

    assert mended[0] == {**said, "content": [said["content"][0], {**said["content"][1], "id": "_"}]}
    assert mended[1] == {
        **answered,
        "content": [{**answered["content"][0], "tool_use_id": "_"}, answered["content"][1]],
    }


def test_a_whole_response_in_a_list_is_kept_unless_its_ids_are_refused():
    maker = MAKERS["openai-chat"]
    for call_id, changed in (("a", False), ("", True)):
        said, result = maker.make([(call_id, "read")])
        response = {"choices": [{"index": 0, "message": said, "finish_reason": "tool_calls"}]}
        mended = repair([maker.user, response, result, maker.user]).messages
        assert (mended[1] == response) is not changed
        assert mended[1].get("role") == ("assistant" if changed else None)
        assert examine(mended).valid


def test_batches_of_mcp_are_mended_message_by_message():
    requests = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "t"}} for n in (1, 2)
    ]
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
    stray = {"jsonrpc": "2.0", "id": 9, "result": {"content": []}}

    repaired = repair([requests, [answer, stray]])

    assert [(c.code, c.call) for c in repaired.changes] == [
        ("result_added", "2"),
        ("result_left_out", None),
    ]
    assert [message["id"] for message in repaired.messages[1:2]] == [2]
    assert repaired.messages[0] == requests
    assert repaired.messages[2:] == [[answer]]


def test_arguments_that_a_provider_refuses_are_dropped_and_others_are_left():
    maker = MAKERS["anthropic"]
    messages = [*maker.make([("a", "read")]), maker.user]
    messages[0]["content"][1]["input"] = "{"

    repaired = repair(messages)

    assert [change.code for change in repaired.changes] == ["arguments_dropped"]
    assert repaired.left == ()


@pytest.mark.parametrize("body", ["messages", "input"])
def test_the_body_of_a_request_is_examined_and_its_list_mended(body):
    maker = MAKERS["openai-chat" if body == "messages" else "openai-responses"]
    messages = conversation(maker, ROWS)

    assert examine({"model": "m", body: messages}).turns == 2
    assert repair({"model": "m", body: messages}).messages == messages


@pytest.mark.parametrize(
    ("given", "options", "error"),
    [
        ([], {}, TurnError),
        (7, {}, TurnError),
        ([{"calls": []}], {}, UsageError),
        ([{"role": "user"}], {"format": "morse"}, UsageError),
        ([{"role": "assistant", "tool_calls": 7}], {"format": "openai-chat"}, TurnError),
        ([{"role": "assistant", "content": [{}, 5]}], {"format": "anthropic"}, TurnError),
    ],
)
def test_what_is_no_conversation_is_refused_in_one_line_each(given, options, error):
    with pytest.raises(error) as told:
        examine(given, **options)
    assert all(line.isprintable() for line in str(told.value).splitlines())


def test_nesting_that_is_too_deep_is_refused():
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(TurnError, match="nested too deeply"):
        examine([{"role": "user", "content": deep}], format="openai-chat")


def test_objects_of_an_sdk_are_examined():
    chat = pytest.importorskip("openai.types.chat")
    said, result = MAKERS["openai-chat"].make([("a", "read")])
    message = chat.ChatCompletionMessage.model_validate(said)

    assert examine([message, result]).valid
    assert [n.code for n in examine([message, {"role": "user", "content": "x"}]).findings] == [
        "no_result"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_work_grows_with_the_conversation_and_not_faster(name):
    maker = MAKERS[name]
    spent = []
    for size in (100, 400):
        rows = [(f"c{n}", "read") for n in range(size)]
        messages = conversation(maker, [rows])
        for place in reversed(results(maker, messages)[::2]):
            del place.holder[place.index]
        spent.append(calls_of(lambda given=messages: repair(given, format=maker.form)))
    assert spent[1] < 5 * spent[0]


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called: the same each time, other than seconds."""
    count = 0

    def profile(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_a_result_of_no_call_inside_a_response_that_is_taken_apart_is_left_out():
    def shell(name: str) -> dict[str, Any]:
        return {"type": "shell_call", "call_id": name, "action": {"commands": ["ls"]}}

    told = {"type": "shell_call_output", "call_id": "other", "output": []}
    said = MAKERS["openai-responses"].answer
    response = {"object": "response", "output": [shell("x" * 70), told, said]}

    report = examine([response], format="openai-responses", whole=True)
    repaired = repair([response], format="openai-responses", whole=True)

    assert {notice.code for notice in report.findings} >= {"no_result"}
    assert told not in repaired.messages
    assert repaired.left == ()
    assert repair(repaired.messages, format="openai-responses", whole=True).changes == ()


def test_a_response_that_is_taken_apart_leaves_nothing_of_itself():
    said = {"role": "model", "parts": [{"functionCall": {"name": "", "args": {}}}]}
    response = {"candidates": [{"content": said}], "content": {"content": "odd"}}

    repaired = repair([response], format="gemini", whole=True)

    assert repaired.messages[0].keys() == {"role", "parts"}
    assert repair(repaired.messages, format="gemini", whole=True).changes == ()
