"""The tools as a recording knows them, so that it can be replayed where the tools are not.

A verdict may rest on what a tool declared about itself. A recording does not hold declarations,
but it holds what came of them: whatever the recorded policy alone does not give a call was said
by its tool. That is asked once, by classifying with tools that declare nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolflow.model.batch import CallPlan
from toolflow.model.digest import canonical
from toolflow.model.tool import Args, ToolSpec


@dataclass(frozen=True, slots=True)
class RecordedCatalog:
    """A catalog of the tools that a recorded turn calls.

    Attributes:
        specs: The tools by name.
        version: Never changes.
    """

    specs: Mapping[str, ToolSpec]
    version: int = 0

    def find(self, name: str) -> ToolSpec | None:
        """The tool of exactly this name, or ``None``."""
        return self.specs.get(name)

    def names(self) -> Sequence[str]:
        """The names of all tools, sorted."""
        return sorted(self.specs)


def bare_catalog(
    calls: Iterable[CallPlan], servers: Mapping[str, str], checked: Collection[int]
) -> RecordedCatalog:
    """The tools of recorded calls, without any declaration.

    Args:
        calls: The recorded calls; a tool that was unknown then is unknown here.
        servers: The MCP servers of tools, by the tool's name.
        checked: Indexes of calls whose arguments could be read, so that the tool checked them.
    """
    parsed: dict[str, dict[str, Args | ValueError]] = {}
    for call in calls:
        if call.verdict.status != "unknown_tool":
            table = parsed.setdefault(call.tool, {})
            if call.verdict.status == "invalid_arguments":
                if call.index in checked:
                    table[canonical(call.args)] = ValueError(call.verdict.reason)
            elif call.parsed is not None and call.parsed is not call.args:
                table[canonical(call.args)] = call.parsed
    return RecordedCatalog(
        {
            name: ToolSpec(name, server=servers.get(name), parse=_parse(table) if table else None)
            for name, table in sorted(parsed.items())
        }
    )


def declared_catalog(
    bare: RecordedCatalog, pairs: Iterable[tuple[CallPlan, CallPlan | None]]
) -> RecordedCatalog:
    """The tools of recorded calls, declaring what they must have declared.

    Args:
        bare: The same tools without any declaration.
        pairs: Each recorded call with the same call as the recorded policy classifies it on its
            own; ``None`` where that policy is not known: then what a rule said counts as the
            rule's, and all else as the tool's.
    """
    tables: dict[str, _Table] = {}
    for recorded, alone in pairs:
        if recorded.tool in bare.specs and recorded.verdict.kind != "settled":
            table = tables.setdefault(recorded.tool, _Table())
            if alone is not None or recorded.verdict.rule is None:
                table.add(recorded, alone)
    specs = {
        name: tables[name].spec(spec) if name in tables else spec
        for name, spec in bare.specs.items()
    }
    return RecordedCatalog(specs)


class _Table:
    """What one tool declared for the arguments that were recorded."""

    def __init__(self) -> None:
        self.safe: dict[str, bool] = {}
        self.keys: dict[str, dict[str, tuple[str, ...]]] = {"reads": {}, "writes": {}}
        self.constant: dict[str, Any] = {}

    def add(self, recorded: CallPlan, alone: CallPlan | None) -> None:
        args = canonical(recorded.args if recorded.parsed is None else recorded.parsed)
        if recorded.verdict.kind == "safe" and (alone is None or alone.verdict.kind != "safe"):
            self.safe[args] = True
        for what, table in self.keys.items():
            keys = getattr(recorded, what)
            if keys is not None and (alone is None or getattr(alone, what) is None):
                table[args] = keys
        for name in ("uses", "timeout", "idempotent"):
            value = getattr(recorded.terms, name)
            if alone is None or value != getattr(alone.terms, name):
                self.constant.setdefault(name, _without_shares(value, alone))

    def spec(self, spec: ToolSpec) -> ToolSpec:
        safe: Callable[[Mapping[str, Any]], object] | None = None
        if self.safe:
            safe = _looked_up(self.safe, other=False)
        reads, writes = (
            _looked_up(table, other=()) if table else None for table in self.keys.values()
        )
        return replace(spec, safe=safe, reads=reads, writes=writes, **self.constant)


def _without_shares(value: Any, alone: CallPlan | None) -> Any:
    """What a call uses, without what the policy's limits of tools and servers make it use."""
    if alone is None or not isinstance(value, Mapping):
        return value
    taken = alone.terms.uses
    return {name: units for name, units in value.items() if taken.get(name) != units}


def _parse(table: Mapping[str, Args | ValueError]) -> Callable[[Args], Args]:
    def parse(args: Args) -> Args:
        found = table.get(canonical(args), args)
        if isinstance(found, ValueError):
            raise found
        return found

    return parse


def _looked_up(table: Mapping[str, Any], *, other: object) -> Callable[[Mapping[str, Any]], object]:
    return lambda args: table.get(canonical(args), other)
