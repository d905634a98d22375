"""Small turns of every kind of call, for the explorer and for the random walks."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from toolflow.compiler import Plan, compile_plan
from toolflow.model import DEFAULT_TERMS, Batch, Call, CallPlan, Limits, Terms, Turn, Verdict
from toolflow.recording.explore import Possible

K, J, TREE = "file:/a/k", "file:/j", "file:/a/**"


@dataclass(frozen=True)
class Kind:
    """A kind of call: its verdict, keys and terms, and what may happen to it."""

    verdict: str = "safe"
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    ask: str | None = None
    terms: Terms = DEFAULT_TERMS
    asks: bool = False  # its body may ask a person
    hook: tuple[str, ...] = ()  # kinds that a before-hook may make of it
    live: tuple[str, ...] = ()  # kinds that a new tool set may make of it


KINDS: dict[str, Kind] = {
    "safe": Kind(),
    "read_k": Kind(reads=(K,)),
    "write_k": Kind(writes=(K,)),
    "write_j": Kind(writes=(J,)),
    "write_kj": Kind(writes=(K, J)),
    "read_tree": Kind(reads=(TREE,)),
    "write_tree": Kind(writes=(TREE,)),
    "exclusive": Kind("exclusive"),
    "exclusive_k": Kind("exclusive", writes=(K,)),
    "settled": Kind("settled"),
    "settled_stop": Kind("settled", terms=Terms(on_error="stop")),
    "ask": Kind(ask="?"),
    "ask_k": Kind(writes=(K,), ask="?"),
    "ask_tree": Kind(writes=(TREE, J), ask="?"),
    "ask_stop": Kind(ask="?", terms=Terms(on_error="stop")),
    "ask_exclusive": Kind("exclusive", ask="?"),
    "stop_before": Kind(terms=Terms(stop="before")),
    "stop_before_k": Kind(writes=(K,), terms=Terms(stop="before")),
    "stop_after": Kind(terms=Terms(stop="after")),
    "stop_after_ask": Kind(ask="?", terms=Terms(stop="after")),
    "error_stop": Kind(terms=Terms(on_error="stop")),
    "error_stop_k": Kind(writes=(K,), terms=Terms(on_error="stop")),
    "error_stop_exclusive": Kind("exclusive", terms=Terms(on_error="stop")),
    "uses_one": Kind(terms=Terms(uses={"r": 1})),
    "uses_two": Kind(terms=Terms(uses={"r": 2})),
    "timeout": Kind(terms=Terms(timeout=1.0)),
    "timeout_k": Kind(writes=(K,), terms=Terms(timeout=1.0)),
    "timeout_exclusive": Kind("exclusive", terms=Terms(timeout=1.0)),
    "asks": Kind(asks=True),
    "asks_k": Kind(writes=(K,), asks=True),
    "asks_stop_after": Kind(asks=True, terms=Terms(stop="after")),
    "asks_exclusive": Kind("exclusive", asks=True),
    "hook_exclusive": Kind(hook=("exclusive",)),
    "hook_j_to_k": Kind(writes=(J,), hook=("write_k",)),
    "hook_k_to_j": Kind(writes=(K,), hook=("write_j", "exclusive")),
    "hook_ask": Kind(hook=("ask",)),
    "hook_ask_not": Kind(ask="?", hook=("safe", "ask")),
    "hook_stop_after": Kind(hook=("stop_after", "stop_before")),
    "live_exclusive": Kind(live=("exclusive",)),
    "live_keys": Kind(writes=(J,), live=("write_k", "write_j")),
    "live_uses": Kind(terms=Terms(uses={"r": 2}), live=("uses_one",)),
    "live_gone": Kind(writes=(K,), live=("settled",)),
    "live_ask": Kind(live=("ask", "safe")),
    "live_stop_before": Kind(live=("stop_before", "safe")),
    "live_stop_after": Kind(live=("stop_after", "safe")),
    "live_no_stop_before": Kind(terms=Terms(stop="before"), live=("safe",)),
    "live_no_stop_after": Kind(terms=Terms(stop="after"), live=("safe",)),
    "live_error_stop": Kind(live=("error_stop", "safe")),
    "live_barrier": Kind(live=("ask", "exclusive")),
    "live_elsewhere": Kind(writes=(K,), live=("ask_k", "write_j")),
    "live_no_question": Kind(ask="?", live=("safe", "ask_exclusive")),
}
CORE = (
    "safe", "read_k", "write_k", "write_j", "write_tree", "exclusive", "settled", "ask_k",
    "stop_before", "stop_after", "error_stop", "uses_two", "timeout_k",
)  # fmt: skip


def call(index: int, kind: Kind, *, version: int = 0) -> CallPlan:
    status = "denied" if kind.verdict == "settled" else None
    verdict = Verdict(kind.verdict, f"a {kind.verdict} call", status=status)  # type: ignore[arg-type]
    return CallPlan(
        index,
        f"c{index}",
        f"c{index}",
        "tool",
        {"version": version},
        verdict,
        kind.reads,
        kind.writes,
        kind.terms,
        kind.ask,
    )


def plan_of(
    calls: Iterable[CallPlan], *, pool: int = 2, approvals: Any = "inline", units: int = 2
) -> Plan:
    calls = tuple(calls)
    turn = Turn("turn-1", tuple(Call(c.index, c.id, c.tool, c.args) for c in calls))
    return compile_plan(Batch(turn, calls, Limits(pool, {"r": units}), approvals))


def small_turn(
    kinds: Sequence[str], *, pool: int = 2, approvals: Any = "inline", **possible: Any
) -> tuple[Plan, Possible]:
    """The plan of a turn of these kinds, and what may happen to it."""
    chosen = [KINDS[name] for name in kinds]
    hooks = possible.setdefault("hooks", any(kind.hook for kind in chosen))
    what = Possible(
        **possible,
        asking=frozenset(i for i, kind in enumerate(chosen) if kind.asks),
        hook_changes={i: _forms(i, kind.hook) for i, kind in enumerate(chosen) if hooks},
        live_changes={i: _forms(i, kind.live) for i, kind in enumerate(chosen) if kind.live},
    )
    calls = [call(index, kind) for index, kind in enumerate(chosen)]
    return plan_of(calls, pool=pool, approvals=approvals), what


def _forms(index: int, names: Sequence[str]) -> tuple[CallPlan, ...]:
    return tuple(call(index, KINDS[name], version=n) for n, name in enumerate(names, 1))


def turns_of(kinds: Iterable[str], length: int) -> Iterator[tuple[str, ...]]:
    """All turns of a length."""
    return product(tuple(kinds), repeat=length)


def sampled_options(chance: random.Random, length: int) -> dict[str, Any]:
    """A random choice of what may happen to a turn; larger turns get fewer troubles."""
    rare = 0.5 if length <= 3 else 0.25
    return {
        "pool": chance.choice((1, 2, 3)),
        "hooks": chance.random() < 0.5,
        "approver": chance.random() < 0.5,
        "pausable": chance.random() < 0.7,
        "approvals": chance.choice(("inline", "inline", "first")),
        "halts": chance.choice((1, 1, 2)) if chance.random() < rare else 0,
        "aborts": int(chance.random() < rare),
        "faults": int(chance.random() < rare / 4),
        "denials": chance.random() < rare,
        "refusals": chance.random() < rare,
        "late_grants": length <= 3 and chance.random() < 0.5,
        "crashes": int(chance.random() < rare / 2),
        "otherwise": chance.random() < rare / 2,
        "prompt": chance.random() < 0.25,
        "stops": frozenset([length - 1] if chance.random() < 0.2 else []),
    }
