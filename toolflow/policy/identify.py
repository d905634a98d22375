"""Who is called: ids of calls and names of tools (spec 3.4, 3.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from toolflow.model import Call, Catalog, Notice, ToolSpec, Turn
from toolflow.policy.expressions import shorten

_COMPARED: Final = 80  # near names are looked for in the beginning of long ones
_LISTED: Final = 10


class Tool(NamedTuple):
    """The tool that a call means.

    Attributes:
        name: Its name: blanks stripped, alias applied.
        spec: Its declaration, or ``None`` where it is not known.
        notice: What was done to the name, as a code and a sentence, or ``None``.
        unknown: The sentence for the model where there is no such tool, else ``None``.
    """

    name: str
    spec: ToolSpec | None = None
    notice: tuple[str, str] | None = None
    unknown: str | None = None


def faulty_ids(turn: Turn) -> Mapping[int, str]:
    """The calls whose id is empty or held twice, each with the sentence for the model.

    Args:
        turn: The turn. In formats without ids, ids are the reader's own and never at fault.
    """
    if not turn.carries_ids:
        return {}
    held = Counter(call.id for call in turn.calls)
    if "" not in held and len(held) == len(turn.calls):
        return {}
    return {
        call.index: _id_fault(call.id, held[call.id])
        for call in turn.calls
        if (not call.id or held[call.id] > 1)
    }


def _id_fault(call_id: str, holders: int) -> str:
    if not call_id:
        return "The id of this call is empty, so it was not run. Give every call an id of its own."
    return (
        f"The id {shorten(call_id)} is held by {holders} calls of this turn, so none of them was "
        "run. Give every call an id of its own."
    )


def renumbered(calls: Sequence[Call], names: Sequence[str]) -> tuple[list[str], list[Notice]]:
    """Ids that are unique, and what was changed (``ids: renumber``).

    The first holder keeps its id; the next get ``-2``, ``-3`` ... after it. An empty id becomes
    ``call-N``, with N the call's place counted from 1. What is taken is passed over.

    Args:
        calls: The calls of one turn, in order.
        names: Their names.
    """
    taken = {call.id for call in calls}
    seen: set[str] = set()
    counts: Counter[str] = Counter()
    ids, notices = [], []
    for call, name in zip(calls, names, strict=True):
        new = call.id
        if not new or new in seen:
            base = new or f"call-{call.index + 1}"
            new = _free(base, taken, counts, start=2 if call.id else 1)
            taken.add(new)
            was = f"held twice: {shorten(call.id)}" if call.id else "empty"
            said = f"The id of call {call.index + 1} was {was}. It is {shorten(new)} now."
            notices.append(Notice("renumbered_id", said, call=name))
        seen.add(new)
        ids.append(new)
    return ids, notices


def _free(base: str, taken: set[str], counts: Counter[str], *, start: int) -> str:
    number = max(counts[base] + 1, start)
    while (new := base if number == 1 else f"{base}-{number}") in taken:
        number += 1
    counts[base] = number
    return new


def find_tool(name: str, catalog: Catalog | None, aliases: Mapping[str, str]) -> Tool:
    """The tool that a name means.

    Args:
        name: The name as the model wrote it.
        catalog: The tools that are there; ``None``: nobody knows which.
        aliases: Other names of tools that the policy declares.
    """
    if catalog is not None and (spec := catalog.find(name)) is not None:
        return Tool(name, spec)
    stripped = name.strip()
    for code, other in (("stripped_name", stripped), ("alias", aliases.get(stripped))):
        if other is None or other == name:
            continue
        spec = None if catalog is None else catalog.find(other)
        if spec is not None or (catalog is None and stripped and stripped not in aliases):
            return Tool(other, spec, (code, _renamed(code, name, other)))
        if catalog is None and code == "alias":
            return Tool(other, None, (code, _renamed(code, name, other)))
    if catalog is None and stripped:
        return Tool(stripped)
    return Tool(stripped, unknown=no_such_tool(name, catalog))


def no_such_tool(name: str, catalog: Catalog | None, spec: ToolSpec | None = None) -> str | None:
    """The sentence for the model where there is no tool of a name, with near names.

    Args:
        name: The name as the model wrote it.
        catalog: The tools that are there.
        spec: The tool, where there is one after all: then ``None`` is given.
    """
    if spec is not None:
        return None
    return _unknown(name, () if catalog is None else catalog.names())


def _renamed(code: str, name: str, other: str) -> str:
    done = "Blanks around it were stripped" if code == "stripped_name" else "The policy says so"
    return f"The tool {shorten(name)} was taken as {shorten(other)}. {done}."


def _unknown(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name.strip()[:_COMPARED], names, n=3, cutoff=0.6)
    said = f"There is no tool named {shorten(name)}."
    if near:
        return f"{said} Did you mean {' or '.join(map(repr, near))}?"
    if not names:
        return said
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{said} The tools are {', '.join(names[:_LISTED])}{more}."


def renamed_arguments(
    args: Mapping[str, object], spec: ToolSpec | None, aliases: Mapping[str, str]
) -> Mapping[str, object]:
    """Arguments under the names that the tool knows (conformance 41).

    An alias applies only where the tool's schema has the target, the schema does not have the
    alias, and the call has the alias but not the target.

    Args:
        args: The call's arguments.
        spec: The tool's declaration.
        aliases: Other names of arguments, each with the tool's own.

    Returns:
        The same mapping where nothing applies.
    """
    known = (spec.parameters or {}).get("properties") if spec is not None else None
    if not aliases or not isinstance(known, Mapping):
        return args
    renamed = {
        alias: name
        for alias, name in aliases.items()
        if alias in args and alias not in known and name in known and name not in args
    }
    return {renamed.get(key, key): value for key, value in args.items()} if renamed else args
