"""What of one call is not the same in two plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from toolflow.compiler.change import ABSENT, Change, change_of
from toolflow.model.batch import CallPlan, Terms


def call_changes(
    before: CallPlan | None, after: CallPlan | None, *, words: bool
) -> Iterator[Change]:
    """The differences of one call.

    Args:
        before: The call in the first plan, or ``None`` where only the second has it.
        after: The call in the second plan, or ``None``.
        words: Whether words for people count too.
    """
    if before is None or after is None:
        if before is not None:
            yield Change("-", "call", before.name, "", _head(before), None, before.verdict.kind)
        elif after is not None:
            yield Change("+", "call", after.name, "", None, _head(after), after.verdict.kind)
        return
    name = before.name
    for field in ("name", "id", "tool"):
        one, other = getattr(before, field), getattr(after, field)
        if one != other and not (field == "id" and (before.name, after.name) == (one, other)):
            yield Change("~", "call", name, field, one, other)
    yield from _values(name, "args", before.args, after.args)
    yield from _verdict(before, after)
    for field in ("reads", "writes"):
        yield from _keys(name, field, getattr(before, field), getattr(after, field))
    yield from _terms(name, before.terms, after.terms)
    yield from change_of("call", name, "question", before.ask or ABSENT, after.ask or ABSENT)
    if words:
        yield from _words(before, after)


def _head(call: CallPlan) -> str:
    return call.label or call.tool


def _verdict(before: CallPlan, after: CallPlan) -> Iterator[Change]:
    one, other = before.verdict, after.verdict
    if one.kind != other.kind:
        yield Change("~", "call", before.name, "verdict", one.kind, other.kind, other.reason)
    elif one.kind == "settled":
        for field in ("status", "reason"):  # the reason is what the model gets
            was, now = getattr(one, field), getattr(other, field)
            if was != now:
                yield Change("~", "call", before.name, field, was, now)


def _words(before: CallPlan, after: CallPlan) -> Iterator[Change]:
    one, other = before.verdict, after.verdict
    if one.kind == other.kind != "settled" and one.reason != other.reason:
        yield Change("~", "call", before.name, "reason", one.reason, other.reason)
    for field in ("rule", "line"):
        was, now = getattr(one, field), getattr(other, field)
        plus = int(field == "rule")  # rules are counted from 1
        if was != now:
            numbers = [None if each is None else each + plus for each in (was, now)]
            yield Change("~", "call", before.name, field, numbers[0], numbers[1])
    if before.label != after.label:
        yield Change("~", "call", before.name, "label", before.label, after.label)


def _keys(
    name: str, field: str, before: tuple[str, ...] | None, after: tuple[str, ...] | None
) -> Iterator[Change]:
    if (before is None) != (after is None) and not (before or after):
        spelled = ["not declared" if keys is None else "no keys" for keys in (before, after)]
        yield Change("~", "call", name, field, *spelled)
    for key in sorted(set(before or ()) - set(after or ())):
        yield Change("-", "call", name, field, key)
    for key in sorted(set(after or ()) - set(before or ())):
        yield Change("+", "call", name, field, None, key)


def _terms(name: str, before: Terms, after: Terms) -> Iterator[Change]:
    if before == after:
        return
    for resource in sorted({*before.uses, *after.uses}):
        one, other = before.uses.get(resource, ABSENT), after.uses.get(resource, ABSENT)
        yield from change_of("call", name, f"uses.{resource}", one, other)
    for field in fields(Terms):
        one, other = getattr(before, field.name), getattr(after, field.name)
        if field.name != "uses" and one != other:
            yield Change("~", "call", name, field.name, one, other)


def _values(name: str, path: str, before: Any, after: Any) -> Iterator[Change]:
    """Where two JSON values differ; ``1``, ``1.0`` and ``true`` are three values."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*before, *(key for key in after if key not in before)]:
            one, other = before.get(key, ABSENT), after.get(key, ABSENT)
            yield from _values(name, f"{path}.{key}", one, other)
    elif _is_list(before) and _is_list(after) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _values(name, f"{path}[{place}]", one, other)
    else:
        yield from change_of("call", name, path, before, after)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
