"""Pictures as files: the ending says which kind, and a file is there as a whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from toolflow.compiler import dump_plan
from toolflow.compiler.text import plan_text
from toolflow.errors import RenderError, ToolflowError, UsageError
from toolflow.model import Outcome, PlanData, Times
from toolflow.render.dot import dot_text
from toolflow.render.labels import short
from toolflow.render.mermaid import mermaid_text
from toolflow.render.picture import png, svg

FORMATS = ("dot", "svg", "png", "mermaid", "txt", "json", "yaml")
_DRAW: dict[str, Callable[..., str | bytes]] = {
    "dot": dot_text,
    "svg": svg,
    "png": png,
    "mermaid": mermaid_text,
}
_ENDINGS = {"gv": "dot", "mmd": "mermaid", "yml": "yaml"}


def save(
    plan: PlanData,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word that everybody expects
    outcomes: Sequence[Outcome | None] | None = None,
    times: Sequence[Times | None] | None = None,
    title: str | None = None,
    legend: bool = True,
) -> Path:
    """Write a plan, or the picture of it or of its run, to a file.

    The file appears at once and whole: it is written beside its place and then moved there. What
    stood there before stays if anything goes wrong.

    Args:
        plan: The plan.
        path: The file. Its ending says what is written: ``.dot`` (or ``.gv``), ``.svg``, ``.png``,
            ``.mermaid`` (or ``.mmd``), ``.txt``, ``.json``, ``.yaml`` (or ``.yml``).
        format: One of `FORMATS`, where the ending should not decide.
        outcomes: How each call settled, in call order; for pictures.
        times: When things happened to each call; for pictures.
        title: The title of a picture; ``None`` for one that counts calls and nodes.
        legend: Whether a picture says what its shapes and lines mean.

    Returns:
        The file's path.

    Raises:
        UsageError: If the ending or format is none of these.
        RenderError: If there is no program to draw with, it fails, or the file cannot be written.
        PlanError: If the plan cannot be written as JSON or YAML.
    """
    target = Path(path)
    kind = _kind(target, format)
    data: str | bytes
    if kind in _DRAW:
        data = _DRAW[kind](plan, outcomes=outcomes, times=times, title=title, legend=legend)
    elif kind == "txt":
        data = plan_text(plan) + "\n"
    else:
        data = dump_plan(plan, "json" if kind == "json" else "yaml")
    _write(target, [data if isinstance(data, bytes) else data.encode("utf-8")])
    return target


def write_text(path: str | Path, text: str) -> Path:
    """Write a text, such as a timeline, to a file, which appears at once and whole.

    Args:
        path: The file; whatever its ending, the text is written as it is, in UTF-8.
        text: The text; lone surrogates, which UTF-8 has no place for, are written as escapes.

    Returns:
        The file's path.

    Raises:
        RenderError: If the file cannot be written.
    """
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: str | Path, data: bytes) -> Path:
    """Write bytes, such as a picture, to a file, which appears at once and whole.

    Args:
        path: The file.
        data: What it is to hold.

    Returns:
        The file's path.

    Raises:
        RenderError: If the file cannot be written.
    """
    target = Path(path)
    _write(target, [data])
    return target


def write_pieces(path: str | Path, pieces: Iterable[str]) -> Path:
    """Write a text of any size, such as a trace, to a file, which appears at once and whole.

    Args:
        path: The file.
        pieces: The text in pieces, which are asked for one by one.

    Returns:
        The file's path.

    Raises:
        RenderError: If the file cannot be written.
    """
    target = Path(path)
    _write(target, (piece.encode("utf-8", "backslashreplace") for piece in pieces))
    return target


def _kind(path: Path, given: str | None) -> str:
    word = path.suffix.removeprefix(".").lower() if given is None else given
    kind = _ENDINGS.get(word, word)
    if kind not in FORMATS:
        where = "format" if given is not None else short(str(path), 80)
        what = repr(short(word)) if word else "empty"
        raise UsageError(f"{where}: the format is {what}. Use one of {', '.join(FORMATS)}.")
    return kind


def _write(target: Path, data: Iterable[bytes]) -> None:
    """Write beside the target, then put it in its place."""
    beside: Path | None = None
    try:
        beside = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}")
        with beside.open("xb") as file:
            file.writelines(data)
        beside.replace(target)
    except ToolflowError:
        raise  # whoever makes the data says what is wrong with it
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise RenderError(
            f"{short(str(target), 80)}: cannot be written ({short(why, 80)}). "
            "Use a file in a folder that can be written to."
        ) from error
    finally:
        if beside is not None:
            _drop(beside)  # it is not there any more if all went well


def _drop(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except (OSError, ValueError):
        pass  # it could not be made in the first place
