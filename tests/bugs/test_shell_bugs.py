"""Faults of kind I about shell commands, and the one of kind J about git's lock."""

from __future__ import annotations

import pytest
from policy_support import classify, rules, turn

from toolflow.compiler import compile_plan
from toolflow.policy import load_policy

POLICY = rules('  - {tool: shell, safe: "{{ shell_effects(args.command) }}"}')


def kind(command: str) -> str:
    return classify(POLICY, "shell", {"command": command}).verdict.kind


def reason(command: str) -> str:
    return classify(POLICY, "shell", {"command": command}).verdict.reason


def test_b057_git_branch_reads_only_in_the_forms_that_list() -> None:
    assert kind("git branch -r") == "safe"
    assert kind("git branch -D old") == "exclusive"
    assert "-D" in reason("git branch -D old")


@pytest.mark.parametrize(
    ("command", "argument"),
    [
        ("git remote set-url origin https://example.org/x", "set-url"),
        ("git tag v2", "v2"),
        ("diff --output=F a b", "--output=F"),
        ("git diff --output=F", "--output=F"),
        ("tree -o F", "-o"),
        ("file -C", "-C"),
    ],
)
def test_b058_what_follows_the_head_counts_and_the_reason_names_it(
    command: str, argument: str
) -> None:
    assert kind(command) == "exclusive"
    assert argument in reason(command)


@pytest.mark.parametrize(
    "command",
    ["cat a > b", "sed -i s/x/y/ f", "find . -name t -delete", "echo $(touch z)"],
)
def test_b059_redirections_options_and_substitutions_that_write_are_seen(command: str) -> None:
    assert kind(command) == "exclusive"


def test_b059_a_quoted_pipe_is_no_pipe() -> None:
    assert kind('grep "a|b" f') == "safe"


@pytest.mark.parametrize("command", ["git status && rm -rf build", "cat r.md > o", "git log\nrm f"])
def test_b061_a_safe_beginning_does_not_let_the_rest_pass(command: str) -> None:
    assert kind(command) == "exclusive"


@pytest.mark.parametrize(
    "command", ["git gc", "git bisect start", "git config set a.b c", "git stash push"]
)
def test_b066_subcommands_of_git_that_write_are_not_reading(command: str) -> None:
    assert kind(command) == "exclusive"


def test_b071_git_commands_that_need_the_index_never_overlap() -> None:
    commands = ["git add a", "git add b", "git status"]
    batch = load_policy(POLICY).classify(turn(*(("shell", {"command": c}) for c in commands)))
    assert [call.verdict.kind for call in batch.calls] == ["exclusive", "exclusive", "safe"]
    plan = compile_plan(batch)
    assert [plan.beside(call.name) for call in plan.calls] == [(), (), ()]
