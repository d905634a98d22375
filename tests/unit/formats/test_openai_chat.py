from __future__ import annotations

import pytest

from toolflow.errors import TurnError
from toolflow.formats import read_turn, read_turns, write_turn
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")


def block(call_id: str, name: str = "read", arguments: object = "{}", **more: object) -> dict:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **more}


def message(*blocks: dict, **more: object) -> dict:
    return {"role": "assistant", "content": None, "tool_calls": list(blocks), **more}


def test_a_message_is_read_with_its_calls_in_order():
    given = message(block("c1", "read", '{"path": "a"}'), block("c2", "list"))

    turn = read_turn(given, turn_id="t")

    assert turn.id == "t"
    assert turn.format == "openai-chat"
    assert turn.message is given
    assert turn.calls == (Call(0, "c1", "read", {"path": "a"}), Call(1, "c2", "list"))
    assert turn.notices == ()
    assert turn.carries_ids


def test_a_whole_response_is_read_and_all_of_it_is_kept():
    usage = {"total_tokens": 9}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message(block("c1"))}
    response = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [choice],
        "usage": usage,
    }

    turn = read_turn(response)

    assert turn.message_id == "chatcmpl-1"
    assert turn.message == message(block("c1"))
    assert turn.extra == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "tool_calls"}],
        "usage": usage,
    }


def test_of_several_choices_the_first_is_read_and_the_others_are_kept_and_told():
    choices = [{"message": message(block("c1"))}, {"message": message(block("c2"))}]

    turn = read_turn({"choices": choices})

    assert [call.id for call in turn.calls] == ["c1"]
    assert turn.extra["choices"][1] == choices[1]
    assert [notice.code for notice in turn.notices] == ["more_choices"]


def test_the_last_assistant_message_of_a_list_is_the_turn():
    history = [
        {"role": "user", "content": "go"},
        message(block("c1")),
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
        message(block("c2")),
    ]

    assert [call.id for call in read_turn(history).calls] == ["c2"]
    assert [turn.calls[0].id for turn in read_turns(history)] == ["c1", "c2"]
    assert [turn.id for turn in read_turns(history)] == ["turn-1", "turn-2"]
    assert all(turn.notices == () for turn in read_turns(history))


def test_assistant_messages_without_calls_are_no_turns_of_a_list():
    history = [message(block("c1")), {"role": "assistant", "content": "done"}]

    assert len(read_turns(history)) == 1
    assert read_turn(history).calls == ()


def test_the_body_of_a_request_is_read_like_its_messages():
    assert read_turn({"model": "m", "messages": [message(block("c1"))]}).calls[0].id == "c1"


def test_unknown_fields_of_call_and_function_are_kept():
    given = block("c1", index=0)
    given["function"]["strict"] = True

    turn = read_turn(message(given))

    assert turn.calls[0].extra == {"index": 0, "function": {"strict": True}}
    assert turn.message["tool_calls"][0] is given


def test_arguments_that_are_an_object_already_are_taken():
    assert read_turn(message(block("c1", arguments={"a": 1}))).calls[0].args == {"a": 1}


def test_a_custom_tool_gets_its_text_as_input():
    custom = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}

    turn = read_turn(message(custom))

    assert turn.calls == (Call(0, "c1", "sql", {"input": "select 1"}, extra={"type": "custom"}),)
    assert write_turn(turn, [Outcome("ok", "1")])[0] == [message(custom)]


def test_a_missing_id_or_name_is_empty_and_the_call_stays():
    turn = read_turn(message({"function": {"arguments": "{}"}}))

    assert turn.calls == (Call(0, "", ""),)


def test_a_deprecated_function_call_is_told_and_not_run():
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}

    turn = read_turn(old)

    assert turn.calls == ()
    assert [notice.code for notice in turn.notices] == ["unread_call"]
    assert turn.message == old


