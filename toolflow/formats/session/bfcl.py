"""BFCL: the answers, questions and tool documents of the Berkeley Function Calling Leaderboard.

Source: the data files of the benchmark. They are no logs: nothing was run, so no call has a result
(told once, ``no_results``), and each entry is a source of its own, named by its ``id``.

* **Answers** (``ground_truth``). With several steps each is a list of calls as Python call text,
  such as ``mv(source='a', destination='b')``: one turn a step. Without, the entry is one turn, and
  a call is an object ``{name: {parameter: [allowed values]}}``: the argument is the first value
  that is allowed; where that is the empty text, the parameter may be left out, and is. All that is
  allowed is in ``Turn.extra``.
* **Questions and tool documents** hold schemas and prompts but no calls: 0 turns, and they are told
  (``no_calls``).

Call text is parsed, never evaluated (see `python_calls`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats.base import Misfit
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.formats.session.pairing import named
from toolflow.formats.session.python_calls import read_call
from toolflow.formats.session.turns import calls_turn, sentence
from toolflow.model import Notice, RecordedTurn, Turn

NAME = "bfcl"


def _recognise(head: Sequence[Any]) -> bool:
    return any(isinstance(entry, dict) and bool(_kind(entry)) for entry in head)


def _kind(entry: dict[str, Any]) -> str:
    """What an entry is: ``answers``, ``questions``, ``tools``, or empty text."""
    if isinstance(entry.get("ground_truth"), list) and isinstance(entry.get("id"), str):
        return "answers"
    if isinstance(entry.get("question"), list) and isinstance(entry.get("id"), str):
        return "questions"
    schema = entry.get("parameters")
    is_schema = isinstance(schema, dict) and schema.get("type") == "dict"
    return "tools" if is_schema and isinstance(entry.get("name"), str) else ""


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    given = 0
    others = {"questions": 0, "tools": 0}
    for number, entry in reading.objects(log):
        kind = _kind(entry)
        if not kind:
            reading.skip(number, "it holds no answers, questions or tools")
        elif kind != "answers":
            others[kind] += 1
        else:
            for turn in _turns(reading, number, entry):
                given += 1
                outcomes = (None,) * len(turn.calls)
                yield RecordedTurn(named(turn, f"turn-{given}"), outcomes)
    _tell(reading, given, others)


def _tell(reading: Reading, given: int, others: dict[str, int]) -> None:
    reading.note(**{kind: count for kind, count in others.items() if count})
    if given:
        text = "The file holds answers: no call was run, and none has a result."
        reading.oddities.append(Notice("no_results", text))
    if any(others.values()):
        found = " and ".join(f"{count} {kind}" for kind, count in others.items() if count)
        text = f"The file holds {found}, which are no calls."
        reading.oddities.append(Notice("no_calls", text))


def _turns(reading: Reading, number: int, entry: dict[str, Any]) -> Iterator[Turn]:
    steps = entry["ground_truth"]
    if not steps or not all(isinstance(step, list) for step in steps):
        steps = [steps]
    for place, step in enumerate(steps, 1):
        extra = {"step": place, "ground_truth": step} if len(steps) > 1 else {"ground_truth": step}
        reading.messages += 1
        turn = calls_turn([_item(call) for call in step], extra=extra, carries_ids=False)
        if isinstance(turn, Misfit):
            text = f"An answer cannot be read: {sentence(turn)}"
            reading.oddities.append(Notice("unreadable", text, line=number))
        elif turn.calls:
            yield replace(turn, source=entry["id"] or "main")


def _item(call: Any) -> Any:
    if isinstance(call, str):
        return read_call(call)
    if not isinstance(call, dict) or len(call) != 1:
        return None  # what it would be is not told: the turn tells that it cannot be read
    ((tool, allowed),) = call.items()
    if not isinstance(allowed, dict):
        return None
    chosen = {name: _first(values) for name, values in allowed.items()}
    return {"tool": tool, "args": {k: v for k, v in chosen.items() if v != ""}}


def _first(allowed: Any) -> Any:
    """The first allowed value; that of an object is an object of allowed values again."""
    value = allowed[0] if isinstance(allowed, list) and allowed else allowed
    if isinstance(value, dict):
        return {
            key: each[0] if isinstance(each, list) and each else each for key, each in value.items()
        }
    return value


FORMAT = SessionFormat(
    name=NAME,
    about="entries with an id and a ground_truth or a question, or tools with parameters of"
    " the type dict",
    recognise=_recognise,
    read=_read,
)
