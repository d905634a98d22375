"""The built-in tools for the files of a workspace (spec 13).

All are confined to one folder, links included. Their lock keys are made of real paths, so every
spelling of a file gives the same key. What searches a folder reads the folder's tree; what changes
a file writes that file; a command may change anything, so it runs alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from toolflow.model.outcome import Outcome
from toolflow.policy import dir_key, file_key
from toolflow.runtime.context import Context
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools import files, search
from toolflow.tools.bound import PathArgument, bind
from toolflow.tools.process import GRACE, MAX_OUTPUT, outcome_of_command, run_process
from toolflow.tools.root import Root, RootedPath

SKIPPED = (".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules")

_PATHS = {
    "read_file": PathArgument(),
    "list_files": PathArgument(default="."),
    "glob": PathArgument(default="."),
    "grep": PathArgument(default="."),
    "write_file": PathArgument(),
    "edit_file": PathArgument(),
    "delete_file": PathArgument(follow=False),
    "run_command": PathArgument("cwd", default="."),
}


def workspace(
    root: str | os.PathLike[str],
    *,
    read_only: bool = False,
    commands: bool = True,
    uses: Mapping[str, int] | None = None,
    skip: Iterable[str] = SKIPPED,
    env: Mapping[str, str] | None = None,
    grace: float = GRACE,
    max_output: int = MAX_OUTPUT,
) -> Toolbox:
    """Make the tools of a workspace.

    Args:
        root: The folder that they are confined to.
        read_only: Leave out the tools that change something.
        commands: Whether there is ``run_command``; a command is not confined to the root.
        uses: Units of scarce resources that the tools which start a process take (``grep`` and
            ``run_command``), such as ``{"subprocess": 1}``; the policy's limits must name them.
        skip: Names of folders that ``glob`` and ``grep`` do not enter on their way down.
        env: The whole environment of commands, or ``None`` for the present one.
        grace: Seconds between asking a command to end and making it.
        max_output: Bytes of a command's output that are kept.

    Returns:
        A toolbox; `Toolbox.restrict` narrows it to a folder inside.

    Raises:
        UsageError: If the root is no folder.
    """
    base = Root(root)
    tools = Toolbox()
    _add_readers(tools, base, frozenset(skip), uses)
    if not read_only:
        _add_writers(tools, base)
        if commands:
            _add_command(tools, base, uses=uses, env=env, grace=grace, max_output=max_output)
    for tool in tools:
        tools.add(bind(tool, base, _PATHS[tool.spec.name]), replace=True)
    return tools


def _add_readers(
    tools: Toolbox, root: Root, skip: frozenset[str], uses: Mapping[str, int] | None
) -> None:
    def tree(path: str = ".") -> list[str]:
        return [_tree_key(_located(root, path))]

    @tools.tool(
        safe=True, reads=lambda path: [_key(_located(root, path))], writes=(), idempotent=True
    )
    def read_file(path: str, offset: int | None = None, limit: int | None = None) -> str:
        """Read a text file.

        Args:
            path: The file, relative to the workspace.
            offset: The first line to read, counted from 1.
            limit: How many lines to read.
        """
        return files.read_file(root, path, offset, limit)

    @tools.tool(safe=True, reads=tree, writes=(), idempotent=True)
    def list_files(path: str = ".") -> str:
        """List a folder, one name a line; the names of folders end in a slash.

        Args:
            path: The folder, relative to the workspace.
        """
        return search.list_files(root, path)

    @tools.tool(safe=True, reads=tree, writes=(), idempotent=True)
    def glob(pattern: str, path: str = ".") -> str:
        """Find files by their path, one a line, sorted.

        Args:
            pattern: Such as `**/*.py`: `*` is any name, `**` any folders, `{a,b}` either.
            path: The folder to search, relative to the workspace.
        """
        return search.glob(root, pattern, path, skip)

    @tools.tool(safe=True, reads=tree, writes=(), uses=uses, idempotent=True)
    def grep(
        pattern: str,
        path: str = ".",
        glob: str | None = None,
        ignore_case: bool = False,  # noqa: FBT001, FBT002  # the model gives it by name
        literal: bool = False,  # noqa: FBT001, FBT002  # the model gives it by name
    ) -> Outcome:
        """Search the text of files; every matching line is told as path:line:text.

        Args:
            pattern: A regular expression, matched line by line.
            path: The folder or file to search, relative to the workspace.
            glob: Only files of this pattern, such as `*.py`.
            ignore_case: Whether upper and lower case are the same.
            literal: Whether the pattern is plain text.
        """
        options = {"ignore_case": ignore_case, "literal": literal}
        return search.grep(root, pattern, path, only=glob, skip=skip, **options)


def _add_writers(tools: Toolbox, root: Root) -> None:
    def target(path: str) -> list[str]:
        return [_key(_located(root, path))]

    def link_and_target(path: str) -> list[str]:
        place = _located(root, path, follow=False)
        target = os.path.realpath(place)
        leads_nowhere = os.path.islink(target)  # noqa: PTH114  # a circle; text all the way
        return sorted({_link_key(place)} | (set() if leads_nowhere else {_key(target)}))

    @tools.tool(safe=True, reads=(), writes=target, idempotent=True)
    def write_file(path: str, text: str) -> str:
        """Write a whole text file; it is made, or its text replaced.

        Args:
            path: The file, relative to the workspace.
            text: All of its text.
        """
        return files.write_file(root, path, text)

    @tools.tool(safe=True, reads=(), writes=target)
    def edit_file(
        path: str,
        old: str,
        new: str,
        replace_all: bool = False,  # noqa: FBT001, FBT002  # the model gives it by name
    ) -> str:
        """Replace text in a file.

        Args:
            path: The file, relative to the workspace.
            old: The text to replace, exactly as it is in the file; it must be there once.
            new: The text in its place.
            replace_all: Replace every place where it is.
        """
        return files.edit_file(root, path, old, new, replace_all=replace_all)

    @tools.tool(safe=True, reads=(), writes=link_and_target)
    def delete_file(path: str) -> str:
        """Delete a file.

        Args:
            path: The file, relative to the workspace.
        """
        return files.delete_file(root, path)


def _add_command(
    tools: Toolbox,
    root: Root,
    *,
    uses: Mapping[str, int] | None,
    env: Mapping[str, str] | None,
    grace: float,
    max_output: int,
) -> None:
    @tools.tool(safe=False, uses=uses)
    async def run_command(
        command: str | list[str],
        timeout: float | None = None,
        cwd: str = ".",
        ctx: Context | None = None,
    ) -> Outcome:
        """Run a command to its end and return what it printed.

        Args:
            command: Text for the shell, or a list of a program and its arguments.
            timeout: Seconds after which it is ended, with all that it started.
            cwd: The folder to run in, relative to the workspace.
            ctx: Keeps what was printed so far, in case the call is cut off.
        """
        ended = await run_process(
            command,
            cwd=root.locate(cwd),
            env=env,
            timeout=timeout,
            grace=grace,
            max_output=max_output,
            keep=None if ctx is None else ctx.keep,
        )
        return outcome_of_command(ended, timeout)


def _located(root: Root, path: str, *, follow: bool = True) -> RootedPath:
    """Keys are made right after the arguments were parsed: what was resolved there is not again."""
    return path if isinstance(path, RootedPath) else root.locate(path, follow=follow)


def _key(path: str) -> str:
    return f"file:{file_key(path)}"


def _tree_key(path: str) -> str:
    return f"file:{dir_key(path)}"


def _link_key(path: str) -> str:
    """The key of a name in a folder, whatever it leads to."""
    folder, name = os.path.split(path)  # text all the way
    return f"{_key(folder).rstrip('/')}/{name}"
