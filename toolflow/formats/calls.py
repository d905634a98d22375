"""Plain calls, as people write them: ``{calls: [{id, tool, args}]}`` in YAML or JSON (spec 3.1).

A missing id is made up from the place (``call-2``), and is the same each time; an id that is given
and empty stays empty. ``args`` may be JSON text, which is parsed like a provider's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolflow.formats.arguments import parse
from toolflow.formats.base import Flaw, Format, Messages, Misfit, Path, flaw
from toolflow.formats.ids import ANY_TEXT, made_up_ids
from toolflow.formats.plain import plain, plain_fields
from toolflow.formats.results import result_text
from toolflow.model import Call, Outcome, Turn
from toolflow.model.turn import EMPTY

NAME = "calls"
_FIELDS = frozenset({"id", "tool", "args"})
_EMPTY_TURN = Turn("", (), NAME)


def _recognise(data: Any) -> bool:
    if isinstance(data, list):
        return bool(data) and all(_recognise(plain(item)) for item in data)
    return isinstance(data, dict) and isinstance(data.get("calls"), list | tuple)


def _read(data: Any) -> list[Turn]:
    flaws: list[Flaw] = []
    if isinstance(data, list):
        turns = [_read_turn(plain(item), (index,), flaws) for index, item in enumerate(data)]
    else:
        turns = [_read_turn(data, (), flaws)]
    if flaws:
        raise Misfit(flaws)
    return turns


def _read_turn(data: Any, path: Path, flaws: list[Flaw]) -> Turn:
    if not isinstance(data, dict):
        flaws.append(flaw(path, data, "Use an object with calls."))
        return _EMPTY_TURN
    message = plain_fields(data, "calls")
    items = message.get("calls")
    if not isinstance(items, list):
        flaws.append(flaw((*path, "calls"), items, "Use a list of calls."))
        return _EMPTY_TURN
    place = (*path, "calls")
    ids = made_up_ids([_given_id(item, (*place, i), flaws) for i, item in enumerate(items)])
    calls = tuple(
        [
            _read_call(i, call_id, item, (*place, i), flaws)
            for i, (call_id, item) in enumerate(zip(ids, items, strict=True))
        ]
    )
    return Turn("", calls, NAME, message)


def _given_id(item: Any, path: Path, flaws: list[Flaw]) -> str | None:
    call_id = item.get("id") if isinstance(item, dict) else None
    if call_id is None or type(call_id) is str:
        return call_id
    if type(call_id) is int:  # `id: 1` in YAML means the text
        return str(call_id)
    flaws.append(flaw((*path, "id"), call_id, "Use text."))
    return None


def _read_call(index: int, call_id: str, item: Any, path: Path, flaws: list[Flaw]) -> Call:
    if not isinstance(item, dict):
        flaws.append(flaw(path, item, "Use an object with tool, args and perhaps id."))
        return Call(index, call_id, "")
    tool = item.get("tool")
    if not isinstance(tool, str):
        flaws.append(flaw((*path, "tool"), tool, "Use the name of a tool."))
        tool = ""
    args, raw, problem = parse(item.get("args"))
    extra = EMPTY
    if not item.keys() <= _FIELDS:
        extra = {key: value for key, value in item.items() if key not in _FIELDS}
    return Call(index, call_id, tool, args, raw, problem, extra)


def _write(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> Messages:
    results = [
        _result(call, call_id, outcome)
        for call, call_id, outcome in zip(turn.calls, ids, outcomes, strict=True)
    ]
    message: dict[str, Any] = {"results": results}
    if texts:
        message["texts"] = list(texts)
    return [_write_message(turn, ids)], [message] if results or texts else []


def _result(call: Call, call_id: str, outcome: Outcome) -> dict[str, Any]:
    result_text(outcome)  # refuses a value that JSON cannot hold
    images = [{"media_type": image.media_type, "data": image.data} for image in outcome.images]
    full = {
        "id": call_id,
        "tool": call.tool,
        "status": outcome.status,
        "value": outcome.value,
        "error": outcome.error,
        "images": images or None,
        "note": outcome.note,
    }
    return {key: value for key, value in full.items() if value is not None}


def _write_message(turn: Turn, ids: Sequence[str]) -> dict[str, Any]:
    if turn.message is None:
        return {"calls": [_item(call, name) for call, name in zip(turn.calls, ids, strict=True)]}
    if all(call.id == call_id for call, call_id in zip(turn.calls, ids, strict=True)):
        return dict(turn.message)
    items = zip(turn.message["calls"], ids, strict=True)
    return {**turn.message, "calls": [{**item, "id": call_id} for item, call_id in items]}


def _item(call: Call, call_id: str) -> dict[str, Any]:
    args = call.raw if call.problem else dict(call.args)
    return {"id": call_id, "tool": call.tool, "args": args}


FORMAT = Format(
    name=NAME,
    about="an object with a list of calls",
    recognise=_recognise,
    read=_read,
    write=_write,
    id_rule=ANY_TEXT,
)
