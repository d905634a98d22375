"""The formats by name, and the functions that read and write with them.

A new format is a module with a `Format` value and one entry here. The order is the order of
detection: a format whose marks are more telling stands before one that it could be taken for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from toolflow.errors import Problem, TurnError, UsageError
from toolflow.formats import (
    anthropic,
    bedrock,
    calls,
    cohere,
    gemini,
    mcp,
    openai_chat,
    openai_responses,
    plugins,
    sse,
)
from toolflow.formats.arguments import CUT_SHORT
from toolflow.formats.base import Format, Joined, Misfit, Path, Where, quoted, shown
from toolflow.formats.ids import SURROGATE, valid_ids
from toolflow.formats.plain import plain
from toolflow.formats.results import check_outcomes
from toolflow.model import Call, Notice, Outcome, Turn
from toolflow.model.turn import EMPTY

_IN_ORDER = (
    calls.FORMAT,
    mcp.FORMAT,
    openai_responses.FORMAT,
    gemini.FORMAT,
    bedrock.FORMAT,
    cohere.FORMAT,
    anthropic.FORMAT,
    openai_chat.FORMAT,
)

FORMATS: Mapping[str, Format] = MappingProxyType({form.name: form for form in _IN_ORDER})
"""Every wire format by its name, in the order of detection."""
_CHUNKS_LOOKED_AT = 8
_REQUEST_LISTS = ("messages", "input", "contents")  # Responses and Gemini have the latter


def detect(data: Any) -> str:
    """Tell the format of a message, a response or a list of messages.

    Args:
        data: A JSON-like value or an object of a provider's SDK.

    Returns:
        The format's name.

    Raises:
        TurnError: If it is none of the known formats; says what was looked for.
    """
    return find_format(plain(data), None).name


def find_format(data: Any, name: str | None) -> Format:
    """The format that is asked for, else the first that recognises the data (see `detect`).

    Raises:
        UsageError: If there is no format of that name.
        TurnError: If no format recognises the data.
    """
    if name is not None:
        return format_named(name)
    broken: list[str] = []
    try:
        for form in FORMATS.values():
            if form.recognise(data):
                return form
        for other in plugins.each(tuple(FORMATS), broken):
            if isinstance(other, Format) and plugins.recognises(other, data, broken):
                return other
    except RecursionError:
        raise TurnError(Problem("The message is nested too deeply.", "<message>")) from None
    looked_for = "; ".join(f"{form.name} ({form.about})" for form in FORMATS.values())
    raise TurnError(
        Problem(
            f"The format cannot be told from {shown(data)}. Looked for: {looked_for}."
            f" Give one of these, or name the format.{plugins.listed(broken)}",
            "<message>",
            code="unknown_format",
        )
    )


def format_named(name: str) -> Format:
    """The format of that name: ours, or one that another package gives.

    Raises:
        UsageError: If there is none, or it cannot be used.
    """
    form = FORMATS.get(name) or plugins.named(name)
    if not isinstance(form, Format):
        known = ", ".join(sorted({*FORMATS, *plugins.names()}))
        raise UsageError(f"format is {quoted(name)}. Use one of {known}.")
    return form


def read_turn(message: Any, *, format: str | None = None, turn_id: str = "turn-1") -> Turn:  # noqa: A002  # the option's name everywhere
    """Read the turn of an assistant message (spec 3.1).

    Args:
        message: One assistant message, a whole response, or a list of messages, of which the last
            assistant message is read; as JSON-like values or as objects of a provider's SDK.
        format: The name of its format; detected where it is not given.
        turn_id: The name that the turn gets.

    Returns:
        The turn. A message without calls gives a turn without calls.

    Raises:
        TurnError: If the format cannot be told, or the message does not have its shape.
        UsageError: If there is no format of that name.
    """
    return _last(read_all(message, format, where=None), plain(message), turn_id)


def _last(turns: Sequence[Turn], data: Any, name: str) -> Turn:
    if not turns:
        text = f"There is no assistant message in {shown(data)}. Give at least one."
        raise TurnError(Problem(text, "<message>"))
    return named(turns[-1], name)


def read_turns(data: Any, *, format: str | None = None) -> tuple[Turn, ...]:  # noqa: A002  # as above
    """Read every assistant message that has calls.

    Args:
        data: A message, a response, or a list of messages (see `read_turn`).
        format: The name of its format; detected where it is not given.

    Returns:
        The turns in order, named ``turn-1``, ``turn-2`` ...

    Raises:
        TurnError: If the format cannot be told, or a message does not have its shape.
        UsageError: If there is no format of that name.
    """
    return numbered(read_all(data, format, where=None))


def read_all(data: Any, name: str | None, where: Where | None) -> list[Turn]:
    """Every assistant message as a turn without a name, also those without calls.

    Args:
        data: JSON-like values or SDK objects.
        name: The format's name, or ``None``.
        where: Makes a `Problem` of a path and a sentence, or ``None``.

    Raises:
        TurnError: If it cannot be read.
    """
    whole = plain(data)
    above: Path = ()
    inside = request_list(whole)
    if inside is not None:
        above, whole = (inside,), plain(whole[inside])
    streamed = stream_format(whole, name)
    form = streamed or find_format(whole, name)
    try:
        return form.read(whole) if streamed is None else _joined(form, whole)
    except Misfit as misfit:
        make = where or (lambda _, message: Problem(message, f"<{form.name}>"))
        problems = [make((*above, *flaw.path), flaw.message) for flaw in misfit.flaws]
    except RecursionError:
        problems = [Problem("The message is nested too deeply.", f"<{form.name}>")]
    raise TurnError(sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))


def read_stream(
    chunks: Iterable[Any],
    *,
    format: str | None = None,  # noqa: A002  # the option's name everywhere
    turn_id: str = "turn-1",
) -> Turn:
    """Read the turn of a streamed response (spec 3.1).

    Args:
        chunks: The chunks in the order in which they came, as JSON-like values, as objects of a
            provider's SDK, or as the text of server-sent events, in pieces or lines.
        format: The name of its format; detected from the first chunks where it is not given.
        turn_id: The name that the turn gets.

    Returns:
        The turn; its ``message`` is what the provider would have sent at once.

    Raises:
        TurnError: If the format cannot be told, or a chunk does not have its shape.
        UsageError: If there is no format of that name, or the format has no streams.
    """
    whole = list(chunks)
    if whole and all(isinstance(chunk, str | bytes) for chunk in whole):
        whole = sse.parse(sse.joined(whole))
    if format is not None and format_named(format).join is None:
        streaming = ", ".join(sorted(name for name, form in FORMATS.items() if form.join))
        raise UsageError(f"format {quoted(format)} has no streams. Use one of {streaming}.")
    if not whole:
        raise TurnError(Problem("The stream has no chunks. Give at least one.", "<stream>"))
    turns = read_all([plain(chunk) for chunk in whole], format, where=None)
    turn = _last(turns, whole, turn_id)
    if len(turns) > 1:
        text = f"The chunks hold {len(turns)} messages, one after another. The last is read."
        notice = Notice("more_messages", text, turn=turn_id)
        turn = replace(turn, notices=(notice, *turn.notices))
    return turn


def stream_format(data: Any, name: str | None) -> Format | None:
    """The format of whose chunks the data is a list, or ``None`` where it is no stream."""
    items = data if isinstance(data, list) else [data]
    head = [plain(item) for item in items[:_CHUNKS_LOOKED_AT]]
    for form in FORMATS.values() if name is None else (format_named(name),):
        if form.join is not None and any(map(form.is_chunk, head)):
            return form
    return None


def _joined(form: Format, data: Any) -> list[Turn]:
    """The turns of the streams that the chunks are: most often one."""
    assert form.join is not None
    chunks = [plain(item) for item in data] if isinstance(data, list) else [data]
    streams = [chunks] if form.split is None else form.split(chunks)
    return [_whole_turn(form, form.join(stream)) for stream in streams]


def _whole_turn(form: Format, joined: Joined) -> Turn:
    turn = form.read(joined.response)[-1]
    calls = tuple(_cut(call) if call.index in joined.cut else call for call in turn.calls)
    return replace(turn, calls=calls, notices=(*joined.notices, *turn.notices))


def _cut(call: Call) -> Call:
    return replace(call, args=EMPTY, raw=call.raw or "", problem=CUT_SHORT)


def request_list(data: Any) -> str | None:
    """Where the messages are in the body of a request, or in another object around a list."""
    if not isinstance(data, dict):
        return None
    if any(key in data for key in ("role", "choices", "calls", "type", "output")):
        return None
    return next((key for key in _REQUEST_LISTS if isinstance(data.get(key), list | tuple)), None)


def numbered(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns that have calls, named by their order."""
    having = [turn for turn in turns if turn.calls]
    return tuple(named(turn, f"turn-{number}") for number, turn in enumerate(having, 1))


