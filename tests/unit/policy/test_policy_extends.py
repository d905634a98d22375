"""``extends``: bases are joined field by field, fail closed, and every fault has its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from policy_support import Tools, classify, turn

from toolflow import yamlio
from toolflow.cli import main
from toolflow.compiler import compile_plan, dump_plan, load_plan
from toolflow.engine import Engine
from toolflow.errors import PolicyError, UsageError
from toolflow.flow import load_flow
from toolflow.model import ToolSpec
from toolflow.policy import Policy, load_policy, shelf
from toolflow.policy.bases import MAX_BASE_BYTES
from toolflow.policy.cases import run_cases
from toolflow.recording import Recorder, dump_recording, load_recording
from toolflow.recording.replayer import replay
from toolflow.runtime.toolbox import Toolbox

BASE = """\
version: 1
limits: {pool: 3, resources: {cpu: 4, disk: 1}}
defaults: {timeout: 10s, on_error: stop}
ids: renumber
approvals: first
trust: {annotations: [files]}
paths: {case: fold, inode: true}
redact: [password, secret]
rules:
  - {tool: look, safe: true, writes: []}
  - {tool: put, uses: {disk: 1}}
cases:
  - turn: [{tool: look}]
    expect: [{verdict: exclusive}]
"""
OWN = """\
version: 1
extends: base.yaml
limits: {resources: {cpu: 2}}
defaults: {timeout: 1m}
paths: {case: keep}
redact: [token, secret]
rules:
  - {tool: put, when: "{{ args.small }}", safe: true, uses: {cpu: 1}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("base.yaml", BASE)
    write("policy.yaml", OWN)
    return tmp_path


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, "utf-8")


def ship(monkeypatch: pytest.MonkeyPatch, **policies: str) -> None:
    for name, text in policies.items():
        write(f"shelf/{name}.yaml", text)
    monkeypatch.setattr(shelf, "_FOLDER", Path("shelf").absolute())


def problems(source: object = "policy.yaml") -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load_policy(source)  # type: ignore[arg-type]
    return [str(problem) for problem in caught.value.problems]


def test_fields_of_the_policy_win_and_those_of_the_base_fill_in() -> None:
    settings = load_policy("policy.yaml").settings
    assert settings.limits.pool == 3
    assert dict(settings.limits.resources) == {"cpu": 2, "disk": 1}
    assert (settings.timeout, settings.on_error) == (60.0, "stop")
    assert (settings.ids, settings.approvals) == ("renumber", "first")
    assert (settings.paths.case, settings.paths.unicode, settings.paths.inode) == (
        "keep",
        "auto",
        True,
    )
    assert settings.redactor.names == ("token", "secret", "password")


def test_a_field_that_says_the_default_wins_too() -> None:
    write("policy.yaml", "version: 1\nextends: base.yaml\nids: strict\ndefaults: {timeout: null}\n")
    settings = load_policy("policy.yaml").settings
    assert (settings.ids, settings.timeout) == ("strict", None)


def test_trust_is_not_taken_over() -> None:
    assert load_policy("policy.yaml").settings.trusted == frozenset()


def test_cases_of_a_base_are_its_own() -> None:
    assert load_policy("policy.yaml").cases == ()


def test_own_rules_come_first_and_then_those_of_the_base() -> None:
    policy = load_policy("policy.yaml")
    small = classify(policy, "put", {"small": True})
    assert (small.verdict.kind, small.verdict.reason) == (
        "safe",
        "rule 1 (line 8) says safe",
    )
    assert (small.verdict.rule, small.verdict.line, small.verdict.base) == (0, 8, None)
    large = classify(policy, "put", {"small": False})
    assert large.verdict.reason == (
        "rule 2 of base.yaml (line 11) does not say safe, and neither does the tool"
    )
    assert (large.verdict.rule, large.verdict.line, large.verdict.base) == (1, 11, "base.yaml")
    assert (dict(small.terms.uses), dict(large.terms.uses)) == ({"cpu": 1}, {"disk": 1})


