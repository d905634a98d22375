"""A tool that can be called: its declaration, its body, and how the body is entered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from toolflow.errors import UsageError
from toolflow.model.tool import Args, ToolSpec
from toolflow.runtime.docstring import split_docstring
from toolflow.runtime.schema_check import schema_check
from toolflow.runtime.signature import (
    Signature,
    documentation,
    is_async,
    plain_function,
    read_signature,
)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that can be called.

    Attributes:
        spec: Its declaration.
        body: What runs; it takes the parsed arguments by name.
        is_async: Whether calling the body gives an awaitable.
        context: The name of the parameter that takes the context of the call, or ``None``.
        narrow: How this tool is seen from a narrower root: given the tool as it stands and the
            root, it gives the tool of that view. ``None`` for a tool that is bound to no root.
    """

    spec: ToolSpec
    body: Callable[..., Any]
    is_async: bool = False
    context: str | None = None
    narrow: Callable[[Tool, Path], Tool] | None = field(default=None, compare=False, repr=False)

    def call(self, args: Args, context: object) -> Any:
        """Enter the body.

        Args:
            args: The parsed arguments.
            context: The context of the call; given on if the body asks for one.

        Returns:
            What the body returns: an awaitable where `is_async`.
        """
        if self.context is None:
            return self.body(**args)
        return self.body(**{**args, self.context: context})


def described(
    spec: ToolSpec, body: Callable[..., Any], signature: Signature, description: str | None
) -> Tool:
    """Make the tool of a declared function: its schema, its check and its description.

    Args:
        spec: What was declared.
        body: The function.
        signature: As read from it.
        description: Instead of the function's docstring.

    Raises:
        UsageError: If a type of the signature has no JSON Schema.
    """
    # Imported here because it brings pydantic, which takes longer than all of toolflow.
    from toolflow.runtime.schema import build_schema  # noqa: PLC0415

    text, texts = split_docstring(documentation(body))
    schema, parse = build_schema(signature, tool=spec.name, texts=texts)
    spec = changed(
        spec,
        description=text if description is None else description,
        parameters=schema,
        parse=parse,
    )
    return Tool(spec, body, is_async(body), signature.context)


def with_body(spec: ToolSpec, body: Callable[..., Any]) -> Tool:
    """Make a tool of a declaration that is ready and a body; see `Toolbox.add`."""
    signature = read_signature(body, tool=spec.name)
    properties = (spec.parameters or {}).get("properties") or {}
    context = signature.context if signature.context not in properties else None
    if spec.parameters is not None and spec.parse is None:
        spec = changed(spec, parse=schema_check(spec.parameters))
    return Tool(spec, body, is_async(body), context)


def name_of(body: Callable[..., Any]) -> str:
    """The name of the function of a tool.

    Raises:
        UsageError: If it has none that says anything.
    """
    name = getattr(plain_function(body), "__name__", "")
    if name in ("", "<lambda>", "__call__"):
        raise UsageError(f"{body!r} has no name for a tool. Give one: tool(name=...).")
    return str(name)
