"""Warnings of policies: each kind with its place, and none where nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import corpus_dir
from hypothesis import given
from hypothesis import strategies as st
from policy_support import rules

from toolflow import yamlio
from toolflow.formats.tool_lists import read_tool_list
from toolflow.model import ToolSpec
from toolflow.policy import load_policy
from toolflow.policy.lint import lint_policy
from toolflow.policy.lint.patterns import covers
from toolflow.policy.lint.reach import unreachable
from toolflow.policy.rules import RuleBook
from toolflow.policy.shelf import shipped_names


def tool(name: str, *arguments: str, **more: object) -> ToolSpec:
    properties = {each: {"type": "string"} for each in arguments}
    return ToolSpec(name, parameters={"type": "object", "properties": properties}, **more)  # type: ignore[arg-type]


TOOLS = (
    tool("read", "path"),
    tool("grep", "pattern", "path"),
    tool("remove", "path", hints={"readOnlyHint": False}),
    ToolSpec("free"),
)


def found(text: str, *tools: ToolSpec, complete: bool = True) -> list[tuple[str, int | None]]:
    policy = load_policy(text if "version" in text else rules(text))
    return [
        (each.code, each.line) for each in lint_policy(policy, tools or None, complete=complete)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "  - {tool: a}\n  - {tool: a, safe: true}",
        "  - {tool: 'a*'}\n  - {tool: ab}",
        "  - {tool: 'a*'}\n  - {tool: 'ab*'}",
        "  - {tool: 'a*', when: true}\n  - {tool: [ab, 'ac?', 'ad[xy]z']}",
        "  - {tool: [a, b]}\n  - {tool: [b, a]}",
        "  - {tool: a}\n  - {tool: b}\n  - {tool: [a, b]}",
        "  - {tool: '**'}\n  - {tool: x}",
        "  - {tool: a}\n  - {tool: a, server: s}",
        "  - {tool: a, server: [s, t]}\n  - {tool: a, server: s}",
        "  - {server: 's*'}\n  - {server: sa}",
        "  - {tool: '*'}\n  - {server: s}",
        "  - {tool: x, when: false}",
    ],
)
def test_rules_that_can_never_match_are_told(text: str) -> None:
    last = len(text.splitlines()) + 2
    if "tool: a}\n  - {tool: a, server: s}" in text:
        assert found(text) == []  # the second is about mcp__s__a as well
        return
    assert found(text) == [("unreachable_rule", last)]


@pytest.mark.parametrize(
    "text",
    [
        "  - {tool: a, when: '{{ args.x }}'}\n  - {tool: a}",
        "  - {tool: ab}\n  - {tool: 'a*'}",
        "  - {tool: 'a*'}\n  - {tool: 'b*'}",
        "  - {tool: 'a?'}\n  - {tool: 'a*'}",
        "  - {tool: 'a?'}\n  - {tool: abc}",
        "  - {tool: a}\n  - {tool: [a, b]}",
        "  - {tool: a, server: s}\n  - {tool: a}",
        "  - {tool: a, server: s}\n  - {tool: a, server: t}",
        "  - {tool: a, server: s}\n  - {tool: a, server: [s, t]}",
        "  - {tool: '*'}\n  - {tool: x}",  # what names a tool comes first, wherever it stands
        "  - {server: s}\n  - {tool: x, server: s}",
        "  - {tool: A}\n  - {tool: a}",
        "  - {tool: x}\n  - {tool: x, aliases: y}",
        "  - {tool: 'x*'}\n  - {tool: x, argument_aliases: {a: b}}",
    ],
)
def test_rules_that_may_match_are_not_told(text: str) -> None:
    assert found(text) == []


ALPHABET = st.text("ab*?", max_size=5)


@given(st.text("ab*?[]!", min_size=1, max_size=5), st.text("ab*?[]!", min_size=1, max_size=5))
def test_what_is_covered_is_covered(pattern: str, name: str) -> None:
    from fnmatch import fnmatchcase
    from itertools import product

    words = ["".join(word) for size in range(5) for word in product("ab]", repeat=size)]
    if covers(pattern, name):
        assert all(fnmatchcase(word, pattern) for word in words if fnmatchcase(word, name))
    elif not any(sign in name for sign in "*?["):
        assert not fnmatchcase(name, pattern)


@given(
    st.lists(
        st.tuples(st.lists(ALPHABET.filter(bool), min_size=1, max_size=2), st.booleans()),
        max_size=5,
    ),
)
def test_a_rule_that_can_never_match_never_matches(made: list[tuple[list[str], bool]]) -> None:
    policy = load_policy(
        {
            "version": 1,
            "rules": [
                {"tool": names} | ({"when": "{{ args.x }}"} if asks else {}) for names, asks in made
            ],
        }
    )
    book = policy.settings.book
    never = {rule.index for rule, _ in unreachable(book)}
    for size in range(4):
        for number in range(2**size):
            name = "".join("ab"[number >> bit & 1] for bit in range(size))
            first = next((r for r in book.about(name, None) if r.when is None), None)
            assert first is None or first.index not in never


def test_bases_may_be_overruled(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(rules("  - {tool: a}\n  - {tool: a}"), "utf-8")
    policy = load_policy(
        {"version": 1, "extends": "base.yaml", "rules": [{"tool": "a"}]}, folder=tmp_path
    )
    assert lint_policy(policy) == ()


def test_names_of_arguments_that_no_tool_has() -> None:
    text = (
        "  - {tool: read, safe: true, reads: ['f:{{ args.pth }}']}\n"
        "  - {tool: grep, when: \"{{ args['patern'] == 'x' and args.get('file') }}\"}\n"
        "  - {tool: [read, grep], show: '{{ args.pattern }}'}\n"
        "  - {tool: free, show: '{{ args.anything }}'}\n"
        "  - {tool: remove, ask: '{{ args.items() | length }}'}\n"
    )
    assert found(text, *TOOLS) == [
        ("unknown_argument", 3),
        ("unknown_argument", 4),
        ("unknown_argument", 4),
    ]
    (problem, *_) = lint_policy(load_policy(rules(text)), TOOLS)
    assert problem.severity == "warning"
    assert problem.column == 38
    assert problem.message == (
        "rules[0].reads[0] names the argument 'pth', which no tool that the rule is about (read) "
        "has. Did you mean 'path'?"
    )


def test_names_of_tools_that_are_not_there() -> None:
    text = (
        "  - {tool: [read, raed]}\n  - {tool: 'w*'}\n"
        "  - {tool: far, server: elsewhere}\n  - {server: s}"
    )
    assert found(text, *TOOLS) == [("unknown_tool", 3), ("unknown_tool", 4)]
    assert found(text, *TOOLS, complete=False) == []
    assert found(text) == []


def test_what_is_incomplete_is_held_against_nothing_unknown() -> None:
    text = "  - {tool: '*', show: '{{ args.other }}'}\n  - {tool: read, show: '{{ args.other }}'}"
    assert found(text, *TOOLS[:3], complete=False) == [("unknown_argument", 4)]


@pytest.mark.parametrize(
    ("rule", "tells"),
    [
        ("{tool: write_file, safe: true}", True),
        ("{tool: deleteThing, safe: true}", True),
        ("{tool: read_file, safe: true}", False),
        ("{tool: remove, safe: true}", True),
        ("{tool: 're*', safe: true}", True),
        ("{tool: write_file, safe: true, writes: ['k']}", False),
        ("{tool: write_file, safe: true, writes: []}", False),
        ("{tool: write_file, safe: true, reads: ['k']}", False),
        ("{tool: write_file, safe: '{{ true }}'}", False),
        ("{tool: write_file}", False),
    ],
)
def test_safe_tools_that_seem_to_write_and_have_no_key(rule: str, tells: bool) -> None:
    assert (("safe_writer", 3) in found(f"  - {rule}", *TOOLS, complete=False)) is tells


@pytest.mark.parametrize(
    ("rule", "tells"),
    [
        ('{tool: x, when: "{{ 1 / 0 == 1 }}"}', True),
        ("{tool: x, show: \"{{ 'a' + 1 }}\"}", True),
        ("{tool: x, writes: ['k:{{ none | file_key }}']}", True),
        ("{tool: x, when: '{{ tool }}'}", True),
        ("{tool: x, when: '{{ tool == \"x\" }}'}", False),
        ("{tool: x, when: '{{ args.a }}'}", False),
        ("{tool: read, when: '{{ args.path }}'}", True),
        ("{tool: read, reads: ['{{ args.path | file_key }}']}", False),
        ("{tool: read, show: '{{ args.path + 1 }}'}", True),
        ("{tool: read, show: \"{{ args.path.split(' ')[3] }}\"}", False),
        ('{tool: read, when: "{{ args.path | int > 3 }}"}', False),
        ("{tool: read, safe: '{{ shell_effects(args.path) }}'}", False),
        ("{tool: 're*', when: \"{{ args.path == turn.id }}\"}", False),
    ],
)
def test_expressions_that_always_fail(rule: str, tells: bool) -> None:
    known = (*TOOLS[:3], ToolSpec("x"))
    assert (("always_fails", 3) in found(f"  - {rule}", *known)) is tells


def test_samples_ask_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_args: object, **_more: object) -> None:
        raise AssertionError("the disk was asked")

    for name in ("stat", "lstat", "readlink", "listdir", "scandir", "open"):
        monkeypatch.setattr(f"os.{name}", never)
    text = "version: 1\nrules: [{tool: read, reads: ['{{ args.path | file_key }}', k]}]\n"
    assert lint_policy(load_policy(text), TOOLS) == ()


def test_resources_keys_trust_and_cases() -> None:
    text = (
        "version: 1\nlimits: {resources: {cpu: 1, disk: 2, 'mcp:x': 1}}\nredact: [token]\n"
        "rules:\n  - {tool: a, uses: {cpu: 1}, writes: ['k:{{ args.token }}']}\n"
        "cases:\n  - turn: [{tool: a}]\n    expect: [{verdict: safe}]\n"
    )
    assert found(text) == [("unused_resource", 2), ("masked_key", 5), ("failing_case", 7)]
    assert found(text, ToolSpec("a", uses={"disk": 1}))[0] == ("masked_key", 5)


def test_trust_of_a_base_is_told(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("version: 1\ntrust: {annotations: [s, t]}\n", "utf-8")
    (tmp_path / "p.yaml").write_text(
        "version: 1\nextends: b.yaml\ntrust: {annotations: [s]}\n", "utf-8"
    )
    (problem,) = lint_policy(load_policy(tmp_path / "p.yaml"))
    assert (problem.code, problem.line) == ("trust_of_base", 2)
    assert problem.message.startswith("The base 'b.yaml' trusts t, and trust is not taken over.")
    assert lint_policy(load_policy(None)) == ()


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_policies_are_without_warnings(name: str) -> None:
    assert lint_policy(load_policy(f"shipped:{name}")) == ()


SERVERS = ("everything", "fetch", "filesystem", "git", "memory", "playwright", "sqlite", "time")


@pytest.mark.parametrize("name", SERVERS)
def test_shipped_policies_fit_the_tools_of_their_servers(name: str) -> None:
    path = corpus_dir() / "mcp-tools-list" / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"the list {path.name} is not here")
    listed = read_tool_list(yamlio.load_file(path).value, server=name)
    assert listed is not None
    assert lint_policy(load_policy(f"shipped:{name}"), listed.tools) == ()


def test_the_book_of_no_rules_has_nothing_unreachable() -> None:
    assert list(unreachable(RuleBook())) == []
