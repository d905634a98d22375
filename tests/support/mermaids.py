"""Mermaid text read by a grammar much smaller than Mermaid's: that of the package's own writer.

Whatever does not match is an error, so that no text of a tool can be anything but a label.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from toolflow.render.mermaidwriter import HEAD

_TEXT = r'"((?:[^"#;<>&\n]|#\d+;|<br/>)*)"'
_NAME = r"((?:call|gate|rest|node)_\d+|plan|settled|skipped|legend)"
_VERTEX = re.compile(
    rf" +{_NAME}(\[|\[\[|\{{\{{|\[/|>|\(|\(\(){_TEXT}(\]|\]\]|\}}\}}|\\\]|\)|\)\)):::(\w+)"
)
_PAIRS = {"[": "]", "[[": "]]", "{{": "}}", "[/": "\\]", ">": "]", "(": ")", "((": "))"}
_SUBGRAPH = re.compile(rf" *subgraph {_NAME}\[{_TEXT}\]")
_ARROW = re.compile(rf"{_NAME} (-->|---|==>)(?:\|{_TEXT}\|)? {_NAME}")
_UNSEEN = re.compile(rf"{_NAME}(?: ~~~ {_NAME})+")
_CLASS = re.compile(r"classDef (\w+) [\w#:., -]+|class [\w,]+ (\w+)|linkStyle [\d,]+ [\w#:,]+")


@dataclass
class Chart:
    """What a text declares: labels by vertex and subgraph, classes, arrows."""

    labels: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)
    arrows: list[tuple[str, str, str, str]] = field(default_factory=list)
    unseen: list[tuple[str, str]] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)

    @property
    def edges(self) -> int:
        """How many arrows Mermaid counts."""
        return len(self.arrows) + len(self.unseen)

    @property
    def kinds(self) -> Counter[str]:
        """How many vertices and subgraphs of each kind there are."""
        return Counter(name.partition("_")[0] for name in self.labels)


def shown(text: str) -> str:
    """What a reader sees of a quoted text."""
    plain = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text.replace("<br/>", "\n"))
    return plain.replace("\u2060", "").replace("\ufeff", "").replace("\xa0", " ")


def chart(text: str) -> Chart:
    """Read a text; fails where a line is none that the writer writes."""
    lines = text.split("\n")
    assert tuple(lines[: len(HEAD)]) == HEAD
    assert lines[-1] == ""
    found, open_ones = Chart(), list[str]()
    for line in lines[len(HEAD) : -1]:
        if match := _SUBGRAPH.fullmatch(line):
            _declare(found, open_ones, match[1], match[2])
            open_ones.append(match[1])
        elif line.strip() == "end":
            open_ones.pop()
        elif match := _VERTEX.fullmatch(line):
            assert _PAIRS[match[2]] == match[4], line
            _declare(found, open_ones, match[1], match[3])
            found.shapes[match[1]], found.classes[match[1]] = match[2], match[5]
        elif match := _ARROW.fullmatch(line):
            found.arrows.append((match[1], match[2], shown(match[3] or ""), match[4]))
        elif _UNSEEN.fullmatch(line):
            names = line.split(" ~~~ ")
            found.unseen += pairwise(names)
        elif match := _CLASS.fullmatch(line):
            found.defined |= {match[1]} if match[1] else set()
        else:
            assert line.strip() == "direction TB", line
    assert not open_ones
    ends = {name for a, *_, b in found.arrows for name in (a, b)}
    ends |= {name for pair in found.unseen for name in pair}
    assert ends <= set(found.labels)
    assert set(found.classes.values()) <= found.defined
    return found


def _declare(found: Chart, inside: list[str], name: str, label: str) -> None:
    assert name not in found.labels, name
    found.labels[name] = shown(label)
    found.inside[name] = inside[-1] if inside else ""
    assert html.unescape(label.replace("<br/>", "")) == label.replace("<br/>", "")
