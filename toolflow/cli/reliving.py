"""``toolflow replay --live``: the tools run again, and what they give is compared."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import anyio

from toolflow.cli.console import Output, say, say_data, tell
from toolflow.errors import UsageError
from toolflow.flow import load_flow
from toolflow.flow.live import replay_live
from toolflow.flow.load import Flow
from toolflow.flow.opening import open_engine
from toolflow.model.recording import Recording
from toolflow.recording.living import LiveReport


def relive(recording: Recording, flow: str | None, output: Output, *, writes: bool) -> int:
    """Run the calls again; ends with 1 if something came out otherwise."""
    loaded = flow_of(flow)
    with tempfile.TemporaryDirectory(prefix="toolflow-") as folder:
        report = anyio.run(partial(_relive, recording, loaded, Path(folder), writes=writes))
    if output == "text":
        say(str(report))
    else:
        say_data(report.data(), output)
    if not writes and any("--writes" in c.why for turn in report.turns for c in turn.calls):
        tell("calls that are exclusive or write were not run again: their recorded results stand")
    return 0 if report.ok else 1


def flow_of(flow: str | None) -> Flow:
    """The flow whose tools run.

    It is never taken from the recording: that may come from anybody, and must not choose what runs
    here (spec 16).

    Raises:
        UsageError: If none was named.
    """
    if flow is None:
        raise UsageError("A recording does not hold tools. Name the flow that has them (--flow).")
    return load_flow(flow)


async def _relive(recording: Recording, flow: Flow, out: Path, *, writes: bool) -> LiveReport:
    async with open_engine(flow, out=out) as engine:
        return await replay_live(recording, engine, writes=writes)
