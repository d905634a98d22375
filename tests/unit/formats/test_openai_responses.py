from __future__ import annotations

import pytest

from toolflow.errors import TurnError
from toolflow.formats import FORMATS, detect, read_document, read_turn, read_turns, write_turn
from toolflow.formats.arguments import CUT_SHORT
from toolflow.formats.base import Answer, Misfit
from toolflow.model import Call, Image, Outcome, Turn

NAME = "openai-responses"
PNG = Image("image/png", "iVBORw0KGgo=")
URL = "data:image/png;base64,iVBORw0KGgo="
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Well.", "annotations": []}],
}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}
ASKED = {"role": "user", "content": "go"}


def function(call_id: str, name: object = "read", arguments: object = "{}", **more: object) -> dict:
    item = {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}
    return {**item, **more}


def answer(call_id: str, output: object = "x", **more: object) -> dict:
    return {"type": "function_call_output", "call_id": call_id, "output": output, **more}


def response(*output: dict, **more: object) -> dict:
    return {"id": "resp_1", "object": "response", "output": list(output), **more}


def codes(turn: Turn) -> list[str]:
    return [notice.code for notice in turn.notices]


def test_a_response_is_one_turn_with_its_items_in_order():
    items = [
        REASONING,
        function("c1", "read", '{"p": "a"}', id="fc_1", status="completed"),
        SAID,
        function("c2", "list"),
    ]

    turn = read_turn(response(*items, usage={"total_tokens": 9}), turn_id="t")

    assert (turn.id, turn.format, turn.message_id) == ("t", NAME, "resp_1")
    assert turn.calls == (
        Call(0, "c1", "read", {"p": "a"}, extra={"id": "fc_1", "status": "completed"}),
        Call(1, "c2", "list"),
    )
    assert turn.message == items
    assert turn.extra == {"id": "resp_1", "object": "response", "usage": {"total_tokens": 9}}
    assert turn.notices == ()
    assert write_turn(turn, [Outcome("ok", "1"), Outcome("ok", {"a": 1})]) == (
        items,
        [answer("c1", "1"), answer("c2", '{"a": 1}')],
    )


def test_calls_of_the_provider_are_kept_and_not_run():
    shell = {
        "type": "shell_call",
        "call_id": "s1",
        "action": {"commands": ["ls"]},
        "environment": {"type": "container_reference", "container_id": "x"},
    }
    told = {"type": "shell_call_output", "call_id": "s1", "output": []}
    found = {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {}}
    tools = {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": []}
    kinds = ["file_search_call", "code_interpreter_call", "mcp_call", "image_generation_call"]
    own = [SEARCH, *({"type": kind, "id": kind} for kind in kinds), shell, told, found, tools]

    for given in (response(*own, function("c1")), [ASKED, *own, function("c1")]):
        turn = read_turn(given)
        assert [call.id for call in turn.calls] == ["c1"]
        assert turn.message == [*own, function("c1")]
        assert codes(turn) == []


def test_a_call_that_is_answered_in_its_own_response_was_run_by_the_provider():
    turn = read_turn(response(function("c1"), answer("c1"), function("c2")))

    assert [call.id for call in turn.calls] == ["c2"]
    assert len(write_turn(turn, [Outcome("ok", "x")])[0]) == 3


def test_every_kind_of_call_for_the_client_gets_arguments_and_a_result_of_its_own():
    items = [
        {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select 1"},
        {"type": "local_shell_call", "call_id": "b", "action": {"command": ["ls"]}},
        {
            "type": "shell_call",
            "call_id": "c",
            "action": {"commands": ["ls"], "max_output_length": 99},
            "environment": {"type": "local"},
        },
        {"type": "apply_patch_call", "call_id": "d", "operation": {"path": "a", "diff": "+x"}},
        {"type": "computer_call", "call_id": "e", "action": {"type": "screenshot"}},
        {
            "type": "tool_search_call",
            "call_id": "f",
            "execution": "client",
            "arguments": {"q": "x"},
        },
    ]

    turn = read_turn(response(*items))
    assistant, results = write_turn(
        turn,
        [
            Outcome("ok", "1"),
            Outcome("ok", "a.txt"),
            Outcome("ok", {"stdout": "a", "stderr": "b", "exit_code": 3}),
            Outcome("ok", "Done."),
            Outcome("ok", "Clicked.", images=(PNG,)),
            Outcome("ok", [{"type": "function", "name": "t"}]),
        ],
    )

    assert [(call.tool, dict(call.args)) for call in turn.calls] == [
        ("sql", {"input": "select 1"}),
        ("local_shell", {"command": ["ls"]}),
        ("shell", {"commands": ["ls"], "max_output_length": 99}),
        ("apply_patch", {"path": "a", "diff": "+x"}),
        ("computer", {"action": {"type": "screenshot"}}),
        ("tool_search", {"q": "x"}),
    ]
    assert assistant == items
    ending = {"type": "exit", "exit_code": 3}
    assert results == [
        {"type": "custom_tool_call_output", "call_id": "a", "output": "1"},
        {"type": "local_shell_call_output", "id": "b", "call_id": "b", "output": "a.txt"},
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "a", "stderr": "b", "outcome": ending}],
            "max_output_length": 99,
        },
        {
            "type": "apply_patch_call_output",
            "call_id": "d",
            "status": "completed",
            "output": "Done.",
        },
        {
            "type": "computer_call_output",
            "call_id": "e",
            "output": {"type": "computer_screenshot", "image_url": URL},
        },
        {
            "type": "tool_search_output",
            "call_id": "f",
            "execution": "client",
            "status": "completed",
            "tools": [{"type": "function", "name": "t"}],
        },
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "Call e (computer): Clicked."}],
        },
    ]


