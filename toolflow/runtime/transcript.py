"""The transcript: the conversation as committed, written in two phases (spec 9.1, 9.2).

A turn's assistant message and its results are *staged*, then committed in one step. Nothing of them
can be seen before, everything after. Where there is a store, the step is: write the store, then
show it; so memory never holds what the store lost. Writes go one after the other in the order of
asking, and after the first failed write every later one is refused with the same error: what came
after a hole must not be kept. A rebuild that fails leaves no hole, so it stops nobody.

Each write runs in a task of its own, since a task that asyncio cancels cannot shield what it awaits
itself, and a store that is cut off half-way leaves nobody knowing what it holds. The place in the
queue is taken before the task starts: tasks that start together run in any order on trio.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import anyio

from toolflow.errors import RunError, UsageError

_Change = Callable[[], Awaitable[None]]


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

    Raises:
        UsageError: If the messages are no list of messages.
    """

    def __init__(
        self, messages: Sequence[Any] = (), *, store: TranscriptStore | None = None
    ) -> None:
        self._messages = _several(messages)
        self._store = store
        self._staged: tuple[Any, ...] | None = None
        self._results: tuple[Any, ...] | None = None
        self._last: anyio.Event | None = None  # set once the write that was asked for last ended
        self._error: Exception | None = None
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

        Raises:
            UsageError: If it is no list of messages; nothing changes.
        """
        self._staged, self._results = _several(assistant), None

    def stage_results(self, results: Sequence[Any]) -> None:
        """Stage the results of the staged turn, all of them.

        Args:
            results: The messages that answer the calls, in call order.

        Raises:
            UsageError: If no assistant message is staged, or these are no list of messages; nothing
                changes.
        """
        if self._staged is None:
            raise UsageError("Results were staged without their assistant message. Stage it first.")
        self._results = _several(results)

    def discard(self) -> None:
        """Drop what is staged; the committed messages stay as they are."""
        self._staged = self._results = None

    async def commit(self) -> tuple[Any, ...]:
        """Commit the staged turn: the assistant message, then the results, in one step.

        Returns:
            The messages that were added.

        Raises:
            UsageError: If the turn is not staged as a whole, or the transcript is closed; nothing
                changes.
            Exception: What the store raised, now or at an earlier write; the turn is staged as
                before, unless another one was staged meanwhile.
        """
        assistant, results = self._staged, self._results
        if assistant is None or results is None:
            raise UsageError("There is no staged turn to commit. Stage its message and results.")
        self._check_open()
        self.discard()  # so that it cannot be committed twice, and the next may be staged

        async def change() -> None:
            try:
                await self._append(assistant + results)
            except BaseException:
                if self._staged is None:
                    self._staged, self._results = assistant, results
                raise

        await self._write(change)
        return assistant + results

    async def append(self, messages: Sequence[Any]) -> None:
        """Add messages that belong to no turn: a user's, a steering message.

        Args:
            messages: Messages in the provider's form.

        Raises:
            UsageError: If the transcript is closed, or these are no list of messages.
            Exception: What the store raised, now or at an earlier write; nothing changes.
        """
        added = _several(messages)
        await self._write(lambda: self._append(added))

    async def rewind(self, count: int) -> None:
        """Go back to the first messages and drop what is staged.

        Args:
            count: How many messages stay, of those that are there once all earlier writes are done.

        Raises:
            UsageError: If there are not that many, or the transcript is closed; nothing changes.
            Exception: As for `rebuild`.
        """

        def first() -> tuple[Any, ...]:
            if type(count) is not int or not 0 <= count <= len(self._messages):
                raise UsageError(
                    f"The transcript cannot go back to {count!r} messages. "
                    f"Use an integer from 0 to {len(self._messages)}."
                )
            return self._messages[:count]

        await self._write(lambda: self._rebuild(first))

    async def rewind_to(self, message_id: str) -> None:
        """Go back to just behind the message with this ``id``, and drop what is staged.

        Args:
            message_id: The id of a message that is a mapping with the key ``id``.

        Raises:
            UsageError: If no message has it, or the transcript is closed; nothing changes.
            Exception: As for `rebuild`.
        """

        def first() -> tuple[Any, ...]:
            for place, message in enumerate(self._messages):
                if isinstance(message, Mapping) and message.get("id") == message_id:
                    return self._messages[: place + 1]
            raise UsageError(f"No message of the transcript has the id {message_id!r}.")

        await self._write(lambda: self._rebuild(first))

    async def rebuild(self, messages: Sequence[Any]) -> None:
        """Replace the whole transcript, as compaction does, and drop what is staged.

        Args:
            messages: The new messages.

        Raises:
            UsageError: If the transcript is closed, or these are no list of messages.
            Exception: What the store raised, now or at an earlier append; memory, stage and store
                are as before. What it raised now stops no later write.
        """
        fresh = _several(messages)
        await self._write(lambda: self._rebuild(lambda: fresh))

    async def flush(self) -> None:
        """Wait until everything that was asked for before is really kept.

        Raises:
            Exception: What the store raised first.
        """
        if self._last is not None:
            await self._last.wait()
        if self._error is not None:
            raise self._error

    async def close(self) -> None:
        """Take no more messages, and wait until all that were taken are kept. Idempotent.

        Raises:
            Exception: What the store raised first.
        """
        self._closed = True
        await self.flush()

    # ---- writing ----

    async def _write(self, change: _Change) -> None:
        """Do a change behind all that were asked for before, and to its end, come what may."""
        self._check_open()
        if self._store is None:  # nothing to wait for, for nobody
            await change()
            return
        before, done = self._last, anyio.Event()
        self._last = done
        errors: list[BaseException] = []

        async def work() -> None:
            with anyio.CancelScope(shield=True):
                try:
                    if before is not None:
                        await before.wait()
                    await change()
                except BaseException as error:  # noqa: BLE001  # raised again where it was asked for
                    errors.append(error)
                finally:
                    done.set()

        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
        for error in errors:
            raise error

    async def _append(self, added: tuple[Any, ...]) -> None:
        if self._store is not None:
            if self._error is not None:
                raise self._error
            try:
                await self._store.append(added)
            except BaseException as error:
                self._error = _lasting(error)
                raise
        self._messages += added

    async def _rebuild(self, make: Callable[[], tuple[Any, ...]]) -> None:
        if self._error is not None:
            raise self._error
        fresh = make()
        if self._store is not None:
            await self._store.rebuild(fresh)
        self._messages = fresh
        self.discard()

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError("The transcript is closed.")


def _several(messages: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(messages, str | bytes | Mapping):  # one message, whose parts would be taken apart
        raise UsageError(f"The messages are one {type(messages).__name__}. Use a list of messages.")
    return tuple(messages)


def _lasting(error: BaseException) -> Exception:
    """What later writes are refused with; a cancellation of this one must not cancel them."""
    if isinstance(error, Exception):
        return error
    lasting = RunError("A write of the transcript was cut off, so nothing more can be kept.")
    lasting.__cause__ = error
    return lasting
