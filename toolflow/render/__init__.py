"""Pictures of plans and runs (spec 11).

The way of a picture: `frames` shares the plan out, `layout` places calls, `facts` and `labels`
say what is written, `style` how it looks; then each kind of picture has a module that writes it:
`dot`, `picture` (SVG and PNG, through a `program` and made safe by `cleaning`), `timeline_svg` and
`timeline_text`; `save` writes files. A new kind of picture is one more such module; only pages and
what is mostly markup come from `templates/`: `report` puts a page together of them and of what
`report_data` makes of a recording.
"""

from typing import TYPE_CHECKING, Any

from toolflow.render.dot import dot_text
from toolflow.render.picture import png, svg
from toolflow.render.program import programs
from toolflow.render.save import FORMATS, save
from toolflow.render.timeline_svg import timeline_svg
from toolflow.render.timeline_text import timeline_text

if TYPE_CHECKING:
    from toolflow.render.report import report_html

__all__ = [
    "FORMATS",
    "dot_text",
    "png",
    "programs",
    "report_html",
    "save",
    "svg",
    "timeline_svg",
    "timeline_text",
]


def __getattr__(name: str) -> Any:
    if name == "report_html":  # loads half of `toolflow.recording`, which pictures do not need
        from toolflow.render.report import report_html  # noqa: PLC0415  # see above

        return report_html
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
