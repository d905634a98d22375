"""The transcript: the conversation as committed, written in two phases (spec 9.1, 9.2).

A turn's assistant message and its results are *staged*, then committed in one step. Nothing of them
can be seen before, everything after. Where there is a store, the step is: write the store, then
show it; so memory never holds what the store lost. Writes go one after the other in the order of
asking, and after the first failed write every later one is refused with the same error: what came
after a hole must not be kept.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio

from toolflow.errors import UsageError


class TranscriptStore(Protocol):
    """Where a transcript is kept."""

    async def append(self, messages: Sequence[Any]) -> None:
        """Keep more messages; return only when they are really kept."""

    async def rebuild(self, messages: Sequence[Any]) -> None:
        """Replace everything in one step; on failure everything is as before."""


class Transcript:
    """A list of messages in the provider's form that grows turn by turn.

    Args:
        messages: What was said before.
        store: Where commits are kept, or ``None`` for memory only.
    """

    def __init__(
        self, messages: Sequence[Any] = (), *, store: TranscriptStore | None = None
    ) -> None:
        self._messages = tuple(messages)
        self._store = store
        self._staged: tuple[Any, ...] | None = None
        self._results: tuple[Any, ...] | None = None
        self._lock: anyio.Lock | None = None
        self._error: BaseException | None = None
        self._closed = False

    @property
    def messages(self) -> tuple[Any, ...]:
        """The committed messages."""
        return self._messages

    @property
    def staged(self) -> tuple[Any, ...] | None:
        """The staged assistant message, as one or more messages, or ``None``."""
        return self._staged

    def __len__(self) -> int:
        return len(self._messages)

    def snapshot(self) -> tuple[Any, ...]:
        """What every call of the current turn sees: the committed messages and its own turn's."""
        return self._messages + (self._staged or ())

    def stage(self, assistant: Sequence[Any]) -> None:
        """Stage a turn's assistant message; whatever was staged before is dropped.

        Args:
            assistant: The assistant message, as one or more messages of the provider.
        """
        self._staged = tuple(assistant)
        self._results = None

    def stage_results(self, results: Sequence[Any]) -> None:
        """Stage the results of the staged turn, all of them.

        Args:
            results: The messages that answer the calls, in call order.

        Raises:
            UsageError: If no assistant message is staged; nothing changes.
        """
        if self._staged is None:
            raise UsageError("Results were staged without their assistant message. Stage it first.")
        self._results = tuple(results)

    def discard(self) -> None:
        """Drop what is staged; the committed messages stay as they are."""
        self._staged = self._results = None

    async def commit(self) -> tuple[Any, ...]:
        """Commit the staged turn: the assistant message, then the results, in one step.

        Returns:
            The messages that were added.

        Raises:
            UsageError: If the turn is not staged as a whole; nothing changes.
            Exception: What the store raised, now or at an earlier write; nothing changes.
        """
        staged, results = self._staged, self._results
        if staged is None or results is None:
            raise UsageError("There is no staged turn to commit. Stage its message and results.")
        self.discard()  # at once, so that it cannot be committed twice
        try:
            await self.append(staged + results)
        except BaseException:
            if self._staged is None:
                self._staged, self._results = staged, results
            raise
        return staged + results

    async def append(self, messages: Sequence[Any]) -> None:
        """Add messages that belong to no turn: a user's, a steering message.

        Args:
            messages: Messages in the provider's form.

        Raises:
            UsageError: If the transcript is closed.
            Exception: What the store raised, now or at an earlier write; nothing changes.
        """
        added = tuple(messages)
        async with self._writing():
            if self._store is not None:
                await self._guarded(self._store.append(added))
            self._messages += added

    async def rewind(self, count: int) -> None:
        """Go back to the first messages and drop what is staged.

        Args:
            count: How many messages stay.

        Raises:
            UsageError: If there are not that many; nothing changes.
        """
        if type(count) is not int or not 0 <= count <= len(self._messages):
            raise UsageError(
                f"The transcript cannot go back to {count!r} messages. It has "
                f"{len(self._messages)}."
            )
        await self.rebuild(self._messages[:count])

    async def rewind_to(self, message_id: str) -> None:
        """Go back to just behind the message with this ``id``, and drop what is staged.

        Raises:
            UsageError: If no message has it; nothing changes.
        """
        for place, message in enumerate(self._messages):
            if isinstance(message, dict) and message.get("id") == message_id:
                await self.rewind(place + 1)
                return
        raise UsageError(f"No message of the transcript has the id {message_id!r}.")

    async def rebuild(self, messages: Sequence[Any]) -> None:
        """Replace the whole transcript, as compaction does, and drop what is staged.

        Args:
            messages: The new messages.

        Raises:
            Exception: What the store raised; memory, stage and store are as before.
        """
        fresh = tuple(messages)
        async with self._writing():
            if self._store is not None:
                await self._store.rebuild(fresh)
            self._messages = fresh
            self.discard()

    async def flush(self) -> None:
        """Wait until everything that was asked for before is really kept.

        Raises:
            Exception: What the store raised first.
        """
        async with self._writing():
            pass

    async def close(self) -> None:
        """Flush, and take no more messages. Idempotent.

        Raises:
            Exception: What the store raised first.
        """
        if not self._closed:
            await self.flush()
            self._closed = True

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        """One write at a time, in the order of asking, to its end even if the task is cancelled."""
        if self._lock is None:
            self._lock = anyio.Lock()
        with anyio.CancelScope(shield=True):
            async with self._lock:
                if self._error is not None:
                    raise self._error
                if self._closed:
                    raise UsageError("The transcript is closed.")
                yield

    async def _guarded(self, write: Awaitable[None]) -> None:
        try:
            await write
        except BaseException as error:
            self._error = error
            raise
