"""A secret that stands anywhere under a named key is in no byte of what is kept or shown."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from toolflow.compiler import dump_plan
from toolflow.engine import Engine
from toolflow.formats import read_turn
from toolflow.model.outcome import as_text
from toolflow.policy import load_policy
from toolflow.policy.explain import explain
from toolflow.recording import Recorder, dump_recording, load_recording, save_checkpoint
from toolflow.recording.replayer import replay
from toolflow.render import dot_text
from toolflow.runtime.context import Context
from toolflow.runtime.toolbox import Toolbox

POLICY = """\
version: 1
redact: [password, "*_token", content]
rules:
  - {tool: plain, safe: true, reads: ["k:{{ args.name | default('x') }}"]}
  - {tool: shown, safe: "{{ args.password }}", show: "shown {{ args }}", reads: ["all"]}
  - {tool: keyed, writes: ["k:{{ args.password | default('none') }}"]}
  - {tool: asked, ask: "Really {{ args }}?"}
"""
SECRETS = st.text("abcXYZ019 \"'\\\n\t/é😀{}[]:,*", min_size=8, max_size=30).filter(
    lambda text: text.strip("* ") and len(set(text)) > 3
)
NAMES = st.sampled_from(["password", "PASSWORD", "api_token", "content"])
OTHERS = st.sampled_from(["name", "note", "deep", "list"])
TOOLS = st.sampled_from(["plain", "shown", "keyed", "asked", "fails"])
FORMATS = st.sampled_from(["calls", "openai-chat", "anthropic", "broken"])


def planted(secret: str) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments that hold a secret under a named key: deep, in JSON text, in JSON text in it."""
    under = st.sampled_from([secret, [secret], {"x": secret}, json.dumps({"y": secret})])
    pair = st.tuples(NAMES, under).map(lambda item: {item[0]: item[1]})
    return st.recursive(
        pair,
        lambda inner: st.one_of(
            st.tuples(OTHERS, inner).map(lambda item: {item[0]: item[1]}),
            st.tuples(OTHERS, inner).map(lambda item: {item[0]: [1, item[1]]}),
            st.tuples(OTHERS, inner).map(lambda item: {item[0]: json.dumps(item[1])}),
            inner.map(lambda args: {**args, "beside": f"it is {secret}, you see"}),
        ),
        max_leaves=4,
    )


def message(kind: str, tool: str, args: dict[str, Any]) -> Any:
    if kind == "openai-chat":
        call = {"name": tool, "arguments": json.dumps(args)}
        calls = [{"id": "a", "type": "function", "function": call}]
        return {"role": "assistant", "content": "I do it.", "tool_calls": calls}
    if kind == "broken":
        call = {"name": tool, "arguments": json.dumps(args)[:-1]}
        calls = [{"id": "a", "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if kind == "anthropic":
        use = {"type": "tool_use", "id": "a", "name": tool, "input": args}
        return {"role": "assistant", "content": [{"type": "text", "text": "So."}, use]}
    return {"calls": [{"id": "a", "tool": tool, "args": args}]}


def tools() -> Toolbox:
    box = Toolbox()
    for name in ("plain", "shown", "keyed", "asked"):
        box.tool(lambda **args: {"echo": args, "text": json.dumps(args)}, name=name)

    @box.tool
    def fails(ctx: Context, **args: Any) -> None:
        raise ValueError(f"I do not like {args}")

    return box


def spelled(secret: str) -> set[str]:
    """How a secret would look in any of the texts."""
    forms = {secret, repr(secret)[1:-1]}
    for _ in range(3):
        forms |= {json.dumps(form)[1:-1] for form in forms}
        forms |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms}
    return forms


def assert_not_in(secret: str, text: str) -> None:
    assert not [form for form in spelled(secret) if form in text], text


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_secret_is_in_no_byte_of_what_is_kept_or_shown(data: st.DataObject) -> None:
    secret = data.draw(SECRETS)
    kind, tool = data.draw(FORMATS), data.draw(TOOLS)
    turn = read_turn(message(kind, tool, data.draw(planted(secret))))
    policy = load_policy(POLICY)
    engine = Engine(tools(), policy=policy)
    plan = engine.plan(turn)
    texts = [dump_plan(plan), dump_plan(plan, "json"), str(plan), dot_text(plan)]
    texts.append(repr(explain(policy, turn)[0].rules))
    with tempfile.TemporaryDirectory() as folder:
        result = engine.run_sync(plan, stop_at=["a"] if plan.nodes[0].kind != "settled" else [])
        if result.checkpoint is not None:
            save_checkpoint(result.checkpoint, Path(folder) / "c.yaml")
            texts.append((Path(folder) / "c.yaml").read_text("utf-8"))
    result = engine.run_sync(plan, can_pause=False)
    recorder = Recorder(policy=policy)
    recorder.add(result)
    kept = dump_recording(recorder.recording)
    texts += [kept, dump_recording(recorder.recording, "json")]
    texts.append(dot_text(plan, outcomes=result.outcomes))
    for text in texts:
        assert_not_in(secret, text)
    assert replay(load_recording(kept)).ok
    assert load_recording(kept) == recorder.recording


@given(SECRETS, st.data())
def test_masking_twice_changes_nothing_more(secret: str, data: st.DataObject) -> None:
    redactor = load_policy(POLICY).redactor
    args = data.draw(planted(secret))
    masked = redactor.masked_args(args)
    assert redactor.masked_args(masked) == masked
    assert_not_in(secret, as_text(masked))
    assert_not_in(secret, redactor.masked_args(as_text(args)))


@given(st.recursive(st.none() | st.integers() | st.text('ab{}[]":\\,'), st.lists))
def test_what_is_named_nowhere_is_left_as_it_is(value: Any) -> None:
    redactor = load_policy(POLICY).redactor
    assert redactor.masked(value) == value
    assert redactor.masked({"x": json.dumps(value)}) == {"x": json.dumps(value)}
