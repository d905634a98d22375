from __future__ import annotations

import json

import pytest

from toolflow.errors import TurnError
from toolflow.formats import read_document, read_stream, read_turn, read_turns
from toolflow.formats.arguments import CUT_SHORT


def added(index: int, item: dict) -> dict:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: dict) -> dict:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def arguments(index: int, delta: str, item_id: str | None = None) -> dict:
    kind = "response.function_call_arguments.delta"
    return {"type": kind, "output_index": index, "delta": delta, "item_id": item_id}


def begun(call_id: str, **more: object) -> dict:
    item = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": "t"}
    return {**item, "arguments": "", "status": "in_progress", **more}


def whole(call_id: str, text: str) -> dict:
    return begun(call_id, arguments=text, status="completed")


def created(name: str = "r") -> dict:
    response = {"id": name, "object": "response", "status": "in_progress", "output": []}
    return {"type": "response.created", "response": response}


def completed(*output: dict, name: str = "r", kind: str = "completed", **more: object) -> dict:
    response = {"id": name, "object": "response", "status": kind, "output": list(output), **more}
    return {"type": f"response.{kind}", "response": response}


def numbered(*events: dict) -> list[dict]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


FULL = numbered(
    created(),
    added(0, begun("a")),
    arguments(0, '{"x"', "fc_a"),
    arguments(0, ": 1}", "fc_a"),
    done(0, whole("a", '{"x": 1}')),
    added(1, begun("b")),
    done(1, whole("b", "{}")),
    completed(whole("a", '{"x": 1}'), whole("b", "{}"), usage={"total_tokens": 9}),
)


def codes(turn) -> list[str]:
    return [notice.code for notice in turn.notices]


def test_the_last_event_holds_the_response():
    turn = read_stream(FULL, turn_id="t")

    assert (turn.id, turn.format, turn.message_id, turn.notices) == (
        "t",
        "openai-responses",
        "r",
        (),
    )
    assert turn.message == FULL[-1]["response"]["output"]
    assert turn.extra["usage"] == {"total_tokens": 9}
    assert [(call.id, dict(call.args)) for call in turn.calls] == [("a", {"x": 1}), ("b", {})]
    assert read_turn(FULL[-1]["response"]).calls == turn.calls


def test_the_text_of_a_stream_is_read_like_its_events():
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in FULL)

    assert read_document(text, source="s")[0].calls == read_stream(FULL).calls
    lines = "\n".join(map(json.dumps, FULL))
    assert read_document(lines, source="s")[0].calls == read_stream(FULL).calls


def test_an_end_without_items_leaves_what_the_events_told():
    turn = read_stream([*FULL[:-1], {**completed(), "sequence_number": 7}])

    assert turn.message == FULL[-1]["response"]["output"]
    assert codes(turn) == []


def test_a_stream_that_breaks_off_holds_what_came():
    for end in range(1, len(FULL)):
        turn = read_stream(FULL[:end])
        assert codes(turn)[0] == "no_end"
        assert all(call.problem or call.args == {"x": 1} or call.id == "b" for call in turn.calls)

    assert [call.problem for call in read_stream(FULL[:2]).calls] == [CUT_SHORT]
    assert "not JSON" in str(read_stream(FULL[:3]).calls[0].problem)
    assert read_stream(FULL[:4]).calls[0].args == {"x": 1}  # all that it said was there


def test_events_out_of_order_are_put_in_order_and_doubled_ones_count_once():
    mixed = [FULL[0], FULL[1], FULL[3], FULL[2], FULL[2], FULL[4], FULL[4]]

    turn = read_stream(mixed)

    assert codes(turn) == ["events_out_of_order", "doubled_event", "no_end"]
    assert turn.calls[0].args == {"x": 1}
    assert "2 events" in turn.notices[1].message


def test_events_without_numbers_are_read_as_they_come():
    plain = [{k: v for k, v in event.items() if k != "sequence_number"} for event in FULL[:-1]]

    assert codes(read_stream(plain)) == ["no_end"]
    assert [call.id for call in read_stream(plain).calls] == ["a", "b"]


def test_texts_reasoning_and_other_calls_are_put_together_too():
    events = [
        created(),
        added(0, {"type": "reasoning", "id": "rs", "summary": []}),
        {
            "type": "response.reasoning_summary_part.added",
            "item_id": "rs",
            "summary_index": 0,
            "part": {"type": "summary_text", "text": ""},
        },
        *[
            {
                "type": "response.reasoning_summary_text.delta",
                "item_id": "rs",
                "summary_index": 0,
                "delta": part,
            }
            for part in ("I ", "see")
        ],
        added(1, {"type": "message", "id": "m", "role": "assistant", "content": []}),
        {
            "type": "response.content_part.added",
            "item_id": "m",
            "content_index": 0,
            "part": {"type": "output_text", "text": "", "annotations": []},
        },
        {"type": "response.output_text.delta", "item_id": "m", "content_index": 0, "delta": "He"},
        {"type": "response.output_text.done", "item_id": "m", "content_index": 0, "text": "Hello"},
        added(2, {"type": "custom_tool_call", "id": "c", "call_id": "c", "name": "sql"}),
        {"type": "response.custom_tool_call_input.delta", "item_id": "c", "delta": "select 1"},
        added(3, {"type": "shell_call", "id": "s", "call_id": "s", "action": {}}),
        {"type": "response.shell_call_command.added", "output_index": 3, "command": ""},
        {"type": "response.shell_call_command.delta", "output_index": 3, "delta": "ls"},
        {
            "type": "response.shell_call_command.done",
            "output_index": 3,
            "command_index": 1,
            "command": "pwd",
        },
        added(4, {"type": "apply_patch_call", "call_id": "p", "operation": {"path": "a"}}),
        {
            "type": "response.apply_patch_call_operation_diff.delta",
            "output_index": 4,
            "delta": "+x",
        },
    ]

    turn = read_stream(events)

    assert turn.message == [
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "I see"}]},
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
        },
        {
            "type": "custom_tool_call",
            "id": "c",
            "call_id": "c",
            "name": "sql",
            "input": "select 1",
            "status": "in_progress",
        },
        {
            "type": "shell_call",
            "id": "s",
            "call_id": "s",
            "action": {"commands": ["ls", "pwd"]},
            "status": "in_progress",
        },
        {
            "type": "apply_patch_call",
            "call_id": "p",
            "operation": {"path": "a", "diff": "+x"},
            "status": "in_progress",
        },
    ]
    assert [call.problem for call in turn.calls] == [CUT_SHORT] * 3  # nobody knows what is missing