def named(turn: Turn, name: str) -> Turn:
    """The turn under a name, which its notices get too."""
    notices = tuple(replace(notice, turn=name) for notice in turn.notices)
    return replace(turn, id=name, notices=notices)


def written_ids(turn: Turn) -> tuple[str, ...]:
    """The ids under which a turn is written back, in call order (spec 3.4).

    Args:
        turn: Any turn.

    Returns:
        One id a call: its own where the provider takes it, else a rewritten one.
    """
    form, ids = format_named(turn.format), [call.id for call in turn.calls]
    return valid_ids(ids, form.id_rule if form.id_rule_of is None else form.id_rule_of(ids))


def write_turn(
    turn: Turn, outcomes: Sequence[Outcome], *, texts: Sequence[str] = ()
) -> tuple[list[Any], list[Any]]:
    """Write a turn and its outcomes in the form of its provider (spec 3.1).

    Args:
        turn: The turn. Where its ``message`` is ``None``, one is made from its calls.
        outcomes: Exactly one a call, in call order.
        texts: What the user says after the results.

    Returns:
        The assistant message (a list of one; of Responses its items) and the messages of the
        results. Both share parts with ``turn.message``: copy them before changing what is inside.

    Raises:
        UsageError: If the outcomes are not one a call, or hold what JSON cannot.
    """
    check_outcomes(turn, outcomes)
    whole = [SURROGATE.sub("\ufffd", text) for text in texts]
    return format_named(turn.format).write(turn, outcomes, written_ids(turn), whole)
