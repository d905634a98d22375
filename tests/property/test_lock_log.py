"""Whatever stands in the log, it is read or refused; and a written state is read as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolflow.locks.operations import Operation, read
from toolflow.locks.replica import Replica
from toolflow.locks.snapshot import EMPTY_STATE, restore, state_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)
kinds = st.sampled_from(["join", "ask", "end", "hand", "poison", "gone", "state", "x"])
keys = st.lists(st.sampled_from(["x", "y", "d/**", "d/f", "\ud800"]), max_size=2)
numbers = st.integers(0, 12)
proper = st.one_of(
    st.tuples(st.just("join"), st.tuples(numbers, st.text(max_size=3), st.just(""), st.just(""),
              numbers)),
    st.tuples(
        st.just("ask"),
        st.tuples(
            numbers, st.lists(numbers, max_size=2), keys, keys,
            st.dictionaries(st.sampled_from("uv"), st.integers(0, 2)),
            st.just({"u": 2}), st.text(max_size=3), st.booleans(),
        ),
    ),
    st.tuples(st.sampled_from(["end", "poison", "gone"]), numbers),
    st.tuples(st.just("hand"), st.tuples(numbers, numbers)),
)  # fmt: skip


def line(seq: int, process: int, kind: str, body: Any) -> Operation:
    """As another process reads it."""
    return read(Operation(seq, process, 0.0, kind, body).row())


def refusal(read_it: Callable[[], Any]) -> str:
    """Why something is refused; empty if it is not."""
    try:
        read_it()
    except ValueError as error:
        return str(error)
    return ""


@given(kind=kinds, body=json_values)
def test_any_line_is_read_or_refused(kind: str, body: Any) -> None:
    assert "\n" not in refusal(lambda: read((1, 1, 0.0, kind, json.dumps(body))))


@given(row=st.tuples(*[st.none() | st.integers() | st.text() | st.binary()] * 5))
def test_any_row_is_read_or_refused(row: tuple[Any, ...]) -> None:
    assert "\n" not in refusal(lambda: read(row))


@given(changes=st.dictionaries(st.sampled_from(sorted(EMPTY_STATE)), json_values))
def test_any_state_is_read_or_refused(changes: dict[str, Any]) -> None:
    operation = Operation(1, 0, 0.0, "state", {**EMPTY_STATE, **changes})
    assert "\n" not in refusal(lambda: restore(operation, 0))


@given(
    lines=st.lists(st.tuples(st.integers(1, 3), proper), max_size=25),
    data=st.data(),
)
def test_a_written_state_goes_on_as_the_log_that_it_stands_for(lines: Any, data: Any) -> None:
    replica, _ = restore(Operation(0, 0, 0.0, "state", EMPTY_STATE), 0)
    lines = [(0, ("join", [1, "", "", "", 0]))] * 3 + lines  # the processes 1 to 3
    cut = data.draw(st.integers(0, len(lines)))
    late: Replica | None = None
    for place, (process, (kind, body)) in enumerate(lines):
        if place == cut:
            seq = replica.position + 1
            state = line(seq, 0, "state", state_of(replica))
            late, granted = restore(state, 0)
            assert not granted
            replica.position = seq
        operation = line(replica.position + 1, process, kind, body)
        one = replica.apply(operation)
        if late is not None:
            other = late.apply(operation)
            assert [(t.number, t.fence, t.error is None) for t in one.changed] == [
                (t.number, t.fence, t.error is None) for t in other.changed
            ]
            assert type(one.error) is type(other.error)
            assert state_of(late) == state_of(replica)


def test_a_state_with_a_ticket_of_nobody_is_refused() -> None:
    ticket = [1, 9, [1, [], [], ["k"], {}, {}, "a", True], 1, 1, False, 0, None, [[], [], []]]
    with pytest.raises(ValueError, match="a ticket of nobody"):
        restore(Operation(1, 0, 0.0, "state", {**EMPTY_STATE, "tickets": [ticket]}), 0)
