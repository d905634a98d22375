"""The tools of a run: functions with what is known of them before any call (spec 4.1 and 14).

A tool is declared in a moment and described when first asked for: its JSON Schema needs pydantic,
whose import takes longer than all of toolflow's. So the box keeps a recipe, and makes the `Tool`
of it once.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace as changed
from os import PathLike
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar, overload

from toolflow.errors import UsageError
from toolflow.model.tool import ToolSpec
from toolflow.runtime import declare
from toolflow.runtime.plain import plain_copy
from toolflow.runtime.signature import plain_function, read_signature
from toolflow.runtime.tool import Tool, described, name_of, with_body

F = TypeVar("F", bound=Callable[..., Any])
_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}
_Recipe = Callable[[], Tool]


class Toolbox:
    """A set of tools by name; a `toolflow.model.Catalog`.

    It may be changed from any thread; readers see it as it was before or after a change.
    """

    def __init__(self) -> None:
        self._entries: Mapping[str, Tool | _Recipe] = {}
        self._version = 0
        self._changing = threading.RLock()

    @property
    def version(self) -> int:
        """How many changes there were; verdicts are looked up again when it has grown."""
        return self._version

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Tool]:
        """The tools, by name."""
        return iter([tool for name in self.names() if (tool := self.get(name)) is not None])

    def names(self) -> tuple[str, ...]:
        """The names of all tools, sorted."""
        return tuple(sorted(self._entries))

    def find(self, name: str) -> ToolSpec | None:
        """The declaration of the tool of exactly this name, or ``None``."""
        tool = self.get(name)
        return None if tool is None else tool.spec

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name, or ``None``.

        Raises:
            UsageError: If its signature has no JSON Schema; told when it is first asked for.
        """
        entry = self._entries.get(name)
        if entry is None or isinstance(entry, Tool):
            return entry
        tool = entry()
        with self._changing:
            if self._entries.get(name) is entry:
                self._entries = {**self._entries, name: tool}
        return tool

    def snapshot(self) -> Toolbox:
        """A box with the tools as they are now; later changes do not reach it."""
        box = Toolbox()
        box._entries = self._entries
        return box

    def definitions(self) -> list[dict[str, Any]]:
        """What the model is told: name, description and parameters, and nothing of scheduling.

        Returns:
            One new dictionary a tool, sorted by name; ``parameters`` is a JSON Schema.
        """
        return [
            {
                "name": tool.spec.name,
                "description": tool.spec.description,
                "parameters": plain_copy(tool.spec.parameters or _NO_PARAMETERS),
            }
            for tool in self
        ]

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        safe: bool | Callable[..., object] | None = None,
        reads: declare.Keys = None,
        writes: declare.Keys = None,
        uses: Mapping[str, int] | None = None,
        timeout: float | None = None,
        idempotent: bool | None = None,
        server: str | None = None,
        replace: bool = False,
    ) -> Callable[[F], F]: ...

    def tool(
        self, function: Callable[..., Any] | None = None, /, **options: Any
    ) -> Callable[..., Any]:
        """Declare a function as a tool; used as ``@tools.tool`` or ``@tools.tool(safe=True)``.

        The name, the description and the schema of the arguments come from the function. A
        declared function is given those of the tool's arguments that its own parameters name:
        ``reads=lambda path: [f"file:{path}"]``.

        Args:
            function: The function, where used without parentheses.
            **options: ``name`` and ``description``: instead of the function's own. ``safe``: may
                it run beside other safe calls; a value or a function of the arguments. ``reads``,
                ``writes``: its lock keys; a list or a function of the arguments. ``uses``: units
                of scarce resources. ``timeout``: seconds. ``idempotent``: may it run twice.
                ``server``: the server that it belongs to. ``replace``: take the place of a tool
                of the same name.

        Returns:
            The function itself, or the decorator.

        Raises:
            UsageError: If the function cannot be a tool, an option is not allowed, or the name
                is taken.
        """
        declare.known_options(options)
        here = inspect.currentframe()
        caller = None if here is None else here.f_back

        def declare_it(body: F) -> F:
            self._declare(body, caller, **options)
            return body

        return declare_it if function is None else declare_it(function)

    def _declare(
        self,
        body: Callable[..., Any],
        caller: FrameType | None,
        *,
        name: str | None = None,
        description: str | None = None,
        replace: bool = False,
        **declared: Any,
    ) -> None:
        name = _checked(name if name is not None else name_of(body))
        signature = read_signature(body, tool=name, names=_names_around(caller, body))
        known, takes_any = tuple(signature.parameters), signature.takes_any
        spec = declare.declared_spec(name, known=known, takes_any=takes_any, **declared)
        self._put(name, lambda: described(spec, body, signature, description), replace=replace)

    def add(
        self,
        spec: ToolSpec | Tool,
        body: Callable[..., Any] | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Add a tool whose declaration is ready.

        A declaration with a JSON Schema and no ``parse`` gets a light check of its own: types,
        missing and unknown names. A tool that takes the place of one bound to a root stays bound
        to it in narrower views.

        Args:
            spec: The declaration, or a whole tool.
            body: What runs, for a declaration: takes the arguments by name, sync or async.
            replace: Take the place of a tool of the same name.

        Raises:
            UsageError: If the name is taken or not usable, or the body is none.
        """
        if isinstance(spec, Tool):
            tool = spec
        elif body is None:
            raise UsageError(f"tool {spec.name!r} has no body. Give the function that runs.")
        else:
            tool = with_body(spec, body)
        self._put(_checked(tool.spec.name), tool, replace=replace)

    def remove(self, name: str) -> None:
        """Take a tool out.

        Raises:
            UsageError: If there is none of this name.
        """
        with self._changing:
            if name not in self._entries:
                raise UsageError(
                    f"tool {name!r} is not there. The tools are: {', '.join(self.names())}."
                )
            self._entries = {key: tool for key, tool in self._entries.items() if key != name}
            self._version += 1

    def include(self, other: Toolbox, *, replace: bool = False) -> None:
        """Add all tools of another box.

        Args:
            other: The other box; it stays as it is.
            replace: Take the places of tools of the same names.

        Raises:
            UsageError: If a name is taken; then nothing is added.
        """
        with self._changing:
            if not replace:
                self._refuse(set(self._entries) & set(other._entries))
            for name, entry in other._entries.items():
                self._put(name, entry, replace=replace)

    def restrict(self, *, root: str | PathLike[str]) -> Toolbox:
        """A narrower view: the same tools, those bound to a root bound to a narrower one.

        What the tools declare, their lock keys and their bodies stay theirs, so a call through
        the view and one beside it meet where they touch the same. The view holds the tools as
        they are now; tools bound to no root are in it unchanged.

        Args:
            root: A folder inside the present root; a relative one counts from there.

        Raises:
            UsageError: If it is no folder inside the root of a tool.
        """
        view = Toolbox()
        for tool in self:
            seen = tool if tool.narrow is None else tool.narrow(tool, Path(root))
            view._put(tool.spec.name, seen, replace=False)
        return view

    def _refuse(self, taken: set[str]) -> None:
        if taken:
            raise UsageError(
                f"tool {', '.join(map(repr, sorted(taken)))} is there already. "
                "Remove it first, or replace it."
            )

    def _put(self, name: str, entry: Tool | _Recipe, *, replace: bool) -> None:
        with self._changing:
            old = self._entries.get(name)
            if old is not None and not replace:
                self._refuse({name})
            if isinstance(old, Tool) and old.narrow is not None:
                entry = _bound_as(old, entry)
            self._entries = {**self._entries, name: entry}
            self._version += 1


def _bound_as(old: Tool, entry: Tool | _Recipe) -> Tool | _Recipe:
    if not isinstance(entry, Tool):
        return lambda: changed(entry(), narrow=old.narrow)
    return entry if entry.narrow is not None else changed(entry, narrow=old.narrow)


def _names_around(caller: FrameType | None, body: object) -> Mapping[str, Any]:
    """The names where a tool is declared, if it was written there: its annotations may use them."""
    written = getattr(plain_function(body), "__globals__", None) if callable(body) else None
    return caller.f_locals if caller is not None and written is caller.f_globals else {}


def _checked(name: object) -> str:
    if not isinstance(name, str) or not name or name != name.strip():
        raise UsageError(f"tool name {name!r} is not usable. Use text without blanks around it.")
    return name
