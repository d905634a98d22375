"""The program that lays pictures out, and how it is called (spec 11).

It is Graphviz' own ``dot`` where that is installed, else ``graphviz-pure``, which comes with the
package of that name and needs no root. The Python package ``graphviz`` holds neither, which is
the first thing that people take for granted, so messages tell programs from packages.

The program is started directly, without a shell, with the DOT on its input: it needs no file, and
the `graphviz` package, which does the same, can only call what is named ``dot``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from toolflow.errors import RenderError
from toolflow.render.labels import short

PURE = "graphviz-pure"
TIMEOUT = 60.0
LARGEST = 200
"""How many calls a plan may have to be drawn unasked: programs take minutes for a thousand."""
_PNG = b"\x89PNG\r\n\x1a\n"
_MISSING = (
    "No program to draw with: neither `dot` nor `graphviz-pure` was found (the Python package "
    "`graphviz` holds no program). Run `pip install graphviz-pure`, or install Graphviz; "
    "DOT and text need no program."
)


def programs() -> tuple[str, ...]:
    """The programs that can draw, best first: ``dot``, then ``graphviz-pure``.

    The latter is looked for beside the Python that runs, in the folder where its installation
    puts programs, and then on the ``PATH``.
    """
    beside = (Path(sys.executable or os.devnull).parent, Path(sysconfig.get_path("scripts") or "."))
    pure = (shutil.which(PURE, path=str(folder)) for folder in beside)
    found = (shutil.which("dot"), *pure, shutil.which(PURE))
    return tuple(dict.fromkeys(program for program in found if program is not None))


def draw(
    dot: str,
    kind: str,
    *,
    program: str | None = None,
    timeout: float = TIMEOUT,
    pinned: bool = False,
) -> bytes:
    """Have a program draw a picture.

    Args:
        dot: The graph as DOT.
        kind: The form of the picture: ``svg``, ``png`` ...
        program: The program to use; ``None`` takes the best one that works.
        timeout: How many seconds it may take.
        pinned: Whether everything in the graph has its place, and nothing is to be laid out.

    Returns:
        What the program wrote.

    Raises:
        RenderError: If there is no program, or none of them can draw this, or one takes too long or
            writes something else.
    """
    choice = programs() if program is None else (program,)
    failures = []
    for one in choice:
        try:
            drawn = _run(one, dot, kind, timeout, pinned=pinned)
        except _ProgramError as error:
            failures.append(f"{short(one, 80)} {error}")
            continue
        if kind == "png" and not drawn.startswith(_PNG):
            raise RenderError("The program wrote no PNG. Use one that knows `-Tpng`.")
        return drawn
    raise RenderError(f"No picture: {'; '.join(failures)}." if failures else _MISSING)


class _ProgramError(Exception):
    """One program could not draw; another one might."""


def _run(program: str, dot: str, kind: str, timeout: float, *, pinned: bool) -> bytes:
    command = [program, f"-T{kind}", *(["-Gdpi=144"] if kind == "png" else [])]
    command += ["-Kneato", "-n"] if pinned else []
    try:
        # No shell, no text of a tool in the command; the graph goes to the program's input.
        done = subprocess.run(  # noqa: S603  # the program is the author's choice or found above
            command, input=dot.encode("utf-8"), capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise RenderError(
            f"No picture: {short(program, 80)} took longer than {timeout:g} s. "
            "Allow more time, or draw a smaller plan."
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _ProgramError(
            f"cannot be started ({short(reason or 'no reason given', 80)})"
        ) from error
    if done.returncode or not done.stdout:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = f": {short(said[-1], 160)}" if said else ""
        raise _ProgramError(f"failed with exit code {done.returncode}{why}")
    return done.stdout
