"""Conformance sections A and K, and single lines of others, as far as the policy decides them."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from policy_support import Tools, classify, rules, turn

from toolflow.errors import PolicyError, UsageError
from toolflow.model import Call, Limits, ToolSpec, Turn
from toolflow.model.keys import keys_meet
from toolflow.policy import dir_key, file_key, load_policy


def declared(safe: object, **more: Any) -> Tools:
    return Tools(ToolSpec("t", safe=safe, **more))  # type: ignore[arg-type]


def verdict(safe: object) -> tuple[str, str]:
    found = classify(None, "t", {"x": 1}, catalog=declared(safe)).verdict
    return found.kind, found.reason


def test_c001_exactly_true_from_the_predicate_is_safe() -> None:
    assert verdict(lambda args: args["x"] == 1) == ("safe", "the tool declares itself safe")
    assert verdict(True)[0] == "safe"
    policy = rules("  - {tool: t, safe: '{{ args.x == 1 }}'}")
    assert classify(policy, "t", {"x": 1}).verdict.kind == "safe"


def test_c002_without_policy_and_predicate_a_call_is_exclusive() -> None:
    assert verdict(None) == ("exclusive", "nobody declared it safe")
    assert classify(None, "t").verdict.kind == "exclusive"


def test_c003_an_unknown_tool_is_never_safe() -> None:
    policy = rules("  - {tool: '*', safe: true}")
    found = classify(policy, "nowhere", catalog=declared(True)).verdict
    assert (found.kind, found.status) == ("settled", "unknown_tool")


def test_c004_a_predicate_decides_by_the_arguments() -> None:
    tools = declared(lambda args: args["x"] < 2)
    assert classify(None, "t", {"x": 1}, catalog=tools).verdict.kind == "safe"
    assert classify(None, "t", {"x": 2}, catalog=tools).verdict.kind == "exclusive"


def test_c005_arguments_that_fail_the_schema_are_not_safe_and_nothing_raises() -> None:
    def parse(args: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ValueError("x is 1. Use text.")

    found = classify(None, "t", {"x": 1}, catalog=declared(True, parse=parse)).verdict
    assert (found.kind, found.status) == ("settled", "invalid_arguments")
    assert found.reason == "x is 1. Use text."


def test_c006_a_predicate_that_raises_makes_the_call_exclusive() -> None:
    assert verdict(lambda args: args["missing"]) == (
        "exclusive",
        "the tool's own predicate raised KeyError: 'missing'",
    )
    found = classify(rules("  - {tool: t, safe: '{{ args.y }}'}"), "t", {}).verdict
    assert found.kind == "exclusive"
    assert found.reason == "rule 1 (line 3): safe cannot be worked out: args.y is not there"


@pytest.mark.parametrize(
    ("value", "shown"), [("yes", "'yes'"), (1, "1"), ([1], "a list"), (None, "a NoneType")]
)
def test_c007_a_truthy_value_that_is_not_true_makes_the_call_exclusive(
    value: object, shown: str
) -> None:
    said = f"gives {shown}, neither true nor false"
    assert verdict(lambda args: value) == ("exclusive", f"the tool's own predicate {said}")
    found = classify(rules("  - {tool: t, safe: '{{ args.v }}'}"), "t", {"v": value}).verdict
    assert (found.kind, found.reason) == ("exclusive", f"rule 1 (line 3): safe {said}")


def test_c008_an_async_predicate_makes_the_call_exclusive_and_leaves_no_warning() -> None:
    async def safe(args: Mapping[str, Any]) -> bool:
        return True

    assert verdict(safe) == (
        "exclusive",
        "the tool's own predicate is async, so it says nothing in time",
    )
    gc.collect()  # a coroutine that was left over would warn here, and warnings are errors


def test_c009_predicate_keys_presentation_and_body_see_one_value_parsed_once() -> None:
    parsed: list[Mapping[str, Any]] = []
    seen: list[object] = []

    def parse(args: Mapping[str, Any]) -> Mapping[str, Any]:
        parsed.append({"path": args["path"].upper()})
        return parsed[-1]

    def look(result: object) -> Any:
        def seeing(args: Mapping[str, Any]) -> object:
            seen.append(args)
            return result

        return seeing

    tools = declared(look(True), reads=look(["r"]), writes=look(["w"]), parse=parse)
    policy = rules("  - {tool: t, show: 'see {{ args.path }}'}")
    call = classify(policy, "t", {"path": "a"}, catalog=tools)
    assert len(parsed) == 1
    assert len(seen) == 3
    assert all(args is parsed[0] for args in [*seen, call.parsed])
    assert (call.label, call.verdict.kind) == ("see A", "safe")


@pytest.mark.parametrize(
    ("trusted", "hint", "kind"),
    [
        ("[fs]", True, "safe"),
        ("[fs]", "true", "exclusive"),
        ("[fs]", 1, "exclusive"),
        ("[other]", True, "exclusive"),
        ("[]", True, "exclusive"),
    ],
)
def test_c010_the_read_only_hint_counts_only_for_a_trusted_server(
    trusted: str, hint: object, kind: str
) -> None:
    tools = Tools(ToolSpec("t", server="fs", hints={"readOnlyHint": hint}))
    policy = f"version: 1\ntrust: {{annotations: {trusted}}}\n"
    assert classify(policy, "t", catalog=tools).verdict.kind == kind


def test_c010_the_tools_own_declaration_wins_over_the_hint() -> None:
    tools = Tools(ToolSpec("t", server="fs", safe=False, hints={"readOnlyHint": True}))
    policy = "version: 1\ntrust: {annotations: [fs]}\n"
    assert classify(policy, "t", catalog=tools).verdict.kind == "exclusive"


def test_c011_a_rule_about_a_server_applies_where_no_rule_about_the_tool_does() -> None:
    policy = rules("  - {server: fs, safe: true}\n  - {tool: put, safe: false}")
    tools = Tools(ToolSpec("put", server="fs"), ToolSpec("get", server="fs"), ToolSpec("own"))
    assert classify(policy, "get", catalog=tools).verdict.kind == "safe"
    assert classify(policy, "put", catalog=tools).verdict.rule == 1
    assert classify(policy, "own", catalog=tools).verdict.kind == "exclusive"


def test_c011_a_tools_own_no_wins_over_a_rule_about_its_server_unless_that_says_otherwise() -> None:
    hinted = Tools(ToolSpec("t", server="fs", hints={"readOnlyHint": False}))
    told = Tools(ToolSpec("t", server="fs", safe=False))
    plain = rules("  - {server: fs, safe: true}")
    assert classify(plain, "t", catalog=hinted).verdict.reason == (
        "the tool's own hint says that it does not only read, whatever rule 1 (line 3) says"
    )
    assert classify(plain, "t", catalog=told).verdict.kind == "exclusive"
    otherwise = rules("  - {server: fs, safe: true, writes: [fs]}")
    assert classify(otherwise, "t", catalog=hinted).verdict.kind == "safe"
    by_name = rules("  - {server: fs, tool: t, safe: true}")
    assert classify(by_name, "t", catalog=hinted).verdict.kind == "safe"


def test_c013_arguments_that_could_not_be_read_are_kept_and_not_safe() -> None:
    call = Call(0, "a", "t", raw='{"x": ', problem="The arguments end in the middle.")
    policy = load_policy(rules("  - {tool: t, safe: true}"))
    found = policy.classify(Turn("turn-1", (call,)), declared(True)).calls[0]
    assert (found.verdict.kind, found.verdict.status) == ("settled", "invalid_arguments")
    assert found.verdict.reason == "The arguments end in the middle."


def test_c014_a_tool_that_is_hidden_here_classifies_like_an_unknown_one() -> None:
    policy = rules("  - {tool: hidden, safe: true}")
    found = classify(policy, "hidden", catalog=Tools(ToolSpec("shown"))).verdict
    assert found.status == "unknown_tool"


@pytest.mark.parametrize("value", ["0", "1.5", "-1", "true", "'4'", "null"])
def test_c022_a_pool_that_is_no_integer_of_at_least_1_is_refused_at_load(value: str) -> None:
    with pytest.raises(PolicyError, match=r"limits\.pool is .*Use an integer of at least 1\."):
        load_policy(f"version: 1\nlimits: {{pool: {value}}}\n")


@pytest.mark.parametrize("value", [0, 1.5, -1, True])
def test_c022_a_pool_that_is_no_integer_of_at_least_1_is_refused_when_made(value: Any) -> None:
    with pytest.raises(UsageError):
        Limits(pool=value)


def test_c039_an_exclusive_call_stays_exclusive_when_its_arguments_become_safe() -> None:
    policy = load_policy(rules("  - {tool: t, safe: '{{ args.x == 1 }}'}"))
    message = turn(("t", {"x": 2}))
    call = policy.classify(message).calls[0]
    again = policy.reclassify(call, message, {"x": 1})
    assert again.verdict.kind == "exclusive"
    assert again.verdict.reason == "it was exclusive before it was changed, and stays so"


def test_c037_a_safe_call_whose_arguments_change_is_classified_again() -> None:
    policy = load_policy(rules("  - {tool: t, safe: '{{ args.x == 1 }}'}"))
    message = turn(("t", {"x": 1}))
    call = policy.classify(message).calls[0]
    again = policy.reclassify(call, message, {"x": 2})
    assert (call.verdict.kind, again.verdict.kind) == ("safe", "exclusive")
    assert (again.id, again.tool, again.name) == (call.id, call.tool, call.name)


def test_c041_an_argument_alias_applies_only_if_the_schema_has_the_target_and_the_call_lacks_it(
    tmp_path: Path,
) -> None:
    schema = {"properties": {"path": {"type": "string"}}}
    tools = Tools(ToolSpec("t", parameters=schema), ToolSpec("bare"))
    policy = rules("  - {tool: [t, bare], argument_aliases: {file: path, name: nothing}}")
    assert classify(policy, "t", {"file": "a"}, catalog=tools).args == {"path": "a"}
    both = {"file": "a", "path": "b"}
    assert classify(policy, "t", both, catalog=tools).args == both
    assert classify(policy, "t", {"name": "a"}, catalog=tools).args == {"name": "a"}
    assert classify(policy, "bare", {"file": "a"}, catalog=tools).args == {"file": "a"}
    assert classify(rules("  - {tool: t}"), "t", {"file": "a"}, catalog=tools).args == {"file": "a"}


def test_c043_keys_are_worked_out_again_after_the_arguments_changed() -> None:
    policy = load_policy(rules("  - {tool: t, safe: true, writes: ['f:{{ args.x }}']}"))
    message = turn(("t", {"x": "a"}))
    call = policy.classify(message).calls[0]
    assert (call.writes, policy.reclassify(call, message, {"x": "b"}).writes) == (
        ("f:a",),
        ("f:b",),
    )


def test_c056_calls_with_faulty_ids_reach_no_rule_and_no_function_of_the_tool() -> None:
    def explode(args: Mapping[str, Any]) -> Any:
        raise AssertionError("it was asked")

    tools = declared(explode, reads=explode, parse=explode)
    batch = load_policy(None).classify(turn(("t", {}, ""), ("t", {}, "")), tools)
    assert [call.verdict.status for call in batch.calls] == ["invalid_id", "invalid_id"]


def test_c060_an_empty_id_is_an_error_and_not_guessed() -> None:
    batch = load_policy(None).classify(turn(("t", {}, ""), ("t", {}, "a")))
    assert [call.verdict.status for call in batch.calls] == ["invalid_id", None]
    assert batch.calls[0].id == ""


def test_c061_every_holder_of_a_doubled_id_is_an_error() -> None:
    batch = load_policy(None).classify(turn(("t", {}, "a"), ("t", {}, "b"), ("t", {}, "a")))
    assert [call.verdict.status for call in batch.calls] == ["invalid_id", None, "invalid_id"]
    assert batch.calls[0].verdict.reason == (
        "The id 'a' is held by 2 calls of this turn, so none of them was run. "
        "Give every call an id of its own."
    )


def test_c061_renumbered_ids_are_distinct_and_told() -> None:
    policy = load_policy("version: 1\nids: renumber\n")
    message = turn(*[("t", {}, call_id) for call_id in ("a", "", "a", "a-2", "a", "call-2")])
    batch = policy.classify(message)
    assert [call.id for call in batch.calls] == ["a", "call-2-2", "a-3", "a-2", "a-4", "call-2"]
    assert [call.verdict.kind for call in batch.calls] == ["exclusive"] * 6
    assert [notice.code for notice in batch.notices] == ["renumbered_id"] * 3
    assert batch.notices[1].message == "The id of call 3 was held twice: 'a'. It is 'a-3' now."


def test_c120_keys_of_one_call_are_told_once_and_no_keys_are_none() -> None:
    policy = rules("  - {tool: t, reads: [b, a, b, w], writes: [w, w]}")
    call = classify(policy, "t")
    assert (call.reads, call.writes) == (("a", "b"), ("w",))
    empty = classify(rules("  - {tool: t, reads: [], writes: []}"), "t")
    assert (empty.reads, empty.writes) == ((), ())


def test_c122_keys_that_cannot_be_worked_out_settle_the_call_as_failed() -> None:
    policy = rules("  - {tool: t, safe: true, writes: ['f:{{ args.path | file_key }}']}")
    found = classify(policy, "t", {}).verdict
    assert (found.kind, found.status, found.rule) == ("settled", "failed", 0)
    assert found.reason == "Could not tell what the call changes: args.path is not there."

    def writes(args: Mapping[str, Any]) -> object:
        raise OSError("no disk")

    found = classify(None, "t", {}, catalog=declared(True, writes=writes)).verdict
    assert (found.status, found.reason) == (
        "failed",
        "Could not tell what the call changes: no disk.",
    )


def test_c133_link_relative_dotted_and_absolute_spellings_meet(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "f").write_text("x")
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "to_f").symlink_to("real/f")
    spellings = ["real/f", "./real/../real/f", str(real / "f"), "link/f", "to_f", "real//f"]
    assert {file_key(spelling, cwd=tmp_path) for spelling in spellings} == {str(real / "f")}


def test_c133_a_file_that_is_not_there_yet_keeps_its_key_after_it_was_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    before = file_key("link/new/../sub/f", cwd=tmp_path)
    (tmp_path / "real" / "sub").mkdir()
    (tmp_path / "real" / "sub" / "f").write_text("x")
    assert before == file_key("link/sub/f", cwd=tmp_path) == str(tmp_path / "real" / "sub" / "f")


def test_c134_a_link_that_leads_nowhere_has_the_key_of_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("missing/f")
    assert file_key(tmp_path / "link") == str(tmp_path / "missing" / "f")


def test_c134_chains_of_links_that_lead_nowhere_meet_at_their_end(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("missing")
    end = str(tmp_path / "missing" / "f")
    assert {file_key(f"{way}/f", cwd=tmp_path) for way in ("one", "two", "missing")} == {end}
    assert dir_key("one", cwd=tmp_path) == f"{tmp_path}/missing/**"
    (tmp_path / "missing").mkdir()
    assert file_key("one/f", cwd=tmp_path) == end


def test_c134_a_path_on_another_machine_is_taken_as_it_is_spelled(tmp_path: Path) -> None:
    policy = rules("  - {tool: t, safe: true, writes: ['file:{{ args.path | file_key }}']}")
    spellings = ["ssh://me@Host:22/srv/a", "Host:/srv/b/../a", "sftp://host//srv/./a"]
    keys = {classify(policy, "t", {"path": p}, cwd=str(tmp_path)).writes for p in spellings}
    assert keys == {("file:ssh://host/srv/a",)}


def test_c134_hard_links_meet_on_request(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert file_key(tmp_path / "a") != file_key(tmp_path / "b")
    assert file_key(tmp_path / "a", inode=True) == file_key(tmp_path / "b", inode=True)
    assert file_key(tmp_path / "new", inode=True) == file_key(tmp_path / "new")


def test_c134_in_a_policy_the_identity_stands_beside_the_path_so_that_trees_still_meet(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    policy = (
        "version: 1\npaths: {inode: true}\nrules:\n"
        "  - {tool: t, writes: ['file:{{ args.path | file_key }}']}\n"
    )
    one = classify(policy, "t", {"path": "a"}, cwd=str(tmp_path)).writes
    two = classify(policy, "t", {"path": "b"}, cwd=str(tmp_path)).writes
    assert one is not None
    assert two is not None
    found = (tmp_path / "a").stat()
    assert set(one) & set(two) == {f"file:inode:{found.st_dev}:{found.st_ino}"}
    tree = f"file:{dir_key(tmp_path)}"
    assert any(keys_meet(tree, key) for key in one)


@pytest.mark.parametrize("name", ["Straße.md", "RÉSUMÉ.md"])
def test_c134_case_and_accents_are_one_where_the_policy_says_so(name: str, tmp_path: Path) -> None:
    other = name.swapcase()
    assert file_key(name, cwd=tmp_path, case="keep") != file_key(other, cwd=tmp_path, case="keep")
    assert file_key(name, cwd=tmp_path, case="fold") == file_key(other, cwd=tmp_path, case="fold")


def test_c137_declared_empty_is_not_the_same_as_undeclared() -> None:
    policy = rules("  - {tool: t, writes: []}\n  - {tool: u}")
    tools = Tools(ToolSpec("t", writes=["own"]), ToolSpec("u", writes=["own"]), ToolSpec("v"))
    assert classify(policy, "t", catalog=tools).writes == ()
    assert classify(policy, "u", catalog=tools).writes == ("own",)
    assert classify(policy, "v", catalog=tools).writes is None