def test_a_call_that_only_the_content_holds_is_told_and_not_run():
    part = {"type": "tool-call", "toolCallId": "c2", "toolName": "read", "args": {}}

    turn = read_turn(message(block("c1"), content=[part]))

    assert [call.id for call in turn.calls] == ["c1"]
    assert [notice.code for notice in turn.notices] == ["unread_call"]


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        (
            {"choices": []},
            ["choices is an empty list. Use a list with at least one choice."],
        ),
        (
            {"choices": [{"index": 0}]},
            [
                (
                    "choices[0].message is absent or null."
                    " Use a whole response; a chunk of a stream has no message."
                )
            ],
        ),
        ({"role": "user", "content": "x"}, ["role is 'user'. Use an assistant message."]),
        (
            {"role": "assistant", "tool_calls": "x"},
            ["tool_calls is 'x'. Use a list of calls."],
        ),
        (
            {"role": "assistant", "tool_calls": [5, {"id": 3, "function": {"name": []}}]},
            [
                "tool_calls[0] is 5. Use an object with id, type and function.",
                "tool_calls[1].id is 3. Use text.",
                "tool_calls[1].function.name is an empty list. Use text.",
            ],
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "function": None}]},
            ["tool_calls[0].function is absent or null. Use an object with name and arguments."],
        ),
        (
            [{"role": "assistant", "content": "x"}, 7],
            ["[1] is 7. Use a message: an object with a role."],
        ),
    ],
)
def test_a_message_of_the_wrong_shape_is_refused_with_every_problem(given, problems):
    with pytest.raises(TurnError) as caught:
        read_turn(given)

    assert [problem.message for problem in caught.value.problems] == problems


def test_each_call_gets_one_tool_message_and_pictures_stand_after_all():
    turn = read_turn(message(block("c1", "shot"), block("c2", "read"), block("c3", "shot")))
    outcomes = [
        Outcome("ok", images=(PNG, PNG)),
        Outcome("ok", {"lines": 3}),
        Outcome("failed", error="No screen.", images=(PNG,)),
    ]

    assistant, results = write_turn(turn, outcomes, texts=["And now?"])

    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert assistant == [turn.message]
    assert results == [
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "The picture follows after the results.",
        },
        {"role": "tool", "tool_call_id": "c2", "content": '{"lines": 3}'},
        {"role": "tool", "tool_call_id": "c3", "content": "No screen."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "2 pictures from the result of call c1 (shot):"},
                picture,
                picture,
                {"type": "text", "text": "Picture from the result of call c3 (shot):"},
                picture,
            ],
        },
        {"role": "user", "content": "And now?"},
    ]


def test_a_picture_that_no_provider_shows_is_named_in_the_text():
    turn = read_turn(message(block("c1")))

    _, results = write_turn(turn, [Outcome("ok", "x", images=(Image("image/tiff", "AA=="),))])

    assert results == [
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "x\n[A picture of type image/tiff cannot be shown.]",
        }
    ]


def test_ids_and_names_that_the_provider_refuses_are_rewritten_on_both_sides():
    turn = read_turn(message(block("", " read"), block("d", ""), block("d", "a b")))

    assistant, results = write_turn(turn, [Outcome("ok", "1")] * 3)

    written = assistant[0]["tool_calls"]
    assert [part["id"] for part in written] == ["call", "d", "d_2"]
    assert [part["function"]["name"] for part in written] == ["read", "unnamed", "a_b"]
    assert [result["tool_call_id"] for result in results] == ["call", "d", "d_2"]
    assert [call.id for call in turn.calls] == ["", "d", "d"]
    assert turn.message["tool_calls"][0]["id"] == ""


def test_a_turn_without_a_message_is_written_from_its_calls():
    calls = (Call(0, "c1", "read", {"p": "é"}), Call(1, "c2", "x", raw="{", problem="broken"))
    turn = Turn("t", calls, "openai-chat")

    assistant, _ = write_turn(turn, [Outcome("ok", ""), Outcome("invalid_arguments", error="no")])

    assert assistant == [message(block("c1", "read", '{"p": "é"}'), block("c2", "x", "{"))]


def test_half_characters_in_a_result_are_replaced():
    turn = read_turn(message(block("c1")))

    _, results = write_turn(turn, [Outcome("ok", "x\ud83dy")], texts=["\udc00"])

    assert [result["content"] for result in results] == ["x\ufffdy", "\ufffd"]
