"""Tools made of a command line, for the ``shell`` section of a flow (spec 13).

A command is a list: a program and its arguments, each of which may be a template such as
``{{ args.path }}``. No shell reads it, so what a model puts into an argument stays one argument.
An argument that begins with a dash is still an option for the program; put ``--`` before it where
the program knows that.

What the model has to give follows from the templates: every name used as ``args.name`` is a text
that must be given. ``parameters`` says more where that is not enough.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.errors import UsageError
from toolflow.model.outcome import Outcome
from toolflow.model.tool import Args
from toolflow.policy import Expression, ExpressionError, compile_expression
from toolflow.runtime import declare
from toolflow.runtime.context import Context
from toolflow.runtime.results import ToolFailure
from toolflow.runtime.schema_check import schema_check
from toolflow.runtime.tool import Tool
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools.process import GRACE, MAX_OUTPUT, outcome_of_command, run_process
from toolflow.tools.root import Root

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_USED = re.compile(r"""\bargs(?:\.(\w+)|\[\s*(?:'([^']*)'|"([^"]*)")\s*\])""")


def shell_tool(
    tools: Toolbox,
    name: str,
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    description: str = "",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    safe: bool | Callable[..., object] | None = None,
    reads: declare.Keys = None,
    writes: declare.Keys = None,
    uses: Mapping[str, int] | None = None,
    timeout: float | None = None,
    idempotent: bool | None = None,
    env: Mapping[str, str] | None = None,
    grace: float = GRACE,
    max_output: int = MAX_OUTPUT,
) -> Tool:
    """Add a command line to a toolbox as a tool.

    Args:
        tools: The toolbox.
        name: The tool's name.
        argv: The program and its arguments; templates see ``args``. A template that is one
            expression may give a list, which becomes several arguments, or nothing, which leaves
            the argument out.
        cwd: The folder that it runs in.
        description: What the model is told; otherwise the command line.
        parameters: JSON Schemas of arguments by name, for those that are not a text that must be
            given; a ``default`` makes one optional.
        safe: As for `Toolbox.tool`; so are ``reads``, ``writes``, ``uses``, ``timeout`` and
            ``idempotent``. Nothing declared: it runs alone.
        reads: See ``safe``.
        writes: See ``safe``.
        uses: See ``safe``.
        timeout: See ``safe``.
        idempotent: See ``safe``.
        env: The whole environment, or ``None`` for the present one.
        grace: Seconds between asking the command to end and making it.
        max_output: Bytes of output that are kept.

    Returns:
        The tool.

    Raises:
        UsageError: If the command is no list of texts, a template or a declaration is not
            allowed, or the name is taken.
    """
    if isinstance(argv, str) or not argv or not all(isinstance(item, str) for item in argv):
        raise UsageError(f"tool {name!r}: argv is {argv!r}. Use a list of texts.")
    base = Root(cwd)
    items = [_compiled(item, name, place) for place, item in enumerate(argv)]
    schema = _schema(argv, parameters or {})

    async def body(_context: Context | None = None, **args: Any) -> Outcome:
        ended = await run_process(
            _rendered(items, args),
            cwd=base.path,
            env=env,
            grace=grace,
            max_output=max_output,
            keep=None if _context is None else _context.keep,
        )
        return outcome_of_command(ended, None)

    declared = declare.declared_spec(
        name,
        known=tuple(schema["properties"]),
        takes_any=False,
        safe=safe,
        reads=reads,
        writes=writes,
        uses=uses,
        timeout=timeout,
        idempotent=idempotent,
    )
    spec = replace(
        declared,
        description=description or f"Run: {' '.join(argv)}",
        parameters=schema,
        parse=_parser(schema),
    )
    tool = Tool(spec, body, is_async=True, context="_context")
    tools.add(tool)
    return tool


def _compiled(item: str, name: str, place: int) -> Expression:
    try:
        return compile_expression(item, names=("args",))
    except ExpressionError as error:
        raise UsageError(f"tool {name!r}: argv[{place}] is {item!r}. {error}") from error


def _schema(argv: Sequence[str], given: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    used: dict[str, Any] = {}
    for item in argv:
        for template in _TEMPLATE.findall(item):
            for names in _USED.findall(template):
                used["".join(names)] = {"type": "string"}
    properties = {**used, **{name: dict(schema) for name, schema in given.items()}}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, schema in properties.items() if "default" not in schema],
        "additionalProperties": False,
    }


def _parser(schema: Mapping[str, Any]) -> Callable[[Args], Args]:
    check = schema_check(schema)
    defaults = {
        name: about["default"] for name, about in schema["properties"].items() if "default" in about
    }
    return lambda args: {**defaults, **check(args)}


def _rendered(items: Sequence[Expression], args: Args) -> list[str]:
    argv: list[str] = []
    for place, item in enumerate(items):
        try:
            value = item({"args": args})
        except ExpressionError as error:
            raise ToolFailure(
                f"Part {place + 1} of the command cannot be worked out: {error}."
            ) from error
        argv += _as_arguments(value, place)
    return argv


def _as_arguments(value: object, place: int) -> list[str]:
    if value is None:
        return []
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, str | int | float):
        return [str(value)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _as_arguments(item, place)]
    raise ToolFailure(
        f"Part {place + 1} of the command is a {type(value).__name__}. "
        "Use text, a number or a list of them."
    )
