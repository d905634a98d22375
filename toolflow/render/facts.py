"""What a picture says about a plan, in words: shared by every kind of picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolflow.errors import UsageError
from toolflow.model import CallPlan, Edge, Node, Outcome, PlanData, Times
from toolflow.render.labels import cut_left, duration, short, visible

KEY_WIDTH = 16
ASIDE = "settled · answered without running"
"""What stands over the settled calls."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is known about a run of the plan: one entry a call, ``None`` where nothing is known."""

    outcomes: tuple[Outcome | None, ...]
    times: tuple[Times | None, ...]


def match(
    calls: int,
    outcomes: Sequence[Outcome | None] | None,
    times: Sequence[Times | None] | None,
) -> Run:
    """Bring outcomes and times into the form of one entry a call.

    Args:
        calls: How many calls there are.
        outcomes: How each settled; ``None`` where nothing is known.
        times: When things happened to each; ``None`` or empty where nothing is known.

    Raises:
        UsageError: If there are more or fewer of them than calls.
    """
    times = times or None
    for name, given in (("outcomes", outcomes), ("times", times)):
        if given is not None and len(given) != calls:
            raise UsageError(
                f"{name}: {len(given)} given for {count(calls, 'call')}. "
                "Give one for each call, None where nothing is known."
            )
    blank = (None,) * calls
    return Run(
        blank if outcomes is None else tuple(outcomes), blank if times is None else tuple(times)
    )


def title_of(plan: PlanData) -> str:
    """A title for a plan that was given none: ``turn-1 · 9 calls · 2 pools, 1 barrier``."""
    parts = (short(plan.turn_id), count(len(plan.calls), "call"), nodes_of(plan))
    return " · ".join(part for part in parts if part)


def nodes_of(plan: PlanData) -> str:
    """How many nodes of each kind a plan has: ``2 pools, 1 barrier``."""
    kinds = [node.kind for node in plan.nodes]
    counts = (
        count(kinds.count("pool"), "pool"),
        count(kinds.count("barrier"), "barrier"),
        f"{kinds.count('settled')} settled" if "settled" in kinds else "",
    )
    return ", ".join(text for text in counts if text and not text.startswith("0 "))


def count(number: int, noun: str) -> str:
    """A number with its noun: ``1 call``, ``2 calls``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def node_title(node: Node, pool: int, *, keyed: bool) -> str:
    """What stands over a pool or a barrier.

    Args:
        node: The node of the plan.
        pool: How many calls may run at once.
        keyed: Whether keys order some of its calls.
    """
    name = short(node.id)
    if node.kind == "barrier":
        return f"{name} · runs alone"
    words = [count(len(node.calls), "call")]
    if len(node.calls) > 1:
        words[0] += f" side by side{' unless keys meet' if keyed else ''}"
        words += [f"at most {pool} at once"] if len(node.calls) > pool else []
    return f"{name} · {', '.join(words)}"


def badges(call: CallPlan) -> tuple[str, ...]:
    """What is special about a call, in short words: ``safe``, ``hold turn``, ``asks``, ..."""
    terms = call.terms
    words = [(call.verdict.status or "settled").replace("_", " ")]
    if call.verdict.kind != "settled":
        words = [call.verdict.kind]
        words += ["asks"] if call.ask is not None else []
        words += [f"stop {terms.stop}"] if terms.stop else []
        words += [f"hold {terms.hold}"] if terms.hold != "call" else []
        words += [f"uses {_units(n)}{short(name, 20)}" for name, n in sorted(terms.uses.items())]
        words += [f"timeout {duration(terms.timeout)}"] if terms.timeout is not None else []
        words += ["stops on error"] if terms.on_error == "stop" else []
    return tuple(visible(word) for word in words)


def _units(number: int) -> str:
    return "" if number == 1 else f"{number} "


def masked(
    plan: PlanData, outcomes: Sequence[Outcome | None] | None
) -> Sequence[Outcome | None] | None:
    """Outcomes as pictures show them: without the secrets that the plan's policy names."""
    if plan.redactor is None or outcomes is None:
        return outcomes
    mask = plan.redactor.of(plan.turn, outcomes, [call.args for call in plan.calls])
    return [outcome and mask.outcome(outcome) for outcome in outcomes]


def state_word(outcome: Outcome, times: Times | None = None) -> str:
    """How a call settled, with how long it took where that is known: ``timed out · 2 s``."""
    word = visible(outcome.status.replace("_", " "))
    if times is None or times.started is None or times.settled is None:
        return word
    return f"{word} · {duration(times.settled - times.started)}"


def short_key(key: str, width: int = KEY_WIDTH) -> str:
    """A key in one line, cut from the left where it is too long."""
    shown = visible(key[-600:])
    return cut_left(shown.removeprefix("file:") if len(shown) > width else shown, width)


def causes(edge: Edge) -> tuple[str, ...]:
    """The first cause of a key edge, for its label: the key, and what is done with it.

    Args:
        edge: A key edge; its causes read ``key KEY ACTION`` or ``key KEY in TREE ACTION``.

    Returns:
        One line where the action is one word, else two. The key is cut from the left; further
        causes are only counted.
    """
    first = edge.causes[0] if edge.causes else ""
    match = _CAUSE.fullmatch(first)
    key, action = match.groups() if match else (first, "")
    more = f"+{len(edge.causes) - 1}" if len(edge.causes) > 1 else ""
    action = " ".join(part for part in (action, more) if part)
    lines = (short_key(key.partition(" in ")[0]), action)
    return lines if " " in action else (" ".join(part for part in lines if part),)


_CAUSE = re.compile("key (.+?) (write after read|read after write|write|read)", re.DOTALL)


def tooltip(call: CallPlan, outcome: Outcome | None) -> str:
    """Everything about a call that its box has no room for, one fact a line."""
    facts = [
        call.label or call.tool,
        f"call {call.name}, tool {call.tool}",
        f"{call.verdict.kind}: {call.verdict.reason}",
        *(f"asks: {text}" for text in (call.ask,) if text is not None),
        *(f"reads {key}" for key in (call.reads or ())[:8]),
        *(f"writes {key}" for key in (call.writes or ())[:8]),
    ]
    if outcome is not None:
        facts.append(f"{outcome.status}{': ' if outcome.error else ''}{outcome.error or ''}")
    return "\n".join(fact[:400] for fact in facts)
