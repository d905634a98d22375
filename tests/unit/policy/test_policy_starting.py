"""Policies to start from: they load, their cases hold, and nothing in them is safe by a guess."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolflow import yamlio
from toolflow.model import Call, ToolSpec, Turn
from toolflow.policy import load_policy
from toolflow.policy.cases import run_cases
from toolflow.policy.guesses import for_a_person, keys, reading, shell_line
from toolflow.policy.knowing import bases_of, server_of
from toolflow.policy.seen import seen_tools
from toolflow.policy.starting import starting_policy


def spec(name, *required, optional=(), server=None, kinds=None, **hints):
    properties = {arg: {"type": (kinds or {}).get(arg, "string")} for arg in (*required, *optional)}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name, parameters=schema, server=server, hints=hints)


def made(*tools, **options):
    text = starting_policy(tools, made_of="tools.json", **options)
    policy = load_policy(text)
    report = run_cases(policy)
    assert [str(d) for result in report.results for d in result.differences] == []
    assert report.ok
    assert report.unused == ()
    assert all(rule.safe is None for rule in policy.settings.book.rules if rule.base is None)
    return text, policy


def templates(tool):
    return [guess.template for guess in keys(tool)]


@pytest.mark.parametrize(
    ("tool", "keys_guessed"),
    [
        (spec("read_file", "path"), ["file:{{ args.path | file_key }}"]),
        (spec("readFile", "filePath"), ["file:{{ args.filePath | file_key }}"]),
        (spec("cat", "file_name"), ["file:{{ args.file_name | file_key }}"]),
        (
            spec("list_files", "path"),
            ["file:{{ args.path | dir_key }}"],
        ),
        (spec("grep", optional=["path"]), ["file:{{ args.path | default(cwd, true) | dir_key }}"]),
        (spec("run", "working-dir"), ["file:{{ args['working-dir'] | dir_key }}"]),
        (
            spec("move_file", "source", "destination"),
            ["file:{{ args.source | dir_key }}", "file:{{ args.destination | dir_key }}"],
        ),
        (spec("wire", "source", "destination"), []),
        (spec("get_page", "url"), ["host:{{ args.url | host_key }}"]),
        (spec("get_page", optional=["url"]), []),
        (spec("open", "uri"), ["uri:{{ args.uri }}"]),
        (spec("query", "database", "sql"), ["database:{{ args.database }}"]),
        (spec("get_issue", "issue_number"), ["issue:{{ args.issue_number }}"]),
        (spec("get_user", "userId"), ["user:{{ args.userId }}"]),
        (spec("get_thing", "id"), []),
        (
            spec("get_issue", "owner", "repo", "issue_number", "path"),
            ["repo:{{ args.owner | lower }}/{{ args.repo | lower }}"],
        ),
        (spec("odd", "pa th", "x'y"), []),
        (spec("many", *[f"{n}_id" for n in ("user", "room", "task", "note", "doc")]), 4),
        (spec("flag", "path", kinds={"path": "boolean"}), []),
    ],
    ids=lambda value: value.name if isinstance(value, ToolSpec) else "",
)
def test_keys_are_guessed_from_the_names_of_arguments(tool, keys_guessed):
    found = templates(tool)
    assert (len(found) if isinstance(keys_guessed, int) else found) == keys_guessed


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        (spec("get_user"), True),
        (spec("searchFlights"), True),
        (spec("read_and_delete"), False),
        (spec("set_flag"), False),
        (spec("flags"), None),
        (spec("get_user", readOnlyHint=False), False),
        (spec("delete_user", readOnlyHint=True), True),
        (spec("frob", read_only_hint=True), True),
    ],
    ids=lambda value: value.name if isinstance(value, ToolSpec) else "",
)
def test_reading_is_guessed_from_hints_then_from_the_name(tool, answer):
    assert reading(tool)[0] is answer


def test_a_person_is_asked_where_a_name_says_that_something_is_past_mending():
    assert for_a_person(spec("delete_file")) == "delete"
    assert for_a_person(spec("list_deleted", readOnlyHint=True)) is None
    assert for_a_person(spec("create_file")) is None
    text, policy = made(spec("delete_file", "path"), spec("create_file", "path"))
    turn = Turn("t", (Call(0, "a", "delete_file", {"path": "x"}),))
    assert policy.classify(turn).calls[0].ask == "Run delete_file(path='x')?"
    assert text.count("ask: true") == 1


def test_what_makes_a_call_safe_is_a_remark_and_becomes_a_rule_when_the_mark_goes():
    text, policy = made(spec("get_file", "path"), spec("put_file", "path"))
    assert {rule.safe for rule in policy.settings.book.rules} == {None}
    confirmed = load_policy(
        text.replace("# safe: true", "safe: true").replace("# writes: []", "writes: []")
    )
    turn = Turn(
        "t", (Call(0, "a", "get_file", {"path": "x"}), Call(1, "b", "put_file", {"path": "x"}))
    )
    one, other = confirmed.classify(turn, cwd="/w").calls
    assert (one.verdict.kind, one.reads, one.writes) == ("safe", ("file:/w/x",), ())
    assert (other.verdict.kind, other.writes) == ("safe", ("file:/w/x",))


def test_a_shell_keeps_every_file_and_its_guess_can_be_confirmed():
    tool = spec("bash", "command", optional=["cwd"])
    assert shell_line(tool) == "command"
    assert shell_line(spec("run_command", "command", kinds={"command": "array"})) is None
    assert shell_line(spec("command_list", "pattern")) is None
    text, policy = made(tool)
    turn = Turn("t", (Call(0, "a", "bash", {"command": "ls"}),))
    assert policy.classify(turn).calls[0].writes == ("file:/**",)
    rules = text.partition("\ncases:")[0]
    confirmed = rules.replace('    writes: ["file:/**"]', "    #").replace(
        "    # safe:", "    safe:"
    )
    confirmed = confirmed.replace("    # reads:", "    reads:").replace(
        "    # writes:", "    writes:"
    )
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    assert load_policy(confirmed).classify(turn).calls[0].verdict.kind == "safe"


def test_known_tools_are_left_to_the_policies_of_the_package():
    tools = [spec(name, "path", server="filesystem") for name in ("read_file", "write_file")]
    text, policy = made(*tools, spec("chmod", "path", server="filesystem"))
    assert "extends: [shipped:filesystem]   # decides 2 of these tools" in text
    assert [rule.tools for rule in policy.settings.book.rules if rule.base is None] == [("chmod",)]


def test_names_alone_make_no_base():
    tools = [spec(name, "path") for name in ("read_file", "write_file", "edit_file", "list_files")]
    text, policy = made(*tools)
    assert "extends: [" not in text
    assert "`extends: shipped:workspace` has rules for 4 tools of these names: yours?" in text
    assert all(rule.base is None for rule in policy.settings.book.rules)
    assert bases_of(tools, "workspace").names == ("workspace",)


def test_a_tool_of_a_server_does_not_bring_in_the_policy_of_a_harness():
    tools = [spec("Bash", "command"), spec("mcp__ide__getDiagnostics")]
    text, _ = made(*tools)  # whose Bash is it?
    assert "extends: [" not in text
    assert bases_of(tools, "claude-code").names == ("claude-code",)


def test_a_server_of_another_name_is_told_how_to_be_known():
    tools = [spec(n, server="fs") for n in ("read_file", "write_file", "edit_file", "move_file")]
    text, _ = made(*tools)
    assert (
        "shipped:filesystem` decides 4 of these tools if you call the server `filesystem`" in text
    )
    assert server_of(tools) == "filesystem"
    assert server_of(tools[:2]) is None
    assert server_of([*tools, *[spec(f"other_{i}") for i in range(9)]]) is None


def test_names_with_their_server_are_one_tool_of_it():
    text, policy = made(spec("notes__append", "note", server="notes"))
    assert "tool: append\n    server: notes" in text
    for name in ("notes__append", "mcp__notes__append"):
        turn = Turn("t", (Call(0, "a", name, {"note": "n"}),))
        assert policy.classify(turn).calls[0].writes == ("note:n",)


def test_a_tool_of_a_server_and_one_of_nobody_may_have_one_name():
    _, policy = made(spec("look", "path"), spec("look", "user_id", server="s"))
    first, second = (rule.servers for rule in policy.settings.book.rules)
    assert (first, second) == (("s",), None)


def test_a_tool_that_declares_itself_is_left_alone():
    declared = ToolSpec("own", safe=True, reads=())
    text, policy = made(declared, spec("other"))
    assert "They declare themselves what they touch: own." in text
    assert len(policy.settings.book.rules) == 1


def test_cases_are_made_of_the_calls_that_were_seen():
    calls = [
        Call(0, "a", "get_user", {"user_id": "ann", "password": "secret"}),
        Call(1, "b", "get_user", {"user_id": "ann", "password": "other"}),
        Call(2, "c", "get_user", {"user_id": "bob"}),
        Call(3, "d", "get_user", {"user_id": "x" * 500}),
        Call(4, "e", "broken", {}, problem="no JSON"),
    ]
    seen = seen_tools(calls)
    text, _ = made(*seen.tools, examples=seen.examples)
    cases = yamlio.load(text).value["cases"]
    assert [call["args"] for call in cases[0]["turn"]] == [{"user_id": "ann"}, {"user_id": "bob"}]
    assert "secret" not in text  # only what keys are made of
    assert seen.tools[0].parameters["required"] == ["user_id"]


def test_logins_and_tokens_in_addresses_get_into_no_case():
    calls = [Call(0, "a", "get_page", {"url": "https://me:secret@example.com/a?token=secret"})]
    seen = seen_tools(calls)
    text, _ = made(*seen.tools, examples=seen.examples)
    assert "secret" not in text
    assert "reads: [host:example.com:443]" in text.replace('"', "")


def test_no_tools_give_a_policy_without_rules():
    assert made()[1].settings.book.rules == ()


TEXT = st.text(max_size=12)
NAME = st.sampled_from(
    ["read_it", "true", "null", "no", "a b", "[x]", "*", "a?", "é", "#", "x: y", "-"]
)
TOOL = st.builds(
    ToolSpec,
    NAME | TEXT,
    description=TEXT,
    server=st.none() | st.sampled_from(["s", "s*", "my.server"]),
    parameters=st.fixed_dictionaries(
        {
            "properties": st.dictionaries(
                st.sampled_from(["path", "url", "user_id", "a'b", "items"]) | TEXT,
                st.sampled_from([{}, {"type": "string"}, {"type": "array"}, {"type": None}, 7]),
                max_size=4,
            ),
            "required": st.lists(st.sampled_from(["path", "url", "user_id", "items"]), max_size=4),
        }
    ),
    hints=st.dictionaries(st.sampled_from(["readOnlyHint", "destructiveHint"]), st.booleans()),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(TOOL, max_size=5, unique_by=lambda tool: (tool.name.strip(), tool.server)), TEXT)
def test_whatever_the_tools_are_the_policy_loads_and_its_cases_hold(tools, made_of):
    text = starting_policy(tools, made_of=made_of)
    policy = load_policy(text)
    assert run_cases(policy).ok
    own = [rule for rule in policy.settings.book.rules if rule.base is None]
    assert all(rule.safe is None for rule in own)
