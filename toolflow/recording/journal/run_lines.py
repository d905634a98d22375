"""The lines of a run: what it noted, as JSON.

Times are whole microseconds since the run began. A body's own start is told with its end, by its
number in the order of events (``first``) and its time (``started``).
"""

from __future__ import annotations

from collections.abc import Mapping
from json.encoder import encode_basestring_ascii as text_of
from typing import Any, Final

from toolflow.model.outcome import Outcome, Times
from toolflow.recording.forms import outcome_data
from toolflow.recording.journal.ending import event_data
from toolflow.recording.journal.masking import Masker
from toolflow.recording.journal.plan_line import json_line
from toolflow.runtime.jsonable import Writer
from toolflow.runtime.run import Run


class RunLines:
    """Makes the lines of one run.

    Args:
        number: The turn's number in the journal.
        run: The run.
        masker: What masks secrets, or ``None``.

    Attributes:
        names: The names of its calls, as JSON text.
    """

    def __init__(self, number: int, run: Run, masker: Masker | None) -> None:
        self.names = [text_of(call.name) for call in run.plan.calls]
        self._number = number
        self._run = run
        self._masker = masker
        self._notes = run.log.notes
        self._slow = bool(run.options.hooks) or masker is not None  # lines with more to them
        self._begun: dict[int, int] = {}  # the numbers of starts that were not told yet
        self._begun_at: dict[int, float] = {}
        self._kept: dict[int, Outcome] = {}  # outcomes that were written before they were told
        self._place = 0  # how many of the run's notes were looked at

    @property
    def waiting(self) -> bool:
        """Whether there is something new."""
        return len(self._notes) != self._place

    def news(self) -> str:
        """The lines of all that the run noted since."""
        notes = self._notes
        place, self._place = self._place, len(notes)
        if place == self._place:
            return ""
        lines: list[str] = []
        add, begun, begun_at = lines.append, self._begun, self._begun_at
        records, names, number = self._run.records, self.names, self._number
        news = iter(notes[place:])
        seq = place // 4 - 1
        for kind, at, index, data in zip(news, news, news, news, strict=True):
            seq += 1
            if kind == "call_started":
                begun[index], begun_at[index] = seq, at
                continue
            first = begun.pop(index, None)
            if kind != "call_settled":
                add(self._event(kind, at, index, data, first))
                continue
            record = records[index]
            if (  # most calls end with a text and nothing else
                first is not None
                and record.stopped == at
                and record.queued is None
                and (outcome := record.outcome) is not None
                and type(outcome.value) is str
                and outcome.status == "ok"
                and outcome.note is outcome.error is None
                and not (outcome.images or self._slow)
            ):
                add(
                    f'{{"line":"settled","turn":{number},"call":{names[index]},"first":{first},'
                    f'"started":{int(begun_at[index] * 1e6 + 0.5)},"at":{int(at * 1e6 + 0.5)},'
                    f'"status":"ok","value":{text_of(outcome.value)}}}\n'
                )
            else:
                add(self._settled(index, at, first))
        return "".join(lines)

    def _settled(self, index: int, at: float, first: int | None) -> str:
        record = self._run.records[index]
        outcome = record.outcome
        assert outcome is not None
        line = self._of_call("settled", index, at, first)
        times = record.times
        if times != Times(None, None, times.started, at, at):
            line["times"] = _micro_times(times)
        if self._kept.get(index) is outcome:
            line["same"] = True
        else:
            line |= self._outcome(outcome)
        if record.hooks is not None and record.hooks.extra:
            line["texts"] = [*map(self.text, record.hooks.extra)]
        return json_line(line)

    def _event(
        self, kind: str, at: float, index: int, data: Mapping[str, Any], first: int | None
    ) -> str:
        line = self._of_call(kind, index, at, first)
        run = self._run
        if index >= 0:
            record = run.records[index]
            if kind == "call_stopped" and record.outcome is not None:
                self._kept[index] = record.outcome
                line |= self._outcome(record.outcome)
            elif kind == "question_asked" and record.started is not None:
                line["body"] = True
                line["times"] = _micro_times(record.times)
        if data:
            line["data"] = event_data(kind, data)
            if self._masker is not None:
                line["data"] = self._masker.mask.data(line["data"])
        return json_line(line)

    def _of_call(self, kind: str, index: int, at: float, first: int | None) -> dict[str, Any]:
        name = kind if kind == "settled" else _LINES.get(kind, kind)
        line: dict[str, Any] = {"line": name, "turn": self._number}
        if index >= 0:
            line["call"] = self._run.plan.calls[index].name
        if first is not None:
            line["first"], line["started"] = first, int(self._begun_at[index] * 1e6 + 0.5)
        line["at"] = int(at * 1e6 + 0.5)
        return line

    def _outcome(self, outcome: Outcome) -> dict[str, Any]:
        data = outcome_data(outcome)
        if "value" in data and not isinstance(data["value"], str):
            data["value"] = Writer().write(data["value"])  # a hook may have put anything there
        return data if self._masker is None else self._masker.outcome(data)

    def ended(self, index: int, outcome: Outcome) -> str:
        """The line of an outcome that is written before it counts."""
        self._kept[index] = outcome
        line = self._of_call("outcome", index, self._run.now(), self._begun.pop(index, None))
        return json_line(line | self._outcome(outcome))

    def text(self, text: str) -> str:
        """A text in which no secret stands."""
        return text if self._masker is None else self._masker.text(text)


def _micro_times(times: Times) -> list[int | None]:
    """Times in microseconds: queued, granted, started, settled, stopped."""
    each = (times.queued, times.granted, times.started, times.settled, times.stopped)
    return [None if value is None else int(value * 1e6 + 0.5) for value in each]


_LINES: Final[Mapping[str, str]] = {
    "run_started": "begun",
    "call_queued": "queued",
    "call_stopped": "stopped",
    "question_asked": "asked",
    "question_answered": "answered",
    "run_paused": "pausing",
    "turn_committed": "committed",
    "run_finished": "finished",
}
