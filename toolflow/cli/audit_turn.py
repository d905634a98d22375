"""One turn of an audit in detail, as text."""

from __future__ import annotations

from collections.abc import Iterator

from toolflow.cli.audit_pictures import as_it_ran
from toolflow.cli.audit_text import finding_lines, many, spread, wrapped
from toolflow.recording.audit import Meeting, TurnAudit
from toolflow.render import timeline_text
from toolflow.render.labels import duration

_SHOWN = 20
_LEAST, _MOST = 60, 120  # columns of a timeline


def turn_lines(log: str, audit: TurnAudit, width: int | None) -> Iterator[str]:
    """Everything that was found about one turn.

    Args:
        log: The name of its log.
        audit: What was found.
        width: How many characters a line may have; ``None``: any number.
    """
    recorded = audit.recorded
    line = f", line {recorded.line}" if recorded.line is not None else ""
    source = f", of {audit.source}" if audit.source != "main" else ""
    yield from wrapped(f"{log} {audit.id}{line}{source}", width)
    yield ""
    yield from str(audit.plan).rstrip("\n").splitlines()
    yield ""
    yield from _meets(audit, width)
    yield from _times(audit, width)
    if not audit.findings:
        yield "nothing found"
    for finding in audit.findings:
        yield f"{finding.level}:"
        yield from finding_lines("", finding, width)


def _meets(audit: TurnAudit, width: int | None) -> Iterator[str]:
    if not audit.meets:
        return
    yield f"{many(audit.meets, 'pair')} of calls that meet:"
    for meeting in audit.meetings[:_SHOWN]:
        yield from wrapped(f"  {_pair(audit, meeting)}", width)
    if audit.meets > _SHOWN:
        yield f"  and {audit.meets - _SHOWN} more"
    yield ""


def _pair(audit: TurnAudit, meeting: Meeting) -> str:
    calls = audit.plan.calls
    one, other = meeting.accesses
    first, second = calls[meeting.first].name, calls[meeting.second].name
    known = {True: "open at the same time", False: "one after the other", None: "times not known"}
    key = meeting.key if meeting.key == meeting.other else f"{meeting.key}, {meeting.other}"
    return f"{first} ({one}s) and {second} ({other}s) {key}: {known[meeting.at_once]}"


def _times(audit: TurnAudit, width: int | None) -> Iterator[str]:
    if audit.timed:
        columns = _MOST if width is None else max(_LEAST, min(_MOST, width))
        yield from timeline_text(as_it_ran(audit), width=columns).splitlines()
    time = audit.time
    if time is None:
        yield from wrapped(
            f"no times: {audit.timed} of {many(audit.ran, 'call')} that ran have theirs", width
        )
        yield ""
        return
    what = {"run": "bodies as measured", "log": "from the line of a call to that of its result"}
    after = f", {duration(time.counted)} after the last call" if time.clock == "log" else ""
    yield from wrapped(f"times ({what[time.clock]}): {duration(time.wall)} in all{after}", width)
    for word, name in (
        ("one after the other", "work"),
        ("critical path", "critical"),
        ("lower bound", "bound"),
        ("under the policy", "simulated"),
        ("calls that meet wait", "waited"),
        ("to win", "to_win"),
        ("to lose", "to_lose"),
    ):
        yield f"  {word.ljust(20)}  {spread(*time.of(name))}"
    for serial in audit.serial[:_SHOWN]:
        call, after = audit.plan.calls[serial.call].name, audit.plan.calls[serial.after].name
        yield from wrapped(f"  {call} began after {after}, which it could have overlapped", width)
    yield ""