def test_pictures_stand_inside_results_that_take_them_and_else_after_all_results():
    patch = {"type": "apply_patch_call", "call_id": "b", "operation": {"path": "a"}}
    turn = read_turn(response(function("a"), patch, function("c")))
    seen = Outcome("ok", "x", images=(PNG, Image("image/tiff", "AA==")))

    _, results = write_turn(
        turn, [seen, seen, Outcome("ok", "", images=(PNG,))], texts=["And now?"]
    )

    picture = {"type": "input_image", "detail": "auto", "image_url": URL}
    text = "x\n[A picture of type image/tiff cannot be shown.]"
    assert results == [
        answer("a", [{"type": "input_text", "text": text}, picture]),
        {
            "type": "apply_patch_call_output",
            "call_id": "b",
            "status": "completed",
            "output": text,
        },
        answer("c", [picture]),
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Picture from the result of call b (apply_patch):"},
                picture,
            ],
        },
        {"role": "user", "content": "And now?"},
    ]


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome("ok", "x"), None),
        (Outcome("failed", error="x"), None),
        (Outcome("declined", error="x"), None),
        (Outcome("running", "x"), "in_progress"),
        (Outcome("aborted", error="x"), "incomplete"),
        (Outcome("not_started", error="x"), "incomplete"),
        (Outcome("timed_out", error="x"), "incomplete"),
        (Outcome("outcome_unknown", error="x"), "incomplete"),
    ],
)
def test_the_status_of_a_result_tells_whether_the_call_was_completed(outcome, status):
    _, (item,) = write_turn(read_turn(response(function("a"))), [outcome])

    assert item == answer("a", "x", **({"status": status} if status else {}))


@pytest.mark.parametrize(
    ("outcome", "entry"),
    [
        (Outcome("ok", "x"), ("x", "", {"type": "exit", "exit_code": 0})),
        (Outcome("failed", error="No."), ("", "No.", {"type": "exit", "exit_code": 1})),
        (Outcome("timed_out", "x", "Late."), ("", "Late.\nx", {"type": "timeout"})),
        (
            Outcome("ok", {"stdout": "x\ud800", "returncode": 2}),
            ("x\ufffd", "", {"type": "exit", "exit_code": 2}),
        ),
        (Outcome("ok", {"a": 1}), ('{"a": 1}', "", {"type": "exit", "exit_code": 0})),
    ],
)
def test_the_output_of_a_shell_call_is_an_entry_with_an_ending(outcome, entry):
    shell = {"type": "shell_call", "call_id": "a", "action": {"commands": ["ls"]}}

    _, (item,) = write_turn(read_turn(response(shell)), [outcome])

    assert item["output"] == [dict(zip(("stdout", "stderr", "outcome"), entry, strict=True))]


def test_entries_of_a_shell_call_are_written_as_the_tool_gave_them():
    shell = {"type": "shell_call", "call_id": "a", "action": {"commands": ["ls", "pwd"]}}
    ending = {"type": "exit", "exit_code": 0}
    entries = [{"stdout": text, "stderr": "", "outcome": ending} for text in "ab"]

    _, (item,) = write_turn(read_turn(response(shell)), [Outcome("ok", entries)])

    assert item["output"] == entries
    (step,) = FORMATS[NAME].steps([item])
    assert step == Answer("a", Outcome("ok", entries), 0)


