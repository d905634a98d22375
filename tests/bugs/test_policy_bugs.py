"""Faults of kinds D, I, K and O, as far as the policy decides them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from policy_support import Tools, classify, rules, turn

from toolflow.errors import PolicyError
from toolflow.model import ToolSpec
from toolflow.policy import file_key, load_policy

EDIT = "rules:\n  - {tool: edit, safe: true, writes: ['file:{{ args.path | file_key }}']}\n"


def problems(text: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load_policy(text)
    return [str(problem) for problem in caught.value.problems]


def test_b009_b011_doubled_and_missing_ids_all_run_under_renumbered_ids() -> None:
    policy = load_policy("version: 1\nids: renumber\n")
    batch = policy.classify(turn(("shell", {}, "run:7"), ("shell", {}, "run:7")))
    assert [call.id for call in batch.calls] == ["run:7", "run:7-2"]
    assert [call.name for call in batch.calls] == ["call-1", "call-2"]
    batch = policy.classify(turn(("put", {}, ""), ("put", {}, ""), ("put", {}, "c9")))
    assert [call.id for call in batch.calls] == ["call-1", "call-2", "c9"]


def test_b021_two_spellings_of_one_name_have_one_key_and_the_tool_gets_its_own() -> None:
    policy = f"version: 1\npaths: {{case: fold, unicode: nfc}}\n{EDIT}"
    composed = unicodedata.normalize("NFC", "Résumé.md")
    decomposed = unicodedata.normalize("NFD", "résumé.MD")
    one = classify(policy, "edit", {"path": composed})
    two = classify(policy, "edit", {"path": decomposed})
    assert one.writes == two.writes
    assert one.args["path"] != two.args["path"]


def test_b023_dots_and_relative_spellings_have_one_key(tmp_path: Path) -> None:
    spellings = [f"{tmp_path}/x.txt", f"{tmp_path}/./x.txt", "x.txt"]
    policy = f"version: 1\n{EDIT}"
    keys = {classify(policy, "edit", {"path": p}, cwd=str(tmp_path)).writes for p in spellings}
    assert keys == {(f"file:{tmp_path}/x.txt",)}


def test_b027_a_constant_key_needs_no_argument() -> None:
    policy = rules("  - {tool: goal_create, safe: true, writes: [session-goal]}")
    batch = load_policy(policy).classify(turn(("goal_create", {}), ("goal_create", {})))
    assert [call.writes for call in batch.calls] == [("session-goal",)] * 2


def test_b028_the_identity_of_a_file_makes_all_its_spellings_one(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "X.json").hardlink_to(tmp_path / "x.json")  # what a folding folder shows
    assert file_key(tmp_path / "x.json", inode=True) == file_key(tmp_path / "X.json", inode=True)
    folded = [file_key(tmp_path / name / "x.json", case="fold") for name in ("Library", "library")]
    assert folded[0] == folded[1]


def test_b057_git_branch_is_safe_only_in_the_forms_that_read() -> None:
    policy = rules(
        "  - tool: shell\n"
        "    when: \"{{ args.command in ['git branch', 'git branch -r', 'git branch -a'] }}\"\n"
        "    safe: true"
    )
    assert classify(policy, "shell", {"command": "git branch -r"}).verdict.kind == "safe"
    found = classify(policy, "shell", {"command": "git branch -D old"}).verdict
    assert (found.kind, found.reason) == ("exclusive", "nobody declared it safe")


def test_b063_a_hint_of_a_server_that_is_not_trusted_makes_nothing_safe() -> None:
    tools = Tools(ToolSpec("wipe_all", server="x", hints={"readOnlyHint": True}))
    assert classify("version: 1\n", "wipe_all", catalog=tools).verdict.kind == "exclusive"


@pytest.mark.parametrize(
    ("tool", "hints", "kind"),
    [
        ("query", {"readOnlyHint": True}, "safe"),
        ("delete_file", {"readOnlyHint": False, "destructiveHint": True}, "exclusive"),
        ("put", {}, "exclusive"),
    ],
)
def test_b065_tools_of_one_server_are_judged_one_by_one(
    tool: str, hints: dict[str, bool], kind: str
) -> None:
    tools = Tools(ToolSpec(tool, server="db", hints=hints))
    call = classify("version: 1\ntrust: {annotations: [db]}\n", tool, catalog=tools)
    assert (call.verdict.kind, call.terms.idempotent) == (kind, False)


def test_b079_blanks_around_a_name_are_stripped_and_told() -> None:
    tools = Tools(ToolSpec("read", safe=True))
    batch = load_policy(None).classify(turn((" read", {}), ("read ", {}), (" ", {})), tools)
    assert [call.tool for call in batch.calls] == ["read", "read", ""]
    assert [call.verdict.status for call in batch.calls] == [None, None, "unknown_tool"]
    assert [(notice.code, notice.call) for notice in batch.notices] == [
        ("stripped_name", "c0"),
        ("stripped_name", "c1"),
    ]
    assert batch.notices[0].message == (
        "The tool ' read' was taken as 'read'. Blanks around it were stripped."
    )


def test_b080_an_unknown_name_gets_near_names() -> None:
    tools = Tools(ToolSpec("read_file"), ToolSpec("write_file"), ToolSpec("grep"))
    assert classify(None, "readfile", catalog=tools).verdict.reason == (
        "There is no tool named 'readfile'. Did you mean 'read_file' or 'write_file'?"
    )
    assert classify(None, "nosuch_tool", catalog=tools).verdict.reason == (
        "There is no tool named 'nosuch_tool'. The tools are grep, read_file, write_file."
    )


def test_b109_a_doubled_key_is_an_error_with_both_places() -> None:
    assert problems("tools:\n  shell: exclusive\n  read: safe\n  shell: safe\n") == [
        "<policy>:4:3: The key 'shell' stands here again; it stands at line 2, column 3 already."
    ]


def test_b110_a_limit_given_twice_is_an_error() -> None:
    assert problems("version: 1\nlimits:\n  pool: 4\n  pool: 64\n") == [
        "<policy>:4:3: The key 'pool' stands here again; it stands at line 3, column 3 already."
    ]


def test_b111_on_and_no_are_text_and_never_true_and_false() -> None:
    policy = load_policy(
        "version: 1\nlimits: {resources: {on: 1, no: 2}}\nrules:\n  - {tool: no, safe: true}\n"
    )
    assert policy.limits.resources == {"no": 2, "on": 1}
    assert classify(policy, "no").verdict.kind == "safe"
    assert problems("version: 1\nlimits: {resources: {true: 1}}\n") == [
        "<policy>:2:22: The key true is not text. Put it in quotes: 'true'."
    ]
    assert problems("version: 1\nrules:\n  - {tool: t, safe: yes}\n") == [
        "<policy>:3:21: rules[0].safe is 'yes'. Use true, false or a {{ template }}."
    ]


def test_b113_tabs_are_told_with_their_places() -> None:
    assert problems("version: 1\nrules:\n  - tool: [a]\t\n\tsafe: true\n") == [
        "<policy>:3:14: A tab stands here. Use blanks to indent and to separate.",
        "<policy>:4:1: A tab stands here. Use blanks to indent and to separate.",
    ]


def test_b115_anchors_and_merges_work() -> None:
    policy = load_policy(
        "version: 1\nrules:\n"
        "  - &read {tool: a, safe: true, timeout: 5}\n"
        "  - {<<: *read, tool: b}\n"
    )
    call = classify(policy, "b")
    assert (call.verdict.kind, call.terms.timeout) == ("safe", 5.0)
