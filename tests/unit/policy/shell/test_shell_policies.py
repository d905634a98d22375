"""`shell_effects` in policies: conditions, keys, texts, and what happens without the grammar."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from policy_support import classify, rules

from toolflow.cli import main
from toolflow.errors import PolicyError
from toolflow.policy import compile_expression, load_policy
from toolflow.policy.expressions import ExpressionError
from toolflow.policy.extras import missing_extras
from toolflow.policy.shell import _effects, grammar

RULE = """\
  - tool: bash
    when: "{{ shell_effects(args.command).reads_only }}"
    safe: true
    reads: ["file:{{ shell_effects(args.command).reads | dir_key }}"]
  - tool: bash
    writes: ["file:{{ shell_effects(args.command).writes | dir_key }}"]"""


def test_a_reading_command_is_safe_and_its_paths_are_keys(tmp_path: Path) -> None:
    command = {"command": "cd src && cat a.py ../b"}
    call = classify(rules(RULE), "bash", command, cwd=str(tmp_path))
    assert call.verdict.kind == "safe"
    assert call.verdict.rule == 0
    assert call.reads == (f"file:{tmp_path}/b/**", f"file:{tmp_path}/src/a.py/**")


def test_a_writing_command_has_the_next_rule(tmp_path: Path) -> None:
    call = classify(rules(RULE), "bash", {"command": "ls > list"}, cwd=str(tmp_path))
    assert (call.verdict.kind, call.verdict.rule) == ("exclusive", 1)
    assert call.writes == (f"file:{tmp_path}/list/**",)
    call = classify(rules(RULE), "bash", {"command": "make"}, cwd=str(tmp_path))
    assert call.writes == ("file:/**",)
    call = classify(rules(RULE), "bash", {"command": "pwd"}, cwd=str(tmp_path))
    assert call.reads == ()


def test_filters_take_each_of_the_paths(tmp_path: Path) -> None:
    text = "{{ shell_effects(args.command).reads | map('file_key') | map('upper') | list }}"
    policy = rules(f'  - {{tool: bash, safe: true, reads: ["{text}"]}}')
    call = classify(policy, "bash", {"command": "cat a b"}, cwd=str(tmp_path))
    assert call.reads == tuple(f"{tmp_path}/{name}".upper() for name in "ab")


def test_the_value_itself_is_a_condition_and_gives_the_verdict_its_reason() -> None:
    policy = rules('  - {tool: bash, safe: "{{ shell_effects(args.command) }}"}')
    verdict = classify(policy, "bash", {"command": "git tag v1"}).verdict
    assert (verdict.kind, verdict.reason) == (
        "exclusive",
        "rule 1 (line 3) says exclusive: 'git tag' may make 'v1'",
    )
    verdict = classify(policy, "bash", {"command": "git tag"}).verdict
    assert (verdict.kind, verdict.reason) == (
        "safe",
        "rule 1 (line 3) says safe: Every part of the line only reads",
    )
    policy = rules('  - {tool: bash, when: "{{ shell_effects(args.command) }}", safe: true}')
    assert classify(policy, "bash", {"command": "git tag"}).verdict.kind == "safe"
    assert classify(policy, "bash", {"command": "git tag v1"}).verdict.kind == "exclusive"


def test_texts_may_show_the_reason() -> None:
    policy = rules(
        '  - {tool: bash, ask: "{{ shell_effects(args.command).reason }}", '
        'show: "{{ shell_effects(args.command).unknown | join }}"}'
    )
    call = classify(policy, "bash", {"command": "make x"})
    assert call.ask == call.label == "The command 'make' is not known to only read."


@pytest.mark.parametrize(
    ("args", "said"),
    [({}, "command"), ({"command": None}, "NoneType"), ({"command": ["ls"]}, "list")],
)
def test_a_command_that_is_no_text_makes_the_call_exclusive(
    args: dict[str, object], said: str
) -> None:
    call = classify(
        rules('  - {tool: bash, safe: "{{ shell_effects(args.command).reads_only }}"}'),
        "bash",
        args,
    )
    assert call.verdict.kind == "exclusive"
    assert said in call.verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        "{{ shell_effects(args.x).reads_only }}",
        "{{ shell_effects(command=args.x).reads_only }}",
        "{{ shell_effects(args.x | trim).reads_only }}",
        "{{ shell_effects(*[args.x]).reads_only }}",
        "{{ not not shell_effects(args.x).reads_only }}",
        "{{ shell_effects(args.x)['reads_only'] }}",
        "{{ shell_effects(args.x).reads_only and tool == 't' }}",
    ],
)
def test_every_way_of_calling_it_gives_the_same(text: str) -> None:
    expression = compile_expression(text)
    assert expression({"args": {"x": "ls"}, "tool": "t"}) is True
    assert expression({"args": {"x": "rm y"}, "tool": "t"}) is False


@pytest.mark.parametrize(
    "text",
    [
        "{{ shell_effects() }}",
        "{{ shell_effects('ls', 'ls') }}",
        "{{ shell_effects('ls').nothing }}",
        "{{ shell_effects('ls').__class__ }}",
        "{{ shell_effects.__globals__ }}",
        "{{ shell_effects(args.nothing) }}",
    ],
)
def test_what_is_not_there_cannot_be_reached(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(text)({"args": {}})


@pytest.fixture
def no_grammar(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def forget() -> None:
        grammar._parser.cache_clear()
        _effects.cache_clear()

    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    forget()
    yield
    monkeypatch.undo()
    forget()


@pytest.mark.usefixtures("no_grammar")
def test_without_the_grammar_conditions_fail_closed_and_say_what_to_install() -> None:
    for field in ("when", "safe"):
        policy = rules(
            f'  - {{tool: bash, {field}: "{{{{ shell_effects(args.command).reads_only }}}}"}}'
        )
        verdict = classify(policy, "bash", {"command": "ls"}).verdict
        assert verdict.kind == "exclusive"
        assert "pip install 'toolflow[shell]'" in verdict.reason


@pytest.mark.usefixtures("no_grammar")
def test_without_the_grammar_keys_fail_the_call() -> None:
    policy = rules('  - {tool: bash, safe: true, reads: "{{ shell_effects(args.command).reads }}"}')
    verdict = classify(policy, "bash", {"command": "ls"}).verdict
    assert (verdict.kind, verdict.status) == ("settled", "failed")
    assert "pip install" in verdict.reason


@pytest.mark.usefixtures("no_grammar")
def test_check_tells_each_rule_that_needs_the_grammar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(rules(RULE))
    assert main(["check", str(path)]) == 1
    told = capsys.readouterr().err.splitlines()
    assert [line.removeprefix("toolflow: ").split(": ")[0] for line in told] == [
        f"{path}:3:5",
        f"{path}:7:5",
    ]
    assert all("pip install 'toolflow[shell]'" in line for line in told)


def test_with_the_grammar_check_has_nothing_to_tell(tmp_path: Path) -> None:
    assert missing_extras(load_policy(rules(RULE))) == ()
    path = tmp_path / "policy.yaml"
    path.write_text(rules(RULE))
    assert main(["check", str(path)]) == 0


@pytest.mark.usefixtures("no_grammar")
def test_a_policy_that_does_not_use_it_needs_no_grammar() -> None:
    assert (
        missing_extras(load_policy(rules("  - {tool: bash, deny: 'no shell_effects() here'}")))
        == ()
    )


def test_the_name_alone_is_no_condition() -> None:
    policy = rules('  - {tool: bash, safe: "{{ shell_effects }}"}')
    assert classify(policy, "bash", {"command": "ls"}).verdict.kind == "exclusive"
    with pytest.raises(PolicyError, match="not known"):
        load_policy(rules('  - {tool: bash, safe: "{{ shell_effect(args.command) }}"}'))


def test_writers_whose_paths_are_known_may_be_declared_safe(tmp_path: Path) -> None:
    effects = "shell_effects(args.command)"
    policy = rules(
        f'  - {{tool: bash, safe: "{{{{ {effects}.reads_only or not {effects}.unknown }}}}"}}'
    )
    kinds = {
        line: classify(policy, "bash", {"command": line}, cwd=str(tmp_path)).verdict.kind
        for line in ("touch a", "cat x > y", "git log", "ls", "make", "rm *", "sed -i p x")
    }
    assert kinds == {
        "touch a": "safe", "cat x > y": "safe", "git log": "safe", "ls": "safe",
        "make": "exclusive", "rm *": "exclusive", "sed -i p x": "exclusive",
    }  # fmt: skip
