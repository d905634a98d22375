"""Assistant messages that a log spreads over many lines, put together again (spec 3.2).

A message is known by its source and its id, never by which lines stand together: results and the
lines of other sources stand between its lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from toolflow.formats.anthropic import read_message
from toolflow.formats.base import Flaw
from toolflow.formats.session.pairing import Pending, Result, named
from toolflow.model import Notice, RecordedTurn


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
        touched: How many messages its source had when its latest line or result came.
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
    touched: int = 0

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

    def call_ids(self) -> list[str]:
        """The ids of its calls, as far as they have some."""
        ids = [block.get("id") for block in self.blocks if _is_call(block)]
        return [call_id for call_id in ids if isinstance(call_id, str)]

    def recorded(self, name: str) -> tuple[RecordedTurn, list[Notice]]:
        """The finished turn, and the notices about its results."""
        flaws: list[Flaw] = []
        whole = {**self.fields, "role": "assistant", "content": self.blocks}
        read = read_message(whole, (), flaws)
        odd = [Notice("unreadable", f.message, line=self.line, turn=name) for f in flaws]
        kept = replace(read, source=self.source, extra={**read.extra, **self.extra})
        pending = Pending(
            named(kept, name),
            self.line,
            self.began,
            self.call_times,
            self.results,
            self.interrupted,
        )
        recorded, notices = pending.recorded()
        return recorded, odd + notices


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
