"""Loading a policy: every way in, and every kind of wrong input with its exact message."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from policy_support import classify, rules, turn

from toolflow import yamlio
from toolflow.errors import PolicyError, UsageError
from toolflow.policy import load_policy
from toolflow.policy.durations import duration

DOCS = Path(__file__).parents[3] / "docs"

EVERY_FIELD = """\
version: 1
limits:
  pool: 10
  resources: {subprocess: 2, "mcp:browser": 1}
defaults: {timeout: 2m, on_error: continue}
ids: strict
approvals: inline
trust: {annotations: [filesystem]}
paths: {case: auto, unicode: auto}
rules:
  - tool: read_file
    safe: true
    reads: ["file:{{ args.path | file_key }}"]
  - tool: [write_file, edit_file]
    safe: true
    writes: ["file:{{ args.path | file_key }}"]
  - tool: git
    when: "{{ args.command in ['status', 'diff', 'log', 'show'] }}"
    safe: true
  - tool: git
    writes: ["git:{{ cwd }}"]
    hold: turn
  - tool: grep
    safe: true
    uses: {subprocess: 1}
    show: "grep {{ args.pattern }}"
  - {tool: "deploy_*", ask: "Deploy {{ args.service }}?", timeout: 10m, idempotent: false}
  - {tool: drop_table, deny: "Tables are dropped by hand."}
redact: [password, "*_token"]
cases:
  - turn: [{tool: git, args: {command: checkout}}]
    expect: [{verdict: exclusive, rule: 4}]
