"""The shelf: policies that come with the package, named ``shipped:NAME`` wherever one is named.

They are data of the package, one YAML file each, so that a program, a flow and a policy that
extends one find them without a path.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from toolflow.errors import PolicyError, Problem

SHIPPED: Final = "shipped:"
_ENDING: Final = ".yaml"
_FOLDER: Traversable = files("toolflow.policy").joinpath("shipped")


def is_shipped(source: object) -> bool:
    """Whether a source names a policy of the package.

    Args:
        source: What may be a path or such a name. Text of several lines is neither.
    """
    if not isinstance(source, str | Path):
        return False
    name = str(source)
    return name.startswith(SHIPPED) and len(name.splitlines()) == 1


def shipped_names() -> tuple[str, ...]:
    """The names of the policies that come with the package, sorted, without ``shipped:``."""
    if not _FOLDER.is_dir():
        return ()
    names = (item.name for item in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def shipped_text(name: str) -> str:
    """The text of a policy that comes with the package.

    Args:
        name: Its name, with or without ``shipped:``.

    Returns:
        The YAML text.

    Raises:
        PolicyError: If there is none of that name; it lists those that there are.
    """
    own = name.removeprefix(SHIPPED)
    if own not in shipped_names():  # names only: nothing else can be reached through one
        raise PolicyError(Problem(no_such_policy(own), f"{SHIPPED}{own}", code="unknown_policy"))
    return _FOLDER.joinpath(own + _ENDING).read_text("utf-8")


def no_such_policy(name: str) -> str:
    """The sentence for a name that no policy of the package has.

    Args:
        name: The name, without ``shipped:``.
    """
    known = ", ".join(f"{SHIPPED}{each}" for each in shipped_names()) or "none in this package"
    return f"There is no shipped policy {name!r}. Use one of: {known}."
