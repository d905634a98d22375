"""Questions of ``toolflow replay``: another policy, pool or capacity; a sweep over pools."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolflow.cli.console import Output, say, say_data, tell, terminal_width
from toolflow.errors import UsageError
from toolflow.model.recording import Recording
from toolflow.policy import Policy
from toolflow.recording.asking import Missing, what_if
from toolflow.recording.asking_data import what_if_data
from toolflow.recording.sweeping import sweep
from toolflow.recording.turn_reader import TurnSource
from toolflow.render.what_if_picture import Shows, save_what_if
from toolflow.render.what_if_text import sweep_text, what_if_text

_RANGE = re.compile(r"(\d{1,4})\.\.(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be otherwise than recorded, and how the answer is wanted."""

    policy: Policy | None
    pool: int | None
    resources: Mapping[str, int]
    cwd: str | None
    missing: Missing
    output: Output


def answer(recording: Recording, asked: Asked, *, picture: str | None, shows: Shows | None) -> int:
    """Say what would change; it is a question, so whatever the answer is, it ends with 0."""
    report = what_if(
        recording,
        policy=asked.policy,
        pool=asked.pool,
        resources=asked.resources,
        cwd=asked.cwd,
        missing=asked.missing,
    )
    if picture is not None:
        written = save_what_if(report, picture, shows=shows)
        tell(f"written: {written}")
    if asked.output == "text":
        say(what_if_text(report, width=terminal_width() or 100).rstrip("\n"))
    else:
        say_data(what_if_data(report), asked.output)
    return 0


def answer_sweep(recording: Recording | TurnSource, asked: Asked, sizes: str) -> int:
    """Say what each pool size would bring."""
    if asked.pool is not None:
        raise UsageError("--sweep tries pool sizes by itself. Leave --pool out.")
    found = sweep(
        recording,
        pool_sizes(sizes),
        policy=asked.policy,
        resources=asked.resources,
        cwd=asked.cwd,
        missing=asked.missing,
    )
    if asked.output == "text":
        say(sweep_text(found).rstrip("\n"))
    else:
        say_data(found.data(), asked.output)
    return 0


def pool_sizes(text: str) -> list[int]:
    """Read ``1,2,4`` or ``1..16``, or both.

    Raises:
        UsageError: If it is something else.
    """
    sizes: list[int] = []
    for part in text.split(","):
        word = part.strip()
        if found := _RANGE.fullmatch(word):
            sizes += range(int(found[1]), int(found[2]) + 1)
        elif word.isascii() and word.isdigit() and len(word) <= 4:
            sizes.append(int(word))
        else:
            sizes = []
            break
    if not sizes or min(sizes) < 1:
        raise UsageError(
            f"--sweep is {text!r}. Use pool sizes from 1 to 9999, such as 1,2,4,8 or 1..16."
        )
    return sizes


def capacities(given: Sequence[str]) -> dict[str, int]:
    """Read ``NAME=N``, several of them also in one word, with commas.

    Raises:
        UsageError: If one of them is something else.
    """
    found: dict[str, int] = {}
    for part in (part for word in given for part in word.split(",")):
        name, _, number = part.rpartition("=")
        if not name.strip() or not (number.isascii() and number.isdigit()) or not int(number[:9]):
            raise UsageError(
                f"--resources is {part!r}. Use NAME=N with a capacity N of at least 1, "
                "such as subprocess=4."
            )
        found[name.strip()] = int(number[:9])
    return found
