"""Tools that are bound to a root, and how they are seen from a narrower one (spec 13).

The one argument that is a path is resolved where arguments are parsed: it becomes the real path,
absolute. So everything that sees the parsed arguments agrees on the file: the tool's own keys, the
policy's ``{{ args.path | file_key }}`` whatever folder it counts from, and the body.

A narrower view changes nothing else. It resolves the path against the narrower root first, and
hands it to the tool as it stands: its declarations, its keys, its body and whatever was put around
them. The path carries its root, so the body keeps to the narrower one while it opens the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolflow.model.tool import Args
from toolflow.runtime.results import ToolFailure
from toolflow.runtime.tool import Tool
from toolflow.tools.root import Root, RootedPath


@dataclass(frozen=True, slots=True)
class PathArgument:
    """The argument of a tool that is a path.

    Attributes:
        name: Its name.
        default: The path where it is not given, or ``None`` where it must be.
        follow: Whether a link at its very end is followed.
    """

    name: str = "path"
    default: str | None = None
    follow: bool = True

    def located(self, args: Args, root: Root) -> dict[str, Any]:
        """The arguments with the path resolved; anything but text is left to the tool's check.

        Raises:
            ToolFailure: If the path leads outside, or is not usable.
        """
        path = args.get(self.name, self.default)
        if not isinstance(path, str):
            return dict(args)
        return {**args, self.name: root.locate(path, follow=self.follow)}


def bind(tool: Tool, root: Root, argument: PathArgument) -> Tool:
    """Bind a tool to a root.

    Args:
        tool: A tool whose body confines its path to that root by itself.
        root: The root.
        argument: Which of its arguments is the path.

    Returns:
        The tool with the path resolved in the parsed arguments, ready for narrower views.
    """

    def parse(args: Args) -> Args:
        parsed = args if tool.spec.parse is None else tool.spec.parse(args)
        # What is checked comes back as plain text; a path resolved before stays what it was.
        given = {name: args[name] for name in args if isinstance(args[name], RootedPath)}
        return _or_invalid(argument, {**parsed, **given}, root)

    return replace(tool, spec=replace(tool.spec, parse=parse), narrow=_Narrow(root, argument))


@dataclass(frozen=True, slots=True)
class _Narrow:
    root: Root
    argument: PathArgument

    def __call__(self, tool: Tool, folder: Path) -> Tool:
        inner = self.root.narrowed(folder)

        def parse(args: Args) -> Args:
            located = _or_invalid(self.argument, args, inner)
            return located if tool.spec.parse is None else tool.spec.parse(located)

        def body(**args: Any) -> Any:
            return tool.body(**self.argument.located(args, inner))

        spec = replace(tool.spec, parse=parse)
        return replace(tool, spec=spec, body=body, narrow=_Narrow(inner, self.argument))


def _or_invalid(argument: PathArgument, args: Mapping[str, Any], root: Root) -> Args:
    try:
        return argument.located(args, root)
    except ToolFailure as error:
        raise ValueError(str(error)) from None
