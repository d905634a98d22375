"""Whatever stands in a flow file: a flow, or an error that says where and what."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolflow import yamlio
from toolflow.errors import DocumentError, FlowError, Problem
from toolflow.flow import Flow, load_flow
from toolflow.flow.outline import outline
from toolflow.render.stages import StageBox, stages_dot

BASE: dict[str, Any] = {
    "version": 1,
    "name": "review",
    "description": "Looks at files.",
    "policy": {"version": 1, "rules": [{"tool": "read_file", "safe": True}]},
    "tools": {
        "workspace": {"root": ".", "copy": True},
        "shell": {"count": {"argv": ["wc", "{{ args.path }}"], "timeout": "5s"}},
    },
    "locks": "memory",
    "stages": [
        {
            "id": "gather",
            "calls": [
                {"id": "a", "tool": "read_file", "args": {"path": "a.txt"}},
                {"tool": "count", "args": {"path": "b.txt"}, "foreach": [1, 2]},
            ],
        },
        {
            "id": "use",
            "needs": ["gather"],
            "when": "{{ results.gather.a == 'x' }}",
            "calls": [{"tool": "count", "foreach": "{{ results.gather['count-2'] }}"}],
        },
        {"id": "said", "needs": [], "message": {"calls": [{"id": "m", "tool": "read_file"}]}},
    ],
}
TEXTS = st.sampled_from(
    [
        "",
        "x",
        "{{",
        "{{ results }}",
        "{{ results.gather }}",
        "{{ results.use.a }}",
        "{{ results[0] }}",
        "{{ item.x }}",
        "{{ nothing }}",
        "{% if x %}",
        "gather",
        "use",
        "../..",
        "shipped:nothing",
        "1s",
        "\U0001f600 {{ results.gather.a | nothing }}",
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    TEXTS,
    st.text(st.characters(codec="utf-8"), max_size=8),
)
FIELDS = st.sampled_from(
    ["id", "tool", "args", "calls", "needs", "when", "foreach", "x", "message"]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """The base with some of its values replaced, dropped or doubled."""
    document = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(1, 4))):
        where: Any = document
        while True:
            keys: list[Any] = [*where] if isinstance(where, dict) else [*range(len(where))]
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(where[key], dict | list) and draw(st.integers(0, 3)):
                where = where[key]
                continue
            what = draw(st.sampled_from(["replace", "drop", "double"]))
            if what == "replace":
                where[key] = draw(VALUES)
            elif what == "drop":
                del where[key]
            elif isinstance(where, list):
                where.insert(key, copy.deepcopy(where[key]))
            else:
                where[draw(FIELDS)] = copy.deepcopy(where[key])
            break
    return document


def loaded(path: Path) -> tuple[Flow | None, tuple[Problem, ...]]:
    try:
        return load_flow(path), ()
    except DocumentError as error:
        return None, tuple(error.problems)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents())
def test_a_flow_file_is_a_flow_or_an_error_with_its_place(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "flow.yaml"
    path.write_text(yamlio.dump(document), "utf-8")
    flow, problems = loaded(path)
    assert all(problem.source and "\n" not in problem.message for problem in problems)
    if flow is None:
        assert problems
        return
    if flow.tools.python or flow.tools.mcp:
        return  # made up names of modules and programs are not to be used
    try:
        found = outline(flow)
    except FlowError:
        return
    boxes = [StageBox(s.id, s.needs, s.when, tuple(c.name for c in s.calls), s.plan) for s in found]
    assert stages_dot(boxes, title=flow.name).count("subgraph cluster_stage_") == len(flow.stages)
