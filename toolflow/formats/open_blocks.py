"""Where a stream of events stands: whether its message has begun, and which blocks are open.

For the providers whose streams tell the start and the end of the message and of each block in it.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from toolflow.formats.streaming import Block, Oddities

At = TypeVar("At")
AnyBlock = TypeVar("AnyBlock", bound=Block)


class OpenBlocks(Generic[At, AnyBlock]):
    """The blocks of one message that take more pieces, by their place. Lives in one join only.

    Args:
        odd: What was odd about the stream; what is missing of it is told there.
    """

    def __init__(self, odd: Oddities) -> None:
        self._odd = odd
        self._blocks: dict[At, AnyBlock] = {}
        self._started = self._ended = False

    def start(self, first: Any = None, second: Any = None) -> None:
        """Begin the message.

        Args:
            first: What the message is called that may have begun before.
            second: What the message is called that begins.
        """
        if self._started:
            self._odd.second_start(first, second)
        self._close(finished=False)
        self._started, self._ended = True, False

    def end(self) -> None:
        """End the message, and all blocks with it."""
        self._ended = True
        self._close(finished=True)

    def get(self, at: At) -> AnyBlock | None:
        """The block that is open at a place, or ``None``."""
        return self._blocks.get(at)

    def begin(self, at: At, block: AnyBlock) -> AnyBlock:
        """Open a block; one that is open at its place has broken off.

        Args:
            at: Its place.
            block: The block.

        Returns:
            The block itself.
        """
        self._finish(at, finished=False)
        block.torn = self._odd.torn_events
        self._blocks[at] = block
        return block

    def finish(self, at: At) -> None:
        """End the block that is open at a place."""
        self._finish(at, finished=True)

    def break_off(self) -> None:
        """Take no more events, and tell where the start or the end of the message is missing."""
        self._close(finished=False)
        if not self._started:
            self._odd.no_start()
        if not self._ended:
            self._odd.no_end()

    def _finish(self, at: At, *, finished: bool) -> None:
        block = self._blocks.pop(at, None)
        if block is not None:
            block.end(self._odd, finished=finished)

    def _close(self, *, finished: bool) -> None:
        for at in list(self._blocks):
            self._finish(at, finished=finished)
