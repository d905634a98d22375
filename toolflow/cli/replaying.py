"""``toolflow replay``: run a recording again in virtual time; say where it leaves its path."""

from __future__ import annotations

import typer

from toolflow.cli.console import say, tell
from toolflow.cli.inputs import look_at, policy_of
from toolflow.errors import UsageError
from toolflow.recording import load_recording
from toolflow.recording import replay as replay_recording


def replay(
    recording: str = typer.Argument(..., metavar="RECORDING", help="A recording."),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="Another policy than the recording's own."
    ),
) -> int:
    """Compile every turn again and drive the scheduler with what was recorded.

    Ends with 0 if plan, order and transcript are exactly the same, else with 1 and the first
    difference.
    """
    given = look_at(recording)
    if given.kind != "recording":
        raise UsageError(f"{recording}: this is a {given.kind}, not a recording.")
    loaded = load_recording(recording)
    report = replay_recording(loaded, policy=policy_of(policy) if policy is not None else None)
    say(str(report))
    for notice in loaded.notices:
        tell(f"notice: {notice.message}")
    return 0 if report.ok else 1
