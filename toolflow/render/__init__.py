"""Pictures of plans and runs (spec 11).

The way of a picture: `frames` shares the plan out, `layout` places calls, `facts` and `labels`
say what is written, `style` how it looks; then each kind of picture has a module that writes it:
`dot`, `mermaid`, `picture` (SVG and PNG, through a `program` and made safe by `cleaning`),
`timeline_svg`, `timeline_png`, `timeline_text` and `trace`; `save` writes files. A new kind of
picture is one more such module; only pages and what is mostly markup come from `templates/`:
`report` puts a page together of them and of what `report_data` makes of a recording.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolflow.render.dot import dot_text
from toolflow.render.mermaid import mermaid_text
from toolflow.render.picture import png, svg
from toolflow.render.program import programs
from toolflow.render.save import FORMATS, save
from toolflow.render.timeline_png import timeline_png
from toolflow.render.timeline_svg import timeline_svg
from toolflow.render.timeline_text import timeline_text

if TYPE_CHECKING:
    from toolflow.render.report import report_html
    from toolflow.render.trace import trace_pieces, trace_text

__all__ = [
    "FORMATS",
    "dot_text",
    "mermaid_text",
    "png",
    "programs",
    "report_html",
    "save",
    "svg",
    "timeline_png",
    "timeline_svg",
    "timeline_text",
    "trace_pieces",
    "trace_text",
]

# These load half of `toolflow.recording`, which pictures do not need.
_LAZY = {"report_html": "report", "trace_pieces": "trace", "trace_text": "trace"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"toolflow.render.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
