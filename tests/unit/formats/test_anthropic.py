from __future__ import annotations

import pytest

from toolflow.errors import TurnError
from toolflow.formats import read_turn, read_turns, write_turn
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")


def use(call_id: str, name: str = "read", given: object = None, **more: object) -> dict:
    given = {} if given is None else given
    return {"type": "tool_use", "id": call_id, "name": name, "input": given, **more}


def message(*blocks: dict, **more: object) -> dict:
    return {"role": "assistant", "content": list(blocks), **more}


def result(call_id: str, content: object = "x") -> dict:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def user(*blocks: dict) -> dict:
    return {"role": "user", "content": list(blocks)}


def test_a_message_is_read_with_its_calls_in_order():
    text = {"type": "text", "text": "Let me see."}
    given = message(text, use("t1", given={"path": "a"}), use("t2", "list"))

    turn = read_turn(given)

    assert turn.format == "anthropic"
    assert turn.message is given
    assert turn.calls == (Call(0, "t1", "read", {"path": "a"}), Call(1, "t2", "list"))
    assert turn.extra == {}


def test_a_response_is_cut_into_what_may_be_sent_back_and_the_rest():
    more = {
        "id": "msg_1",
        "type": "message",
        "model": "m",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"output_tokens": 3},
    }

    turn = read_turn({**message(use("t1")), **more})

    assert turn.message == message(use("t1"))
    assert turn.message_id == "msg_1"
    assert turn.extra == more


def test_a_response_with_text_only_is_a_turn_without_calls():
    given = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi"}]}

    turn = read_turn(given)

    assert (turn.format, turn.calls) == ("anthropic", ())
    assert write_turn(turn, []) == ([{"role": "assistant", "content": given["content"]}], [])


def test_calls_that_the_provider_runs_itself_are_no_calls_of_the_turn():
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}

    turn = read_turn(message(own, use("t1")))

    assert [call.id for call in turn.calls] == ["t1"]
    assert turn.message["content"][0] is own


def test_unknown_fields_of_a_block_are_kept():
    turn = read_turn(message(use("t1", caller={"type": "direct"})))

    assert turn.calls[0].extra == {"caller": {"type": "direct"}}


def test_input_that_is_no_object_is_a_problem_of_its_call():
    turn = read_turn(message(use("t1", given=[1]), use("t2", given='{"a":1}'), use("t3")))

    assert [call.problem is None for call in turn.calls] == [False, True, True]
    assert turn.calls[0].raw == "[1]"
    assert turn.calls[1].args == {"a": 1}


def test_a_message_cut_off_at_its_token_limit_is_told():
    turn = read_turn(message(use("t1"), stop_reason="max_tokens"))

    assert [notice.code for notice in turn.notices] == ["cut_off"]


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        (user(result("t1")), ["role is 'user'. Use an assistant message."]),
        (
            message(use("t1"), 5, use(3, [])),  # type: ignore[arg-type]
            [
                "content[1] is 5. Use a block: an object with a type.",
                "content[2].id is 3. Use text.",
                "content[2].name is an empty list. Use text.",
            ],
        ),
        (
            [message(use("t1")), "x"],
            ["[1] is 'x'. Use a message: an object with role and content."],
        ),
    ],
)
def test_a_message_of_the_wrong_shape_is_refused_with_every_problem(given, problems):
    with pytest.raises(TurnError) as caught:
        read_turn(given)

    assert [problem.message for problem in caught.value.problems] == problems


def test_content_that_is_no_list_is_refused():
    with pytest.raises(TurnError, match=r"content is 5\. Use text or a list of blocks\."):
        read_turn({"role": "assistant", "content": 5}, format="anthropic")


def test_results_stand_first_in_call_order_in_one_user_message():
    turn = read_turn(message(use("t1"), use("t2"), use("t3")))
    outcomes = [
        Outcome("ok", "see", images=(PNG,)),
        Outcome("failed", "half", "It broke.", images=(PNG,)),
        Outcome("ok", images=(PNG,)),
    ]

    assistant, results = write_turn(turn, outcomes, texts=["And now?", " "])

    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    assert assistant == [turn.message]
    assert results == [
        user(
            result("t1", [{"type": "text", "text": "see"}, picture]),
            {**result("t2", "It broke.\nhalf"), "is_error": True},
            result("t3", [picture]),
            {"type": "text", "text": "Picture from the result of call t2 (read):"},
            picture,
            {"type": "text", "text": "And now?"},
        )
    ]


@pytest.mark.parametrize(
    ("status", "marked"),
    [
        ("ok", False),
        ("running", False),
        ("failed", True),
        ("timed_out", True),
        ("aborted", True),
        ("not_started", True),
        ("skipped", True),
        ("declined", True),
        ("denied", True),
        ("invalid_id", True),
        ("invalid_arguments", True),
        ("unknown_tool", True),
        ("lock_cycle", True),
        ("held", True),
        ("outcome_unknown", True),
    ],
)
def test_all_endings_but_ok_and_running_are_marked_as_errors(status, marked):
    turn = read_turn(message(use("t1")))

    _, results = write_turn(turn, [Outcome(status, error="why")])

    assert results[0]["content"][0].get("is_error", False) is marked


def test_ids_names_and_inputs_that_the_api_refuses_are_rewritten():
    turn = read_turn(message(use("run:7", " fs.read "), use("run:7", "", [1]), use("ok")))

    assistant, results = write_turn(turn, [Outcome("ok", "1")] * 3)

    assert assistant[0]["content"] == [
        use("run_7", "fs_read"),
        use("run_7_2", "unnamed", {}),
        use("ok"),
    ]
    assert [part["tool_use_id"] for part in results[0]["content"]] == ["run_7", "run_7_2", "ok"]
    assert turn.message["content"][0]["id"] == "run:7"


def test_a_turn_without_a_message_is_written_from_its_calls():
    turn = Turn("t", (Call(0, "t1", "read", {"p": 1}),), "anthropic")

    assistant, _ = write_turn(turn, [Outcome("ok", "")])

    assert assistant == [message(use("t1", "read", {"p": 1}))]


def test_a_history_in_good_order_has_no_notices():
    history = [
        user({"type": "text", "text": "go"}),
        message(use("t1"), use("t2")),
        user(result("t2"), result("t1"), {"type": "text", "text": "more"}),
        message(use("t1")),
        user(result("t1")),
        message(use("t9")),
    ]

    assert [turn.notices for turn in read_turns(history)] == [(), (), ()]


@pytest.mark.parametrize(
    ("after", "codes"),
    [
        ([user(result("t1"))], {"no_result"}),
        ([user(result("t1"), result("t2"), result("t2"))], {"doubled_result"}),
        ([user(result("t1"), result("t2"), result("zz"))], {"result_without_call"}),
        ([user(result("t1")), user(result("t2"))], {"results_apart"}),
        (
            [{"role": "user", "content": "wait"}, user(result("t1"), result("t2"))],
            {"results_apart"},
        ),
        (
            [user({"type": "text", "text": "x"}, result("t1"), result("t2"))],
            {"results_not_first"},
        ),
    ],
)
def test_results_that_stand_wrong_are_told(after, codes):
    (turn,) = read_turns([message(use("t1"), use("t2")), *after])

    assert {notice.code for notice in turn.notices} == codes
    assert {notice.turn for notice in turn.notices} == {"turn-1"}


def test_a_result_before_any_call_is_told_with_the_first_turn():
    (turn,) = read_turns([user(result("old")), message(use("t1"))])

    assert [notice.code for notice in turn.notices] == ["result_without_call"]
