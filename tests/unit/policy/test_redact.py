"""What ``redact`` masks: values under names, in JSON text, in messages, and wherever they recur."""

from __future__ import annotations

import json
from typing import Any

import pytest
from policy_support import Tools, classify, turn

from toolflow.formats import read_turn
from toolflow.model import ToolSpec
from toolflow.model.outcome import Outcome
from toolflow.policy import Redactor, load_policy
from toolflow.policy.redact import holds_masks

REDACTOR = Redactor(["password", "*_token"])


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"password": "x"}', '{"password": "***"}'),
        (' [{"a": {"API_TOKEN": 1}}]', '[{"a": {"API_TOKEN": "***"}}]'),
        ('{"a": "{\\"password\\": \\"x\\"}"}', '{"a": "{\\"password\\": \\"***\\"}"}'),
        ('{"user":"me"}', '{"user":"me"}'),
        ('{"password": "hun', '{"password": "***"'),
        ('{"password": "hun", "b": 1', '{"password": "***", "b": 1'),
        ('{"password": 12, "b": 1', '{"password": "***", "b": 1'),
        ('{"password": {"a": 1}, "b', '{"password": "***"'),
        ('{"password": "x"}{"password": "y"}', '{"password": "***"}{"password": "***"}'),
        ('so: "password" : "x y" ok', 'so: "password" : "***" ok'),
        ('a \\"password\\": \\"x\\\\\\"y\\" b', 'a \\"password\\": "***" b'),
        ("my password is x", "my password is x"),
    ],
)
def test_json_in_text_is_masked_also_where_it_is_broken(text: str, masked: str) -> None:
    assert REDACTOR.masked(text) == masked
    assert REDACTOR.masked({"a": [text]}) == {"a": [masked]}


def test_secrets_are_texts_and_numbers_that_are_not_too_short() -> None:
    value = {"password": ["long one", "abc", 12345, True, None, {"x": "inner"}], "b": "other"}
    assert REDACTOR.secrets(value) == {"long one", "12345", "inner"}
    assert Redactor().secrets(value) == frozenset()


def test_a_secret_goes_out_of_every_text_of_its_turn() -> None:
    message = turn(("login", {"password": "hunter2", "note": "say hunter2"}))
    masked = REDACTOR.masked_turn(message)
    assert masked.calls[0].args == {"password": "***", "note": "say ***"}
    outcome = REDACTOR.masked_outcome(Outcome("failed", error="no hunter2 here"), message)
    assert outcome.error == "no *** here"


def test_without_names_nothing_is_copied() -> None:
    message, outcome = turn(("a", {"password": 1})), Outcome("ok", {"password": 1})
    plain = Redactor()
    assert plain.masked_turn(message) is message
    assert plain.masked_outcome(outcome) is outcome
    assert REDACTOR.masked_outcome(Outcome("ok", "fine")).value == "fine"


OPENAI = {
    "role": "assistant",
    "content": "the content is shown",
    "metadata": {"api_token": "t0p-secret"},
    "tool_calls": [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "put", "arguments": '{"content": "hidden", "id": "c1"}'},
        }
    ],
}
ANTHROPIC = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "the content is shown"},
        {"type": "tool_use", "id": "c1", "name": "put", "input": {"content": "hidden", "id": "c1"}},
    ],
}


@pytest.mark.parametrize("message", [OPENAI, ANTHROPIC])
def test_names_of_the_wire_format_are_masked_in_arguments_only(message: dict[str, Any]) -> None:
    redactor = Redactor(["content", "id", "name", "*_token"])
    masked = redactor.masked_turn(read_turn(message))
    assert masked.calls[0].args == {"content": "***", "id": "***"}
    text = json.dumps(masked.message)
    assert "hidden" not in text
    assert "t0p-secret" not in text
    assert "the content is shown" in text
    again = read_turn(masked.message, turn_id=masked.id)
    assert again.calls == masked.calls


def test_a_reason_quotes_no_secret() -> None:
    policy = "version: 1\nredact: [password]\nrules: [{tool: t, safe: '{{ args.password }}'}]\n"
    call = classify(policy, "t", {"password": "hunter2"})
    assert call.verdict.reason == "rule 1 (line 3): safe gives '***', neither true nor false"

    def parse(args: Any) -> Any:
        raise ValueError(f"{args['password']!r} is too short.")

    tools = Tools(ToolSpec("t", parse=parse))
    call = classify(policy, "t", {"password": "hunter2"}, catalog=tools)
    assert call.verdict.reason == "'***' is too short."


@pytest.mark.parametrize(
    "rule",
    [
        "writes: ['k:{{ args.password }}']",
        "reads: ['file:{{ args.password | file_key }}']",
        "reads: ['{{ args.password | length }}']",
        "reads: []",
    ],
)
def test_keys_that_tell_a_secret_keep_the_call_from_running(rule: str) -> None:
    policy = f"version: 1\nredact: [password]\nrules: [{{tool: t, safe: true, {rule}}}]\n"
    call = classify(policy, "t", {"password": "./hunter2"})
    if rule == "reads: []":
        assert call.verdict.kind == "safe"
        return
    assert (call.verdict.kind, call.verdict.status) == ("settled", "failed")
    assert call.verdict.reason == (
        "Could not tell what the call changes: its keys are made of a value under a name that "
        "the policy's redact holds, and keys are shown. Make them of other arguments."
    )
    assert (call.reads, call.writes) == (None, None)


def test_declared_keys_that_tell_a_secret_do_so_too() -> None:
    policy = load_policy("version: 1\nredact: [password]\n")
    spec = ToolSpec("t", safe=True, reads=lambda args: [f"k:{args['password'][:2]}"])
    assert classify(policy, "t", {"password": "hunter2"}, catalog=Tools(spec)).verdict.status
    fine = ToolSpec("t", safe=True, reads=lambda args: [f"k:{args['user']}"])
    call = classify(policy, "t", {"password": "hunter2", "user": "me"}, catalog=Tools(fine))
    assert call.reads == ("k:me",)


def test_what_was_masked_is_known_by_its_mask() -> None:
    assert holds_masks({"a": [{"password": "***"}]}, REDACTOR)
    assert holds_masks({"note": "say ***"}, REDACTOR)
    assert not holds_masks({"a": [{"password": "x"}], "b": "c"}, REDACTOR)


@pytest.mark.parametrize("secret", ["0000019é", 'a"b\\c/d', "it's\n\t so", "\\\\\\\\x", "😀 smile"])
def test_a_secret_goes_out_in_any_spelling(secret: str) -> None:
    mask = REDACTOR.of(turn(("a", {"password": secret})))
    forms = [secret]
    for _ in range(3):
        forms += [form for text in forms for form in (json.dumps(text), repr(text))]
        forms += [json.dumps(text, ensure_ascii=False) for text in forms]
        forms = list(dict.fromkeys(forms))
    for form in forms:
        inner = form.strip("\"'\\")[:8]
        masked = mask.text(f"so: {form}.")
        assert "***" in masked, form
        assert inner not in masked or len(inner) < 4