def test_a_computer_call_without_a_picture_gets_a_blank_one_and_its_text_after():
    checks = [{"id": "sc_1", "code": "x", "message": "y"}]
    item = {
        "type": "computer_call",
        "call_id": "a",
        "actions": [{"type": "wait"}],
        "pending_safety_checks": checks,
    }

    turn = read_turn(response(item))
    _, refused = write_turn(turn, [Outcome("declined", error="No.")])
    _, done = write_turn(turn, [Outcome("ok", images=(PNG,))])

    assert codes(turn) == ["safety_check"]
    assert dict(turn.calls[0].args) == {
        "actions": [{"type": "wait"}],
        "pending_safety_checks": checks,
    }
    assert refused[0]["output"]["image_url"].startswith("data:image/png;base64,")
    assert "acknowledged_safety_checks" not in refused[0]
    assert refused[1]["content"] == [{"type": "input_text", "text": "Call a (computer): No."}]
    assert done[0]["acknowledged_safety_checks"] == checks
    assert len(done) == 1


def test_the_context_of_a_call_is_given_back_with_its_result():
    caller = {"type": "program", "caller_id": "p"}

    _, (item,) = write_turn(read_turn(response(function("a", caller=caller))), [Outcome("ok", "x")])

    assert item["caller"] == caller


def test_a_conversation_is_cut_where_only_a_client_speaks():
    items = [
        {"role": "developer", "content": "rules"},
        ASKED,
        REASONING,
        function("c1"),
        function("c2"),
        answer("c1"),
        answer("c2"),
        SAID,
        ASKED,
        {"role": "assistant", "content": "ok"},
        function("c1"),
    ]

    turns = read_turns(items)

    assert [[call.id for call in turn.calls] for turn in turns] == [["c1", "c2"], ["c1"]]
    assert turns[0].message == items[2:5]
    assert turns[1].message == items[9:]
    assert all(turn.notices == () for turn in turns)
    assert read_turn({"model": "m", "input": items}).calls == turns[1].calls
    assert read_turns([response(function("c1")), answer("c1"), function("c2")])[1].calls[0].id == (
        "c2"
    )


def test_results_that_are_missing_or_have_no_call_are_told():
    items = [function("c1"), function("c2"), answer("c1"), answer("c9"), answer("c1"), ASKED]

    assert codes(read_turn(items)) == ["no_result", "doubled_result", "result_without_call"]
    assert codes(read_turn([function("c1"), ASKED, answer("c1")])) == ["results_apart"]


def test_steps_walk_a_conversation():
    picture = {"type": "input_image", "image_url": URL}
    items = [
        ASKED,
        REASONING,
        function("a"),
        function("b"),
        answer("a", [{"type": "input_text", "text": "x"}, picture]),
        5,
        answer("b", "late", status="incomplete"),
        SAID,
        response(function("c")),
        answer("c", "x", status="in_progress"),
        {"type": "custom_tool_call_output", "call_id": "d", "output": "y"},
        {"type": "apply_patch_call_output", "call_id": "e", "status": "failed", "output": "no"},
        {"type": "local_shell_call_output", "id": "f", "output": "z"},
        {
            "type": "computer_call_output",
            "call_id": "g",
            "output": {"type": "computer_screenshot", "image_url": URL},
        },
        {
            "type": "shell_call_output",
            "call_id": "h",
            "output": [{"outcome": {"type": "timeout"}}],
        },
        {"type": "tool_search_output", "call_id": "i", "execution": "client", "tools": []},
    ]

    steps = list(FORMATS[NAME].steps(items))

    assert [
        [call.id for call in step.calls] if isinstance(step, Turn) else (step.call_id, step.place)
        for step in steps
    ] == [
        ["a", "b"],
        ("a", 4),
        ("b", 6),
        [],
        ["c"],
        ("c", 9),
        ("d", 10),
        ("e", 11),
        ("f", 12),
        ("g", 13),
        ("h", 14),
        ("i", 15),
    ]
    found = {step.call_id: step.outcome for step in steps if isinstance(step, Answer)}
    assert found == {
        "a": Outcome("ok", "x", images=(PNG,)),
        "b": Outcome("aborted", None, "late"),
        "c": Outcome("running", "x"),
        "d": Outcome("ok", "y"),
        "e": Outcome("failed", error="no"),
        "f": Outcome("ok", "z"),
        "g": Outcome("ok", images=(PNG,)),
        "h": Outcome("timed_out", [{"outcome": {"type": "timeout"}}], "A command ran out of time."),
        "i": Outcome("ok", []),
    }
    with pytest.raises(Misfit, match=r"\[1\]\.name is 5"):
        list(FORMATS[NAME].steps([ASKED, function("a", 5)]))


