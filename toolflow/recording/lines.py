"""The short lines of a recording: events, facts and times, each readable, each read back exactly.

A line is words and ``name=value`` pairs::

    0.3 call_settled toolu_01 status=ok
    stopped toolu_01 failed=false

They stand in block text, one a line, rather than as lists of mappings: a reviewer sees a run at a
glance, and reading them costs a third. A value that is no plain word is JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final, get_args

from toolflow.model.event import EventKind
from toolflow.model.outcome import Times
from toolflow.model.turn import EMPTY

_WORD: Final = re.compile(r"[A-Za-z_./][\w./:@+-]*")
_CONSTANTS: Final = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": math.nan,
    "Infinity": math.inf,
}
_PART: Final = re.compile(r" +(?:([A-Za-z_]\w*)=)?")
_BARE: Final = re.compile(r"[^\s\"{\[]\S*")
_UNSEEN: Final = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_DECODER: Final = json.JSONDecoder()
_TIMES: Final = ("queued", "granted", "started", "settled", "stopped")
_TIME: Final = re.compile(r"(queued|granted|started|settled|stopped)=(\d+(?:\.\d+)?)")
EVENT_KINDS: Final = frozenset(get_args(EventKind))


class LineError(ValueError):
    """A line that cannot be read; the message says why."""


def seconds_text(value: float) -> str:
    """Seconds, rounded to microseconds, without needless zeros: ``0``, ``0.3``, ``12.000001``."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return text if text != "-0" else "0"


def seconds_of(text: str) -> float:
    """Read what `seconds_text` wrote.

    Raises:
        LineError: If it is no number of at least 0.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise LineError(f"{text!r} is no time. Use seconds, at least 0.")
    return value


def times_text(times: Times) -> str:
    """Times as text: ``queued=0 granted=0 started=0 settled=0.3 stopped=0.3``."""
    parts = []
    for name in _TIMES:
        value = getattr(times, name)
        if value is not None:
            parts.append(f"{name}={seconds_text(value)}")
    return " ".join(parts)


def times_of(text: str) -> Times:
    """Read what `times_text` wrote.

    Raises:
        LineError: If it is none of that.
    """
    found: dict[str, float] = {}
    for part in text.split():
        match = _TIME.fullmatch(part)
        if match is None or match[1] in found:
            raise LineError(
                f"{part!r} is no time. Use queued, granted, started, settled and stopped, "
                "each once at the most, with seconds."
            )
        found[match[1]] = seconds_of(match[2])
    return Times(**found)


def word(text: str) -> str:
    """A name as it stands in a line: bare where that is certain, else as JSON text."""
    return text if _WORD.fullmatch(text) and text not in _CONSTANTS else _json(text)


def line(head: list[str], data: Mapping[str, Any]) -> str:
    """Write a line.

    Args:
        head: Its words.
        data: What follows as pairs; names that are no words are put into one pair ``data=``.

    Raises:
        ValueError: If a value is none that JSON can hold.
    """
    plain = all(name.isidentifier() and name.isascii() for name in data) and "data" not in data
    pairs = data if plain else {"data": data}
    return " ".join([*head, *(f"{name}={_value(value)}" for name, value in pairs.items())])


def split(text: str) -> tuple[list[str], Mapping[str, Any]]:
    """Read a line.

    Returns:
        Its words, and its pairs.

    Raises:
        LineError: If it cannot be read.
    """
    text = text.strip()
    if not text:
        return [], EMPTY
    text = f" {text}"
    words: list[str] = []
    pairs: dict[str, Any] = {}
    place = 0
    while place < len(text):
        part = _PART.match(text, place)
        if part is None:
            raise LineError(f"There is something odd at character {place}.")
        name = part[1]
        bare = _BARE.match(text, part.end())
        if bare is not None:
            value, place = bare[0] if name is None else _constant(bare[0]), bare.end()
        else:
            value, place = _decoded(text, part.end())
        if name is not None:
            if name in pairs:
                raise LineError(f"{name} stands here twice.")
            pairs[name] = value
        elif isinstance(value, str):
            words.append(value)
        else:
            raise LineError(f"{_json(value)} is no name. Use a word or text in double quotes.")
    if set(pairs) == {"data"} and isinstance(pairs["data"], dict):
        return words, pairs["data"]
    return words, pairs or EMPTY


def _decoded(text: str, place: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        raise LineError(f"There is no value at character {place}. Use a word or JSON.") from None


def _constant(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0].isdigit() or text[0] == "-":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _value(value: Any) -> str:
    return word(value) if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=_listed)
    return text if text.isprintable() else _UNSEEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _listed(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise ValueError(f"A value of type {type(value).__name__} cannot be written.")