def test_terms_of_rules_with_the_same_number_are_not_mixed_up() -> None:
    write("base.yaml", "version: 1\nrules:\n  - {tool: put, timeout: 1s}\n")
    write(
        "policy.yaml",
        "version: 1\nextends: base.yaml\nrules:\n"
        '  - {tool: put, when: "{{ args.a }}", timeout: 9s}\n',
    )
    calls = (
        load_policy("policy.yaml")
        .classify(turn(("put", {"a": True}), ("put", {"a": False}), ("put", {"a": True})))
        .calls
    )
    assert [call.terms.timeout for call in calls] == [9.0, 1.0, 9.0]


@pytest.mark.parametrize(
    "rule",
    [
        '{tool: "*", safe: false}',
        "{tool: look, safe: false}",
        '{tool: "l*", ask: true}',
        "{server: files}",
        '{tool: look, when: "{{ args.x }}", deny: true}',
    ],
)
def test_no_base_makes_safe_what_an_own_rule_does_not(rule: str) -> None:
    write("policy.yaml", f"version: 1\nextends: base.yaml\nrules:\n  - {rule}\n")
    tools = Tools(ToolSpec("look", server="files", hints={"readOnlyHint": True}))
    call = classify(load_policy("policy.yaml"), "look", {}, catalog=tools)
    assert call.verdict.kind != "safe"
    assert call.verdict.base is None


def test_bases_of_a_list_come_in_order_each_followed_by_its_own() -> None:
    write("a.yaml", "version: 1\nextends: sub/c.yaml\nrules: [{tool: one}]\n")
    write("b.yaml", "version: 1\nrules: [{tool: two}]\n")
    write("sub/c.yaml", "version: 1\nextends: [d.yaml, ../b.yaml]\nrules: [{tool: three}]\n")
    write("sub/d.yaml", "version: 1\nrules: [{tool: four}]\n")
    write("policy.yaml", "version: 1\nextends: [a.yaml, ./b.yaml]\nrules: [{tool: own}]\n")
    rules = load_policy("policy.yaml").settings.book.rules
    assert [(rule.tools, rule.base) for rule in rules] == [
        (("own",), None),
        (("one",), "a.yaml"),
        (("three",), "sub/c.yaml"),
        (("four",), "sub/d.yaml"),
        (("two",), "b.yaml"),
    ]


def test_a_shipped_policy_is_a_base(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, careful="version: 1\nextends: shipped:more\n", more=BASE)
    write("policy.yaml", OWN.replace("base.yaml", "shipped:careful"))
    call = classify(load_policy("policy.yaml"), "look")
    assert call.verdict.reason == "rule 1 of shipped:more (line 10) says safe"