def test_an_item_id_that_is_another_in_each_event_is_overruled_by_the_index():
    turn = read_stream(
        [
            created(),
            added(0, begun("a", id="one")),
            arguments(0, "{}", "two"),
            done(0, {**whole("a", "{}"), "id": "three"}),
        ]
    )

    assert [(call.id, call.problem) for call in turn.calls] == [("a", None)]
    assert turn.message[0]["id"] == "three"


def test_an_index_that_is_always_0_is_overruled_by_the_ids():
    turn = read_stream(
        [
            created(),
            added(0, begun("a")),
            added(0, begun("b")),
            arguments(0, '{"x":1}', "fc_a"),
            arguments(0, '{"x":2}', "fc_b"),
            done(0, whole("a", '{"x":1}')),
            done(0, whole("b", '{"x":2}')),
        ]
    )

    assert [(call.id, dict(call.args)) for call in turn.calls] == [("a", {"x": 1}), ("b", {"x": 2})]


def test_items_that_only_end_are_there():
    turn = read_stream([created(), done(0, whole("a", "{}")), done(0, whole("b", "{}"))])

    assert [call.id for call in turn.calls] == ["a", "b"]


def test_another_response_in_the_stream_is_a_second_start():
    turn = read_stream([created(), added(0, begun("a")), created("r2"), done(0, whole("b", "{}"))])

    assert codes(turn) == ["second_start", "no_end"]
    assert (turn.message_id, [call.id for call in turn.calls]) == ("r2", ["b"])
    assert codes(read_stream([created(), created(), *FULL[1:]])) == []


def test_streams_one_after_another_are_turns_one_after_another():
    one = [created(), done(0, whole("a", "{}")), completed(whole("a", "{}"))]
    two = [created("r2"), done(0, whole("b", "{}")), completed(whole("b", "{}"), name="r2")]

    turns = read_turns([*numbered(*one), *numbered(*two)])

    assert [(turn.message_id, turn.calls[0].id) for turn in turns] == [("r", "a"), ("r2", "b")]
    assert all(turn.notices == () for turn in turns)


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (completed(whole("a", '{"x'), kind="incomplete"), ["cut_off"]),
        (completed(kind="failed", error={"message": "Oh."}), ["failed_response"]),
        ({"type": "error", "message": "Oh.", "code": "x"}, ["stream_error", "no_end"]),
        ({"type": "error", "error": {"message": "Oh."}}, ["stream_error", "no_end"]),
    ],
)
def test_other_endings_are_told(end, expected):
    turn = read_stream([created(), added(0, begun("a")), end])

    assert codes(turn) == expected
    assert turn.calls[0].problem


def test_torn_events_are_left_out_and_told():
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in FULL[:5])

    turn = read_stream([text + 'data: {"type": "resp'])

    assert codes(turn) == ["torn_event", "no_end"]
    assert turn.calls[0].args == {"x": 1}


@pytest.mark.parametrize("torn", [True, False])
def test_a_call_of_which_an_event_was_lost_does_not_run_unless_it_is_told_whole(torn):
    events = numbered(
        created(),
        added(0, begun("a")),
        arguments(0, '{"x": 1'),
        arguments(0, "0"),
        arguments(0, "}"),
        done(0, whole("a", '{"x": 10}')),
        completed(),
    )
    lossy = [*events[:3], *(["{"] if torn else []), *events[4:]]

    cut = read_stream(lossy[:-2])
    assert codes(cut) == ["torn_event" if torn else "missing_event", "no_end"]
    assert "are not JSON" in str(cut.calls[0].problem)
    assert read_turn(cut.message, format=cut.format).calls == cut.calls

    told_whole = read_stream(lossy)
    assert dict(told_whole.calls[0].args) == {"x": 10}


@pytest.mark.parametrize(
    ("spoiled", "problem"),
    [
        (5, "[1] is 5. Use an event: an object with a type."),
        (
            {"type": "response.output_item.added", "item": 5},
            "[1].item is 5. Use an item: an object with a type.",
        ),
        ({**arguments(0, "x"), "delta": 5}, "[1].delta is 5. Use text."),
    ],
)
def test_an_event_of_the_wrong_shape_is_refused_with_its_place(spoiled, problem):
    events = [added(0, begun("a")), spoiled]
    if isinstance(spoiled, dict) and "item" in spoiled:
        events = [created(), spoiled]

    with pytest.raises(TurnError) as caught:
        read_stream(events)

    assert [found.message for found in caught.value.problems] == [problem]


def test_an_index_without_bounds_makes_no_list_without_bounds():
    part = {"type": "response.content_part.added", "output_index": 0, "part": {"text": "x"}}
    message = {"type": "message", "role": "assistant", "content": []}

    turn = read_stream(
        [created(), added(0, message), *({**part, "content_index": 9 * 10**n} for n in range(9))]
    )

    assert len(turn.message[0]["content"]) == 10
