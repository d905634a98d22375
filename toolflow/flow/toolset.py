"""Putting a flow's tools together: workspace, Python, commands."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolflow.errors import FlowError, UsageError
from toolflow.flow.load import Flow
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools import shell_tool, workspace


def workspace_root(flow: Flow, out: Path) -> Path | None:
    """The folder that the workspace tools of a flow work in, made if the flow says ``copy``.

    Args:
        flow: The flow.
        out: The folder of the run, where a copy goes.

    Returns:
        The folder, or ``None`` where the flow has no workspace tools.

    Raises:
        FlowError: If the folder of the flow is not there.
    """
    spec = flow.tools.workspace
    if spec is None:
        return None
    root = flow.folder / spec.root
    if not root.is_dir():
        problem = f"tools.workspace.root is {spec.root!r}, which is no folder beside the flow."
        raise FlowError(flow.document.problem(("tools", "workspace", "root"), problem))
    if not spec.copy_first:
        return root
    copy = out / "workspace"
    if not copy.exists():  # it is there where a run goes on
        part = out / ".workspace"
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(root, part, symlinks=True)
        part.rename(copy)
    return copy


def toolbox_of(flow: Flow, root: Path | None) -> Toolbox:
    """The tools of a flow.

    Args:
        flow: The flow.
        root: The folder of the workspace tools, from `workspace_root`.

    Returns:
        A toolbox with all of them.

    Raises:
        FlowError: If a Python tool cannot be imported, or two tools have the same name.
    """
    tools = Toolbox()
    if root is not None:
        tools.include(workspace(root))
    for number, name in enumerate(flow.tools.python):
        _include_python(flow, tools, name, ("tools", "python", number))
    for name, spec in flow.tools.shell.items():
        try:
            shell_tool(
                tools,
                name,
                spec.argv,
                cwd=root or flow.folder,
                description=spec.description,
                timeout=spec.timeout,
            )
        except UsageError as error:
            raise FlowError(flow.document.problem(("tools", "shell", name), str(error))) from error
    return tools


def _include_python(flow: Flow, tools: Toolbox, name: str, where: tuple[str | int, ...]) -> None:
    module_name, _, attribute = name.partition(":")
    try:
        with _importable(flow.folder):
            found = getattr(importlib.import_module(module_name), attribute)
        if isinstance(found, Toolbox):
            tools.include(found)
        else:
            tools.tool(found)
    except Exception as error:
        said = str(error) or type(error).__name__
        raise FlowError(
            flow.document.problem(where, f"tools.python names {name!r}, which fails: {said}")
        ) from error


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Modules beside the flow file can be imported, as those beside a script can."""
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path.remove(str(folder.resolve()))