def test_names_of_bases_do_not_depend_on_where_the_policy_is_loaded_from(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("deep/x/p.yaml", "version: 1\nextends: ../y/base.yaml\n")
    write("deep/y/base.yaml", BASE)
    here = load_policy("deep/x/p.yaml")
    monkeypatch.chdir(folder / "deep")
    there = load_policy(folder / "deep" / "x" / "p.yaml")
    assert [member.name for member in here.members] == [None, "../y/base.yaml"]
    assert [member.name for member in there.members] == [None, "../y/base.yaml"]
    assert (here.digest, here.text) == (there.digest, there.text)


# Faults


def test_a_fault_in_a_base_is_told_where_it_stands_with_those_of_the_policy() -> None:
    write("sub/base.yaml", "version: 1\nrules:\n  - {tool: a, safe: yess}\n")
    write("policy.yaml", "version: 1\nextends: sub/base.yaml\nids: odd\n")
    assert problems() == [
        "policy.yaml:3:6: ids is 'odd'. Use 'strict' or 'renumber'.",
        (
            f"{Path('sub/base.yaml')}:3:21: rules[0].safe is 'yess'. "
            "Use true, false or a {{ template }}."
        ),
    ]


def test_a_base_that_is_no_yaml_is_told_where_it_breaks() -> None:
    write("base.yaml", "version: 1\nrules: [\n")
    assert problems() == [
        "base.yaml:3:1: A list or mapping is opened with '[' or '{' and lacks its ']' or '}'."
    ]


@pytest.mark.parametrize(
    ("extends", "said"),
    [
        (
            "no.yaml",
            (
                "policy.yaml:2:10: extends is 'no.yaml'. There is no such file. "
                "Name a file that is there, or shipped:NAME."
            ),
        ),
        (
            "[base.yaml, no.yaml]",
            (
                "policy.yaml:2:22: extends[1] is 'no.yaml'. There is no such file. "
                "Name a file that is there, or shipped:NAME."
            ),
        ),
        (
            "folder",
            (
                "policy.yaml:2:10: extends is 'folder'. The file cannot be read: is a directory. "
                "Name a file that is there, or shipped:NAME."
            ),
        ),
        (
            "shipped:no",
            (
                "policy.yaml:2:10: extends is 'shipped:no'. There is no shipped policy 'no'. "
                "Use one of: shipped:careful."
            ),
        ),
        (
            "policy.yaml",
            (
                "policy.yaml:2:10: extends is 'policy.yaml'. "
                "It closes a circle: policy.yaml > policy.yaml. Leave one of them out."
            ),
        ),
        ("3", "policy.yaml:2:10: extends is 3. Use text or a list of texts."),
        ("[]", "policy.yaml:2:10: extends is an empty list. Use at least 1 of them."),
        ("['']", "policy.yaml:2:11: extends[0] is ''. Use text that is not empty."),
    ],
)
def test_what_extends_must_not_be(monkeypatch: pytest.MonkeyPatch, extends: str, said: str) -> None:
    ship(monkeypatch, careful="version: 1\n")
    Path("folder").mkdir()
    write("policy.yaml", f"version: 1\nextends: {extends}\n")
    assert said in problems()
    assert len(problems()) == 1 or "''" in said


def test_a_circle_is_told_with_its_members_where_it_closes() -> None:
    write("policy.yaml", "version: 1\nextends: a.yaml\n")
    write("a.yaml", "version: 1\nextends: sub/b.yaml\n")
    write("sub/b.yaml", "version: 1\nextends: ../a.yaml\n")
    assert problems() == [
        (
            f"{Path('sub/b.yaml')}:2:10: extends is '../a.yaml'. "
            "It closes a circle: a.yaml > sub/b.yaml > a.yaml. Leave one of them out."
        )
    ]


def chain(count: int) -> None:
    for number in range(count):
        more = f"extends: p{number + 1}.yaml\n" if number + 1 < count else ""
        write(f"p{number}.yaml", f"version: 1\n{more}")


def test_eight_levels_of_bases_are_taken_and_no_more() -> None:
    chain(9)
    assert len(load_policy("p0.yaml").members) == 9
    chain(10)
    assert problems("p0.yaml") == [
        (
            "p8.yaml:2:10: extends is 'p9.yaml'. It is more than 8 policies deep. "
            "Put some of them together."
        )
    ]


def test_a_hundred_bases_are_taken_and_no_more() -> None:
    names = [f"b{number}.yaml" for number in range(101)]
    for name in names:
        write(name, "version: 1\n")
    write("policy.yaml", f"version: 1\nextends: [{', '.join(names[:100])}]\n")
    assert len(load_policy("policy.yaml").members) == 101
    write("policy.yaml", f"version: 1\nextends: [{', '.join(names)}]\n")
    assert problems()[0].endswith("There are more than 100 bases. Put some of them together.")


def test_a_base_that_is_too_big_is_told_where_it_is_named() -> None:
    write("base.yaml", "version: 1\n" + "#" * MAX_BASE_BYTES)
    assert problems() == [
        (
            "policy.yaml:2:10: extends is 'base.yaml'. It is too big. "
            "A base has at most 1,000,000 bytes."
        )
    ]


@pytest.mark.parametrize("source", [OWN, {"version": 1, "extends": "base.yaml"}])
def test_a_policy_without_a_file_extends_no_files(source: object) -> None:
    (said,) = problems(source)
    assert said.endswith(
        "extends is 'base.yaml'. This policy is no file, so no path can start from it. "
        "Name a file that is there, or shipped:NAME."
    )


def test_a_policy_without_a_file_is_given_a_folder(folder: Path) -> None:
    policy = load_policy({"version": 1, "extends": "base.yaml"}, folder=folder)
    assert classify(policy, "look").verdict.kind == "safe"


def test_a_policy_inside_a_flow_extends_files_beside_the_flow() -> None:
    write(
        "flows/flow.yaml",
        "version: 1\nname: f\npolicy: {version: 1, extends: ../base.yaml}\n"
        "stages: [{id: one, calls: [{tool: look, args: {}}]}]\n",
    )
    assert classify(load_flow("flows/flow.yaml").policy, "look").verdict.kind == "safe"


def test_a_resource_of_the_base_is_known_and_any_other_told_at_its_rule() -> None:
    write(
        "policy.yaml",
        "version: 1\nextends: base.yaml\nrules:\n  - tool: a\n    uses: {disk: 1, tape: 1}\n",
    )
    assert problems() == [
        (
            "policy.yaml:5:21: rules[0] uses 'tape', which limits.resources does not name. "
            "Use one of its names: cpu, disk."
        )
    ]


def test_of_two_aliases_the_own_one_wins() -> None:
    write("base.yaml", "version: 1\nrules: [{tool: look, aliases: see}]\n")
    write(
        "policy.yaml",
        "version: 1\nextends: base.yaml\nrules: [{tool: peek, aliases: see, safe: true}]\n",
    )
    assert classify(load_policy("policy.yaml"), "see").tool == "peek"


# Text, digest, replay


def test_the_text_of_a_policy_needs_no_file() -> None:
    policy = load_policy("policy.yaml")
    assert policy.text is not None
    assert policy.text.startswith(OWN)
    Path("base.yaml").unlink()
    again = load_policy(policy.text)
    assert again.digest == policy.digest
    assert again.text == policy.text
    assert [m.name for m in again.members] == [m.name for m in policy.members]
    for tool, args in (("look", {}), ("put", {"small": True}), ("put", {"small": False})):
        assert classify(again, tool, args) == classify(policy, tool, args)


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 1, "extends": "base.yaml"}\n',
        "{version: 1, extends: base.yaml}\n",
        "---\nversion: 1\nextends: base.yaml\n...\n",
        "version: 1\nextends: base.yaml  # last line without an end",
        "version: 1\nextends: base.yaml\ncases:\n- name: |+\n    x\n\n  turn: []\n  expect: []\n",
    ],
)
def test_the_text_of_a_policy_in_any_style_needs_no_file(text: str) -> None:
    write("p.yaml", text)
    policy = load_policy("p.yaml")
    Path("base.yaml").unlink()
    assert policy.text is not None
    again = load_policy(policy.text)
    assert again.digest == policy.digest
    assert again.cases == policy.cases
    assert classify(again, "look").verdict.kind == "safe"


