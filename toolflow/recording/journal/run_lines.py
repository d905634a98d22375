"""The lines of a run: what it noted, as JSON.

Times are seconds since the run began. Of the starts and ends of bodies that follow each other one
line tells the order and the times, as columns; it stands behind the lines of their results, for a
result is worth more than a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from json.encoder import encode_basestring_ascii as text_of
from typing import Any, Final

from pydantic_core import to_json

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
        self._kept: dict[int, Outcome] = {}  # outcomes that were written before they were told
        self._place = self._seen = 0  # how many of the run's notes were written, and looked at

    @property
    def waiting(self) -> bool:
        """Whether there is something new."""
        return len(self._notes) != self._seen

    def news(self) -> str:
        """The lines of all that the run noted since.

        Starts of bodies alone are worth no line yet: that they may happen is written already.
        """
        place, self._seen = self._place, len(self._notes)
        new = self._notes[place:]
        kinds = new[::4]
        if kinds.count("call_started") == len(kinds):
            return ""
        self._place = self._seen
        lines: list[str] = []
        if set(kinds) <= _MARKS.keys():
            self._bodies(new, lines)
            return "".join(lines)
        begin = end = 0
        for kind in kinds:
            if kind not in _MARKS:
                self._bodies(new[begin:end], lines)
                lines.append(self._event(*new[end : end + 4]))
                begin = end + 4
            end += 4
        self._bodies(new[begin:], lines)
        return "".join(lines)

    def _bodies(self, notes: list[Any], lines: list[str]) -> None:
        """Lines for starts and ends of bodies that follow each other: results, then events."""
        if not notes:
            return
        add, names, records, number = lines.append, self.names, self._run.records, self._number
        kinds, calls, times, slow = notes[::4], notes[2::4], notes[1::4], self._slow
        for kind, index, at in zip(kinds, calls, times, strict=True):
            if kind == "call_started":
                continue
            record = records[index]
            if (  # most calls end with a text and nothing else
                (outcome := record.outcome) is not None
                and type(outcome.value) is str
                and outcome.status == "ok"
                and record.settled is at is record.stopped
                and outcome.note is outcome.error is record.queued is None
                and not (outcome.images or slow)
            ):
                add(
                    f'{{"line":"settled","turn":{number},"call":{names[index]},'
                    f'"status":"ok","value":{text_of(outcome.value)}}}\n'
                )
            else:
                add(self._settled(index, at))
        line = {
            "line": "events",
            "turn": number,
            "of": "".join(map(_MARKS.__getitem__, kinds)),
            "calls": calls,
            "at": times,
        }
        add(to_json(line).decode() + "\n")

    def _settled(self, index: int, at: float) -> str:
        record = self._run.records[index]
        outcome = record.outcome
        assert outcome is not None
        line: dict[str, Any] = {
            "line": "settled",
            "turn": self._number,
            "call": self._run.plan.calls[index].name,
        }
        times = record.times
        if times != Times(None, None, times.started, at, at):
            line["times"] = _listed(times)
        if self._kept.get(index) is outcome:
            line["same"] = True
        else:
            line |= self._outcome(outcome)
        if record.hooks is not None and record.hooks.extra:
            line["texts"] = [*map(self.text, record.hooks.extra)]
        return json_line(line)

    def _event(self, kind: str, at: float, index: int, data: Mapping[str, Any]) -> str:
        line = self._of_call(_LINES.get(kind, kind), index, at)
        run = self._run
        if index >= 0:
            record = run.records[index]
            if kind == "call_stopped" and record.outcome is not None:
                self._kept[index] = record.outcome
                line |= self._outcome(record.outcome)
            elif kind == "question_asked" and record.started is not None:
                line["body"] = True
                line["times"] = _listed(record.times)
        if data:
            line["data"] = event_data(kind, data)
            if self._masker is not None:
                line["data"] = self._masker.mask.data(line["data"])
        return json_line(line)

    def _of_call(self, kind: str, index: int, at: float) -> dict[str, Any]:
        line: dict[str, Any] = {"line": kind, "turn": self._number}
        if index >= 0:
            line["call"] = self._run.plan.calls[index].name
        line["at"] = round(at, 6)
        return line

    def _outcome(self, outcome: Outcome) -> dict[str, Any]:
        data = outcome_data(outcome)
        if "value" in data and not isinstance(data["value"], str):
            data["value"] = Writer().write(data["value"])  # a hook may have put anything there
        return data if self._masker is None else self._masker.outcome(data)

    def ended(self, index: int, outcome: Outcome) -> str:
        """The line of an outcome that is written before it counts."""
        self._kept[index] = outcome
        line = self._of_call("outcome", index, self._run.now())
        return json_line(line | self._outcome(outcome))

    def text(self, text: str) -> str:
        """A text in which no secret stands."""
        return text if self._masker is None else self._masker.text(text)


def _listed(times: Times) -> list[float | None]:
    each = (times.queued, times.granted, times.started, times.settled, times.stopped)
    return [None if value is None else round(value, 6) for value in each]


# What is said of each start and each end of a body, in the order in which they happened.
_MARKS: Final[Mapping[str, str]] = {"call_started": "s", "call_settled": "e"}
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
