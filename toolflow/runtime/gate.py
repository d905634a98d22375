"""A gate for harnesses that cannot hand over their loop (spec 14).

Such a harness starts the calls of a turn itself, each in a task of its own. It lets every safe call
through `TurnGate.share` and every other one through `TurnGate.exclusive`, and has what a plan's
pools and barriers would give it. It is the keyed lock with one key: the queue is the same, so what
was tested there holds here.
"""

from __future__ import annotations

from toolflow.locks.blocks import Hold
from toolflow.locks.keyed_lock import KeyedLock

_KEY = "turn"


class TurnGate:
    """Lets safe calls through together, and exclusive ones alone.

        gate = TurnGate()
        async with gate.share(): ...      # a safe call
        async with gate.exclusive(): ...  # any other

    First come, first served: an exclusive call waits for everybody who asked before it, and who
    asks after it waits for it. Giving up, by cancellation or by a time limit, frees the place at
    once. What is called inside a block may pass the gate again without waiting, as nested calls
    do; where two of those who share would both become exclusive, the second fails with
    `LockCycleError`. It may be used from several event loops in several threads.
    """

    def __init__(self) -> None:
        self._lock = KeyedLock()

    def share(self, *, timeout: float | None = None, label: str = "") -> Hold:
        """Pass beside others who share.

        Args:
            timeout: Seconds to wait; ``None`` for as long as it takes.
            label: The name that people see for the holder.

        Returns:
            A context manager for ``async with``, for one block.

        Raises:
            TimeoutError: If the place was not free within the given time.
            LockCycleError: If waiting would close a circle.
        """
        return self._lock.hold(reads=_KEY, timeout=timeout, label=label)

    def exclusive(self, *, timeout: float | None = None, label: str = "") -> Hold:
        """Pass alone.

        Args:
            timeout: As for `share`.
            label: As for `share`.

        Returns:
            A context manager for ``async with``, for one block.

        Raises:
            TimeoutError, LockCycleError: As for `share`.
        """
        return self._lock.hold(writes=_KEY, timeout=timeout, label=label)

    def __repr__(self) -> str:
        queue = self._lock.store.statistics().keys.get(_KEY)
        if queue is None:
            return "<TurnGate: free>"
        return f"<TurnGate: {len(queue.holders)} inside, {len(queue.waiters)} waiting>"
