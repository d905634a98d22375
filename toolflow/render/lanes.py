"""Spans of time in as few lanes as there are spans at once: greedy colouring of intervals."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from toolflow.errors import UsageError


def lanes_of(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Share spans out among lanes, so that no two in one lane overlap.

    Args:
        spans: Begin and end of each, the end not before the begin. One that ends when another
            begins does not overlap it.

    Returns:
        The lane of each span, counted from 0: the lowest one that is free when it begins. There
        are as many lanes as spans overlap at most. Takes linear-logarithmic time.

    Raises:
        UsageError: If a span ends before it begins.
    """
    lanes = [0] * len(spans)
    busy: list[tuple[int, int]] = []  # when it becomes free, and the lane
    free: list[int] = []

    def order(at: int) -> tuple[int, bool, int]:
        begin, end = spans[at]
        return begin, end > begin, at  # what takes no time comes first: it overlaps nothing

    for at in sorted(range(len(spans)), key=order):
        begin, end = spans[at]
        if end < begin:
            raise UsageError(f"spans: one ends at {end}, before it begins at {begin}.")
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lanes[at] = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, lanes[at]))
    return lanes
