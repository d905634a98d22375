"""``toolflow import``: a session log becomes a recording."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import typer

from toolflow.cli.console import Output, say, say_data, tell
from toolflow.cli.inputs import recording_of_log
from toolflow.errors import UsageError
from toolflow.model.recording import Recording
from toolflow.recording import save_recording


def import_(
    session: str = typer.Argument(..., metavar="SESSION", help="A session log."),
    to: str | None = typer.Option(None, "--to", "-o", help="Write the recording to this file."),
    form: str | None = typer.Option(None, "--format", help="The log's format."),
    output: Output = typer.Option("text", "--output", help="How to write the summary."),
) -> int:
    """Read a session log, say what is in it, and write it as a recording."""
    if not Path(session).is_file():
        what = "a folder" if Path(session).is_dir() else "not there"
        raise UsageError(f"{session}: this file is {what}. Name the log of a session.")
    recording = recording_of_log(session, form)
    facts = summary(recording)
    if output == "text":
        say("\n".join(summary_text(session, facts)))
    else:
        say_data(facts, output)
    if to is not None:
        save_recording(recording, to)
        tell(f"written: {to}")
    return 0


def summary(recording: Recording) -> dict[str, object]:
    """What is in a recording, as JSON values."""
    turns = recording.turns
    sizes = [len(recorded.turn.calls) for recorded in turns]
    answered = sum(outcome is not None for recorded in turns for outcome in recorded.outcomes)
    tools = Counter(call.tool for recorded in turns for call in recorded.turn.calls)
    notices = list(recording.notices)
    notices += [notice for recorded in turns for notice in recorded.turn.notices]
    return {
        "format": recording.source.get("format", "?"),
        "messages": recording.source.get("messages", len(turns)),
        "turns": len(turns),
        "parallel_turns": sum(size >= 2 for size in sizes),
        "largest": max(sizes, default=0),
        "calls": sum(sizes),
        "results": answered,
        "tools": dict(sorted(tools.items(), key=lambda item: (-item[1], item[0]))),
        "oddities": dict(sorted(Counter(notice.code for notice in notices).items())),
    }


def summary_text(session: str, facts: dict[str, object]) -> list[str]:
    """The summary for people."""
    tools, oddities = facts["tools"], facts["oddities"]
    assert isinstance(tools, dict)
    assert isinstance(oddities, dict)
    several, largest = facts["parallel_turns"], facts["largest"]
    lines = [
        f"{session}: {facts['format']}, {facts['messages']} messages of the model",
        f"  {facts['turns']} turns with calls, {several} with two or more, largest {largest}",
        f"  {facts['calls']} calls, {facts['results']} results",
    ]
    if tools:
        lines.append("  tools: " + ", ".join(f"{name} {count}" for name, count in tools.items()))
    if oddities:
        found = ", ".join(f"{code} {count}" for code, count in oddities.items())
        lines.append(f"  oddities: {found}")
    return lines
