"""Whether the results in a list of messages stand where the provider wants them (spec 3.2).

Counts are compared turn by turn: ids come back in later turns, so a set of all ids of a
conversation would hide a call without a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolflow.formats.base import Answer, Flaw, Misfit, Path, flaw, quoted
from toolflow.formats.plain import plain
from toolflow.model import Notice, Outcome, Turn, call_names

Marks = list[str | None]
Reader = Callable[[Any, Path, list[Flaw]], Turn]


@dataclass(slots=True)
class Step:
    """An assistant message and what follows it, up to the next one.

    Attributes:
        turn: The assistant message; ``None`` for what stands before the first one.
        after: For each message that follows its parts in order: the id for a result, ``None`` for
            anything else.
    """

    turn: Turn | None
    after: list[Marks] = field(default_factory=list)


def reviewed(steps: Sequence[Step], *, one_message: bool) -> list[Turn]:
    """The turns of a list of messages, with notices about results that stand wrong.

    The last turn has no notices where nothing follows it: it is the one to be run.

    Args:
        steps: The list, cut at its assistant messages.
        one_message: Whether all results belong into one message, before anything else in it
            (Anthropic), or into messages of their own, before any other message (Chat).
    """
    turns = []
    strays: tuple[Notice, ...] = ()
    for step in steps:
        if step.turn is None:
            strays = tuple(_surplus(Counter(_results(step.after)), Counter()))
            continue
        followed = step.after or step is not steps[-1]
        odd = _oddities(step.turn, step.after, one_message=one_message) if followed else ()
        found = (*strays, *odd)
        turns.append(replace(step.turn, notices=step.turn.notices + found) if found else step.turn)
        strays = ()
    return turns


def read_messages(
    data: Any,
    read_one: Reader,
    is_models: Callable[[dict[str, Any]], bool],
    marks_of: Callable[[dict[str, Any]], Marks],
    *,
    use: str,
    one_message: bool,
) -> list[Turn]:
    """The turns of one message, or of a list of them.

    Args:
        data: The message or the list, as JSON values or SDK objects.
        read_one: Reads what a model said; what cannot be read is put to the flaws.
        is_models: Whether a model said it: an assistant message or a whole response.
        marks_of: What any other message holds, see `Step`.
        use: What is allowed, for what is no message.
        one_message: See `reviewed`.

    Raises:
        Misfit: With every flaw.
    """
    flaws: list[Flaw] = []
    if not isinstance(data, list):
        turns = [read_one(data, (), flaws)]
    else:
        steps = [Step(None)]
        for index, raw in enumerate(data):
            item = plain(raw)
            if not isinstance(item, dict):
                flaws.append(flaw((index,), item, use))
            elif is_models(item):
                steps.append(Step(read_one(item, (index,), flaws)))
            else:
                steps[-1].after.append(marks_of(item))
        turns = reviewed(steps, one_message=one_message)
    if flaws:
        raise Misfit(flaws)
    return turns


def read_steps(
    items: Sequence[Any],
    read_one: Reader,
    is_models: Callable[[dict[str, Any]], bool],
    results_of: Callable[[dict[str, Any]], Iterable[tuple[str, Outcome]]],
    *,
    use: str,
) -> Iterator[Turn | Answer]:
    """A conversation in its order, as `toolflow.formats.base.Format.steps` has to give it.

    Args:
        items: Its messages, as JSON values or SDK objects.
        read_one: As for `read_messages`.
        is_models: As for `read_messages`.
        results_of: The results in any other message: for each the id of its call, and what it
            tells.
        use: As for `read_messages`.

    Raises:
        Misfit: With every flaw of the first message that has any.
    """
    for index, raw in enumerate(items):
        item, flaws = plain(raw), list[Flaw]()
        if not isinstance(item, dict):
            flaws.append(flaw((index,), item, use))
        elif is_models(item):
            turn = read_one(item, (index,), flaws)
            if not flaws:
                yield turn
        else:
            for call_id, outcome in results_of(item):
                yield Answer(call_id, outcome, index)
        if flaws:
            raise Misfit(flaws)


def _results(after: Sequence[Marks]) -> list[str]:
    return [mark for marks in after for mark in marks if mark is not None]


def _oddities(turn: Turn, after: Sequence[Marks], *, one_message: bool) -> Iterator[Notice]:
    declared = Counter(call.id for call in turn.calls)
    results = Counter(_results(after))
    for call, name in zip(turn.calls, call_names(turn.calls), strict=True):
        if results[call.id] < declared[call.id]:
            message = f"Call {quoted(name)} has no result in the messages after it."
            yield Notice("no_result", message, call=name)
    yield from _surplus(results, declared)
    if _are_apart(after, one_message=one_message):
        place = "in the one message" if one_message else "in the messages"
        yield Notice(
            "results_apart", f"The results do not stand together {place} straight after the calls."
        )
    if one_message and any(None in marks[: _last_result(marks)] for marks in after):
        yield Notice("results_not_first", "Other content stands before a result in its message.")


def _surplus(results: Counter[str], declared: Counter[str]) -> Iterator[Notice]:
    for name, count in results.items():
        if name not in declared:
            message = f"A result for {quoted(name)} belongs to no call of its turn."
            yield Notice("result_without_call", message)
        elif count > declared[name]:
            message = f"Call {quoted(name)} has {count} results. The first is its own."
            yield Notice("doubled_result", message, call=name)


def _are_apart(after: Sequence[Marks], *, one_message: bool) -> bool:
    having = [index for index, marks in enumerate(after) if _last_result(marks)]
    if one_message:
        return len(having) > 1 or having[:1] > [0]
    flat = [mark for marks in after for mark in marks]
    return None in flat[: _last_result(flat)]


def _last_result(marks: Marks) -> int:
    """How many parts stand up to and with the last result; 0 where there is none."""
    return max((index + 1 for index, mark in enumerate(marks) if mark is not None), default=0)
