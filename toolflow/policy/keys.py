"""Lock keys of a call: from the rule's templates, else the tool's declaration (spec 4.2)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from toolflow.errors import ToolflowError
from toolflow.model.tool import Args
from toolflow.policy.expressions import Expression, Names, shorten

MAX_KEYS: Final = 10_000


class KeysError(ToolflowError):
    """The keys of a call cannot be worked out. One sentence, for the model."""


def template_keys(templates: Sequence[Expression], names: Names) -> tuple[str, ...]:
    """The keys that a rule's templates stand for.

    A template yields one key, or a list of keys. A list inside a text gives one key for each of
    its items: ``"file:{{ args.paths | file_key }}"``.

    Args:
        templates: The rule's ``reads`` or ``writes``.
        names: What the names in templates stand for.

    Returns:
        Keys, sorted, each once.

    Raises:
        ToolflowError: If one cannot be worked out.
    """
    if len(templates) == 1 and not templates[0].constant:
        parts = templates[0].values(names)
        if all(type(part) is str for part in parts) and (key := "".join(parts)):
            return (key,)
    keys: set[str] = set()
    for template in templates:
        if template.constant:
            keys.add(template.text)
            continue
        values = template.values(names)
        try:
            keys.add("".join(values))
        except TypeError:  # not all of them are text
            keys.update(_spread(values, template))
    return _checked(keys)


def declared_keys(
    declared: Sequence[str] | Callable[[Args], object] | None, args: Args
) -> tuple[str, ...] | None:
    """The keys that a tool's own declaration gives.

    Args:
        declared: Keys, a function of the arguments, or ``None``.
        args: The arguments as parsed.

    Returns:
        Keys, sorted, each once; ``None`` where nothing is declared.

    Raises:
        KeysError: If the function raises, or gives something else than keys.
    """
    found: object = declared
    if callable(declared):
        try:
            found = declared(args)
        except Exception as error:  # a tool author's function may raise anything
            said = str(error).splitlines()
            raise KeysError(said[0][:200] if said else type(error).__name__) from error
    if found is None:
        return None
    if inspect.isawaitable(found):
        discard(found)
        raise KeysError("its keys are given by an async function, and keys are needed at once")
    return _checked(_scalar_texts(found))


def discard(awaitable: object) -> None:
    """Close a coroutine that nobody will await, so that Python does not warn of it."""
    close = getattr(awaitable, "close", None)
    if callable(close):
        close()


def _spread(values: list[Any], template: Expression) -> list[str]:
    """One key for each item of the list among the values; one key where there is no list."""
    found = [_listed(value, template) for value in values]
    if sum(len(texts) != 1 for texts in found) > 1:
        raise KeysError(f"{shorten(template.text)} holds more than one list")
    count = max(map(len, found)) if all(found) else 0
    return [
        "".join(texts[index if len(texts) > 1 else 0] for texts in found) for index in range(count)
    ]


def _listed(value: Any, template: Expression) -> list[str]:
    try:
        return _scalar_texts(value)
    except KeysError as error:
        raise KeysError(f"{error} in {shorten(template.text)}") from None


def _scalar_texts(value: Any) -> list[str]:
    if isinstance(value, str | int | float):
        return [str(value)]
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        items = list(islice(value, MAX_KEYS + 1))
        if len(items) > MAX_KEYS:
            raise KeysError(f"there are more than {MAX_KEYS:,} keys")
        if all(isinstance(item, str | int | float) for item in items):
            return [str(item) for item in items]
        value = next(item for item in items if not isinstance(item, str | int | float))
    kind = "null" if value is None else f"a value of type {type(value).__name__}"
    raise KeysError(f"{kind} is no key")


def _checked(keys: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(sorted(set(keys)))
    if "" in checked:
        raise KeysError("a key is empty")
    return checked
