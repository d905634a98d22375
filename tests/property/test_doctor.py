"""Whatever is done to a valid conversation is found, and mended into one that is valid again."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from conversations import (
    MAKERS,
    Maker,
    calls,
    conversation,
    id_of_result,
    rest,
    results,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toolflow import yamlio
from toolflow.errors import TurnError, UsageError
from toolflow.formats import FORMATS
from toolflow.formats.doctor import examine
from toolflow.formats.message_file import open_messages
from toolflow.formats.repair import repair
from toolflow.model import Notice

IDS = ["a", "b", "c", "d"]
TOOLS = st.sampled_from(["read", "write"])
turns = st.lists(
    st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True).flatmap(
        lambda ids: st.tuples(*(st.tuples(st.just(name), TOOLS) for name in ids))
    ),
    min_size=1,
    max_size=3,
)
makers = st.sampled_from(sorted(MAKERS))
Draw = Callable[..., Any]


@given(makers, turns)
def test_a_valid_conversation_is_left_as_it_is(name, rows):
    maker = MAKERS[name]
    messages = conversation(maker, rows)
    before = copy.deepcopy(messages)

    report = examine(messages, format=maker.form, whole=True)
    repaired = repair(messages, format=maker.form, whole=True)

    assert (report.findings, report.turns) == ((), len(rows))
    assert report.calls == report.results == sum(map(len, rows))
    assert (repaired.messages, repaired.changes, repaired.left) == (messages, (), ())
    assert messages == before


def drop(maker: Maker, messages: list[Any], draw: Draw) -> None:
    place = draw(st.sampled_from(results(maker, messages)))
    del place.holder[place.index]


def double(maker: Maker, messages: list[Any], draw: Draw) -> None:
    place = draw(st.sampled_from(results(maker, messages)))
    place.holder.insert(place.index, copy.deepcopy(place.holder[place.index]))


def move_back(maker: Maker, messages: list[Any], draw: Draw) -> None:
    """Behind something that a person said after it."""
    place = draw(st.sampled_from(results(maker, messages)))
    later = [at for at, m in enumerate(messages) if at > place.message and m == maker.user]
    at = draw(st.sampled_from(later or [len(messages) - 1]))
    value = place.holder[place.index]
    if place.holder is messages:
        messages.insert(at + 1, value)
    else:
        key = "parts" if maker.form == "gemini" else "content"
        messages.insert(at + 1, {"role": "user", key: [value]})
    del place.holder[place.index]


def move_forward(maker: Maker, messages: list[Any], draw: Draw) -> None:
    """Before the first turn."""
    place = draw(st.sampled_from(results(maker, messages)))
    value = place.holder.pop(place.index)
    key = "parts" if maker.form == "gemini" else "content"
    messages.insert(0, value if place.holder is messages else {"role": "user", key: [value]})


def say_between(maker: Maker, messages: list[Any], draw: Draw) -> None:
    place = draw(st.sampled_from(results(maker, messages)))
    if place.holder is messages:
        messages.insert(place.index, copy.deepcopy(maker.user))
    else:
        key = "parts" if maker.form == "gemini" else "content"
        text = {"type": "text", "text": "hm"} if maker.form == "anthropic" else {"text": "hm"}
        messages[place.message][key].insert(place.index, text)


def rename_call(maker: Maker, messages: list[Any], draw: Draw) -> None:
    holder, key = draw(st.sampled_from(calls(maker, messages)))
    new = ["zz", "é", "x" * 70, *IDS]
    if maker.form != "gemini":  # there a call without an id is answered by name
        new.append("")
    holder[key] = draw(st.sampled_from(new).filter(holder[key].__ne__))


def rename_result(maker: Maker, messages: list[Any], draw: Draw) -> None:
    place = draw(st.sampled_from(results(maker, messages)))
    found = id_of_result(place.holder[place.index])
    assume(found is not None)
    holder, key = found
    holder[key] = draw(st.sampled_from(["", "zz", *IDS]).filter(holder[key].__ne__))


MUTATIONS = [drop, double, move_back, move_forward, say_between, rename_call, rename_result]
_WITH_IDS = {rename_call, rename_result}
_ELSEWHERE = {move_back, say_between}  # in MCP responses may stand anywhere


@pytest.mark.parametrize("name", sorted(MAKERS))
@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@settings(max_examples=10)
@given(turns, st.data())
def test_every_mutation_is_found_and_mended(name, mutate, rows, data):
    maker = MAKERS[name]
    if (mutate in _WITH_IDS and not maker.ids) or (mutate in _ELSEWHERE and name == "mcp"):
        return
    messages = conversation(maker, rows)
    mutate(maker, messages, data.draw)

    assert not examine(messages, format=maker.form).valid
    mended_well(maker, messages)


@pytest.mark.parametrize("name", sorted(MAKERS))
@settings(max_examples=30)
@given(turns, st.data())
def test_many_mutations_at_once_are_mended(name, rows, data):
    maker = MAKERS[name]
    messages = conversation(maker, rows)
    possible = [m for m in MUTATIONS if maker.ids or m not in _WITH_IDS]
    for _ in range(data.draw(st.integers(2, 5))):
        if results(maker, messages):
            data.draw(st.sampled_from(possible))(maker, messages, data.draw)

    mended_well(maker, messages)


def mended_well(maker: Maker, messages: list[Any]) -> None:
    before = copy.deepcopy(messages)
    repaired = repair(messages, format=maker.form, whole=True)

    assert messages == before
    assert repaired.left == ()
    assert examine(repaired.messages, format=maker.form, whole=True).valid
    again = repair(repaired.messages, format=maker.form, whole=True)
    assert (again.messages, again.changes) == (repaired.messages, ())
    assert rest(maker, repaired.messages) == rest(maker, messages)
    assert bool(repaired.changes) == (repaired.messages != messages)


_WORDS = ["assistant", "user", "model", "tool", "tool_use", "tool_result", "text", "a", "2.0"]
_WORDS += ["function_call", "function_call_output", "tools/call", "message", "reasoning", ""]
_KEYS = ["role", "content", "parts", "tool_calls", "type", "id", "call_id", "tool_use_id", "name"]
_KEYS += ["tool_call_id", "input", "function", "arguments", "output", "result", "method", "params"]
_KEYS += ["toolUse", "toolResult", "toolUseId", "functionCall", "functionResponse", "response"]
anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(_WORDS) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_KEYS), inner | st.sampled_from(_WORDS), max_size=5)
    ),
    max_leaves=12,
)


def places(value: Any) -> Any:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


@given(makers, turns, st.data())
def test_messages_with_anything_in_them_are_mended_or_refused_in_plain_lines(name, rows, data):
    maker = MAKERS[name]
    messages = conversation(maker, rows)
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(list(places(messages))))
        if data.draw(st.booleans()):
            holder[key] = data.draw(anything)
        else:
            del holder[key]
            if not messages:
                return
    try:
        repaired = repair(messages, format=maker.form, whole=True)
    except TurnError as error:
        for problem in error.problems:
            assert str(problem).isprintable()
        return
    assert {notice.code for notice in repaired.left} <= {"unreadable_arguments"}
    for notice in (*repaired.changes, *repaired.left):
        assert told_well(notice, len(messages))
    if not repaired.messages:
        return
    again = repair(repaired.messages, format=maker.form, whole=True)
    assert json.dumps(again.messages) == json.dumps(repaired.messages)
    assert again.changes == ()


def told_well(notice: Notice, count: int) -> bool:
    return notice.message.isprintable() and 1 <= (notice.line or 0) <= count


@given(st.lists(anything, max_size=4), st.sampled_from(sorted(FORMATS)))
def test_any_list_is_examined_or_refused(messages, form):
    with suppress(TurnError, UsageError):  # the latter: a format without conversations
        examine(messages, format=form)


def in_a_file(maker: Maker, rows: Any, shape: str) -> bytes:
    messages = conversation(maker, rows)
    if shape == "lines":
        return "".join(json.dumps(message) + "\n" for message in messages).encode()
    if shape == "records":
        return "".join(json.dumps({"messages": messages, "n": n}) + "\n" for n in "ab").encode()
    if shape == "yaml":
        return yamlio.dump({"messages": messages}).encode()
    return json.dumps(messages, indent=1).encode()


@pytest.mark.parametrize("shape", ["json", "lines", "records", "yaml"])
@settings(max_examples=50)
@given(makers, turns, st.data())
def test_files_with_damage_are_mended_or_refused_in_plain_lines(shape, name, rows, data):
    text = in_a_file(MAKERS[name], rows, shape)
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        text = text[:start] + data.draw(st.binary(max_size=3) | st.just(b"\n{}\n")) + text[end:]
    try:
        file = open_messages(text, source="f", format=MAKERS[name].form)
        if file is None:
            return
        found = file.examined(whole=True)[1]
        mended = file.repaired(whole=True)
    except TurnError as error:
        for problem in error.problems:
            assert str(problem).isprintable()
        return
    assert all(str(each).isprintable() for each in (*found, *mended.changes, *mended.left))
    assert {each.notice.code for each in mended.left} <= {"unreadable_arguments"}
    again = open_messages(mended.text(), source="f", format=MAKERS[name].form)
    assert again is None or again.repaired(whole=True).changes == []
