"""A recording against the real tools: what do its calls give today (spec 10.4)?"""

from __future__ import annotations

from toolflow.engine import Engine
from toolflow.model.recording import Recording
from toolflow.recording.durations import whole_turns
from toolflow.recording.living import LiveReport, compared, live_checkpoint, reused


async def replay_live(recording: Recording, engine: Engine, *, writes: bool = False) -> LiveReport:
    """Run the calls of a recording again, and compare their results with the recorded ones.

    Calls that did not run in the record do not run now. The tools say what they touch today, and
    the engine's policy and locks hold as in any run. What was approved then is approved now.

    Args:
        recording: The recording.
        engine: The engine, with the tools.
        writes: Whether calls run again that are exclusive or write: what they did, they do once
            more. Without it their recorded results are used.

    Returns:
        For each call whether it gave the same.

    Raises:
        PlanError: If a call asks for more of a resource than there is.
    """
    turns = []
    for recorded in whole_turns(recording.turns):
        plan = engine.plan(recorded.turn)
        kept = reused(recorded, plan, writes=writes)
        checkpoint = live_checkpoint(recorded, plan, kept)
        result = await engine.resume(checkpoint, can_pause=False)
        turns.append(compared(recorded, plan, kept, result.recorded().outcomes))
    return LiveReport(tuple(turns))
