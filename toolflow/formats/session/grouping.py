"""Assistant messages that a log spreads over many lines, put together again (spec 3.2).

A message is known by its source and its id, never by which lines stand together: results and the
lines of other sources stand between its lines. A result belongs to the latest message of its
source that holds a call of its id, since ids come back in later turns; it is paired only where
exactly one call of that message has the id. Nothing is guessed: what cannot be paired is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from toolflow.formats.anthropic import read_message
from toolflow.formats.base import Flaw, quoted
from toolflow.model import Notice, Outcome, RecordedTurn, Times, Turn, call_names


@dataclass(frozen=True, slots=True)
class Result:
    """A result as it stands in the log.

    Attributes:
        outcome: What it tells.
        line: The number of its line.
        time: The time of its line, or ``None``.
    """

    outcome: Outcome
    line: int
    time: datetime | None


@dataclass(slots=True)
class Message:
    """An assistant message while its lines come in. Mutable: it lives in one reader only.

    Attributes:
        source: ``main``, or the name of the sub-agent.
        line: The number of its first line.
        began: The time of its first line, as the log has it.
        extra: What its first line tells beside the message.
        fields: The fields of the message but its content; later lines complete earlier ones.
        blocks: Its content blocks, in the order of their lines.
        call_times: The time of the line of each call.
        results: The results for its calls, by id, in the order of the log.
        lines: The blocks of each of its lines, by the line's uuid.
        told: The first block of each call by its id, and of thinking by its signature.
        interrupted: The number of the line that tells of an interrupt after it, or ``None``.
    """

    source: str
    line: int
    began: Any
    extra: dict[str, Any]
    fields: dict[str, Any] = field(default_factory=dict)
    blocks: list[Any] = field(default_factory=list)
    call_times: list[datetime | None] = field(default_factory=list)
    results: dict[str, list[Result]] = field(default_factory=dict)
    lines: dict[str, list[Any]] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)
    interrupted: int | None = None

    def add(
        self, message: Mapping[str, Any], uuid: Any, time: datetime | None
    ) -> tuple[list[dict[str, Any]], int]:
        """Add a line.

        A line that was there already, with its uuid and its blocks, adds nothing. A call that an
        earlier line told with the same id, tool and input is the same call, told again (so is
        thinking with the same signature); in one line it is a call of its own, since then the
        model said it twice.

        Args:
            message: The ``message`` of the line.
            uuid: The line's own id, if it has one.
            time: The time of the line.

        Returns:
            The blocks that are new calls, and how many blocks were left out because they were
            there already.
        """
        blocks = _blocks(message.get("content"))
        earlier = self.lines.setdefault(uuid, blocks) if isinstance(uuid, str) else blocks
        if earlier is not blocks and earlier == blocks:
            return [], len(blocks)
        self.fields.update({key: value for key, value in message.items() if value is not None})
        fresh = [block for block in blocks if not self._is_told(block)]
        self.blocks += fresh
        calls = [block for block in fresh if _is_call(block)]
        self.call_times += [time] * len(calls)
        for block in fresh:
            if key := _own_key(block):
                self.told.setdefault(key, block)
        return calls, len(blocks) - len(fresh)

    def _is_told(self, block: dict[str, Any]) -> bool:
        key = _own_key(block)
        return key is not None and self.told.get(key) == block

    @property
    def has_calls(self) -> bool:
        """Whether it holds any call."""
        return bool(self.call_times)

    def recorded(self, name: str) -> tuple[RecordedTurn, list[Notice]]:
        """The finished turn, and the notices about its results."""
        flaws: list[Flaw] = []
        whole = {**self.fields, "role": "assistant", "content": self.blocks}
        read = read_message(whole, (), flaws)
        odd = [Notice("unreadable", f.message, line=self.line, turn=name) for f in flaws]
        kept = replace(read, id=name, source=self.source, extra={**read.extra, **self.extra})
        turn = replace(kept, notices=tuple(replace(n, turn=name) for n in read.notices))
        outcomes, times, notices = self._paired(turn)
        began = self.began if parse_time(self.began) else None
        recorded = RecordedTurn(turn, tuple(outcomes), tuple(times), started_at=began)
        return recorded, odd + notices

    def _paired(self, turn: Turn) -> tuple[list[Outcome | None], list[Times], list[Notice]]:
        outcomes: list[Outcome | None] = []
        times: list[Times] = []
        notices = list(self._unpaired(turn))
        zero = parse_time(self.began)
        for call, name in zip(turn.calls, call_names(turn.calls), strict=True):
            own = self.results.get(call.id, []) if name == call.id else []
            if not own:
                notices.append(self._no_result(turn, name))
            result = own[0] if own else None
            outcomes.append(result.outcome if result else None)
            started = _seconds(zero, self.call_times[call.index])
            settled = _seconds(zero, result.time) if result else None
            if started is not None and settled is not None and settled < started:
                settled = started  # the clock was set back in between
            times.append(Times(started=started, settled=settled))
        return outcomes, times, notices

    def _no_result(self, turn: Turn, name: str) -> Notice:
        text = f"Call {quoted(name)} has no result in the log"
        if self.interrupted is not None:
            text += f"; the user interrupted the turn (line {self.interrupted})"
        return Notice("no_result", text + ".", line=self.line, turn=turn.id, call=name)

    def _unpaired(self, turn: Turn) -> Iterator[Notice]:
        """Results that cannot be given to one call, or that came more than once."""
        holders = Counter(call.id for call in turn.calls)
        for call_id, results in self.results.items():
            shown = quoted(call_id)
            if holders[call_id] > 1:
                count = holders[call_id]
                text = f"{count} calls have the id {shown}. Its results are given to none of them."
                yield Notice("doubled_id", text, line=results[0].line, turn=turn.id)
                continue
            for result in results[1:]:
                same = result.outcome == results[0].outcome
                what = "the same result again" if same else "another result"
                text = f"Call {shown} has {what}. The first one counts."
                yield Notice("doubled_result", text, line=result.line, turn=turn.id, call=call_id)


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return (
        [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    )


def _own_key(block: dict[str, Any]) -> str | None:
    """What makes a block one of a kind: the id of a call, the signature of thinking.

    Text has none: a model may say the same words twice in one message.
    """
    kind = block.get("type")
    key = block.get("id" if kind == "tool_use" else "signature" if kind == "thinking" else "")
    return key if isinstance(key, str) and key else None


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def parse_time(text: Any) -> datetime | None:
    """The time that ISO 8601 text tells; without a zone it is UTC. ``None`` for anything else."""
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _seconds(zero: datetime | None, time: datetime | None) -> float | None:
    if zero is None or time is None:
        return None
    return max(0.0, round((time - zero).total_seconds(), 6))
