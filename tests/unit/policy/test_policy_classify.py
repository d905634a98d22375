"""Classification: rules, verdicts, keys, terms, labels and questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from policy_support import Tools, classify, rules, turn

from toolflow.model import Call, ToolSpec, Turn
from toolflow.policy import Redactor, load_policy
from toolflow.policy.labels import default_label, one_line


def test_the_first_rule_that_matches_wins() -> None:
    policy = rules(
        "  - {tool: t, when: false, safe: true}\n"
        "  - {tool: t, when: '{{ args.x == 1 }}', safe: true}\n"
        "  - {tool: 't*', safe: false}\n"
        "  - {tool: t, safe: true}"
    )
    assert classify(policy, "t", {"x": 1}).verdict.rule == 1
    assert classify(policy, "t", {"x": 2}).verdict.rule == 2
    assert classify(policy, "tt", {}).verdict.rule == 2
    assert classify(policy, "u", {}).verdict.rule is None


def test_patterns_are_about_whole_names_and_their_case() -> None:
    policy = rules("  - {tool: [get_*, 'x?', '[ab]'], safe: true}")
    kinds = {
        tool: classify(policy, tool).verdict.kind
        for tool in ("get_", "get_x", "forget_x", "GET_x", "x1", "x", "a", "c")
    }
    assert [tool for tool, kind in kinds.items() if kind == "safe"] == ["get_", "get_x", "x1", "a"]


def test_a_rule_about_everything_comes_after_rules_about_tools_wherever_it_stands() -> None:
    policy = rules("  - {tool: '*', safe: true}\n  - {tool: t, safe: false}")
    assert classify(policy, "t").verdict.rule == 1
    assert classify(policy, "u").verdict.rule == 0


@pytest.mark.parametrize("value", ["yes", 1, 0, None, [], ""])
def test_a_condition_that_is_neither_true_nor_false_makes_the_call_exclusive(
    value: object,
) -> None:
    policy = rules("  - {tool: t, when: '{{ args.v }}', safe: true}\n  - {tool: t, safe: true}")
    found = classify(policy, "t", {"v": value}).verdict
    assert (found.kind, found.rule) == ("exclusive", 0)
    assert found.reason.startswith("rule 1 (line 3): when gives ")
    assert found.reason.endswith(", neither true nor false")


def test_a_condition_that_raises_makes_the_call_exclusive_and_keeps_the_rules_terms() -> None:
    policy = rules("  - {tool: t, when: '{{ args.v }}', safe: true, ask: true, writes: [k]}")
    call = classify(policy, "t")
    assert call.verdict.kind == "exclusive"
    assert call.verdict.reason == (
        "rule 1 (line 3): when cannot be worked out: args.v is not there"
    )
    assert (call.ask, call.writes) == ("Run t()?", ("k",))


def test_a_rule_that_denies_denies_also_where_its_condition_cannot_be_worked_out() -> None:
    policy = rules("  - {tool: t, when: '{{ args.force }}', deny: No force.}")
    found = {
        str(args): classify(policy, "t", args).verdict.reason
        for args in ({"force": True}, {"force": False}, {})
    }
    assert list(found.values()) == [
        "No force.",
        "nobody declared it safe",
        (
            "The policy may not allow this call (rule 1 (line 3): when cannot be worked out: "
            "args.force is not there)."
        ),
    ]


def test_a_denied_call_is_settled_with_the_rules_reason() -> None:
    policy = rules("  - {tool: a, deny: 'Not {{ args.x }}.'}\n  - {tool: b, deny: true}")
    verdicts = [
        classify(policy, tool, args).verdict
        for tool, args in (("a", {"x": 1}), ("a", {}), ("b", {}))
    ]
    assert [(v.kind, v.status, v.rule) for v in verdicts] == [
        ("settled", "denied", 0),
        ("settled", "denied", 0),
        ("settled", "denied", 1),
    ]
    assert [v.reason for v in verdicts] == [
        "Not 1.",
        "The policy does not allow this call (rule 1 (line 3)).",
        "The policy does not allow this call (rule 2 (line 4)).",
    ]


def test_what_a_rule_leaves_out_is_the_tools_own_then_the_defaults() -> None:
    spec = ToolSpec(
        "t", safe=True, reads=["r"], writes=["w"], uses={"u": 1}, timeout=5, idempotent=True
    )
    policy = (
        "version: 1\ndefaults: {timeout: 9s, on_error: stop}\nrules:\n"
        "  - {tool: t, when: '{{ args.all }}', safe: false, reads: [r2], writes: [], uses: {},\n"
        "     timeout: 1m, idempotent: false, on_error: continue, hold: run, stop: after}\n"
        "  - {tool: t, timeout: null}\n"
        "  - {tool: u}\n"
    )
    tools = Tools(spec, ToolSpec("u"), ToolSpec("v"))
    ruled = classify(policy, "t", {"all": True}, catalog=tools)
    assert (ruled.verdict.kind, ruled.reads, ruled.writes) == ("exclusive", ("r2",), ())
    terms = ruled.terms
    assert (terms.uses, terms.timeout, terms.idempotent) == ({}, 60.0, False)
    assert (terms.on_error, terms.hold, terms.stop) == ("continue", "run", "after")
    left = classify(policy, "t", {"all": False}, catalog=tools)
    assert left.verdict.reason == "the tool declares itself safe"
    assert left.verdict.rule == 1
    assert (left.reads, left.writes) == (("r",), ("w",))
    terms = left.terms
    assert (terms.uses, terms.timeout, terms.idempotent) == ({"u": 1}, None, True)
    bare = classify(policy, "u", catalog=tools).terms
    assert (bare.timeout, bare.on_error, bare.idempotent) == (9.0, "stop", False)
    assert classify(policy, "v", catalog=tools).terms.timeout == 9.0


def test_idempotence_is_taken_from_hints_of_trusted_servers_only() -> None:
    tools = Tools(ToolSpec("t", server="s", hints={"idempotentHint": True}))
    assert not classify("version: 1\n", "t", catalog=tools).terms.idempotent
    policy = "version: 1\ntrust: {annotations: [s]}\n"
    assert classify(policy, "t", catalog=tools).terms.idempotent


def test_verdicts_and_terms_are_shared_where_they_do_not_depend_on_the_call() -> None:
    policy = load_policy(rules("  - {tool: t, safe: true}"))
    one, two = policy.classify(turn(("t", {"x": 1}), ("t", {"x": 2}))).calls
    assert one.verdict is two.verdict
    assert one.terms is two.terms


def test_a_replaced_tool_brings_its_own_terms() -> None:
    policy = load_policy("version: 1\n")
    message = turn(("t", {}))
    timeouts = [
        policy.classify(message, Tools(ToolSpec("t", timeout=seconds))).calls[0].terms.timeout
        for seconds in (1, 2)
    ]
    assert timeouts == [1, 2]


@pytest.mark.parametrize(
    ("key", "args", "keys"),
    [
        ("f:{{ args.x }}", {"x": "a"}, ("f:a",)),
        ("f:{{ args.x }}", {"x": 3}, ("f:3",)),
        ("{{ args.x }}", {"x": ["b", "a", "b"]}, ("a", "b")),
        ("f:{{ args.x }}:{{ tool }}", {"x": ["b", "a"]}, ("f:a:t", "f:b:t")),
        ("file:{{ args.x | file_key }}", {"x": ["b", "/a"]}, ("file:/a", "file:/w/b")),
        ("f:{{ args.x }}", {"x": []}, ()),
        ("{{ args.x | map('upper') }}", {"x": ["a"]}, ("A",)),
        ("{{ cwd }}/**", {}, ("/w/**",)),
        ("{{ args.x }}", {"x": "{{ tool }}"}, ("{{ tool }}",)),
    ],
)
def test_a_key_template_gives_keys(key: str, args: dict[str, Any], keys: tuple[str, ...]) -> None:
    policy = {"version": 1, "rules": [{"tool": "t", "writes": [key]}]}
    assert classify(policy, "t", args, cwd="/w").writes == keys


@pytest.mark.parametrize(
    ("key", "args", "said"),
    [
        ("{{ args.x }}", {}, "args.x is not there"),
        ("f:{{ args.x }}", {"x": None}, "null is no key in 'f:{{ args.x }}'"),
        ("{{ args.x }}", {"x": {"a": 1}}, "a value of type dict is no key in '{{ args.x }}'"),
        ("{{ args.x }}", {"x": [[]]}, "a value of type list is no key in '{{ args.x }}'"),
        ("{{ args.x }}", {"x": ""}, "a key is empty"),
        ("{{ args.x }}{{ args.x }}", {"x": ["a", "b"]}, "holds more than one list"),
        ("{{ args.x | file_key }}", {"x": "a\0"}, "holds a NUL character"),
        ("{{ args.many }}", {"many": [*range(10_001)]}, "there are more than 10,000 keys"),
    ],
)
def test_a_key_that_cannot_be_worked_out_fails_the_call(
    key: str, args: dict[str, Any], said: str
) -> None:
    policy = {"version": 1, "rules": [{"tool": "t", "safe": True, "reads": key}]}
    found = classify(policy, "t", args).verdict
    assert (found.kind, found.status) == ("settled", "failed")
    assert found.reason.startswith("Could not tell what the call changes: ")
    assert said in found.reason


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (lambda args: 3 / 0, "division by zero"),
        (lambda args: [None], "null is no key"),
        (lambda args: object(), "a value of type object is no key"),
        (lambda args: [""], "a key is empty"),
    ],
)
def test_a_tools_function_for_keys_that_fails_fails_the_call(keys: Any, said: str) -> None:
    found = classify(None, "t", catalog=Tools(ToolSpec("t", safe=True, reads=keys))).verdict
    assert found.status == "failed"
    assert found.reason == f"Could not tell what the call changes: {said}."


def test_a_tools_async_function_for_keys_fails_the_call() -> None:
    async def keys(args: Mapping[str, Any]) -> list[str]:
        return []

    found = classify(None, "t", catalog=Tools(ToolSpec("t", writes=keys))).verdict
    assert "async function" in found.reason


def test_a_tools_keys_may_be_text_a_list_a_generator_or_nothing() -> None:
    def reads(result: object) -> tuple[str, ...] | None:
        tools = Tools(ToolSpec("t", reads=lambda args: result))
        return classify(None, "t", catalog=tools).reads

    assert reads("a") == ("a",)
    assert reads(["b", "a"]) == ("a", "b")
    assert reads(x for x in "ba") == ("a", "b")
    assert reads(None) is None
    assert reads([]) == ()


def test_an_alias_applies_only_where_the_policy_declares_it_and_no_tool_has_the_name() -> None:
    tools = Tools(ToolSpec("read_file", safe=True), ToolSpec("cat"))
    policy = load_policy(rules("  - {tool: read_file, aliases: [cat, open]}"))
    batch = policy.classify(turn(("open", {}), ("cat", {}), (" open ", {})), tools)
    assert [call.tool for call in batch.calls] == ["read_file", "cat", "read_file"]
    assert [notice.code for notice in batch.notices] == ["alias", "alias"]
    assert batch.notices[0].message == (
        "The tool 'open' was taken as 'read_file'. The policy says so."
    )
    plain = load_policy("version: 1\n").classify(turn(("open", {})), tools)
    assert plain.calls[0].verdict.status == "unknown_tool"
    assert policy.classify(turn(("open", {}))).calls[0].tool == "read_file"


def test_without_a_catalogue_no_tool_is_unknown_but_one_without_a_name() -> None:
    batch = load_policy(None).classify(turn(("nosuch", {}), ("", {})))
    assert [call.verdict.status for call in batch.calls] == [None, "unknown_tool"]


def test_a_check_of_arguments_that_breaks_fails_the_call() -> None:
    def failed(parse: Any) -> tuple[str | None, str]:
        tools = Tools(ToolSpec("t", safe=True, parse=parse))
        found = classify(None, "t", catalog=tools).verdict
        return found.status, found.reason

    async def later(args: Mapping[str, Any]) -> Mapping[str, Any]:
        return args

    assert failed(lambda args: 1 / 0) == (
        "failed",
        "The arguments could not be checked: ZeroDivisionError: division by zero",
    )
    said = "The arguments could not be checked: the check gives no arguments."
    assert failed(lambda args: None) == ("failed", said)
    assert failed(later) == ("failed", said)


def test_faults_are_settled_in_order_ids_then_arguments_then_names() -> None:
    calls = (
        Call(0, "", "nosuch", problem="broken"),
        Call(1, "b", "nosuch", problem="broken"),
        Call(2, "c", "nosuch"),
    )
    batch = load_policy(None).classify(Turn("turn-1", calls), Tools())
    assert [call.verdict.status for call in batch.calls] == [
        "invalid_id",
        "invalid_arguments",
        "unknown_tool",
    ]


def test_ids_that_a_reader_made_are_never_at_fault() -> None:
    batch = load_policy(None).classify(turn(("t", {}, "x"), ("t", {}, "x"), carries_ids=False))
    assert [call.verdict.kind for call in batch.calls] == ["exclusive"] * 2


def test_questions_are_asked_whatever_happens_to_their_text() -> None:
    policy = rules(
        "  - {tool: a, ask: 'Deploy {{ args.x }}?'}\n  - {tool: b, ask: true, show: bee}"
    )
    assert classify(policy, "a", {"x": "it\nnow\x1b[31m"}).ask == "Deploy it now�[31m?"
    assert classify(policy, "a", {}).ask == "Run a()?"
    assert classify(policy, "b", {}).ask == "Run bee?"


def test_labels_are_short_and_on_one_line() -> None:
    assert default_label("read", {"path": "a.txt", "n": 1}) == "read(path='a.txt', n=1)"
    assert default_label("t", {"a": [1], "b": {}, "c": None, "d": True}) == (
        "t(a=[…], b={}, c=null, d=true)"
    )
    long = default_label("write", {"text": "x" * 10_000_000, "more": 1})
    assert len(long) <= 60
    assert default_label("t" * 90, {}) == "t" * 59 + "…"
    assert default_label("t", {"n": 10**5000}) == "t(n=…)"
    assert one_line("a\n\tb\x1b[0m\u202e\ud800  c ") == "a b�[0m�� c"
    policy = rules("  - {tool: t, show: '{{ args.x }}'}")
    assert classify(policy, "t", {"x": "a\nb"}).label == "a b"
    assert classify(policy, "t", {"x": ""}).label == "t(x='')"
    assert classify(policy, "t", {}).label == "t()"


def test_secrets_that_the_policy_names_are_in_no_label_question_or_denial() -> None:
    policy = (
        "version: 1\nredact: [password, '*_token']\nrules:\n"
        "  - {tool: a, ask: 'Log in with {{ args.password }}?'}\n"
        "  - {tool: b, show: 'b {{ args.inner.API_TOKEN }}', writes: ['k:{{ args.user }}']}\n"
        "  - {tool: d, deny: 'No {{ args.password }}.'}\n"
    )
    args = {"user": "me", "password": "hunter2", "inner": {"API_TOKEN": "t0p"}}
    a, b, d = (classify(policy, tool, args) for tool in "abd")
    assert a.ask == "Log in with ***?"
    assert a.label == "a(user='me', password='***', inner={…})"
    assert b.label == "b ***"
    assert b.writes == ("k:me",)
    assert d.verdict.reason == "No ***."
    assert a.args == args


def test_a_redactor_masks_values_wherever_they_stand() -> None:
    redactor = Redactor(["password"])
    assert redactor.masked({"a": [{"PASSWORD": 1}], "b": 2}) == {"a": [{"PASSWORD": "***"}], "b": 2}
    value = {"password": 1}
    assert Redactor().masked(value) is value


def test_reclassifying_keeps_what_is_settled_and_sees_what_changed() -> None:
    policy = load_policy(rules("  - {tool: t, safe: true, writes: ['{{ args.k }}']}"))
    message = turn(("t", {"k": "a"}), ("t", {}))
    ok, failed = policy.classify(message, Tools(ToolSpec("t"))).calls
    assert policy.reclassify(failed, message, {"k": "a"}) is failed
    gone = policy.reclassify(ok, message, ok.args, Tools(ToolSpec("tt")))
    assert (gone.verdict.status, gone.tool) == ("unknown_tool", "t")
    assert policy.reclassify(ok, message, {}, Tools(ToolSpec("t"))).verdict.status == "failed"
    assert policy.reclassify(ok, message, {"k": "b"}, Tools(ToolSpec("t"))).args == {"k": "b"}


def test_many_names_from_models_do_not_fill_the_memory() -> None:
    policy = load_policy(rules("  - {tool: 'x*', safe: true}"))
    policy.classify(turn(*[(f"x{n}", {}) for n in range(9000)]))
    assert len(policy.settings.book._found) <= 4096
