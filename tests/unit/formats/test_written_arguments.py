"""What stands as arguments in a message that goes back: what the provider takes, and nothing else.

A model or a server may give no arguments, ``null``, blank text, or a value of another kind. They
are read as ``{}`` or as a problem; the message that is written back has to be valid all the same.
"""

from __future__ import annotations

from typing import Any

import pytest
from sdk_types import CHECKS

from toolflow.formats import read_turn, write_turn
from toolflow.model import Call, Outcome, Turn

MISSING = object()


def message(form: str, given: Any) -> Any:
    """A message with one call that has something as arguments."""

    def body(key: str, **fields: Any) -> dict[str, Any]:
        return fields if given is MISSING else {**fields, key: given}

    function = body("arguments", name="read")
    blocks = {
        "openai-chat": {"tool_calls": [{"id": "a", "type": "function", "function": function}]},
        "cohere": {
            "tool_plan": "I will",
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        },
        "anthropic": {"content": [body("input", type="tool_use", id="a", name="read")]},
        "bedrock": {"content": [{"toolUse": body("input", toolUseId="a", name="read")}]},
    }
    if form in blocks:
        return {"role": "assistant", **blocks[form]}
    if form == "gemini":
        return {"role": "model", "parts": [{"functionCall": body("args", name="read")}]}
    if form == "mcp":
        params = body("arguments", name="read")
        return {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params}
    return [body("arguments", type="function_call", call_id="a", name="read")]


@pytest.mark.parametrize("form", CHECKS)
@pytest.mark.parametrize("given", [MISSING, None, "", " ", {}, {"x": 1}, 7, [1], True, "null", "{"])
def test_arguments_of_any_kind_are_written_as_the_provider_takes_them(form, given):
    turn = read_turn(message(form, given), format=form)

    assistant, results = write_turn(turn, [Outcome("ok", "x")])

    CHECKS[form](assistant, results)
    again = read_turn(assistant if form == "openai-responses" else assistant[0], format=form)
    assert again.calls[0].args == turn.calls[0].args
    assert write_turn(again, [Outcome("ok", "x")]) == (assistant, results)


@pytest.mark.parametrize("form", CHECKS)
def test_arguments_that_the_provider_takes_are_not_touched(form):
    text = form in ("openai-chat", "openai-responses", "cohere")
    sent = message(form, '{"x": 1}  ' if text else {"x": 1})

    assistant, _ = write_turn(read_turn(sent, format=form), [Outcome("ok", "x")])

    assert assistant == (sent if form == "openai-responses" else [sent])


def test_a_server_without_ids_gets_its_own_form_back_also_without_a_message():
    calls = (Call(0, "call-1", "read", {"x": 1}), Call(1, "call-2", "a b"))

    assistant, results = write_turn(
        Turn("t", calls, "openai-chat", carries_ids=False), [Outcome("ok", "x"), Outcome("ok", "y")]
    )

    said = [
        {"function": {"name": "read", "arguments": {"x": 1}}},
        {"function": {"name": "a_b", "arguments": {}}},
    ]
    assert assistant == [{"role": "assistant", "content": "", "tool_calls": said}]
    assert [result["tool_name"] for result in results] == ["read", "a_b"]
    assert not read_turn(assistant[0], format="openai-chat").carries_ids


def test_objects_stay_objects_for_the_server_that_takes_them():
    def sent(call_id: str) -> dict[str, Any]:
        call = {"id": call_id, "type": "function", "function": {"name": "t", "arguments": {"x": 1}}}
        return {"role": "assistant", "content": "", "tool_calls": [call]}

    def written(call_id: str) -> Any:
        assistant, _ = write_turn(read_turn(sent(call_id)), [Outcome("ok", "x")])
        return assistant[0]["tool_calls"][0]["function"]["arguments"]

    assert written("abcDEF123") == {"x": 1}  # an id as Mistral gives them
    assert written("call_abc") == '{"x": 1}'


@pytest.mark.parametrize("kind", ["local_shell_call", "apply_patch_call", "computer_call"])
def test_calls_of_responses_made_by_hand_have_what_their_types_must_have(kind):
    args: dict[str, Any] = {
        "local_shell_call": {"type": "exec", "command": ["ls"], "env": {}},
        "apply_patch_call": {"type": "delete_file", "path": "a"},
        "computer_call": {"action": {"type": "screenshot"}, "pending_safety_checks": []},
    }[kind]
    call = Call(0, "a", "t", args, extra={"type": kind})

    CHECKS["openai-responses"](
        *write_turn(Turn("t", (call,), "openai-responses"), [Outcome("ok", "x")])
    )
