"""From runs to a recording: what a run gives back becomes a turn, with times of whole microseconds.

It is made after a run, from what the run kept, so it is out of the run's way (spec 10.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolflow.model.event import Event
from toolflow.model.outcome import Times
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.tool import Catalog
from toolflow.recording.committed import committed_of
from toolflow.recording.masking import masked_recorded
from toolflow.runtime.jsonable import Writer

if TYPE_CHECKING:
    from toolflow.policy import Policy
    from toolflow.recording.result import RunResult


class Recorder:
    """Collects the runs of a session.

    A run that pauses is a turn of its own, without messages; the run that resumes it is another
    one, with the outcomes of the whole turn.

    Args:
        policy: The policy in force, which goes into the recording with its text.
        source: Where the recording comes from: ``session``, ``cwd`` ..., JSON values. With
            ``cwd``, a replay works out relative paths as the run did.
        tools: The tools; what is kept of them is which MCP servers they come from.
    """

    def __init__(
        self,
        *,
        policy: Policy | None = None,
        source: Mapping[str, Any] | None = None,
        tools: Catalog | None = None,
    ) -> None:
        self._policy = policy
        self._source = {"format": "toolflow", **(source or {})}
        self._tools = tools
        self._turns: list[RecordedTurn] = []

    def add(self, result: RunResult, *, started_at: str | None = None) -> RecordedTurn:
        """Add a run.

        Args:
            result: What `Engine.run` or `Engine.resume` gave back.
            started_at: When it began, as ISO 8601 text.

        Returns:
            The turn as it was added.
        """
        recorded = recorded_turn(result, started_at=started_at)
        self._turns.append(recorded)
        return recorded

    @property
    def recording(self) -> Recording:
        """The recording so far."""
        servers = self._servers()
        source = {**self._source, "servers": servers} if servers else self._source
        policy = self._policy
        return Recording(
            tuple(self._turns),
            source,
            policy.text if policy is not None else None,
            policy.digest if policy is not None else "",
        )

    def _servers(self) -> dict[str, str]:
        if self._tools is None:
            return {}
        names = {
            call.tool
            for recorded in self._turns
            if recorded.plan is not None
            for call in recorded.plan.calls
        }
        specs = [self._tools.find(name) for name in sorted(names)]
        return {spec.name: spec.server for spec in specs if spec is not None and spec.server}


def recorded_turn(result: RunResult, *, started_at: str | None = None) -> RecordedTurn:
    """A run as a recording holds it.

    Args:
        result: What a run gave back.
        started_at: When it began, as ISO 8601 text.

    Returns:
        The turn, without the secrets that its policy names; its times are rounded to microseconds.
    """
    committed = committed_of(
        result.turn,
        result.outcomes,
        result.messages,
        texts=result.texts,
        steering=result.steering,
    )
    recorded = RecordedTurn(
        result.turn,
        result.outcomes,
        tuple(map(_rounded_times, result.times)),
        result.plan,
        tuple(map(_rounded_event, result.events)),
        result.messages,
        started_at,
        result.report.facts,
        committed,
    )
    return masked_recorded(recorded, result.plan.redactor)


def _rounded_times(times: Times) -> Times:
    values = (times.queued, times.granted, times.started, times.settled, times.stopped)
    return Times(*(None if value is None else round(value, 6) for value in values))


def _rounded_event(event: Event) -> Event:
    data = event.data
    if event.kind == "turn_committed" and isinstance(data.get("messages"), list | tuple):
        data = {**data, "messages": len(data["messages"])}  # they stand in the recording already
    elif data and event.kind != "call_settled":
        data = Writer().write(data)  # a question of a tool may be any value
    return event._replace(at=round(event.at, 6), data=data)
