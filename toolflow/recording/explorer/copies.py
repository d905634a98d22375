"""Fast copies of a world's parts, and values by which to tell whether they are equal.

`copy.deepcopy` was forty times slower. Fields are copied one level deep, and what they hold is
either never changed or a set or list of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from toolflow.scheduler import Scheduler

# What never changes, or follows from the other fields, is left out of the key.
_LEFT_OUT = frozenset({
    "plan", "possible", "store", "scheduler", "_starts", "_waits", "decided",
    "calls", "_calls", "_heap", "_behind", "_count", "_pool",
    "_hooks", "_approver", "_pausable", "_approvals_first", "_stops",
})  # fmt: skip


def copy_scheduler(scheduler: Scheduler) -> Scheduler:
    """A copy of a scheduler that shares nothing that changes with it."""
    other: Scheduler = copied(scheduler)
    for name in ("_starts", "_waits"):
        part = copied(scheduler.__dict__[name])
        part.__dict__["_calls"] = other.calls  # they share the list
        other.__dict__[name] = part
    return other


class _Shape:
    """The fields of a class by their kind, so that copies and keys are made by fast built-ins."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.flat = [name for name, value in fields.items() if type(value) in {list, set}]
        self.dicts = [name for name, value in fields.items() if type(value) is dict]
        kept = {name: type(value) for name, value in fields.items() if name not in _LEFT_OUT}
        self.lists = _getter([name for name, kind in kept.items() if kind is list])
        self.sets = _getter([name for name, kind in kept.items() if kind is set])
        self.nested = [name for name, kind in kept.items() if kind is dict]
        self.plain = _getter([name for name, kind in kept.items() if kind not in {list, set, dict}])


_SHAPES: dict[type, _Shape] = {}


def _getter(names: list[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda fields: tuple(fields[name] for name in names)


def _shape(value: object) -> _Shape:
    shape = _SHAPES.get(type(value))
    if shape is None:
        shape = _SHAPES[type(value)] = _Shape(value.__dict__)
    return shape


def copied(value: Any) -> Any:
    """A copy of an object whose lists, sets and dicts are its own."""
    shape, fields = _shape(value), value.__dict__
    other = object.__new__(type(value))
    fresh = other.__dict__
    fresh.update(fields)
    for name in shape.flat:
        fresh[name] = fields[name].copy()
    for name in shape.dicts:
        inner = fields[name]
        fresh[name] = {k: v.copy() if type(v) in {set, list} else v for k, v in inner.items()}
    return other


def field_values(value: object) -> list[object]:
    """The fields of an object that may change, as values that can be compared and hashed."""
    shape, fields = _shape(value), value.__dict__
    values = [*shape.plain(fields)]
    values += map(tuple, shape.lists(fields))
    values += map(frozenset, shape.sets(fields))
    for name in shape.nested:
        inner = fields[name]
        values.append(frozenset(map(_item, inner.items())) if inner else None)
    return values


def _item(item: tuple[object, Any]) -> tuple[object, object]:
    key, value = item
    if type(value) is set:
        return key, frozenset(value)
    return key, frozenset(value.items()) if isinstance(value, Mapping) else value
