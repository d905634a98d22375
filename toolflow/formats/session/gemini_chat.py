"""The chats that Gemini CLI records (see `gemini_cli`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.plain import text_of
from toolflow.formats.session.base import Reading
from toolflow.formats.session.loose import blocks_of, loose_call, loose_turn
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content, sentences, status_of
from toolflow.model import Notice, Outcome
from toolflow.model.outcome import Status

_BESIDE_CALL = frozenset({"result", "resultDisplay"})
_SENTENCES = sentences(
    (r"Tool execution denied by policy", "denied"),
    (r"\[Operation Cancelled\].{0,40}did not allow", "declined"),
    (r"\[Operation Cancelled\]|User cancelled|Tool call cancelled", "aborted"),
    (r'Tool ".{1,200}" not found', "unknown_tool"),
    (r"(?:Error: )?[Pp]arams must|Invalid (?:tool )?parameters", "invalid_arguments"),
)


def is_record(item: Mapping[str, Any]) -> bool:
    """Whether a record is of a chat."""
    if "projectHash" in item and isinstance(item.get("sessionId"), str):
        return True
    if isinstance(item.get("$rewindTo"), str):
        return True
    return item.get("type") == "gemini" and isinstance(item.get("id"), str) and "content" in item


class Chat:
    """Takes the records of one chat. Mutable; lives in one reading only.

    Args:
        reading: Where facts and oddities are told.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._held: tuple[int, dict[str, Any]] | None = None
        self._given: set[str] = set()

    def take(self, number: int, item: dict[str, Any], talk: Conversation) -> None:
        """Take the next record."""
        if isinstance(item.get("$rewindTo"), str):
            self.end(talk)
            text = (
                f"Line {number} goes back to before message {quoted(item['$rewindTo'])}: the"
                " conversation branches. All branches are read."
            )
            self._reading.oddities.append(Notice("branch", text, line=number))
        elif isinstance(changed := item.get("$set"), dict):
            self._whole(number, changed, talk)
        elif item.get("type") == "gemini":
            self._message(number, item, talk)
        else:
            self._whole(number, item, talk)

    def end(self, talk: Conversation) -> None:
        """Give out the message that is held back."""
        if self._held is not None:
            number, message = self._held
            self._held = None
            self._tell(number, message, talk)

    def _whole(self, number: int, item: Mapping[str, Any], talk: Conversation) -> None:
        """A header, a change of it, or a chat as one object."""
        self._reading.note(
            session=text_of(item.get("sessionId")),
            project=text_of(item.get("projectHash")),
            started=text_of(item.get("startTime")),
            kind=text_of(item.get("kind")),
            directories=item.get("directories"),
        )
        # A history that was rewritten (shortened, say) repeats messages: the first forms count.
        for message in blocks_of(item.get("messages"), "gemini"):
            name = text_of(message.get("id"))
            if not name or (name not in self._given and name != self._held_id()):
                self._message(number, message, talk)

    def _held_id(self) -> str:
        return text_of(self._held[1].get("id")) if self._held else ""

    def _message(self, number: int, message: dict[str, Any], talk: Conversation) -> None:
        name = text_of(message.get("id"))
        if name and name in self._given:
            text = f"Line {number} tells message {quoted(name)} again. Its first form counts."
            self._reading.oddities.append(Notice("repeated_line", text, line=number))
            return
        if self._held is not None and name and self._held_id() == name:
            if _call_ids(self._held[1]) <= _call_ids(message):
                self._held = self._held[0], message
                return
            text = f"Another message has the id {quoted(name)} too. It is read as one of its own."
            self._reading.oddities.append(Notice("doubled_id", text, line=number))
        self.end(talk)
        self._held = number, message

    def _tell(self, number: int, message: dict[str, Any], talk: Conversation) -> None:
        name = text_of(message.get("id"))
        if name:
            self._given.add(name)
        self._reading.note(model=text_of(message.get("model")))
        blocks = blocks_of(message.get("toolCalls"))
        calls = [
            loose_call(
                index,
                {key: value for key, value in block.items() if key not in _BESIDE_CALL},
                call_id="id",
                tool="name",
                args="args",
            )
            for index, block in enumerate(blocks)
        ]
        said = {key: value for key, value in message.items() if key != "toolCalls"}
        turn = loose_turn(calls, said, message_id=name)
        time = message.get("timestamp")
        pending = talk.message(turn, line=number, time=time)
        for index, block in enumerate(blocks):
            outcome = outcome_of(block)
            if outcome is not None:
                talk.own_result(pending, index, outcome, line=number, time=block.get("timestamp"))


def _call_ids(message: Mapping[str, Any]) -> set[str]:
    return {text_of(block.get("id")) for block in blocks_of(message.get("toolCalls"))}


def outcome_of(block: Mapping[str, Any]) -> Outcome | None:
    """The outcome that a call of a chat tells, or ``None`` where it had not settled."""
    status = text_of(block.get("status"))
    if status not in ("success", "error", "cancelled"):
        return None
    value, images = content(_answer(block.get("result")))
    if status == "success":
        return Outcome("ok", value, images=images)
    told = value if isinstance(value, str) else ""
    default: Status = "aborted" if status == "cancelled" else "failed"
    if not told:
        return Outcome(default, value or None, "The call failed without a message.", images)
    return Outcome(status_of(told, _SENTENCES, default), None, told, images)


def _answer(result: Any) -> Any:
    """What a ``functionResponse`` holds: its output or error where that is all, else its parts."""
    parts = blocks_of(result)
    if len(parts) != 1 or not isinstance(parts[0].get("functionResponse"), dict):
        return parts or result
    response = parts[0]["functionResponse"].get("response")
    if isinstance(response, dict) and len(response) == 1:
        return next((response[key] for key in ("output", "error") if key in response), response)
    return response