"""


def problems(text: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load_policy(yamlio.load(text, source="p.yaml", error=PolicyError))
    return [str(problem) for problem in caught.value.problems]


def test_every_field_of_the_contract_loads() -> None:
    policy = load_policy(EVERY_FIELD)
    assert policy.limits.pool == 10
    assert policy.limits.resources == {"mcp:browser": 1, "subprocess": 2}
    assert (policy.ids, policy.approvals) == ("strict", "inline")
    assert policy.redactor.names == ("password", "*_token")
    assert [rule.line for rule in policy.settings.book.rules] == [11, 14, 17, 20, 23, 27, 28]
    message = turn(("git", {"command": "checkout"}), ("deploy_x", {"service": "s"}))
    git, deploy = policy.classify(message, cwd="/repo").calls
    assert (git.verdict.kind, git.verdict.rule, git.verdict.line) == ("exclusive", 3, 20)
    assert (git.writes, git.terms.hold, git.terms.timeout) == (("git:/repo",), "turn", 120.0)
    assert (deploy.ask, deploy.terms.timeout) == ("Deploy s?", 600.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: []", "p.yaml:1:1: version is missing."),
        ("version: 2", "p.yaml:1:10: version is 2. Use 1."),
        ("version: true", "p.yaml:1:10: version is true. Use 1."),
        ("version: 1\nrule: []", "p.yaml:2:1: rule is not a known field. Did you mean 'rules'?"),
        (
            "version: 1\nlimits: {resources: {a: 0}}",
            "p.yaml:2:25: limits.resources.a is 0. Use an integer of at least 1.",
        ),
        (
            "version: 1\ndefaults: {timeout: soon}",
            (
                "p.yaml:2:21: defaults.timeout is 'soon'. Use a duration above 0 such as "
                "500ms, 30s, 2m or 1h, or a number of seconds."
            ),
        ),
        (
            "version: 1\ndefaults: {on_error: maybe}",
            "p.yaml:2:22: defaults.on_error is 'maybe'. Use 'continue' or 'stop'.",
        ),
        ("version: 1\nids: no", "p.yaml:2:6: ids is 'no'. Use 'strict' or 'renumber'."),
        (
            "version: 1\napprovals: last",
            "p.yaml:2:12: approvals is 'last'. Use 'inline' or 'first'.",
        ),
        (
            "version: 1\ntrust: {annotations: fs}",
            "p.yaml:2:22: trust.annotations is 'fs'. Use a list.",
        ),
        (
            "version: 1\npaths: {case: lower}",
            "p.yaml:2:15: paths.case is 'lower'. Use 'auto', 'fold' or 'keep'.",
        ),
        ("version: 1\nredact: [3]", "p.yaml:2:10: redact[0] is 3. Use text that is not empty."),
        ("version: 1\nrules: {}", "p.yaml:2:8: rules is an empty mapping. Use a list."),
        ("version: 1\nrules: [read]", "p.yaml:2:9: rules[0] is 'read'. Use a mapping."),
        (
            "version: 1\nrules: [{safe: true}]",
            (
                "p.yaml:2:9: rules[0] is a mapping. "
                "It names neither tool nor server. Use tool: '*' for every call."
            ),
        ),
        (
            "version: 1\nrules: [{tool: 3}]",
            "p.yaml:2:16: rules[0].tool is 3. Use text or a list of texts.",
        ),
        (
            "version: 1\nrules: [{tool: [a, 3]}]",
            "p.yaml:2:20: rules[0].tool[1] is 3. Use text that is not empty.",
        ),
        (
            "version: 1\nrules: [{tool: []}]",
            "p.yaml:2:16: rules[0].tool is an empty list. Use at least 1 of them.",
        ),
        (
            "version: 1\nrules: [{tool: a, sfe: true}]",
            "p.yaml:2:19: rules[0].sfe is not a known field. Did you mean 'safe'?",
        ),
        (
            "version: 1\nrules: [{tool: a, safe: yess}]",
            "p.yaml:2:25: rules[0].safe is 'yess'. Use true, false or a {{ template }}.",
        ),
        (
            "version: 1\nrules: [{tool: a, safe: 1}]",
            "p.yaml:2:25: rules[0].safe is 1. Use true, false or a {{ template }}.",
        ),
        (
            "version: 1\nrules: [{tool: a, when: 'x {{ args.x }}'}]",
            (
                "p.yaml:2:25: rules[0].when is 'x {{ args.x }}'. "
                "It gives text, never true. Use one {{ template }} with nothing around."
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, when: '{{ args. }}'}]",
            (
                "p.yaml:2:25: rules[0].when is '{{ args. }}'. "
                "It cannot be read: expected name or number."
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, when: '{{ arg.x }}'}]",
            (
                "p.yaml:2:25: rules[0].when is '{{ arg.x }}'. "
                "The name 'arg' is not known. Use args, cwd, server, tool, turn."
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, reads: [3]}]",
            (
                "p.yaml:2:27: rules[0].reads[0] is 3. "
                'Use text that is not empty, such as "file:{{ args.path | file_key }}".'
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, writes: '{{ x }}'}]",
            (
                "p.yaml:2:27: rules[0].writes is '{{ x }}'. "
                "The name 'x' is not known. Use args, cwd, server, tool, turn."
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, reads: null}]",
            "p.yaml:2:26: rules[0].reads is null. Give it a value, or leave it out.",
        ),
        (
            "version: 1\nrules: [{tool: a, uses: {x: 1.5}}]",
            "p.yaml:2:29: rules[0].uses.x is 1.5. Use an integer of at least 1.",
        ),
        (
            "version: 1\nrules: [{tool: a, hold: ever}]",
            "p.yaml:2:25: rules[0].hold is 'ever'. Use 'call', 'turn' or 'run'.",
        ),
        (
            "version: 1\nrules: [{tool: a, stop: later}]",
            "p.yaml:2:25: rules[0].stop is 'later'. Use 'before' or 'after'.",
        ),
        (
            "version: 1\nrules: [{tool: a, ask: 3}]",
            (
                "p.yaml:2:24: rules[0].ask is 3. "
                "Use text that is not empty, or true for a text made from the call."
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, deny: ''}]",
            (
                "p.yaml:2:25: rules[0].deny is ''. "
                "Use text that is not empty, or true for a text made from the call."
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, show: {}}]",
            (
                "p.yaml:2:25: rules[0].show is an empty mapping. "
                "Use text that is not empty; it may hold {{ templates }}."
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, idempotent: yes}]",
            "p.yaml:2:31: rules[0].idempotent is 'yes'. Use true or false.",
        ),
        (
            'version: 1\nrules: [{tool: "a*", aliases: [b]}]',
            (
                "p.yaml:2:9: rules[0] is a mapping. "
                "It has aliases. Use them in a rule with exactly one tool's full name."
            ),
        ),
        (
            "version: 1\nrules: [{tool: a, aliases: [c]}, {tool: b, aliases: c}]",
            "p.yaml:2:53: 'c' is an alias of 'a' already. Use it for one tool.",
        ),
        (
            "version: 1\ncases: [{turn: [{tool: a}], expect: []}]",
            (
                "p.yaml:2:9: cases[0] is a mapping. "
                "Its turn has 1 calls, and it expects 0. Use one of each a call."
            ),
        ),
        (
            "version: 1\ncases: [{turn: [{tool: a}], expect: [{verdict: maybe}]}]",
            (
                "p.yaml:2:48: cases[0].expect[0].verdict is 'maybe'. "
                "Use 'safe', 'exclusive' or 'settled'."
            ),
        ),
        ("version: 1\nrules: [{when: {{ args.x }}}]", None),
    ],
)
def test_wrong_input_is_told_with_place_value_and_what_is_allowed(
    text: str, said: str | None
) -> None:
    found = problems(text)
    if said is None:
        assert "put a {{ template }} in quotes" in found[0]
    else:
        assert found == [said]


def test_all_problems_of_a_policy_are_told_at_once() -> None:
    text = (
        "limits: {pool: 0}\nrules:\n  - {tool: a, safe: yess, when: '{{ b }}'}\n  - {sfe: 1}\n"
        "  - tool: a\n    timeout: -1\n"
    )
    assert [line.split(" ")[0] for line in problems(text)] == [
        "p.yaml:1:1:",
        "p.yaml:1:16:",
        "p.yaml:3:21:",
        "p.yaml:3:33:",
        "p.yaml:4:6:",
        "p.yaml:6:14:",
    ]


def test_a_policy_comes_from_a_file_text_a_mapping_or_a_document(tmp_path: Path) -> None:
    text = "version: 1\nrules:\n  - {tool: t, safe: true}\n"
    path = tmp_path / "p.yaml"
    path.write_text(text)
    mapping = {"version": 1, "rules": [{"tool": "t", "safe": True}]}
    made = [load_policy(source) for source in (path, str(path), text, mapping, yamlio.load(text))]
    assert len({policy.digest for policy in made}) == 1
    assert all(classify(policy, "t").verdict.kind == "safe" for policy in made)
    assert [policy.source for policy in made] == [
        str(path),
        str(path),
        "<policy>",
        "<policy>",
        "<yaml>",
    ]
    assert made[3].settings.book.rules[0].name == "rule 1"
    assert load_policy(made[3].text).digest == made[0].digest
    assert load_policy(json.dumps(mapping)).digest == made[0].digest
    assert load_policy(made[0]) is made[0]


def test_no_policy_is_the_empty_policy() -> None:
    policy = load_policy(None)
    assert policy.text is None
    assert policy.digest == load_policy("version: 1\n").digest
    assert classify(policy, "t").verdict.kind == "exclusive"


def test_remarks_and_layout_do_not_change_the_digest() -> None:
    assert load_policy("version: 1 # one\n").digest == load_policy("{version: 1}").digest
    assert load_policy("version: 1\nids: strict\n").digest != load_policy("version: 1\n").digest


@pytest.mark.parametrize("source", [3, [], b"version: 1"])
def test_what_is_no_policy_is_told(source: object) -> None:
    with pytest.raises(UsageError, match="Use a path, YAML text, a mapping, or None"):
        load_policy(source)  # type: ignore[arg-type]


def test_a_missing_file_is_told() -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy("nowhere.yaml")
    assert str(caught.value) == "nowhere.yaml: There is no such file."


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("500ms", 0.5), ("30s", 30.0), ("2m", 120.0), ("1h", 3600.0), ("1.5s", 1.5), (2, 2.0)],
)
def test_durations_are_seconds(value: object, seconds: float) -> None:
    assert duration(value) == seconds


@pytest.mark.parametrize(
    "value", [0, -1, "0s", "1d", "s", "", "1 s", True, None, [], "9" * 400 + "h", 10**400]
)
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="Use a duration above 0"):
        duration(value)


def test_a_json_schema_for_editors_can_be_made() -> None:
    from toolflow.policy.schema import PolicyFile

    schema = PolicyFile.model_json_schema()
    rule = schema["$defs"]["RulePart"]
    assert rule["additionalProperties"] is False
    assert set(rule["properties"]) >= {
        "tool",
        "when",
        "safe",
        "reads",
        "writes",
        "argument_aliases",
    }


def test_neither_pydantic_nor_jinja2_nor_yaml_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, toolflow.policy as p; p.load_policy(None); p.file_key('x');"
        "print([name for name in ('pydantic', 'jinja2', 'yaml') if name in sys.modules]);"
        "p.load_policy('version: 1\\n');"
        "print('jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "False"]


def test_templates_are_compiled_when_the_policy_is_loaded() -> None:
    with pytest.raises(PolicyError, match="rules\\[0\\]\\.show"):
        load_policy(rules("  - {tool: t, show: '{{ args.x | nothing }}'}"))


@pytest.mark.parametrize("page", ["policy.md", "yaml.md"])
def test_the_examples_of_the_reference_load(page: str) -> None:
    text = (DOCS / "reference" / page).read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in text.split("```yaml\n")[1:]]
    examples = [block for block in blocks if "version: 1" in block]  # the others are turns
    assert examples
    assert all(load_policy(example).settings.book.rules for example in examples)
