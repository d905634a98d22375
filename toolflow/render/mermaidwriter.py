r"""How text and looks become Mermaid: quoting, shapes, classes.

What Mermaid does with a text in quotes had to be found out; none of it is the reader's to guess:

* A quote ends the text. ``#60;`` is the character of that number; it stays out of reach of the
  grammar and, for ``<`` and ``&``, of the page that the text becomes a part of. So every ASCII
  character but letters, digits, blanks, ``/`` and ``,`` is written by its number; only ``_``,
  ``.`` and ``-`` within a word stay, for whoever reads the text itself. One rule reaches into
  quotes: a line with ``direction LR`` anywhere in it is taken for that and nothing else.
* All other numbers are characters again when a label is set, and what they spell still acts:
  ``\n`` ends a line, ``$$`` starts a formula, ``fa:fa-`` an icon; and to versions 11.0 to 11.12
  every label is Markdown. An invisible joiner (U+2060) parts all such words. Runs of ``*`` and
  ``~``, where there are several, stand between U+FEFF, which cannot be seen either, but is a
  blank to JavaScript. (Nothing parts backticks; those versions show such labels as markup that
  they do not support.)
* Numbers pass through Mermaid as ``ﬂ°°60¶ß``, which is turned back in the finished picture: a
  text that holds such a mark by itself would change there. The marks are broken up by writing
  their first character out, as is done with all that would not show as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolflow.render import style
from toolflow.render.labels import visible
from toolflow.render.style import State

LINE_END = "<br/>"
_MEANINGS = re.compile(
    r"(?<![A-Za-z0-9])[_.-]|[_.-](?![A-Za-z0-9])|(?<=[Ww]{3})\.|[!-+:-@\[-^`{-~]"
)
_BLANKS = re.compile("^ | $|(?<= ) ")  # a page would show several as one, and none at the ends
_JOINTS = re.compile(
    r"(?<=\\)(?=[!-/:-@\[-`{-~n]|$)|(?<=\$)(?=\$)|(?<=fa:)(?=fa-)|(?<=fa[bklrs]:)(?=fa-)"
    r"|(?<=\])(?=[(\[:])|(?<=:)(?=//)|(?<=[Ww]{3})(?=\.)|(?<=[\w.+-])(?=@)"
    r"|(?<![A-Za-z0-9_])(?=_)|(?<=_)(?![A-Za-z0-9_])|^(?=[-#>+=|*~`]|\d{1,9}[.)])"
    r"|(?<=direction)(?=\s)"
)
_RUNS = re.compile(r"[*~]+")
_MARKS = re.compile("\ufb02(?=\xb0)|\xb6(?=\xdf)")

HEAD = (
    "---",
    "config:",
    "  theme: base",
    "  themeVariables:",
    '    fontSize: "13px"',
    f'    textColor: "{style.INK}"',
    f'    titleColor: "{style.INK}"',
    f'    lineColor: "{style.INK}"',
    f'    edgeLabelBackground: "{style.PAPER}"',
    "  flowchart:",
    "    wrappingWidth: 600",
    "    nodeSpacing: 20",
    "    rankSpacing: 1",  # each frame around calls adds 25
    "    padding: 10",
    "    subGraphTitleMargin: {top: 4, bottom: 8}",
    "---",
    "flowchart TB",
)
"""A theme of its own: on paper, so that it can be read on a dark page too."""

SHAPES: dict[tuple[str, int], tuple[str, str, str]] = {
    ("box", 1): ("[", "]", "box"),
    ("box", 2): ("[[", "]]", "box with double sides"),
    ("octagon", 1): ("{{", "}}", "hexagon"),
    ("octagon", 2): ("[/", r"\]", "trapezoid"),
    ("note", 1): (">", "]", "flag"),
}
"""The shapes of `style`, of which Mermaid has few: how each begins and ends, and its name. They
are those that every version of Mermaid knows: a shape that is not known fails the whole picture."""

_TITLE = f"color:{style.INK},font-weight:bold"
FRAMES = {
    "paper": f"fill:{style.PAPER},stroke:{style.PAPER},{_TITLE}",
    "pool": f"fill:{style.POOL_FILL},stroke:{style.BLUE},rx:10,ry:10,{_TITLE}",
    "barrier": f"fill:{style.BARRIER_FILL},stroke:{style.INK},stroke-width:3px,{_TITLE}",
    "settled": (
        f"fill:{style.PAPER},stroke:{style.FAINT},stroke-dasharray:5 4,color:{style.FAINT}"
    ),
    "gate": f"fill:{style.BLUE},stroke:{style.BLUE},color:{style.BLUE}",
    "folded": f"fill:{style.PAPER},stroke:{style.FAINT},stroke-dasharray:1 4,color:{style.INK}",
    "legend": f"fill:none,stroke:none,color:{style.FAINT},text-align:left",
}
"""The classes of all that is no call, by name."""

_DASHES = {"dashed": "5 4", "dotted": "1 4"}


def quote(lines: Iterable[str]) -> str:
    """Write lines as one quoted text of Mermaid that shows exactly these lines.

    Args:
        lines: Any text, one entry a line; what cannot be seen is written out.
    """
    shown = [_MARKS.sub(lambda match: f"\\u{ord(match[0]):04x}", visible(line)) for line in lines]
    shown = [_JOINTS.sub("\u2060", line) for line in shown]
    if sum(len(_RUNS.findall(line)) for line in shown) > 1:  # one run by itself means nothing
        shown = [_RUNS.sub("\ufeff\\g<0>\ufeff", line) for line in shown]
    return f'"{LINE_END.join(map(_escaped, shown)) or " "}"'


def _escaped(line: str) -> str:
    return _BLANKS.sub("#160;", _MEANINGS.sub(lambda match: f"#{ord(match[0])};", line))


def words(state: State) -> str:
    """The shape of a state in words, for legends."""
    shape = SHAPES[state.shape, state.lines][2]
    return f"{state.style} {shape}".strip()


def box(name: str, state: State, lines: Iterable[str]) -> str:
    """One vertex: its name, its text, and the shape and class of its state."""
    before, after, _ = SHAPES[state.shape, state.lines]
    return f"{name}{before}{quote(lines)}{after}:::{class_of(state)}"


def class_of(state: State) -> str:
    """The class of all boxes that look like this: the first state that does, or ``plain``."""
    return next((name for name, one in style.STATES.items() if one == state), "plain")


def class_look(state: State) -> str:
    """What a class says about its boxes."""
    dashes = f",stroke-dasharray:{_DASHES[state.style]}" if state.style else ""
    return (
        f"fill:{state.fill},stroke:{state.line},stroke-width:{state.width:g}px{dashes},"
        f"color:{style.INK}"
    )
