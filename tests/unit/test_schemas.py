"""Published schemas say yes and no to the same files as the loaders, and explain every field."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolflow import yamlio
from toolflow.cli import main
from toolflow.compiler import compile_plan, load_plan, plan_data
from toolflow.errors import DocumentError, UsageError
from toolflow.flow import load_flow
from toolflow.formats import read_turn
from toolflow.policy import load_policy
from toolflow.policy.shelf import shipped_names, shipped_text
from toolflow.recording import load_recording
from toolflow.recording.forms import CALL_FIELDS
from toolflow.recording.plan_form import PLAN_FIELDS
from toolflow.recording.run_form import RUN_FIELDS
from toolflow.recording.turn_form import TURN_FIELDS
from toolflow.schemas import KINDS, json_schema, schema_text

ROOT = Path(__file__).parents[2]
POLICY: dict[str, Any] = {
    "version": 1,
    "limits": {"pool": 2, "resources": {"a": 1}, "tools": {"g*": 2}, "servers": {"s": 1}},
    "defaults": {"timeout": "2m", "on_error": "stop"},
    "trust": {"annotations": ["s"]},
    "paths": {"case": "fold", "inode": True},
    "redact": ["x"],
    "rules": [
        {"tool": "t", "aliases": "u", "argument_aliases": {"a": "b"}, "timeout": None},
        {"tool": ["a", "b"], "when": "{{ args.x }}", "safe": True, "reads": "k", "writes": []},
        {"server": "s", "ask": True, "stop": "before", "hold": "run", "uses": {"a": 1}},
        {"tool": "d", "deny": "No.", "show": "d", "idempotent": False, "on_error": "continue"},
    ],
    "cases": [{"turn": [{"tool": "t"}], "expect": [{"rule": 1, "timeout": 1.5}]}],
}
FLOW: dict[str, Any] = {
    "version": 1,
    "name": "f",
    "policy": {"version": 1, "rules": [{"tool": "a"}]},
    "tools": {
        "workspace": {"root": ".", "copy": True},
        "shell": {"s": {"argv": ["ls"], "timeout": 3}},
        "mcp": {"m": {"command": "x", "start_timeout": "5s"}, "n": {"url": "https://h/x"}},
    },
    "stages": [
        {"id": "one", "calls": [{"id": "a", "tool": "s", "args": {"x": 1}, "foreach": [1]}]},
        {"id": "two", "needs": ["one"], "when": True, "message": {"calls": []}},
    ],
}


def plan() -> dict[str, Any]:
    calls = [{"id": f"c{n}", "tool": t, "args": {}} for n, t in enumerate(["a", "b", "x"])]
    policy = load_policy(
        {
            "version": 1,
            "rules": [{"tool": "a", "safe": True, "reads": "k"}, {"tool": "x", "deny": True}],
        }
    )
    return plan_data(compile_plan(policy.classify(read_turn({"calls": calls}))))


def recording() -> dict[str, Any]:
    value: dict[str, Any] = yamlio.load_file(ROOT / "flows/quickstart/recording.yaml").value
    return value


GOOD: dict[str, Callable[[], dict[str, Any]]] = {
    "policy": lambda: POLICY,
    "flow": lambda: FLOW,
    "plan": plan,
    "recording": recording,
}
# What is changed: the path, and what is put there (`...`: it is taken away).
BAD: dict[str, list[tuple[tuple[str | int, ...], Any]]] = {
    "policy": [
        (("version",), 2),
        (("version",), "1"),
        (("version",), ...),
        (("other",), 1),
        (("extends",), []),
        (("extends",), " "),
        (("extends",), 3),
        (("limits",), None),
        (("limits", "pool"), 0),
        (("limits", "pool"), True),
        (("limits", "pool"), "2"),
        (("limits", "resources", "tool:x"), 1),
        (("limits", "resources", "a"), 1.5),
        (("limits", "tools", "g"), 0),
        (("limits", "servers"), []),
        (("defaults", "timeout"), "0s"),
        (("defaults", "timeout"), "2d"),
        (("defaults", "timeout"), 0),
        (("defaults", "timeout"), True),
        (("defaults", "on_error"), "go"),
        (("ids",), "loose"),
        (("ids",), None),
        (("approvals",), "last"),
        (("trust", "annotations"), "s"),
        (("trust", "annotations", 0), ""),
        (("paths", "case"), True),
        (("paths", "inode"), "yes"),
        (("redact", 0), 3),
        (("rules",), {}),
        (("rules", 0), {}),
        (("rules", 0, "tool"), None),
        (("rules", 0, "tool"), []),
        (("rules", 0, "tool"), "a*"),
        (("rules", 0, "tool"), ["a", "b"]),
        (("rules", 0, "tool"), ""),
        (("rules", 0, "timeout"), "soon"),
        (("rules", 0, "argument_aliases"), []),
        (("rules", 0, "argument_aliases", "a"), 1),
        (("rules", 1, "when"), "yes"),
        (("rules", 1, "when"), "x {{ args.x }}"),
        (("rules", 1, "when"), None),
        (("rules", 1, "safe"), 1),
        (("rules", 1, "reads"), None),
        (("rules", 1, "reads"), 3),
        (("rules", 1, "reads"), [" "]),
        (("rules", 1, "other"), 1),
        (("rules", 2, "ask"), False),
        (("rules", 2, "ask"), ""),
        (("rules", 2, "stop"), "now"),
        (("rules", 2, "hold"), None),
        (("rules", 2, "uses", "a"), 0),
        (("rules", 3, "deny"), 1),
        (("rules", 3, "show"), []),
        (("rules", 3, "idempotent"), "no"),
        (("cases", 0, "turn"), ...),
        (("cases", 0, "turn", 0, "tool"), ...),
        (("cases", 0, "expect", 0, "rule"), 0),
        (("cases", 0, "expect", 0, "rule"), "rule of x"),
        (("cases", 0, "expect", 0, "other"), 1),
        (("bases",), []),
    ],
    "flow": [
        (("version",), 2),
        (("name",), ""),
        (("name",), ...),
        (("policy",), 3),
        (("policy",), {"version": 1, "rules": [{}]}),
        (("tools", "workspace", "copy"), "yes"),
        (("tools", "workspace", "copy_first"), True),
        (("tools", "python"), "a:b"),
        (("tools", "shell", "s", "argv"), []),
        (("tools", "shell", "s", "timeout"), 0),
        (("tools", "mcp", "_x"), {"command": "a"}),
        (("tools", "mcp", "m", "command"), ...),
        (("tools", "mcp", "m", "command"), ""),
        (("tools", "mcp", "m", "url"), "https://h"),
        (("tools", "mcp", "m", "headers"), {}),
        (("tools", "mcp", "m", "start_timeout"), "never"),
        (("tools", "mcp", "m", "protocol"), "old"),
        (("tools", "mcp", "n", "url"), "ftp://h"),
        (("tools", "mcp", "n", "args"), ["a"]),
        (("tools", "other"), {}),
        (("locks",), ""),
        (("stages",), []),
        (("stages", 0, "id"), ""),
        (("stages", 0, "calls"), []),
        (("stages", 0, "message"), {"calls": []}),
        (("stages", 0, "calls", 0, "tool"), ...),
        (("stages", 0, "calls", 0, "args"), []),
        (("stages", 0, "calls", 0, "foreach"), 3),
        (("stages", 1, "message"), ...),
        (("stages", 1, "when"), 1),
        (("stages", 1, "needs"), "one"),
    ],
    "plan": [
        (("format_version",), 2),
        (("turn",), ...),
        (("turn",), 3),
        (("approvals",), "never"),
        (("limits", "pool"), 0),
        (("calls",), ...),
        (("calls", 0, "name"), ""),
        (("calls", 0, "args"), ...),
        (("calls", 0, "args"), []),
        (("calls", 0, "args_json"), "{}"),
        (("calls", 0, "verdict"), "maybe"),
        (("calls", 0, "verdict"), ...),
        (("calls", 0, "status"), "denied"),
        (("calls", 2, "status"), ...),
        (("calls", 2, "status"), "fine"),
        (("calls", 0, "rule"), 0),
        (("calls", 0, "base"), ""),
        (("calls", 0, "reads"), "k"),
        (("calls", 0, "timeout"), -1),
        (("calls", 0, "hold"), "ever"),
        (("calls", 0, "other"), 1),
        (("nodes", 0, "calls"), []),
        (("order", 0, "causes"), []),
        (("masked",), "a"),
        (("digests", "plan"), 3),
    ],
    "recording": [
        (("version",), 2),
        (("turns",), ...),
        (("turns",), {}),
        (("source",), []),
        (("policy",), {}),
        (("notices",), [{"code": "a"}]),
        (("other",), 1),
        (("turns", 0, "id"), ...),
        (("turns", 0, "id"), 3),
        (("turns", 0, "calls"), ...),
        (("turns", 0, "other"), 3),
        (("turns", 0, "events"), []),
        (("turns", 0, "carries_ids"), "no"),
        (("turns", 0, "calls", 0, "tool"), ...),
        (("turns", 0, "calls", 0, "args"), "{}"),
        (("turns", 0, "calls", 0, "outcome", "status"), "fine"),
        (("turns", 0, "calls", 0, "outcome", "error"), 3),
        (("turns", 0, "calls", 0, "outcome", "images"), [{"data": "x"}]),
        (("turns", 0, "calls", 0, "times"), 3),
        (("turns", 0, "calls", 0, "plan", "verdict"), "maybe"),
        (("turns", 0, "plan", "approvals"), "never"),
        (("turns", 0, "plan", "other"), 1),
        (("turns", 0, "committed", "digest"), 3),
        (("turns", 0, "run", "hooks"), "no"),
    ],
}
# What the loaders refuse and a schema cannot: the list stands in docs/reference/yaml.md.
BEYOND: dict[str, list[tuple[tuple[str | int, ...], Any]]] = {
    "policy": [
        (("version",), 1.0),
        (("extends",), "not-there.yaml"),
        (("rules", 1, "when"), "{{ args. }}"),
        (("rules", 1, "reads"), "{{ args.x | nothing }}"),
        (("rules", 2, "uses"), {"b": 1}),
        (("cases", 0, "expect"), []),
        (("bases", "a"), "version: 1"),
    ],
    "flow": [
        (("policy",), "not-there.yaml"),
        (("stages", 1, "needs"), ["three"]),
        (("stages", 0, "calls", 0, "args"), {"x": "{{ results. }}"}),
    ],
    "plan": [
        (("nodes", 0, "calls"), ["c9"]),
        (("order", 0, "before"), "pool-9"),
    ],
    "recording": [
        (("turns", 0, "calls", 0, "times"), "later"),
        (("turns", 0, "events"), "what"),
    ],
}


def changed(value: dict[str, Any], path: tuple[str | int, ...], new: Any) -> dict[str, Any]:
    whole: dict[str, Any] = copy.deepcopy(value)
    at: Any = whole
    for step in path[:-1]:
        at = at.setdefault(step, {}) if isinstance(at, dict) else at[step]
    if new is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return whole


def loads(kind: str, value: dict[str, Any], folder: Path) -> bool:
    try:
        if kind == "flow":
            (folder / "flow.json").write_text(json.dumps(value), "utf-8")
            load_flow(folder / "flow.json")
        elif kind == "recording":
            load_recording(value, strict=True)
        else:
            {"policy": load_policy, "plan": load_plan}[kind](value)
    except DocumentError:
        return False
    return True


def fits(kind: str, value: dict[str, Any]) -> bool:
    schema = json_schema(kind)
    return Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("kind", KINDS)
def test_good_files_fit(kind: str, tmp_path: Path) -> None:
    Draft202012Validator.check_schema(json_schema(kind))
    value = GOOD[kind]()
    errors = [e.message for e in Draft202012Validator(json_schema(kind)).iter_errors(value)]
    assert errors == []
    assert loads(kind, value, tmp_path)


@pytest.mark.parametrize(
    ("kind", "path", "new"), [(kind, *each) for kind, found in BAD.items() for each in found]
)
def test_bad_files_are_refused_by_both(
    kind: str, path: tuple[str | int, ...], new: Any, tmp_path: Path
) -> None:
    value = changed(GOOD[kind](), path, new)
    assert not loads(kind, value, tmp_path)
    assert not fits(kind, value)


@pytest.mark.parametrize(
    ("kind", "path", "new"), [(kind, *each) for kind, found in BEYOND.items() for each in found]
)
def test_what_a_schema_cannot_tell(
    kind: str, path: tuple[str | int, ...], new: Any, tmp_path: Path
) -> None:
    value = changed(GOOD[kind](), path, new)
    assert not loads(kind, value, tmp_path)
    assert fits(kind, value)


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_policies_fit(name: str) -> None:
    assert fits("policy", yamlio.load(shipped_text(name)).value)


@pytest.mark.parametrize("name", ["flow", "policy", "recording"])
def test_the_example_fits(name: str) -> None:
    assert fits(name, yamlio.load_file(ROOT / f"flows/quickstart/{name}.yaml").value)


def fields_of(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    parts = {"": schema, **schema.get("$defs", {})}
    for part, made in parts.items():
        for name, field in made.get("properties", {}).items():
            yield f"{part}.{name}", field


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_a_title_and_a_description(kind: str) -> None:
    schema = json_schema(kind)
    assert schema["$id"] == f"urn:toolflow:schema:{kind}:1"
    assert schema["title"]
    bare = [n for n, f in fields_of(schema) if not f.get("description") or not f.get("title")]
    assert bare == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_published_file_is_the_schema(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    published = files("toolflow.schemas").joinpath(f"{kind}.json").read_text("utf-8")
    assert json.loads(published) == json_schema(kind), f"toolflow schema {kind} writes it anew"
    assert main(["schema", kind]) == 0
    assert capsys.readouterr().out == schema_text(kind)


def test_an_unknown_kind_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "turn"]) == 2
    assert capsys.readouterr().err == (
        "toolflow: There is no schema of 'turn'. Use one of: policy, flow, plan, recording.\n"
    )
    with pytest.raises(UsageError):
        json_schema("")


def test_the_schema_of_recordings_knows_every_field() -> None:
    parts = json_schema("recording")["$defs"]
    assert set(parts["Turn"]["properties"]) == set(TURN_FIELDS)
    assert set(parts["Plan"]["properties"]) == set(PLAN_FIELDS)
    assert set(parts["Run"]["properties"]) == set(RUN_FIELDS)
    assert set(parts["Call"]["properties"]) == {*CALL_FIELDS, "plan", "outcome", "times"}


@pytest.mark.parametrize(
    "path",
    [
        *(ROOT / "toolflow/policy/shipped").glob("*.yaml"),
        *(ROOT / f"flows/quickstart/{name}.yaml" for name in ("flow", "policy", "recording")),
    ],
    ids=lambda path: path.name,
)
def test_yaml_files_name_a_schema_that_is_there(path: Path) -> None:
    start = "# yaml-language-server: $schema="
    (line,) = [each for each in path.read_text("utf-8").splitlines() if each.startswith(start)]
    schema = path.parent / line.removeprefix(start)
    assert json.loads(schema.read_text("utf-8"))["$id"].startswith("urn:toolflow:schema:")
