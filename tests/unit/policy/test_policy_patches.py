"""Keys from patches and from commands that are lists of words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolflow.errors import UsageError
from toolflow.model import Call, Turn
from toolflow.policy import load_policy
from toolflow.policy.patches import patch_files
from toolflow.policy.shell.argv import command_line

PATCH = """*** Begin Patch
*** Add File: new.txt
+*** Update File: only text
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
-    old
+    new
 *** Delete File: looks like one
*** Delete File: gone.py
*** End Patch"""


def test_every_file_in_a_header_is_found_and_what_may_be_one_too():
    found = ["gone.py", "looks like one", "new.txt", "src/a.py", "src/b.py"]
    assert patch_files(PATCH) == found
    assert patch_files(PATCH.replace("\n", "\r\n")) == found
    assert patch_files(["apply_patch", PATCH]) == found
    assert patch_files(f"apply_patch <<'EOF'\n{PATCH}\nEOF") == found


def test_paths_start_in_the_folder_that_is_given():
    assert patch_files(PATCH, "/w")[-1] == "/w/src/b.py"
    assert patch_files(PATCH.replace("gone.py", "/abs"), "/w")[0] == "/abs"
    assert patch_files(PATCH, "") == patch_files(PATCH, None) == patch_files(PATCH)


@pytest.mark.parametrize("kind", ["create_file", "update_file", "delete_file"])
def test_an_operation_of_responses_names_its_file(kind):
    assert patch_files({"type": kind, "path": "a.py", "diff": "@@"}) == ["a.py"]


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\n*** Add File:\n+x\n*** End Patch",
        "*** Update File: a.py\n@@\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n",
        {"type": "rename_file", "path": "a"},
        {"type": "create_file"},
        ["apply_patch"],
        ["bash", "-lc", "apply_patch x"],
        7,
        None,
        "x" * 1_000_001,
    ],
)
def test_a_text_that_names_no_file_has_no_keys(patch):
    with pytest.raises(UsageError):
        patch_files(patch)


@given(st.lists(st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8})?", fullmatch=True), min_size=1))
def test_no_file_is_missed(paths):
    text = "\n".join(["*** Begin Patch", *(f"*** Delete File: {p}" for p in paths)])
    assert patch_files(text) == sorted(set(paths))


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("ls | wc", "ls | wc"),
        (["bash", "-lc", "ls | wc"], "ls | wc"),
        (["/bin/sh", "-c", "ls"], "ls"),
        (["cat", "a;b", "$x"], "cat 'a;b' '$x'"),
        (["zsh", "-lc", "ls"], "zsh -lc ls"),  # another language: left to be not understood
        (["bash", "-lc", "ls", "name"], "bash -lc ls name"),
        (["bash", "-x", "ls"], "bash -x ls"),
    ],
)
def test_a_list_of_words_becomes_a_line(command, line):
    assert command_line(command) == line


@pytest.mark.parametrize("command", [[], None, 5, ["ls", 5], {"a": 1}])
def test_what_is_no_command_is_refused(command):
    with pytest.raises(UsageError):
        command_line(command)


def effects(command, folder):
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    from toolflow import shell_effects  # needs the extra

    return shell_effects(command_line(command, folder))


@pytest.mark.parametrize("folder", ["src", "with blank", "-x", "$HOME", "a'b", "/abs"])
def test_a_folder_is_where_paths_start_and_is_no_code(folder):
    found = effects("cat a", folder)
    assert found.reads_only
    assert found.reads in ((f"{folder}/a",), ("/",))


@pytest.mark.parametrize(
    "line",
    ["rm a", "ls }; rm b; { ls", "cat a\nrm b", "cat a # x\nrm b", "cat <<E\nx\nE", "ls; }; rm b"],
)
def test_a_folder_hides_nothing_of_the_line(line):
    assert not effects(line, "src").reads_only


def test_expressions_have_both_and_fail_closed():
    policy = load_policy(
        {
            "version": 1,
            "rules": [
                {
                    "tool": "patch",
                    "safe": True,
                    "writes": ["file:{{ patch_files(args.input, args.workdir) | file_key }}"],
                },
                {"tool": "line", "when": "{{ command_line(args.c) == 'ls a' }}", "safe": True},
            ],
        }
    )
    turn = Turn(
        "turn",
        (
            Call(0, "a", "patch", {"input": PATCH.replace("looks like one", "x"), "workdir": "/w"}),
            Call(1, "b", "patch", {"input": "nothing"}),
            Call(2, "c", "patch", {}),
            Call(3, "d", "line", {"c": ["ls", "a"]}),
            Call(4, "e", "line", {}),
        ),
    )
    calls = policy.classify(turn).calls
    assert calls[0].writes is not None
    assert "file:/w/src/a.py" in calls[0].writes
    assert [c.verdict.status for c in calls[1:3]] == ["failed", "failed"]
    assert [c.verdict.kind for c in calls[3:]] == ["safe", "exclusive"]


def test_the_home_folder_is_put_in_only_where_the_tool_does_so(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    rule = {"tool": "t", "safe": True, "reads": ["file:{{ args.path | expand_home | file_key }}"]}
    policy = load_policy({"version": 1, "rules": [rule]})
    paths = ["~/a", "~", "~b/c", "a~", ["~/x", "y"], None]
    calls = tuple(Call(i, f"c{i}", "t", {"path": path}) for i, path in enumerate(paths))
    found = policy.classify(Turn("turn", calls), cwd="/w").calls
    assert [call.reads for call in found] == [
        ("file:/home/me/a",),
        ("file:/home/me",),
        ("file:/w/~b/c",),
        ("file:/w/a~",),
        ("file:/home/me/x", "file:/w/y"),
        None,
    ]
    assert found[-1].verdict.status == "failed"
