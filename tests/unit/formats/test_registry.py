from __future__ import annotations

import pytest

from toolflow.errors import TurnError, UsageError
from toolflow.formats import FORMATS, detect, read_turn, read_turns, write_turn, written_ids
from toolflow.model import Call, Outcome, Turn

CHAT = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "a", "arguments": ""}}],
}
ANTHROPIC = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "c1", "name": "a", "input": {}}],
}
CALLS = {"calls": [{"id": "c1", "tool": "a"}]}


class Dumped:
    """An object as the SDKs make them: it gives a plain value of itself."""

    def __init__(self, value: object) -> None:
        self.value = value

    def model_dump(self, *, mode: str = "python", exclude_unset: bool = False) -> object:
        assert (mode, exclude_unset) == ("json", True)
        return self.value


class OldDumped(Dumped):
    def model_dump(self) -> object:  # type: ignore[override]
        return self.value


class WithDict:
    def __init__(self, value: object) -> None:
        self.value = value

    def dict(self) -> object:
        return self.value


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (CHAT, "openai-chat"),
        ({"choices": [{"message": CHAT}]}, "openai-chat"),
        ([{"role": "system", "content": "x"}, CHAT], "openai-chat"),
        ({"role": "assistant", "content": "text only"}, "openai-chat"),
        ({**CHAT, "content": ANTHROPIC["content"]}, "openai-chat"),
        (ANTHROPIC, "anthropic"),
        ({**ANTHROPIC, "tool_calls": None}, "anthropic"),
        ([{"role": "user", "content": "x"}, ANTHROPIC], "anthropic"),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}, "anthropic"),
        (
            {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]},
            "openai-responses",
        ),
        (CALLS, "calls"),
        ([CALLS, CALLS], "calls"),
        ({"role": "model", "parts": [{"functionCall": {"name": "a"}}]}, "gemini"),
        ({"role": "assistant", "content": [{"toolUse": {"name": "a"}}]}, "bedrock"),
        ({"role": "assistant", "tool_plan": "I will", "tool_calls": []}, "cohere"),
        ({"method": "tools/call", "params": {"name": "a"}}, "mcp"),
    ],
)
def test_the_format_is_detected(data, name):
    assert detect(data) == name
    assert read_turn(data).format == name


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (None, "absent or null"),
        (5, "5"),
        ("calls", "'calls'"),
        ([], "an empty list"),
        ({}, "an empty object"),
        ({"a": 1, "b": 2}, "an object with the keys 'a', 'b'"),
        ([1, 2], "a list of 2"),
        ({"role": "agent", "parts": [{"kind": "text", "text": "a"}]}, "an object with the keys"),
        ({"role": "assistant", "content": [{"type": "toolCall", "id": "a"}]}, "keys"),
        (object(), "a value of type object"),
    ],
)
def test_what_is_of_no_known_format_is_refused_and_says_what_was_looked_for(data, found):
    with pytest.raises(TurnError) as caught:
        read_turn(data)

    (problem,) = caught.value.problems
    assert problem.code == "unknown_format"
    assert found in problem.message
    assert "\n" not in problem.message
    for name in FORMATS:
        assert f"{name} (" in problem.message


def test_a_forced_format_is_used_and_a_wrong_one_refused():
    with pytest.raises(TurnError, match="calls is absent or null"):
        read_turn(CHAT, format="calls")
    with pytest.raises(
        UsageError,
        match=r"^format is 'x\\n'\. Use one of anthropic, .*, openai-responses\.$",
    ):
        read_turn(CHAT, format="x\n")


def test_a_list_without_an_assistant_message_is_refused():
    with pytest.raises(TurnError, match="There is no assistant message in a list of 1"):
        read_turn([{"role": "user", "content": "x"}])
    assert read_turns([{"role": "user", "content": "x"}]) == ()


@pytest.mark.parametrize("make", [Dumped, OldDumped, WithDict])
def test_objects_of_provider_sdks_are_read_wherever_they_stand(make):
    inner = make({**CHAT, "tool_calls": [make(CHAT["tool_calls"][0])]})

    for given in (inner, {"choices": [make({"message": inner})]}, [inner], (inner,)):
        turn = read_turn(given)
        assert turn.calls == (Call(0, "c1", "a"),)
        assert turn.message == CHAT

    turn = read_turn(make({**ANTHROPIC, "content": (make(ANTHROPIC["content"][0]),)}))
    assert turn.calls == (Call(0, "c1", "a"),)
    assert turn.message == ANTHROPIC


def test_an_object_that_fails_to_give_its_value_is_told():
    class Broken:
        def model_dump(self, **_: object) -> object:
            raise KeyError("x")

    with pytest.raises(TurnError, match=r"The Broken object could not be read \(KeyError\)"):
        read_turn(Broken())


def test_a_message_nested_without_end_is_no_crash():
    deep: dict = {"role": "assistant", "content": []}
    deep["content"].append({"type": "tool_use", "id": "a", "name": "b", "input": deep})

    assert read_turn(deep).calls[0].problem is not None


@pytest.mark.parametrize("data", [CHAT, ANTHROPIC, CALLS])
@pytest.mark.parametrize("count", [0, 2])
def test_outcomes_that_are_not_one_a_call_are_refused(data, count):
    with pytest.raises(UsageError, match=rf"turn-1 has 1 calls and {count} outcomes"):
        write_turn(read_turn(data), [Outcome("ok")] * count)


@pytest.mark.parametrize("data", [CHAT, ANTHROPIC, CALLS])
def test_an_outcome_that_json_cannot_hold_is_refused(data):
    deep: list = []
    deep.append(deep)

    for value in ({1, 2}, deep):
        with pytest.raises(UsageError, match="Use JSON values"):
            write_turn(read_turn(data), [Outcome("ok", value)])


def test_the_written_ids_can_be_asked_for():
    calls = (Call(0, "a:1", "t"), Call(1, "a:1", "t"))

    assert written_ids(Turn("t", calls, "anthropic")) == ("a_1", "a_1_2")
    assert written_ids(Turn("t", calls, "openai-chat")) == ("a:1", "a:1_2")


def test_an_empty_turn_has_no_results():
    for data in ({**CHAT, "tool_calls": []}, {**ANTHROPIC, "content": []}, {"calls": []}):
        turn = read_turn(data, format=detect(CALLS) if "calls" in data else None)
        assert write_turn(turn, []) == ([data], [])


@pytest.mark.parametrize(("message", "name"), [(CHAT, "openai-chat"), (ANTHROPIC, "anthropic")])
def test_a_stray_result_of_another_format_does_not_hide_the_calls_of_a_list(message, name):
    stray = {"type": "function_call_output", "call_id": "b", "output": "x"}
    for messages in ([stray, message], [stray, stray, message, stray]):
        assert detect(messages) == name
        assert [len(turn.calls) for turn in read_turns(messages)] == [1]
    call = {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"}
    assert detect([call, stray, message]) == "openai-responses"
    assert detect([stray]) == "openai-responses"
