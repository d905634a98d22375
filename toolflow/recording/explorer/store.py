"""A simulated store: what bodies read when they start and write when they stop.

A call reads the cells of all its keys when its body is entered, and writes the cells of its write
keys when the body has stopped; what it writes is made of itself and of all that it read. An
exclusive call that declares nothing touches every cell. So two calls that overlap where they must
not, or that run in the wrong order, leave another state than the one-after-another run: the test
of conflict serialisability (conformance 155).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toolflow.model.batch import CallPlan
from toolflow.model.keys import covers

WORLD = "*"  # the cell that an exclusive call writes and every other call reads
Cells = dict[str, int]


class Store:
    """Names for values, and the cells that each call touches.

    Args:
        calls: Every form that any call may take.
    """

    def __init__(self, calls: Iterable[CallPlan]) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        forms = list(calls)
        self._keys = sorted({key for c in forms for key in (*(c.reads or ()), *(c.writes or ()))})
        self._touched: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._forms = forms  # kept, because `_touched` knows them by identity

    def read(self, call: CallPlan, cells: Mapping[str, int]) -> int:
        """What a body sees when it starts, as one number."""
        reads, _ = self._cells(call)
        return self._number(("read", *(cells.get(cell, 0) for cell in reads)))

    def write(self, call: CallPlan, seen: int, cells: Mapping[str, int]) -> Cells:
        """The cells after a body has stopped."""
        _, writes = self._cells(call)
        value = self._number(("write", call.index, seen))
        return {**cells, **dict.fromkeys(writes, value), f"={call.index}": value}

    def serial(self, calls: Sequence[CallPlan], ran: Iterable[int]) -> Cells:
        """The cells after the given calls ran one after the other, in call order."""
        cells: Cells = {}
        for index in sorted(ran):
            cells = self.write(calls[index], self.read(calls[index], cells), cells)
        return cells

    def _number(self, value: tuple[object, ...]) -> int:
        return self._numbers.setdefault(value, len(self._numbers) + 1)

    def _cells(self, call: CallPlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
        known = self._touched.get(id(call))
        if known is None:
            known = self._touched[id(call)] = self._find(call)
            self._forms.append(call)
        return known

    def _find(self, call: CallPlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
        reads, writes = self._under(call.reads or ()), self._under(call.writes or ())
        if call.verdict.kind == "exclusive":
            everything = {*self._keys, WORLD} if not reads and not writes else {WORLD}
            reads, writes = reads | everything, writes | everything
        return tuple(sorted(reads | writes | {WORLD})), tuple(sorted(writes))

    def _under(self, keys: Iterable[str]) -> set[str]:
        return {cell for key in keys for cell in self._keys if cell == key or covers(key, cell)}