def test_the_digest_covers_the_bases() -> None:
    before = load_policy("policy.yaml").digest
    write("base.yaml", f"# a remark\n{BASE}")
    assert load_policy("policy.yaml").digest == before
    write("base.yaml", BASE.replace("pool: 3", "pool: 4"))
    assert load_policy("policy.yaml").digest != before


def test_texts_of_bases_are_never_files_and_each_is_extended() -> None:
    assert problems(f"{OWN}bases: {{other.yaml: 'version: 1'}}\n") == [
        (
            "<policy>:2:10: extends is 'base.yaml'. This policy is no file, so no path can start "
            "from it. Name a file that is there, or shipped:NAME."
        ),
        "<policy>:9:9: bases['other.yaml'] is extended by nothing. Name it under extends.",
    ]
    write("base.yaml", f"{BASE}bases: {{}}\n")
    (said,) = problems()
    assert said.endswith("bases belongs to a policy that is used as it is. Leave it out of a base.")


async def look() -> str:
    return "seen"


async def put(small: bool) -> str:
    return "put"


def test_a_recording_is_replayed_without_any_file(folder: Path) -> None:
    tools = Toolbox()
    tools.tool(look)
    tools.tool(put)
    engine = Engine(tools, policy="policy.yaml", cwd=folder)
    recorder = Recorder(policy=engine.policy)
    calls = turn(("look", {}), ("put", {"small": False}), ("put", {"small": True}))
    recorder.add(engine.run_sync(calls))
    text = dump_recording(recorder.recording)
    Path("base.yaml").unlink()
    Path("policy.yaml").unlink()
    report = replay(load_recording(text))
    assert report.ok
    changed = text.replace("{tool: look, safe: true, writes: []}", "{tool: look}")
    assert changed != text
    assert not replay(load_recording(changed), strict=False).ok


