"""The policies of the package: sound by themselves, and right about what real agents called."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from corpus import corpus_dir

import toolflow
from toolflow.cli import main
from toolflow.compiler import compile_plan
from toolflow.formats.session import read_session
from toolflow.model import Call, ToolSpec, Turn
from toolflow.policy import load_policy
from toolflow.policy.cases import run_cases
from toolflow.policy.shelf import shipped_names
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools import workspace

HARNESSES = ("claude-code", "codex", "gemini-cli", "workspace")
SERVERS = {
    "everything": 13,
    "fetch": 1,
    "filesystem": 14,
    "git": 12,
    "github": 117,
    "memory": 9,
    "playwright": 25,
    "sequential-thinking": 1,
    "sqlite": 6,
    "time": 2,
}
ALL = tuple(sorted([*HARNESSES, *SERVERS]))


@cache
def shipped(name):
    return load_policy(f"shipped:{name}")


def calls_of(*given):
    return tuple(Call(i, f"c{i + 1}", tool, args) for i, (tool, args) in enumerate(given))


def plan(policy, *given, catalog=None, cwd="/repo"):
    """The plan of calls; a policy is a name, or a policy."""
    rules = shipped(policy) if isinstance(policy, str) else policy
    return compile_plan(rules.classify(Turn("turn", calls_of(*given)), catalog, cwd=cwd))


def in_order(made):
    """Whether every call waits for the one before it, because of a key or a barrier."""
    names = [call.name for call in made.calls]
    return all(made.why(a, b) for a, b in pairwise(names))


# --- each by itself ------------------------------------------------------------------------------


def test_these_policies_are_shipped_and_told_of():
    assert shipped_names() == ALL
    page = Path(__file__).parents[2] / "docs" / "reference" / "shipped-policies.md"
    told = page.read_text("utf-8")
    assert [name for name in ALL if f"| `shipped:{name}` |" not in told] == []


@pytest.mark.parametrize("name", ALL)
def test_it_is_without_problems(name, capsys):
    assert main(["check", f"shipped:{name}"]) == 0, capsys.readouterr()


@pytest.mark.parametrize("name", ALL)
def test_its_cases_hold_and_cover_every_rule(name):
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    report = run_cases(shipped(name))
    assert [str(d) for result in report.results for d in result.differences] == []
    assert report.ok
    assert report.unused == ()


@pytest.mark.parametrize("name", ALL)
def test_it_believes_no_server_and_says_so_of_every_tool(name):
    policy = shipped(name)
    assert policy.settings.trusted == frozenset()
    for rule in policy.settings.book.rules:
        fallback = rule.tools is None
        assert rule.safe is not None or rule.deny is not None or fallback, rule.name
        if rule.safe is True:  # declared, both ways: no tool's own word fills a gap
            assert rule.writes is not None, rule.name


@pytest.mark.parametrize("name", ALL)
def test_no_rule_of_it_is_about_tools_of_others(name):
    """Several policies stand in one ``extends``: none may decide what another one is for."""
    for rule in shipped(name).settings.book.rules:
        if name in SERVERS:
            assert rule.servers is not None, rule.name
            assert name in rule.servers, rule.name
        assert not any("*" in tool for tool in rule.tools or ()), rule.name


def test_they_stand_together():
    extends = [f"shipped:{name}" for name in ("claude-code", "github", "filesystem", "playwright")]
    policy = load_policy({"version": 1, "extends": extends})
    made = plan(
        policy,
        ("Read", {"file_path": "a.py"}),
        ("mcp__filesystem__edit_file", {"path": "/repo/a.py", "edits": []}),
        ("mcp__github__delete_file", {"owner": "o", "repo": "r", "path": "p", "branch": "b"}),
        ("mcp__other__delete_file", {"path": "/repo/a.py"}),
    )
    assert made.why("c1", "c2")
    assert made.call("c3").ask == "Delete p on b of o/r?"
    assert made.call("c4").verdict.kind == "exclusive"
    assert made.call("c4").verdict.rule is None


# --- tools of servers ----------------------------------------------------------------------------


@cache
def dump(server):
    folder = "mcp" if server == "github" else "mcp-tools-list"
    name = "github-mcp-server.tools-list" if server == "github" else server
    text = corpus_dir(folder, f"{name}.json").read_text("utf-8")
    return json.loads(text)["tools"]


SAMPLES = {"url": "https://example.com", "query": "SELECT 1", "function": "() => 1"}
TYPES = {"string": "x", "array": ["x"], "object": {}, "boolean": True}


def sample(schema):
    """Arguments that a schema asks for."""
    made = {}
    for name in schema.get("required", ()):
        said = schema["properties"][name]
        kind = str(said.get("type"))
        made[name] = SAMPLES.get(name) or (said.get("enum") or [TYPES.get(kind, 3)])[0]
    return made


def decided(server, tool, args=None, *, spelled="{}"):
    """One call of a listed tool, under a name that a harness would give it."""
    name = spelled.format(tool["name"])
    catalog = None
    if spelled in ("{}", f"{server}__{{}}"):
        catalog = Toolbox()
        spec = ToolSpec(name, server=server, hints=tool.get("annotations") or {})
        catalog.add(spec, lambda: None)
    given = sample(tool["inputSchema"]) if args is None else args
    return plan(server, (name, given), catalog=catalog).calls[0]


@pytest.mark.parametrize("server", sorted(SERVERS))
def test_every_listed_tool_is_decided_by_a_rule_that_names_it(server):
    tools = dump(server)
    assert len(tools) == SERVERS[server]
    for tool in tools:
        call = decided(server, tool)
        assert call.verdict.rule is not None, tool["name"]
        rule = shipped(server).settings.book.rules[call.verdict.rule]
        assert rule.tools is not None, f"{tool['name']} is decided by what is left over"
        assert tool["name"] in rule.tools
        if call.verdict.status != "failed":  # issue_write: which issue depends on its method
            assert call.writes is not None or call.ask is not None


@pytest.mark.parametrize("server", sorted(SERVERS))
def test_every_spelling_of_a_tool_is_decided_alike(server):
    for tool in dump(server):
        first = decided(server, tool)
        for spelled in (f"{server}__{{}}", f"mcp__{server}__{{}}", f"mcp_{server}_{{}}"):
            other = decided(server, tool, spelled=spelled)
            assert (other.verdict.kind, other.verdict.rule) == (
                first.verdict.kind,
                first.verdict.rule,
            ), other.tool
            assert (other.reads, other.writes) == (first.reads, first.writes), other.tool


@pytest.mark.parametrize("server", sorted(SERVERS))
def test_a_bare_name_without_its_server_is_nobodys(server):
    for tool in dump(server):
        call = plan(server, (tool["name"], sample(tool["inputSchema"]))).calls[0]
        assert call.verdict.kind == "exclusive"
        assert call.verdict.rule is None


WRONG_HINTS = {
    ("playwright", "browser_find"),
    ("playwright", "browser_snapshot"),
    ("playwright", "browser_take_screenshot"),
    ("playwright", "browser_wait_for"),
    ("sequential-thinking", "sequentialthinking"),
}
"""Tools whose server says that they only read, and which have a place in the order all the same."""


@pytest.mark.parametrize("server", sorted(SERVERS))
def test_what_changes_something_has_a_key_and_hints_are_followed_only_where_they_are_right(server):
    for tool in dump(server):
        call = decided(server, tool)
        if call.verdict.kind == "settled":
            continue
        reading = (tool.get("annotations") or {}).get("readOnlyHint")
        writes = call.writes != ()
        if server == "sqlite":  # no hints at all
            assert reading is None
            assert writes == (tool["name"] not in ("read_query", "list_tables", "describe_table"))
        elif (server, tool["name"]) in WRONG_HINTS:
            assert reading is True
            assert call.writes
        else:
            assert writes == (reading is False), f"{tool['name']}: {reading}, {call.writes}"


def test_two_more_hints_are_wrong_for_some_arguments():
    console = next(t for t in dump("playwright") if t["name"] == "browser_console_messages")
    assert console["annotations"]["readOnlyHint"] is True
    call = decided("playwright", console, {"level": "error", "filename": "/tmp/log.txt"})
    assert call.verdict.kind == "exclusive"
    assert "file:/tmp/log.txt" in call.writes
    diff = next(t for t in dump("git") if t["name"] == "git_diff")
    assert diff["annotations"]["readOnlyHint"] is True
    call = decided("git", diff, {"repo_path": "/repo", "target": "--output=/repo/a.py"})
    assert call.verdict.status == "denied"


ASKED = {
    "everything": {"get-env"},
    "filesystem": set(),
    "git": set(),
    "memory": {"delete_entities", "delete_observations", "delete_relations"},
    "playwright": {"browser_file_upload", "browser_drop", "browser_run_code_unsafe"},
    "sqlite": {"write_query"},
    "github": {
        "actions_run_trigger",
        "assign_copilot_to_issue",
        "assign_copilot_to_issue_with_intent",
        "create_repository",
        "delete_file",
        "delete_pending_pull_request_review",
        "delete_repository",
        "fork_repository",
        "mark_all_notifications_read",
        "merge_pull_request",
        "submit_pending_pull_request_review",
        "update_pull_request_branch",
    },
}


@pytest.mark.parametrize("server", sorted(ASKED))
def test_a_person_decides_about_exactly_these(server):
    extra = {
        "browser_file_upload": {"paths": ["a"]},
        "browser_drop": {"target": "x", "paths": ["a"]},
        "write_query": {"query": "DROP TABLE t"},
    }
    asked = {t["name"] for t in dump(server) if decided(server, t, extra.get(t["name"])).ask}
    assert asked == ASKED[server]


def test_what_is_deleted_on_github_is_asked_about_by_every_method():
    methods = {
        "discussion_comment_write": {"delete"},
        "label_write": {"delete"},
        "manage_notification_subscription": {"delete"},
        "manage_repository_notification_subscription": {"delete"},
        "projects_write": {"delete_project_item", "delete_project_view"},
        "pull_request_review_write": {"delete_pending"},
    }
    for tool in dump("github"):
        properties = tool["inputSchema"].get("properties", {})
        field = "action" if "action" in properties else "method"
        choices = properties.get(field, {}).get("enum", ())
        if tool["name"] == "actions_run_trigger":
            continue  # all of its methods are asked about
        for choice in choices:
            args = {**sample(tool["inputSchema"]), field: choice, "issue_number": 3}
            asked = decided("github", tool, args).ask is not None
            assert asked == (choice in methods.get(tool["name"], ())), (tool["name"], choice)


# --- faults that real users met, as these policies decide them -----------------------------------


def test_b015_edits_of_one_file_take_turns_in_every_harness():
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    patch = "*** Begin Patch\n*** Update File: {}\n@@\n-x\n+y\n*** End Patch"
    for policy, tool, one, other in (
        ("claude-code", "Edit", {"file_path": "/repo/f"}, {"file_path": "./f"}),
        ("claude-code", "Write", {"file_path": "/repo/f"}, {"file_path": "x/../f"}),
        ("gemini-cli", "replace", {"file_path": "/repo/f"}, {"file_path": "f"}),
        ("workspace", "edit_file", {"path": "/repo/f"}, {"path": "f"}),
        ("filesystem", "mcp__filesystem__edit_file", {"path": "/repo/f"}, {"path": "/repo//f"}),
        ("codex", "apply_patch", {"input": patch.format("f")}, {"input": patch.format("/repo/f")}),
    ):
        made = plan(policy, (tool, one), (tool, other))
        assert [call.verdict.kind for call in made.calls] == ["safe", "safe"], tool
        assert in_order(made), tool


def test_b019_an_edit_after_a_command_that_writes_waits_for_it():
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    command = {"command": "cat > setup.sh <<EOF\nx\nEOF"}
    made = plan("claude-code", ("Bash", command), ("Edit", {"file_path": "pins.ts"}))
    assert made.call("c1").verdict.kind == "exclusive"
    assert in_order(made)


def test_b025_a_move_there_and_back_has_both_keys():
    there, back = {"source": "a", "destination": "b"}, {"source": "b", "destination": "a"}
    made = plan(
        "filesystem", ("mcp__filesystem__move_file", there), ("filesystem__move_file", back)
    )
    assert made.call("c1").writes == made.call("c2").writes
    assert in_order(made)


def test_b031_a_command_that_reads_comes_after_the_edit_before_it():
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    made = plan(
        "claude-code",
        ("Bash", {"command": "cd src && ls"}),
        ("Edit", {"file_path": "/repo/src/a.py"}),
        ("Bash", {"command": "cat a.py"}),  # in whichever folder the shell is now
        ("Read", {"file_path": "/repo/b.py"}),
    )
    assert {call.verdict.kind for call in made.calls} == {"safe"}
    assert made.why("c2", "c3")
    assert made.why("c1", "c3")  # the shell's folder
    assert not made.why("c1", "c4")


WRITING = {
    57: ["git branch -D old"],
    58: [
        "git remote set-url origin x",
        "git tag v1",
        "git diff --output=F",
        "tree -o F",
        "file -C",
        "sort -o F G",
    ],
    59: ["cat a > b", "sed -i s/x/y/ f", "find . -name t -delete", "echo $(touch z)"],
    61: ["git status && rm -rf build", "cat r.md > o", "git log\nrm f"],
    66: ["git gc", "git bisect start", "git config set a b", "git stash push"],
    73: ["for f in A1 A2; do echo $f; done"],
}
READING = ["git branch -r", 'grep "a|b" f', "ls -l | head -3", "git status"]
COMMANDS = {
    "claude-code": lambda line: ("Bash", {"command": line}),
    "codex": lambda line: ("shell", {"command": ["bash", "-lc", line]}),
    "gemini-cli": lambda line: ("run_shell_command", {"command": line}),
}


@pytest.mark.parametrize("policy", COMMANDS)
@pytest.mark.parametrize("number", WRITING)
def test_commands_that_passed_for_reading_elsewhere_run_alone(policy, number):
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    for line in WRITING[number]:
        call = plan(policy, COMMANDS[policy](line)).calls[0]
        assert call.verdict.kind == "exclusive", line
        assert call.writes, line


@pytest.mark.parametrize("policy", COMMANDS)
def test_commands_that_read_are_safe(policy):
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    made = plan(policy, *map(COMMANDS[policy], READING))
    assert [call.verdict.kind for call in made.calls] == ["safe"] * 4
    assert not made.why("c1", "c4")


def test_b063_an_untrusted_servers_hint_makes_nothing_safe():
    for server in SERVERS:
        catalog = Toolbox()
        spec = ToolSpec("wipe_all", server=server, hints={"readOnlyHint": True})
        catalog.add(spec, lambda: None)
        call = plan(server, ("wipe_all", {}), catalog=catalog).calls[0]
        assert call.verdict.kind == "exclusive"


def test_b069_clicks_come_in_the_order_in_which_they_were_written():
    keys = [("mcp__playwright__browser_press_key", {"key": key}) for key in "TOOLS"]
    waits = ("mcp__playwright__browser_wait_for", {"time": 1})
    looks = ("mcp__playwright__browser_snapshot", {})
    made = plan("playwright", *keys, waits, looks)
    assert {call.verdict.kind for call in made.calls} == {"safe"}  # beside tools of others
    assert in_order(made)


def test_b071_git_calls_of_one_repository_never_meet():
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    lines = [("Bash", {"command": line}) for line in ("git add a", "git add b", "git status")]
    assert in_order(plan("claude-code", *lines))
    add = [("mcp__git__git_add", {"repo_path": "/r", "files": [name]}) for name in "ab"]
    made = plan("git", *add, ("mcp__git__git_status", {"repo_path": "/r/."}))
    assert in_order(made)
    assert made.call("c1").terms.hold == "turn"


@pytest.mark.anyio
async def test_add_and_commit_of_two_agents_never_interleave():
    order = []

    def engine(name):
        tools = Toolbox()
        for tool in ("git_add", "git_commit"):

            async def body(repo_path, tool=tool, **_args):
                await anyio.lowlevel.checkpoint()
                order.append((name, tool))

            tools.add(ToolSpec(f"git__{tool}", server="git"), body)
        return toolflow.Engine(tools, policy="shipped:git", locks=store)

    store = toolflow.locks.open_store("memory")
    message = {
        "calls": [
            {"id": "a", "tool": "git__git_add", "args": {"repo_path": "/r", "files": ["f"]}},
            {"id": "b", "tool": "git__git_commit", "args": {"repo_path": "/r", "message": "m"}},
        ]
    }
    async with anyio.create_task_group() as tasks:
        for name in range(4):
            tasks.start_soon(engine(name).run, message)
    assert len(order) == 8
    for (one, first), (other, second) in zip(order[::2], order[1::2], strict=True):
        assert (one, first, second) == (other, "git_add", "git_commit")


def test_changes_of_one_graph_take_turns():
    made = plan("memory", *[("mcp__memory__create_entities", {"entities": [i]}) for i in range(5)])
    assert in_order(made)


# --- what recorded agents called -----------------------------------------------------------------

UNNAMED = {
    "[trimmed for fixture]": "the owner of the log cut the name out",
    "mcp__github__add_pull_request_review_comment": "shipped:github knows it",
    "mcp__private-journal__process_thoughts": "a server of somebody's own",
}
SESSIONS = [
    ("claude-code", "claude-code", 790),
    ("gemini-cli", "gemini-cli", 21),
    ("codex", "other-agents", 4),
]


def recorded(folder, only):
    for path in sorted(corpus_dir(folder).iterdir()):
        if only == "codex" and not path.name.startswith("codex"):
            continue
        for one in read_session(path).turns:
            yield from one.turn.calls


@pytest.mark.parametrize(("policy", "folder", "count"), SESSIONS, ids=str)
def test_no_recorded_call_is_left_to_no_rule(policy, folder, count):
    pytest.importorskip("tree_sitter_bash", reason="the extra shell is not here")
    calls = list(recorded(folder, policy))
    assert len(calls) >= count
    for call in calls:
        made = plan(policy, (call.tool, call.args)).calls[0]
        if made.verdict.rule is None:
            assert call.tool in UNNAMED or call.problem is not None, call.tool
            assert made.verdict.kind == "exclusive"
        elif made.verdict.kind == "safe":
            assert made.reads is not None or made.writes is not None
        elif made.verdict.kind == "settled":
            assert "Could not tell what the call changes" in made.verdict.reason


def test_the_rest_of_the_recorded_names_is_known_to_its_server():
    args = {"owner": "o", "repo": "r", "pullNumber": 3}
    call = plan("github", ("mcp__github__add_pull_request_review_comment", args)).calls[0]
    assert call.writes == ("github:/o/r/issue/3",)


# --- the workspace policy and the tools themselves -----------------------------------------------


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"path": "a"}),
        ("list_files", {}),
        ("glob", {"pattern": "*", "path": "src"}),
        ("grep", {"pattern": "x"}),
        ("write_file", {"path": "a", "text": "x"}),
        ("edit_file", {"path": "a", "old": "x", "new": "y"}),
        ("delete_file", {"path": "a"}),
        ("run_command", {"command": "ls"}),
    ],
)
def test_the_workspace_policy_says_what_the_tools_declare(tool, args, tmp_path):
    root = str(tmp_path)
    own = load_policy(None).classify(Turn("t", calls_of((tool, args))), workspace(root), cwd=root)
    ours = shipped("workspace").classify(Turn("t", calls_of((tool, args))), None, cwd=root)
    one, other = own.calls[0], ours.calls[0]
    assert one.verdict.kind == other.verdict.kind
    assert (one.reads or ()) == (other.reads or ())
    if tool != "run_command":  # the policy keeps the folder from other runs, too
        assert one.writes == other.writes


def test_a_policy_may_be_nothing_but_its_bases(tmp_path, capsys):
    (tmp_path / "policy.yaml").write_text("version: 1\nextends: shipped:git\n", "utf-8")
    assert main(["check", str(tmp_path / "policy.yaml")]) == 0, capsys.readouterr()
