"""A turn of one provider in the form of another (`toolflow export`).

The writer of the other format makes the message from the calls; the texts around them go to where
that format has a place for texts. The message is then read as what it is, so that the turn that
comes out is one of the other format in every way. What cannot be carried over is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.registry import format_named, read_turn, write_turn
from toolflow.formats.rewritten import changes_of
from toolflow.formats.said import CALL, TEXT, Said, said
from toolflow.model import Call, Notice, Outcome, Turn, call_names

_BOOKKEEPING = frozenset({"id", "type", "status", "index", "thoughtSignature", "thought_signature"})


def convert(turn: Turn, format: str) -> tuple[Turn, tuple[Notice, ...]]:  # noqa: A002  # the option's name everywhere
    """Make of a turn one of another wire format.

    Args:
        turn: Any turn.
        format: The name of the other format.

    Returns:
        The turn, with a message of that format and ids that its provider takes; and what was left
        out. A turn that has the format and a message already is given back.

    Raises:
        UsageError: If there is no format of that name.
    """
    form = format_named(format)
    if turn.format == form.name and turn.message is not None:
        return turn, ()
    calls = tuple(_bare(turn, call, form.name) for call in turn.calls)
    carries = turn.carries_ids or form.name != "gemini"
    bare = Turn(turn.id, calls, form.name, source=turn.source, carries_ids=carries)
    (message, *more), _ = write_turn(bare, [Outcome("ok", "")] * len(calls))
    parts = said(turn)
    texts = [part.text for part in parts if part.kind == TEXT]
    woven = _woven(form.name, [message, *more], parts) if texts else [message, *more]
    data = woven if form.name == "openai-responses" else woven[0]
    made = replace(read_turn(data, format=form.name, turn_id=turn.id), source=turn.source)
    return made, tuple(_left_out(turn, parts, form.name))


def _bare(turn: Turn, call: Call, form: str) -> Call:
    """The call without what only its provider knows; its id made of the turn where it had none."""
    if turn.carries_ids or form == "gemini":
        return replace(call, extra={})
    return replace(call, id=f"{turn.id}-{call.id}", extra={})


def _woven(form: str, messages: list[Any], parts: Sequence[Said]) -> list[Any]:
    """The message of the calls with the texts where they belong; without, where none may be."""
    message = messages[0]
    texts = "\n\n".join(part.text for part in parts if part.kind == TEXT)
    if form == "openai-chat":
        return [{**message, "content": texts}]
    if form == "cohere":
        return [{"role": "assistant", "tool_plan": texts, **message}]
    if form == "openai-responses":
        return _mixed(parts, messages, lambda text: {"role": "assistant", "content": text})
    if form == "anthropic":
        blocks = _mixed(parts, message["content"], lambda text: {"type": "text", "text": text})
        return [{**message, "content": blocks}]
    if form in ("gemini", "bedrock"):
        key = "parts" if form == "gemini" else "content"
        return [{**message, key: _mixed(parts, message[key], lambda text: {"text": text})}]
    return messages


def _mixed(parts: Sequence[Said], calls: Sequence[Any], block: Any) -> list[Any]:
    left = iter(calls)
    mixed = [block(part.text) if part.kind == TEXT else next(left) for part in _carried(parts)]
    return [*mixed, *left]


def _carried(parts: Sequence[Said]) -> Iterator[Said]:
    return (part for part in parts if part.kind in (TEXT, CALL))


def _left_out(turn: Turn, parts: Sequence[Said], form: str) -> Iterator[Notice]:
    kinds = Counter(part.kind for part in parts if part.kind not in (TEXT, CALL))
    extras = Counter(key for call in turn.calls for key in call.extra if key not in _BOOKKEEPING)
    if form in ("calls", "mcp"):
        kinds.update(text=sum(part.kind == TEXT for part in parts))
    gone = {kind: count for kind, count in sorted((kinds + extras).items()) if count}
    if gone:
        names = ", ".join(f"{kind} ({count})" for kind, count in gone.items())
        text = f"{form} has no place for this, which was left out: {names}."
        yield Notice("left_out", text, turn=turn.id)


def rewritten_calls(turn: Turn, made: Sequence[Call]) -> Iterator[Notice]:
    """What the provider would have refused of the calls of a turn, and how it is written.

    Args:
        turn: The turn as it was read.
        made: Its calls as they are written.
    """
    names = call_names(turn.calls)
    for call, name, now in zip(turn.calls, names, made, strict=True):
        texts: list[tuple[str, str]] = []
        if now.id != call.id and turn.carries_ids:
            texts.append(("id_rewritten", f"Its id is {quoted(now.id)} now."))
        texts += changes_of(call, now)
        yield from (Notice(code, text, turn=turn.id, call=name) for code, text in texts)