def test_a_plan_names_the_base_of_a_rule_and_reads_it_back() -> None:
    plan = compile_plan(load_policy("policy.yaml").classify(turn(("put", {"small": False}))))
    text = dump_plan(plan)
    assert "base: base.yaml" in text
    assert load_plan(text) == plan
    two = compile_plan(
        load_policy("policy.yaml").classify(turn(("put", {"small": False}), ("look", {})))
    )
    assert "put is exclusive, rule 2 of base.yaml (line 11)" in str(two.why("c0", "c1"))


# The commands


def test_cases_name_rules_of_bases_and_coverage_counts_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(
        "policy.yaml",
        OWN
        + "cases:\n  - turn: [{tool: look}, {tool: put, args: {small: true}}]\n"
        + "    expect: [{rule: rule 1 of base.yaml}, {rule: 1}]\n",
    )
    report = run_cases(load_policy("policy.yaml"))
    assert report.ok
    assert report.covered == 1.0
    assert main(["test", "policy.yaml", "--coverage"]) == 0
    assert capsys.readouterr().out == (
        "policy.yaml: 1 case held\n"
        "1 of 1 rule decide a call of some case\n"
        "  of its base base.yaml: 1 of 2 rules\n"
    )


def test_a_case_that_names_another_rule_shows_the_base(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(
        "policy.yaml",
        f"{OWN}cases:\n  - turn: [{{tool: look}}]\n    expect: [{{rule: 1}}]\n",
    )
    assert main(["test", "policy.yaml"]) == 1
    assert "call 1 (look): rule is rule 1 of base.yaml, expected 1" in capsys.readouterr().out


def test_explain_names_the_file_of_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    write("turn.yaml", "calls: [{id: a, tool: put, args: {small: false}}]\n")
    write("sub/policy.yaml", OWN.replace("base.yaml", "../base.yaml"))
    assert main(["explain", "turn.yaml", "-p", "sub/policy.yaml"]) == 0
    out = capsys.readouterr().out
    assert f"rule 1 ({Path('sub/policy.yaml')}:8) does not match" in out
    assert f"rule 2 of ../base.yaml ({Path('sub/../base.yaml')}:11) matches" in out
    assert main(["explain", "turn.yaml", "-p", "sub/policy.yaml", "-o", "json"]) == 0
    assert '"base": "../base.yaml"' in capsys.readouterr().out


def test_check_tells_faults_of_bases(capsys: pytest.CaptureFixture[str]) -> None:
    write("base.yaml", "version: 1\nrules: [{}]\n")
    assert main(["check", "policy.yaml"]) == 1
    assert capsys.readouterr().err.startswith("toolflow: base.yaml:2:9: ")


def test_a_document_has_no_folder_and_other_kinds_are_refused() -> None:
    with pytest.raises(PolicyError):
        load_policy(yamlio.load(OWN, source="policy.yaml"))
    with pytest.raises(UsageError):
        load_policy(3)  # type: ignore[arg-type]
    assert Policy().cases == ()
