"""One difference between two plans or runs, and a list of them: values that can be printed.

``+`` stands for what only the second one has, ``-`` for what only the first one has, ``~`` for what
both have and what is not the same in them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from toolflow.compiler.columns import clean

Mark = Literal["+", "-", "~"]
ABSENT: Final = object()
_NAME, _VALUE, _LISTED = 60, 72, 6


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        mark: ``+`` only the second has it, ``-`` only the first has it, ``~`` it is not the same.
        kind: What it is about: ``call``, ``edge``, ``node``, ``limits``, ``plan``; of runs also
            ``outcome``, ``order``, ``messages``.
        name: Which one: the name of a call or node, ``a -> b`` for an edge, the name of a limit.
        field: What of it, such as ``verdict``, ``reads`` or ``args.path``; empty for all of it.
        before: What the first one has, as a JSON value; ``None`` where it has nothing.
        after: What the second one has, as a JSON value.
        why: Words that tell why, for people.
    """

    mark: Mark
    kind: str
    name: str = ""
    field: str = ""
    before: Any = None
    after: Any = None
    why: str = ""

    def data(self) -> dict[str, Any]:
        """The change as a JSON value; what is empty is left out, but for both sides of a ``~``."""
        values: dict[str, Any] = {
            "mark": self.mark,
            "kind": self.kind,
            "name": self.name,
            "field": self.field,
            "before": _json(self.before),
            "after": _json(self.after),
            "why": self.why,
        }
        kept = {"before", "after"} if self.mark == "~" else set()
        return {
            key: value
            for key, value in values.items()
            if key in kept or not (value is None or value == "")
        }

    def __str__(self) -> str:
        """The change on one line without control characters."""
        name = clean(self.name, _NAME, keep_end=True)
        what = f"{self.kind}.{name}" if self.kind == "limits" else f"{self.kind} {name}".rstrip()
        field = clean(self.field, _NAME, keep_end=True)
        if self.field:
            what += f"  {field}"
        if self.field == "timeout":
            value = f": {_seconds(self.before)} -> {_seconds(self.after)}"
        elif self.mark == "~":
            value = f": {shown(self.before, self.after)} -> {shown(self.after, self.before)}"
        else:
            here = self.after if self.mark == "+" else self.before
            joint = " " if self.kind == "call" and self.field in {"reads", "writes"} else ": "
            value = "" if here is None else f"{joint}{shown(here)}"
        why = f"  ({clean(self.why, 120)})" if self.why else ""
        return f"{self.mark} {what}{value}{why}"


def change_of(kind: str, name: str, field: str, before: Any, after: Any) -> Iterator[Change]:
    """The change of one value, if it is one.

    Args:
        kind: What it is about.
        name: Which one.
        field: What of it.
        before: What the first one has, or `ABSENT`.
        after: What the second one has, or `ABSENT`.
    """
    if before is ABSENT and after is ABSENT:
        return
    if after is ABSENT:
        yield Change("-", kind, name, field, before)
    elif before is ABSENT:
        yield Change("+", kind, name, field, None, after)
    elif type(before) is not type(after) or before != after:
        yield Change("~", kind, name, field, before, after)


def shown(value: Any, other: Any = None) -> str:
    """A JSON value on one line.

    Args:
        value: The value.
        other: The value that it differs from: long text is cut around the first difference.
    """
    if value is None:
        return "none"
    if isinstance(value, str):
        return _text(value, other if isinstance(other, str) else None)
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return _names(value)
    return clean(json.dumps(value, ensure_ascii=False, default=_plain), _VALUE)


def _seconds(value: Any) -> str:
    return "none" if value is None else f"{value:g} s"


def _text(text: str, other: str | None) -> str:
    start = 0
    if other is not None and len(text) > _VALUE:
        pairs = enumerate(zip(text, other, strict=False))
        same = next((place for place, (one, two) in pairs if one != two), len(other))
        start = max(0, same - _VALUE // 3)
    return clean(f"{'…' if start else ''}{text[start:]}" or "''", _VALUE)


def _names(names: Sequence[str]) -> str:
    """Names, of which long lists show the first ones and the last."""
    if len(names) > _LISTED + 1:
        head = ", ".join(clean(name, _VALUE, keep_end=True) for name in names[:_LISTED])
        return f"{head} … {clean(names[-1], _VALUE, keep_end=True)} ({len(names)} in all)"
    return ", ".join(clean(name, _VALUE, keep_end=True) for name in names) or "none"


def _plain(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)


def _json(value: Any) -> Any:
    """A copy in dicts and lists that JSON and YAML can hold."""
    if isinstance(value, Mapping):
        return {_json(str(key)): _json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
