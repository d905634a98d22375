"""``toolflow plan`` and ``render`` of a flow: its stages, before any of them runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolflow.cli.console import Output, say, say_data, tell
from toolflow.compiler.data import plan_data
from toolflow.errors import UsageError
from toolflow.flow import load_flow
from toolflow.flow.outline import CallOutline, StageOutline, outline
from toolflow.render.facts import count
from toolflow.render.save import write_bytes, write_text
from toolflow.render.stages import StageBox, stages_dot, stages_png, stages_svg


def show_flow(path: str, output: Output) -> int:
    """Show the stages of a flow, with the plans of those that depend on no results.

    Args:
        path: The flow file.
        output: How.

    Returns:
        The exit code.
    """
    flow = load_flow(path)
    stages = outline(flow)
    if output == "text":
        say(f"Flow {flow.name}: {count(len(stages), 'stage')}")
        for stage in stages:
            say("")
            for line in _lines(stage):
                say(line)
    else:
        say_data({"flow": flow.name, "stages": [_data(stage) for stage in stages]}, output)
    return 0


def draw_flow(path: str, to: str | None) -> int:
    """Draw the stages of a flow: DOT on standard output, or a file.

    Args:
        path: The flow file.
        to: The file, whose ending says how; ``None`` for standard output.

    Returns:
        The exit code.

    Raises:
        UsageError: If there is no such form.
        RenderError: If it cannot be drawn or written.
    """
    flow = load_flow(path)
    boxes = [_box(stage) for stage in outline(flow)]
    title = f"{flow.name} · {count(len(boxes), 'stage')}"
    if to is None:
        say(stages_dot(boxes, title=title))
        return 0
    kind = Path(to).suffix.lower()
    if kind in {".dot", ".gv"}:
        write_text(to, stages_dot(boxes, title=title))
    elif kind == ".svg":
        write_text(to, stages_svg(boxes, title=title))
    elif kind == ".png":
        write_bytes(to, stages_png(boxes, title=title))
    else:
        raise UsageError(f"{to}: the ending is {kind!r}. A flow is drawn as .svg, .png or .dot.")
    tell(f"written: {to}")
    return 0


def _lines(stage: StageOutline) -> Iterator[str]:
    after = f"  after {', '.join(stage.needs)}" if stage.needs else ""
    when = f"  when {stage.when}" if stage.when else ""
    yield f"stage {stage.id}{after}{when}"
    if stage.plan is not None:
        for line in str(stage.plan).splitlines():
            yield f"  {line}".rstrip()
        return
    yield f"  planned when it runs: {stage.waits}"
    width = max(len(call.name) for call in stage.calls)
    for call in stage.calls:
        yield f"    {call.name:<{width}}  {_words(call)}"


def _words(call: CallOutline) -> str:
    return f"{call.tool}, for each of a list" if call.each else call.tool


def _box(stage: StageOutline) -> StageBox:
    if stage.plan is not None:
        calls = tuple(f"{call.name}: {call.label}" for call in stage.plan.calls)
    else:
        calls = tuple(f"{call.name}: {_words(call)}" for call in stage.calls)
    when = stage.when.strip().removeprefix("{{").removesuffix("}}").strip()
    return StageBox(stage.id, stage.needs, when, calls, stage.plan)


def _data(stage: StageOutline) -> dict[str, Any]:
    return {
        "stage": stage.id,
        "needs": list(stage.needs),
        "when": stage.when or None,
        "calls": [
            {"call": call.name, "tool": call.tool, "foreach": call.each} for call in stage.calls
        ],
        "plan": None if stage.plan is None else plan_data(stage.plan),
        "waits": stage.waits or None,
    }
