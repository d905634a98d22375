"""What the index of the recorded turns says of each file."""

from __future__ import annotations

import re
from typing import NamedTuple

from corpus import corpus_dir


class Row(NamedTuple):
    """A line of the index.

    Attributes:
        turns: How many assistant messages the file holds.
        batches: How many of them have two calls or more.
        largest: How many calls the largest has.
        odd: The oddities that are counted, by name.
    """

    turns: int
    batches: int
    largest: int
    odd: dict[str, int]


def rows(folder: str) -> dict[str, Row]:
    """The rows of one folder, by file name; skips the test where the index is absent."""
    text = corpus_dir("INDEX.md").read_text(encoding="utf-8")
    section = text.split(f"### {folder}/")[1].split("\n### ")[0]
    found = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and (name := re.match(r"(\S+) \(", cells[0])):
            odd = re.findall(r"([a-zA-Z][a-zA-Z/ >=-]*[a-zA-Z]): (\d+)", cells[7])
            counts = {key: int(value) for key, value in odd}
            found[name[1]] = Row(int(cells[3]), int(cells[4]), int(cells[6]), counts)
    return found
