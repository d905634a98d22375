"""From YAML text to plain values, event by event.

PyYAML's composer and constructor are not used: they recurse (deep nesting ends the process),
forget doubled keys, expand aliases without a bound and resolve YAML 1.1. Its parsers are: the one
around libyaml where it is there, else the one in Python, eight times slower. Both give the same
events, and everything that is not plain parsing happens here, in one loop without recursion.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from toolflow.errors import Problem
from toolflow.yamlio.document import Spot, doubled, mark, own_mark, place
from toolflow.yamlio.frames import NO_KEY, Anchored, Frame
from toolflow.yamlio.scalars import resolve
from toolflow.yamlio.wording import key_message, parse_problem, tab_problems

MAX_DEPTH: Final = 100
MAX_ALIASED: Final = 10_000
MAX_PROBLEMS: Final = 100

_BAD_KEY: Final = object()  # the value that comes belongs to a key that cannot be used
_MERGE: Final = object()  # the value that comes belongs to `<<`
_BINARY: Final = "tag:yaml.org,2002:binary"
_MERGE_KEY: Final = "<<"


class StopReadingError(Exception):
    """Reading on makes no sense; what was found so far is told."""


class Builder:
    """Builds one document's value and spots, and collects every problem.

    Args:
        text: The text, free of characters that YAML does not allow.
        source: The document's name, for problems.
        binary: Whether the tag ``!!binary`` is allowed.
    """

    def __init__(self, text: str, source: str, *, binary: bool = False) -> None:
        self.text = text
        self.source = source
        self.binary = binary
        self.problems: list[Problem] = []
        self.root = Frame(mapping=False, at=0, anchor=None, before=0)
        self.stack = [self.root]
        self.anchors: dict[str, Anchored | None] = {}
        self.nodes = 0
        self.aliased = 0
        self.documents = 0
        self.quoted: list[tuple[int, int]] = []  # where tabs are text: quoted and block scalars
        self.pause = 0  # reading stops when a close leaves so many frames open; 0: it does not
        self.end = 0  # how far the text was read when it did
        self._next: Any = None

    def build(self) -> tuple[Any, Spot]:
        """Read the whole text.

        Returns:
            The value and its spots. They mean nothing where there are problems.
        """
        from yaml import YAMLError  # noqa: PLC0415 - heavy: loaded when the first YAML is read

        end = len(self.text)
        try:
            self.read(self.text)
        except StopReadingError:
            end = 0  # the rest was not looked at
        except (
            YAMLError,
            ValueError,
            OverflowError,
        ) as error:  # the one in Python leaks the latter
            problem, end = parse_problem(error, self.text, self.source)
            self.problems.append(problem)
        if "\t" in self.text:
            known = {(problem.line, problem.column) for problem in self.problems}
            found = tab_problems(self.text, self.quoted, end, self.source)
            self.problems += [p for p in found if (p.line, p.column) not in known]
        if not self.problems and not self.root.value:
            self._problem("The document is empty.", 0, "empty")
        return (self.root.value[0], self.root.spot[1]) if self.root.value else (None, 0)

    def read(self, given: Any) -> bool:
        """Read up to the next pause, or to the end.

        Args:
            given: The text, or a file of bytes; of no account when reading goes on.

        Returns:
            Whether it is a pause.
        """
        from yaml import events  # noqa: PLC0415 - heavy, see above

        if self._next is None:
            self._next = _events(given)
        next_event = self._next
        scalar, alias = events.ScalarEvent, events.AliasEvent
        opening, closing = events.CollectionStartEvent, events.CollectionEndEvent
        document, end = events.DocumentStartEvent, events.StreamEndEvent
        while True:
            event = next_event()
            kind = type(event)
            if kind is scalar:
                self._scalar(event)
            elif kind is alias:
                self._alias(event)
            elif issubclass(kind, opening):
                self.open(event, mapping=kind is events.MappingStartEvent)
            elif issubclass(kind, closing):
                self.close()
                if len(self.stack) == self.pause:
                    self.end = event.end_mark.index
                    return True
            elif kind is document:
                self._document(event)
            elif kind is end:
                self.end = event.end_mark.index
                return False

    def _document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            at = _mark(event)
            self._problem(
                "A second document starts here. Use one document a file.", at, "documents"
            )
            raise StopReadingError

    def _scalar(self, event: Any) -> None:
        start = event.start_mark
        at = mark(start.line, start.column)
        self.nodes += 1
        value: Any = event.value
        frame = self.stack[-1]
        if event.tag is not None:
            if self.binary and event.tag == _BINARY:
                value = "".join(value.split())
            else:
                self._refuse_tag(event, at)
        elif event.implicit[0]:
            if value == _MERGE_KEY and frame.mapping and frame.key is NO_KEY:
                self._merge_key(frame, at)
                return
            try:
                value = resolve(value)
            except ValueError as error:
                self._problem(str(error), at, "number")
        else:
            self.quoted.append((start.index, event.end_mark.index))
        self._add(frame, value, at)
        if event.anchor is not None:
            self.anchors[event.anchor] = Anchored(value, at, 1, 0)

    def _add(self, frame: Frame, value: Any, spot: Spot) -> None:
        if not frame.mapping:
            frame.value.append(value)
            frame.spot.append(spot)
            return
        key = frame.key
        if key is NO_KEY:
            self._key(frame, value, own_mark(spot))
            return
        frame.key = NO_KEY
        if key is _MERGE:
            self._merge(frame, value, spot)
        elif key is not _BAD_KEY:
            frame.value[key] = value
            frame.spot[key] = (frame.key_mark, spot)

    def _key(self, frame: Frame, key: Any, at: int) -> None:
        frame.key_mark = at
        frame.key = key
        if not isinstance(key, str):
            frame.key = _BAD_KEY
            self._problem(key_message(key), at, "key")
        elif key in frame.spot:
            self._problem(doubled(key, frame.spot[key][0]), at, "doubled_key")

    def _merge_key(self, frame: Frame, at: int) -> None:
        frame.key = _MERGE
        if frame.merges:
            self._problem(
                "The key '<<' stands here again. Use one '<<' with a list.", at, "doubled_key"
            )

    def _merge(self, frame: Frame, value: Any, spot: Spot) -> None:
        values = [(value, spot)]
        if isinstance(value, list):
            values = list(zip(value, spot[1:], strict=True))
        for part, part_spot in values:
            if not isinstance(part, dict):
                allowed = "Use the alias of a mapping, or a list of them."
                self._problem(
                    f"'<<' takes in what is no mapping. {allowed}", own_mark(part_spot), "merge"
                )
            else:
                frame.merges.append((part, part_spot))

    def open(self, event: Any, *, mapping: bool) -> None:
        """Begin a list or a mapping."""
        at = _mark(event)
        if len(self.stack) > MAX_DEPTH:
            self._too_deep(at)
        if event.tag is not None:
            self._refuse_tag(event, at)
        if event.anchor is not None:
            self.anchors[event.anchor] = None  # open: an alias of it would stand inside itself
        self.stack.append(Frame(mapping=mapping, at=at, anchor=event.anchor, before=self.nodes))
        self.nodes += 1

    def close(self) -> None:
        """End the list or mapping that was begun last."""
        frame = self.stack.pop()
        parent = self.stack[-1]
        if frame.height >= parent.height:
            parent.height = frame.height + 1
        for value, spot in frame.merges:
            for key, inner in value.items():
                if key not in frame.value:
                    frame.value[key] = inner
                    frame.spot[key] = spot[key]
        if frame.anchor is not None:
            size = self.nodes - frame.before
            self.anchors[frame.anchor] = Anchored(frame.value, frame.spot, size, frame.height)
        self._add(parent, frame.value, frame.spot)

    def _alias(self, event: Any) -> None:
        at, name = _mark(event), event.anchor
        found = self.anchors.get(name)
        if found is None:
            text = (
                "stands inside what it names" if name in self.anchors else "has no anchor before it"
            )
            self._problem(f"The alias '*{name}' {text}.", at, "alias")
            self._add(self.stack[-1], None, at)
            return
        self.nodes += found.size
        self.aliased += found.size
        if self.aliased > MAX_ALIASED:
            allowed = f"Use at most {MAX_ALIASED:,} values by way of aliases."
            self._problem(f"The aliases stand for too much. {allowed}", at, "alias")
            raise StopReadingError
        if len(self.stack) + found.height > MAX_DEPTH + 1:
            self._too_deep(at)
        parent = self.stack[-1]
        parent.height = max(parent.height, found.height + 1)
        self._add(parent, deepcopy(found.value), found.spot)

    def _too_deep(self, at: int) -> None:
        message = f"The document is nested too deep here. Use at most {MAX_DEPTH} levels."
        self._problem(message, at, "depth")
        raise StopReadingError

    def _refuse_tag(self, event: Any, at: int) -> None:
        name = str(event.tag).replace("tag:yaml.org,2002:", "!!")
        self._problem(f"The tag {name!r} is not allowed. Leave it out.", at, "tag")

    def _problem(self, message: str, at: int, code: str) -> None:
        self.problems.append(Problem(message, self.source, *place(at), code=code))
        if len(self.problems) >= MAX_PROBLEMS:
            raise StopReadingError


def _mark(event: Any) -> int:
    return mark(event.start_mark.line, event.start_mark.column)


def _events(given: Any) -> Any:
    """The function that gives the next event of a text, from the faster parser there is."""
    import yaml  # noqa: PLC0415 - heavy, see above

    # Only the parser part of the loader is used: nothing is composed or constructed.
    loader = getattr(yaml, "CLoader", yaml.Loader)
    return loader(given).get_event