def test_what_is_odd_about_a_response_is_told():
    asks = {"type": "mcp_approval_request", "id": "m", "name": "pay", "server_label": "bank"}
    unknown = {"type": "teleport_call", "call_id": "x"}

    turn = read_turn(
        response(
            asks,
            unknown,
            function("a", arguments="", status="incomplete"),
            status="failed",
            error={"code": "server_error", "message": "Oh."},
        )
    )

    told = {notice.code: notice.message for notice in turn.notices}
    assert list(told) == ["failed_response", "cut_off", "approval_request", "unread_call"]
    assert told["failed_response"] == "The response did not succeed ('Oh.')."
    assert "'pay' of the MCP server 'bank'" in told["approval_request"]
    assert "'teleport_call'" in told["unread_call"]
    assert turn.calls[0].problem == CUT_SHORT
    assert turn.message[0] is asks


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        ("", "completed", None),
        (None, "completed", None),
        ("", "in_progress", CUT_SHORT),
        ("{}", "incomplete", None),
    ],
)
def test_a_function_without_arguments_runs_only_if_it_is_whole(arguments, status, problem):
    item = function("a", arguments=arguments, status=status)

    assert read_turn(response(item)).calls[0].problem == problem


def test_a_shell_call_without_an_action_is_not_run():
    turn = read_turn(response({"type": "shell_call", "call_id": "a"}))

    assert turn.calls[0].problem == "The call has no action. Give an object under action."


def test_ids_names_and_arguments_that_the_provider_refuses_are_rewritten():
    items = [
        function("", " fs.read", {"a": 1}),
        {"type": "custom_tool_call", "call_id": "d", "name": "", "input": "x"},
        function("d" * 70, "ok", None),
        function("d", "ok", 5),
    ]

    assistant, results = write_turn(read_turn(response(*items)), [Outcome("ok", "x")] * 4)

    assert [item["call_id"] for item in assistant] == ["call", "d", "d" * 64, "d_2"]
    assert [item["call_id"] for item in results] == ["call", "d", "d" * 64, "d_2"]
    assert [item["name"] for item in assistant] == ["fs_read", "unnamed", "ok", "ok"]
    assert [item.get("arguments") for item in assistant] == ['{"a": 1}', None, "{}", "5"]


def test_a_turn_without_a_message_is_written_from_its_calls():
    calls = (
        Call(0, "a", "read", {"p": "é"}),
        Call(1, "b", "x", raw="{", problem="broken"),
        Call(2, "c", "sql", {"input": "s"}, extra={"type": "custom_tool_call"}),
        Call(3, "d", "shell", {"commands": []}, extra={"type": "shell_call"}),
        Call(4, "e", "computer", {"action": {}}, extra={"type": "computer_call"}),
        Call(5, "f", "tool_search", {}, extra={"type": "tool_search_call"}),
    )

    assistant, results = write_turn(Turn("t", calls, NAME), [Outcome("ok", "")] * 6)

    assert assistant[:2] == [function("a", "read", '{"p": "é"}'), function("b", "x", "{")]
    again = read_turn(assistant)
    assert [(call.id, call.tool, dict(call.args)) for call in again.calls] == [
        (call.id, call.tool, dict(call.args)) for call in calls
    ]
    assert [item["call_id"] for item in results] == list("abcdef")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (response(), True),
        ({"output": [function("a")]}, True),
        (function("a"), True),
        (answer("a"), True),
        (REASONING, True),
        ([ASKED, function("a")], True),
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, True),
        ([ASKED, {"role": "assistant", "content": "x"}], False),
        ({"output": []}, False),
        ({"type": "reasoning", "text": "x"}, False),
        ({"role": "assistant", "content": [{"type": "function_call", "call_id": "a"}]}, False),
    ],
)
def test_only_positive_evidence_makes_it_this_format(data, found):
    assert FORMATS[NAME].recognise(data) is found
    if found:
        assert detect(data) == NAME


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        (response(5), ["output[0] is 5. Use an item: an object with a type."]),
        ({"object": "response", "output": 5}, ["output is 5. Use a list of items."]),
        (
            response(function(5, [])),
            ["output[0].call_id is 5. Use text.", "output[0].name is an empty list. Use text."],
        ),
        ([function("a"), 7], ["[1] is 7. Use an item: an object with a type."]),
        (function(5), ["call_id is 5. Use text."]),
        (
            answer("a"),
            [
                (
                    "the message is an object with the keys 'type', 'call_id', 'output'."
                    " Use a response, its items, or an item of the model."
                )
            ],
        ),
    ],
)
def test_a_response_of_the_wrong_shape_is_refused_with_every_problem(given, problems):
    with pytest.raises(TurnError) as caught:
        read_turn(given)

    assert [problem.message for problem in caught.value.problems] == problems


def test_a_problem_in_a_file_is_told_at_its_line():
    with pytest.raises(TurnError) as caught:
        read_document('{"input": [\n{"type": "function_call", "call_id": 5}]}', source="f")

    assert str(caught.value) == "f:2:38: [0].call_id is 5. Use text."
