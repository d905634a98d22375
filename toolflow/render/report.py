"""One page for a debugger: a recording as HTML that opens offline (spec 11 and 16).

What had alternatives:

* **The page is made by its script.** Everything from a recording is JSON in a block that no
  browser runs or parses as markup, and the script puts it into the page as text, never as markup.
  HTML written here would have to be escaped in every place right; this way there is one.
* **A policy for content** allows the one script and the one style by their digests and nothing
  else: no request, no other script, no attribute that is a style. If something ever got into the
  page as markup, it could do nothing.
* **Pictures of plans** are drawn here, because they need a program; they are the safe SVG of
  `toolflow.render.svg`, and the script only marks in them what runs. Timelines are drawn by the
  script, in the width that there is.
* **The script** is written as modules, each of which a checker can read by itself; a page holds
  them joined, as browsers load no modules from files.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from toolflow.render import style
from toolflow.render.report_data import PageData, Source, page_data

if TYPE_CHECKING:
    from jinja2 import Template

_MODULES: Final = (
    "words", "dom", "route", "state", "glyph", "find", "plan", "timeline", "details", "table",
    "events", "slider", "overview", "turn", "main",
)  # fmt: skip
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def report_html(
    recording: Source,
    *,
    title: str | None = None,
    turns: Sequence[str] = (),
    pictures: bool = True,
) -> str:
    """Write a recording as one HTML page, which needs no other file and no network.

    Args:
        recording: A recording, the reader of one, or turns. Turns are read one by one.
        title: The title; ``None`` for one that names the source.
        turns: Ids or numbers (from 1) of the turns to show; all where there are none.
        pictures: Whether plans are drawn, for which a program is started; as text they are there
            in any case.

    Returns:
        The page. Equal recordings give equal text, with the same program for pictures.

    Raises:
        UsageError: If there is no such turn, or one has not as many outcomes or times as calls.
        RecordingError, JournalError: If the recording cannot be read any further.
    """
    return page_text(page_data(recording, title=title, turns=turns, pictures=pictures))


def page_text(page: PageData) -> str:
    """Put a page together."""
    script, look = script_text(), style_text()
    return _template("report.html.j2").render(
        title=page.title,
        policy=(
            "default-src 'none'; base-uri 'none'; form-action 'none'; "
            f"script-src '{_digest(script)}'; style-src '{_digest(look)}'"
        ),
        script=script,
        style=look,
        data=page.text,
        pictures=page.pictures,
    )


@cache
def script_text() -> str:
    """The script of a page: its modules in order, joined into one."""
    folder = files("toolflow.render") / "templates" / "report"
    parts = [(folder / f"{name}.js").read_text("utf-8") for name in _MODULES]
    return "".join(_EXPORT.sub("", _IMPORT.sub("", part)) for part in parts)


@cache
def style_text() -> str:
    """The style of a page."""
    return _template("report.css.j2").render(dark=_DARK.items())


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _template(name: str) -> Template:
    # Imported here because it takes 40 ms, and only pages need it.
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    text = (files("toolflow.render") / "templates" / name).read_text("utf-8")
    environment = Environment(
        autoescape=name.endswith(".html.j2"), undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.from_string(text)


# What the colours of pictures become where people like it dark.
_DARK: Final = {
    style.PAPER: "#15191e",
    style.INK: "#e4e9ee",
    style.FAINT: "#9aa7b4",
    style.BLUE: "#58aeea",
    style.SKY: "#7cc7f2",
    style.GREEN: "#3cc79a",
    style.ORANGE: "#f0b840",
    style.RED: "#ff8a4c",
    style.PINK: "#e3a2c6",
    style.POOL_FILL: "#17232d",
    style.BARRIER_FILL: "#2b2513",
    style.STATES["ok"].fill: "#12302a",
    style.STATES["failed"].fill: "#3a2216",
    style.STATES["timed_out"].fill: "#332912",
    style.STATES["denied"].fill: "#232a31",
    style.STATES["held"].fill: "#33222c",
    "#cfd8e0": "#47525e",  # waiting
}
