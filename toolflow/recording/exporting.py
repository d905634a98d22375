"""Recorded turns as messages of any provider: of each its message, then the results there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolflow.errors import ToolflowError, UsageError
from toolflow.formats import FORMATS, write_turn
from toolflow.formats.base import Format
from toolflow.formats.convert import convert, rewritten_calls
from toolflow.formats.registry import format_named, read_all
from toolflow.formats.repair import LOST
from toolflow.model.recording import RecordedTurn
from toolflow.model.turn import Notice, Turn, call_names
from toolflow.recording.durations import whole_turns


@dataclass(frozen=True, slots=True)
class Exported:
    """Recorded turns in the form of a provider.

    Attributes:
        messages: The messages; of the format ``calls`` one object with calls and results.
        turns: How many turns they are.
        notices: What was left out or changed, by turn and call.
    """

    messages: Any
    turns: int
    notices: tuple[Notice, ...] = ()


def export_turns(
    turns: Sequence[RecordedTurn],
    *,
    format: str,  # noqa: A002  # the option's name everywhere
    source: str | None = None,
) -> Exported:
    """Write recorded turns as messages of a wire format.

    Args:
        turns: The turns, in order.
        format: The name of the wire format.
        source: Whose turns of several sources are written: ``main`` or the name of a sub-agent;
            by default ``main``, or the first where there is none of that name.

    Returns:
        The messages of all of them as one conversation, and what could not be carried over. A call
        without an outcome has no result in the last turn; in those before it, where a provider
        would refuse that, its result says that nobody knows how it ended.

    Raises:
        UsageError: If there is no format of that name, no turn, no such source, or several turns
            for a format that knows no conversations.
    """
    form = format_named(format)
    chosen, notices = _of_one_source([*whole_turns(turns)], source)
    if len(chosen) > 1 and form.steps is None:
        talking = ", ".join(name for name, one in sorted(FORMATS.items()) if one.steps is not None)
        raise UsageError(
            f"{form.name} knows no conversations, and there are {len(chosen)} turns."
            f" Choose one of them, or a format that does: {talking}."
        )
    messages: list[Any] = []
    for number, recorded in enumerate(chosen, 1):
        written, told = _written(recorded, form, followed=number < len(chosen))
        messages += written
        notices += told
    if form.name == "calls":
        one = {key: value for message in messages for key, value in message.items()}
        return Exported(one, len(chosen), tuple(notices))
    return Exported(messages, len(chosen), tuple(notices))


def _of_one_source(
    turns: Sequence[RecordedTurn], source: str | None
) -> tuple[list[RecordedTurn], list[Notice]]:
    """The turns of one source, and how many of others are left out."""
    if not turns:
        raise UsageError("There are no turns with calls to write.")
    counts: dict[str, int] = {}
    for recorded in turns:
        counts[recorded.turn.source] = counts.get(recorded.turn.source, 0) + 1
    first = "main" if "main" in counts else turns[0].turn.source
    wanted = first if source is None else source
    if wanted not in counts:
        known = ", ".join(sorted(counts)[:20])
        raise UsageError(f"--source is {wanted!r}. Use one of {known}.")
    notices = []
    others = len(turns) - counts[wanted]
    if others and source is None:
        text = f"{others} turns of other sources than {wanted!r} are left out. --source names one."
        notices.append(Notice("other_sources", text))
    return [recorded for recorded in turns if recorded.turn.source == wanted], notices


def _written(
    recorded: RecordedTurn, form: Format, *, followed: bool
) -> tuple[list[Any], list[Notice]]:
    """The messages of one turn.

    A turn that another one follows has to have all its results; the last one may lack some.
    """
    before, notices = _readable(recorded.turn)
    turn, left_out = convert(before, form.name)
    notices += left_out
    if turn is recorded.turn and recorded.messages:
        return list(recorded.messages), notices  # what was committed, just as it was
    kept = recorded.committed
    assistant, results = write_turn(
        turn,
        [LOST if outcome is None else outcome for outcome in recorded.outcomes],
        texts=kept.texts if kept is not None else (),
    )
    again = form.read(assistant)[-1]
    notices += [*rewritten_calls(before, again.calls), *_without_result(recorded, followed)]
    if kept is not None and kept.steering:
        text = f"{len(kept.steering)} messages that arrived meanwhile are of another format."
        notices.append(Notice("left_out", f"{text} They are left out.", turn=turn.id))
    if form.name == "mcp" and isinstance(assistant[0], list):
        assistant = assistant[0]  # one by one: the protocol took batches back
    missing = {index for index, outcome in enumerate(recorded.outcomes) if outcome is None}
    return [*assistant, *_having(turn, results, set() if followed else missing)], notices


def _readable(turn: Turn) -> tuple[Turn, list[Notice]]:
    """The turn; without its message where that is not what its calls were read from.

    Recordings are made by people too, and nothing in one says that its messages are right.
    """
    if turn.message is None:
        return turn, []
    try:
        (again,) = read_all(turn.message, turn.format, where=None)
        if len(again.calls) == len(turn.calls):
            return turn, []
    except (ToolflowError, ValueError):  # the latter: it is several messages, or none
        pass
    text = "Its message cannot be read. It is made anew from its calls, without its texts."
    notice = Notice("message_unreadable", text, turn=turn.id)
    return replace(turn, message=None, format="calls"), [notice]


def _without_result(recorded: RecordedTurn, followed: bool) -> Iterator[Notice]:  # noqa: FBT001  # private
    code = "result_added" if followed else "no_result"
    what = "its result says that nobody knows how it ended" if followed else "no result is written"
    names = call_names(recorded.turn.calls)
    for name, outcome in zip(names, recorded.outcomes, strict=True):
        if outcome is None:
            text = f"It has no outcome: {what}."
            yield Notice(code, text, turn=recorded.turn.id, call=name)


def _having(turn: Turn, results: list[Any], missing: set[int]) -> list[Any]:
    """The messages of results without those that stood for none; they are in call order."""
    if not missing:
        return results
    if turn.format == "calls":
        kept = [one for at, one in enumerate(results[0]["results"]) if at not in missing]
        return [{**results[0], "results": kept}]
    layout = format_named(turn.format).layout
    if layout is None:
        return results if len(missing) < len(turn.calls) else []
    left: list[Any] = []
    index = -1
    for message in results:
        pieces = layout.cut(message)
        values = []
        for piece in pieces:
            index += piece.is_result
            if not piece.is_result or index not in missing:
                values.append(piece.value)
        if len(values) == len(pieces):
            left.append(message)
        elif values:
            left.append(layout.joined(message, values))
    return left
