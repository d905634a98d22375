"""The items of a streamed response, put together from their events.

An event names its item by ``item_id`` and ``output_index``. The reference has both, but servers
exist that give each event another ``item_id``, and others whose ``output_index`` is always 0: an id
that is known counts, else the index, else the item that was touched last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolflow.formats.base import Flaw, Path, flaw
from toolflow.formats.openai_items import is_call
from toolflow.formats.openai_stream import LOST
from toolflow.formats.plain import plain


class _Piece(NamedTuple):
    """What kinds of pieces there are.

    Attributes:
        path: Where the text stands in the item; a name that ends with ``_index`` is a field of
            the event, which tells the place in a list.
        done: The field of the event that tells the whole text.
    """

    path: tuple[str, ...]
    done: str


_PIECES = {
    "response.output_text": _Piece(("content", "content_index", "text"), "text"),
    "response.refusal": _Piece(("content", "content_index", "refusal"), "refusal"),
    "response.reasoning_text": _Piece(("content", "content_index", "text"), "text"),
    "response.reasoning_summary_text": _Piece(("summary", "summary_index", "text"), "text"),
    "response.function_call_arguments": _Piece(("arguments",), "arguments"),
    "response.mcp_call_arguments": _Piece(("arguments",), "arguments"),
    "response.custom_tool_call_input": _Piece(("input",), "input"),
    "response.code_interpreter_call_code": _Piece(("code",), "code"),
    "response.shell_call_command": _Piece(("action", "commands", "command_index"), "command"),
    "response.apply_patch_call_operation_diff": _Piece(("operation", "diff"), "diff"),
}
_PARTS = {
    "response.content_part": ("content", "content_index"),
    "response.reasoning_summary_part": ("summary", "summary_index"),
}
_MOST = 10_000  # parts of one item: an index is the stream's own word, and lists grow up to it
_GAP = 16  # of parts that a list may lack before the next one


@dataclass(slots=True)
class _Item:
    """An item while its events come in."""

    index: int | None
    value: dict[str, Any]
    texts: dict[Path, list[str]] = field(default_factory=dict)
    done: bool = False
    losses: int = 0

    def settle(self, losses: int) -> None:
        """Take account of the events that were lost since the last one for this item.

        Unless the item is told whole later, it is not what it says.

        Args:
            losses: How many were lost in the stream so far.
        """
        if losses > self.losses and self.value.get("type") == "function_call":
            self.texts.setdefault(("arguments",), []).append(LOST)
        self.losses = losses

    def whole(self, *, ended: bool) -> dict[str, Any]:
        value: Any = self.value
        if self.done:
            return dict(value)
        for path, pieces in self.texts.items():
            value = _put(value, path, "".join(pieces))
        if not ended and is_call(value) and not isinstance(value.get("status"), str):
            return {**value, "status": "in_progress"}
        return dict(value)


@dataclass(slots=True)
class Items:
    """All items of one streamed response. Mutable: it grows with the events.

    Attributes:
        flaws: What could not be read.
    """

    flaws: list[Flaw]
    _items: list[_Item] = field(default_factory=list)
    _by_id: dict[str, _Item] = field(default_factory=dict)
    _at: dict[int, _Item] = field(default_factory=dict)
    _losses: int = 0

    def take(self, event: dict[str, Any], path: Path) -> None:
        """Take one event; one that says nothing about an item is passed over.

        Args:
            event: The event.
            path: Its place, for the flaws.
        """
        kind = event.get("type")
        if not isinstance(kind, str):
            return
        name, _, what = kind.rpartition(".")
        if name == "response.output_item" and what in ("added", "done"):
            self._take_item(event, path, done=what == "done")
        elif name in _PIECES and what in ("added", "delta", "done"):
            self._take_piece(event, path, _PIECES[name], what)
        elif name in _PARTS and what in ("added", "done"):
            self._take_part(event, _PARTS[name])

    def _take_item(self, event: dict[str, Any], path: Path, *, done: bool) -> None:
        value = plain(event.get("item"))
        if not isinstance(value, dict):
            self.flaws.append(flaw((*path, "item"), value, "Use an item: an object with a type."))
            return
        index, item_id = _number(event.get("output_index")), value.get("id")
        item = self._by_id.get(item_id) if isinstance(item_id, str) else None
        at = self._at.get(index) if index is not None else None
        if item is None and done and at is not None and _is_same(at.value, value):
            item = at
        if item is None:
            item = _Item(index, value, losses=self._losses)
            self._items.append(item)
        if isinstance(item_id, str):
            self._by_id[item_id] = item
        if index is not None:
            self._at[index] = item
        if done or not item.done:
            item.value, item.done = value, done

    def _find(self, event: dict[str, Any]) -> _Item | None:
        item_id, index = event.get("item_id"), _number(event.get("output_index"))
        if isinstance(item_id, str) and item_id in self._by_id:
            return self._by_id[item_id]
        if index is not None:
            return self._at.get(index)
        return self._items[-1] if self._items else None

    def _take_piece(self, event: dict[str, Any], path: Path, piece: _Piece, what: str) -> None:
        item, place = self._find(event), _place(event, piece.path)
        if item is None or item.done or place is None:
            return
        item.settle(self._losses)
        key = "delta" if what == "delta" else piece.done
        text = event.get(key)
        if not isinstance(text, str):
            if text is not None:
                self.flaws.append(flaw((*path, key), text, "Use text."))
            return
        if what == "delta":
            item.texts.setdefault(place, []).append(text)
        else:
            item.texts[place] = [text]

    def _take_part(self, event: dict[str, Any], where: tuple[str, ...]) -> None:
        item, place, part = self._find(event), _place(event, where), plain(event.get("part"))
        if item is not None and not item.done and place is not None and isinstance(part, dict):
            item.value = _put(item.value, place, part)

    def lost(self) -> None:
        """An event was lost: no item that is still open is what it says."""
        self._losses += 1

    def whole(self, *, ended: bool) -> list[dict[str, Any]]:
        """The items, in the order of the response.

        Args:
            ended: Whether the stream has its end; if not, a call that did not end either is marked
                as being in progress, so that the reader knows.
        """
        for item in self._items:
            item.settle(self._losses)
        indexes = [item.index for item in self._items if item.index is not None]
        items = self._items
        if len(set(indexes)) == len(items):
            items = sorted(items, key=lambda item: item.index or 0)
        return [item.whole(ended=ended) for item in items]


def _is_same(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a finished item is the one that began at its place, whatever its id is now."""
    if before.get("type") != after.get("type"):
        return False
    one, other = before.get("call_id"), after.get("call_id")
    return one == other or one is None or other is None


def _number(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _place(event: dict[str, Any], path: tuple[str, ...]) -> Path | None:
    """The path with the event's indexes in it, or ``None`` where one is no place in a list."""
    place: list[str | int] = []
    for part in path:
        if not part.endswith("_index"):
            place.append(part)
            continue
        number = _number(event.get(part, 0))
        if number is None or number >= _MOST:
            return None
        place.append(number)
    return tuple(place)


def _put(value: Any, path: Path, new: Any) -> Any:
    """A copy of a value with something else at a path; lists and objects grow where they must."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(value) if isinstance(value, list) else []
        if step > len(items) + _GAP:
            return value
        items += [{} if rest else "" for _ in range(step + 1 - len(items))]
        items[step] = _put(items[step], rest, new)
        return items
    fields = dict(value) if isinstance(value, dict) else {}
    fields[step] = _put(fields.get(step), rest, new)
    return fields
