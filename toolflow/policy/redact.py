"""Secrets: values under certain names, which nothing that is kept or shown holds (spec 9.4).

A value under a name of ``redact`` becomes ``***`` wherever it stands: in arguments, in the results
of tools, in JSON text inside of either, in the message of the provider. What was found there is a
secret of its turn, and goes out of every other text of the turn as well: reasons, errors, notes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from toolflow.model.outcome import Outcome
from toolflow.model.turn import Turn
from toolflow.policy.brokenjson import keys_and_values, values_in

if TYPE_CHECKING:
    from toolflow.policy.masks import Mask

MASK: Final = "***"
_SHORTEST: Final = 4  # shorter secrets stand in too many other words
_JSON: Final = re.compile(r"\s*[\[{]")


class Redactor:
    """Masks the values that stand under certain names, wherever they stand.

    Args:
        names: Names of arguments and fields, such as ``password`` or ``*_token``; ``*`` stands
            for any letters, and upper and lower case are one.
    """

    __slots__ = ("_pattern", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        joined = "|".join(f"(?:{translate(name.lower())})" for name in self.names)
        self._pattern = re.compile(joined) if joined else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def names_it(self, key: object) -> bool:
        """Whether what stands under a key is a secret."""
        return self._pattern is not None and self._pattern.fullmatch(str(key).lower()) is not None

    def masked(self, value: Any, known: re.Pattern[str] | None = None) -> Any:
        """A value with secrets masked; the value itself where nothing is named.

        Args:
            value: Mappings, lists and scalars; text that holds JSON is looked into.
            known: Matches secrets that were found elsewhere; they are masked in every text.
        """
        return value if self._pattern is None else self._masked(value, known)

    def masked_args(self, args: Any) -> Any:
        """Arguments with secrets masked, also where they stand in other arguments once more."""
        return args if self._pattern is None else self.of(None, values=[args]).value(args)

    def masked_turn(self, turn: Turn, outcomes: Iterable[Outcome | None] = ()) -> Turn:
        """A turn as it is kept: its arguments, its message and its notices without secrets.

        Args:
            turn: The turn.
            outcomes: How its calls settled, whose secrets go out of it as well.
        """
        return self.of(turn, outcomes).turn(turn)

    def masked_outcome(self, outcome: Outcome, turn: Turn | None = None) -> Outcome:
        """An outcome as it is kept: value, error and note without secrets.

        Args:
            outcome: The outcome.
            turn: Its turn, whose secrets go out of it as well.
        """
        return self.of(turn, [outcome]).outcome(outcome)

    def of(
        self,
        turn: Turn | None,
        outcomes: Iterable[Outcome | None] = (),
        values: Iterable[Any] = (),
    ) -> Mask:
        """What masks everything that belongs to one turn.

        Args:
            turn: The turn, or ``None`` where only outcomes are at hand.
            outcomes: How its calls settled, as far as they have.
            values: What else holds its secrets, such as arguments that hooks changed.
        """
        from toolflow.policy.masks import Mask, parts_of  # noqa: PLC0415 - needs this module

        parts = [*values, *(outcome.value for outcome in outcomes if outcome is not None)]
        if turn is not None:
            parts += [[call.args, call.raw] for call in turn.calls]
            rest = [turn.message, turn.extra, *(call.extra for call in turn.calls)]
            parts += parts_of(rest, self)
        return Mask(self, self.secrets(parts))

    def secrets(self, value: Any) -> frozenset[str]:
        """The texts and numbers that stand under names in a value, if they are not too short.

        Args:
            value: Mappings, lists and scalars; text that holds JSON is looked into.
        """
        if self._pattern is None:
            return frozenset()
        found = {text for inner in self._named(value) for text in _texts(inner)}
        return frozenset(text for text in found if len(text) >= _SHORTEST and text != MASK)

    def _masked(self, value: Any, known: re.Pattern[str] | None) -> Any:
        if isinstance(value, str):
            return self._masked_text(value, known)
        if isinstance(value, Mapping):
            return {
                key: MASK if self.names_it(key) else self._masked(inner, known)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._masked(inner, known) for inner in value]
        return value

    def _masked_text(self, text: str, known: re.Pattern[str] | None) -> str:
        if _JSON.match(text):
            value = _parsed(text)
            if value is not _BROKEN:
                masked = self._masked(value, known)
                return text if masked == value else json.dumps(masked, ensure_ascii=False)
        parts, end = [], 0
        for key, begin, after in keys_and_values(text):
            if begin >= end and self.names_it(key):
                parts += [text[end:begin], f'"{MASK}"']
                end = after
        text = "".join([*parts, text[end:]]) if parts else text
        return text if known is None else known.sub(MASK, text)

    def _named(self, value: Any) -> Iterator[Any]:
        """Everything that stands under a name."""
        if isinstance(value, str):
            yield from self._named_in_text(value)
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                if self.names_it(key):
                    yield inner
                else:
                    yield from self._named(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                yield from self._named(inner)

    def _named_in_text(self, text: str) -> Iterator[Any]:
        if _JSON.match(text):
            value = _parsed(text)
            if value is not _BROKEN:
                yield from self._named(value)
                return
        for key, begin, after in keys_and_values(text):
            if self.names_it(key):
                yield values_in(text[begin:after])


def holds_masks(value: Any, redactor: Redactor) -> bool:
    """Whether a value was masked: what stands under a name in it is the mask.

    Args:
        value: Mappings, lists and scalars.
        redactor: What was masked.
    """
    if isinstance(value, Mapping):
        return any(
            inner == MASK if redactor.names_it(key) else holds_masks(inner, redactor)
            for key, inner in value.items()
        )
    if isinstance(value, list | tuple):
        return any(holds_masks(inner, redactor) for inner in value)
    return isinstance(value, str) and MASK in value


_BROKEN: Final = object()


@lru_cache(maxsize=256)
def _parsed(text: str) -> Any:
    """The JSON in a text; nothing changes what is given."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if _JSON.match(value):
            inner = _parsed(value)
            if inner is not _BROKEN and not isinstance(inner, str):
                yield from _texts(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
