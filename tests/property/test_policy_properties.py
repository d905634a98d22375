"""Whatever a model or an author writes, classification ends, and fails closed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from policy_support import Tools

from toolflow.errors import PolicyError, ToolflowError
from toolflow.model import Call, ToolSpec, Turn
from toolflow.model.keys import covers
from toolflow.policy import compile_expression, dir_key, file_key, load_policy
from toolflow.policy.labels import default_label

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
arguments = st.dictionaries(st.sampled_from(["path", "x", "items", "_keys"]), json_values)
tools = st.sampled_from(["read", " read", "write", "odd", "", "nosuch"]) | st.text(max_size=6)
calls = st.lists(st.tuples(tools, arguments, st.sampled_from(["", "a", "b", "c"])), max_size=6)
POLICY = """\
version: 1
rules:
  - {tool: read, safe: true, reads: ["file:{{ args.path | file_key }}"]}
  - {tool: write, safe: "{{ args.x }}", writes: ["{{ args.items }}"], show: "{{ args.x }}"}
  - {tool: odd, when: "{{ args.x in args.items }}", ask: "{{ args.path }}", safe: true}
"""
CATALOG = Tools(
    ToolSpec("read"),
    ToolSpec("write", parse=lambda args: {"x": args["x"]}),
    ToolSpec("odd", safe=lambda args: args["x"], reads=lambda args: args["items"]),
)


@given(calls, st.booleans(), st.sampled_from(["strict", "renumber"]))
def test_every_call_is_decided_and_only_true_is_safe(
    made: list[tuple[str, dict[str, Any], str]], known: bool, ids: str
) -> None:
    turn = Turn("turn-1", tuple(Call(n, i, tool, args) for n, (tool, args, i) in enumerate(made)))
    policy = load_policy(f"{POLICY}ids: {ids}\n")
    catalog = CATALOG if known else None
    batch = policy.classify(turn, catalog, cwd="/nowhere")
    assert batch == policy.classify(turn, catalog, cwd="/nowhere")
    assert [call.index for call in batch.calls] == list(range(len(made)))
    assert len({call.name for call in batch.calls}) == len(made)
    if ids == "renumber":
        assert len({call.id for call in batch.calls}) == len(made)
    for call in batch.calls:
        assert call.label == " ".join(call.label.split())
        assert call.label.isprintable()
        assert (call.verdict.status is not None) == (call.verdict.kind == "settled")
        if call.verdict.kind == "safe" and call.tool == "write":
            assert call.args["x"] is True
        for keys in (call.reads, call.writes):
            assert keys is None or list(keys) == sorted(set(keys))


@given(st.text(max_size=60) | st.text(alphabet="{}%#| args.x'\"()[]", max_size=40))
def test_any_text_is_an_expression_or_is_told_to_be_none(text: str) -> None:
    try:
        found = compile_expression(text)({"args": {"x": 1}, "tool": "t", "server": None})
    except (ToolflowError, KeyError):
        return
    assert found is not None or "{{" in text


@given(st.recursive(json_values, lambda inner: st.lists(inner, max_size=3), max_leaves=6))
def test_any_value_is_a_policy_or_is_told_to_be_none(value: Any) -> None:
    for source in ({"version": 1, "rules": value}, {"version": 1, "rules": [{"tool": value}]}):
        try:
            load_policy(source)
        except PolicyError:
            continue  # any other error fails the test


paths = st.lists(
    st.sampled_from(["a", "B", "..", ".", "**", "é", "", "x y"]), min_size=1, max_size=6
).map(lambda parts: "/".join(parts).lstrip("/") or ".")


@given(paths, paths)
def test_keys_of_paths_are_stable_absolute_and_covered_by_their_folders(
    path: str, other: str
) -> None:
    key = file_key(path, cwd="/nowhere/at/all")
    assert key == "/" or (key[0] == "/" and not key.endswith("/**"))
    if not key.endswith("/."):
        assert file_key(key) == key
    assert covers(dir_key(path, cwd="/nowhere/at/all"), key)
    joined = file_key(f"{path}/x", cwd="/nowhere/at/all")
    assert covers(dir_key(path, cwd="/nowhere/at/all"), joined)
    assert file_key(other, cwd=f"/nowhere/{path}") == file_key(f"/nowhere/{path}/{other}")


@given(st.text(max_size=30), st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_labels_are_one_short_printable_line(tool: str, args: dict[str, Any]) -> None:
    label = default_label(tool, args)
    assert len(label) <= 60
    assert label.isprintable()
