"""What a run writes to its journal, and when.

The run itself notes what happens, as it always does; this reads its notes and writes the lines of
all that is new with one write: before a body is entered whose start was not written yet, and soon
after anything else, in the next turn of the event loop. Writing each fact where it happens was the
alternative; it takes a call into the system for each, which alone costs more than running a call.

A start is written before the body is entered, together with those that follow at once (see
`toolflow.recording.journal.starts_ahead`). So a start in a journal says that the body may have been
entered, and its absence that it was not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from toolflow.errors import JournalError
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.recording.journal.ending import begin_text, end_line
from toolflow.recording.journal.journal import Journal
from toolflow.recording.journal.masking import Masker
from toolflow.recording.journal.plan_line import json_line
from toolflow.recording.journal.run_lines import RunLines
from toolflow.recording.journal.starts_ahead import StartsAhead
from toolflow.recording.journal.syncing import Syncing
from toolflow.runtime.loops import next_turn

if TYPE_CHECKING:
    from toolflow.policy import Policy
    from toolflow.recording.checkpoint import Checkpoint
    from toolflow.recording.result import RunResult
    from toolflow.runtime.run import Run


class RunWriter:
    """Writes one run to a journal.

    Args:
        journal: The journal.
        policy: The policy in force, whose text is written once.
        base: What the run goes on from, if it is a resumed one.

    Attributes:
        strict: Whether starts and outcomes wait until they are on the disk.
        ahead: Which calls' starts are written, by index.
        scheduled: Whether what is new will be written in any case.
    """

    def __init__(
        self, journal: Journal, *, policy: Policy | None = None, base: Checkpoint | None = None
    ) -> None:
        self.journal = journal
        self.strict = journal.durability == "strict"
        self._policy = policy
        self._base = base
        redactor = journal.redactor or (policy.redactor if policy is not None else None)
        self._masker = Masker(redactor) if redactor is not None and redactor.names else None
        self.ahead = bytearray()
        self.scheduled = self._closed = self._synced = False
        self._soon: Callable[[Callable[[], None]], object] | None = None
        self._syncing = Syncing(journal)
        self.number = 0
        self._run: Run
        self._lines: RunLines
        self._starts: StartsAhead

    def nested(self) -> RunWriter:
        """A writer of a turn inside a body of this run."""
        return RunWriter(self.journal, policy=self._policy)

    # ---- lines ----

    def begin(self, run: Run) -> None:
        """Write the plan, before anything runs.

        Raises:
            JournalError: If it cannot be written; the run must not begin.
        """
        self._run = run
        self.number = self.journal.next_turn()
        self._lines = RunLines(self.number, run, self._masker)
        self._starts = StartsAhead(run)
        self.ahead = self._starts.written
        text = begin_text(self.number, run, self._base, self._masker)
        policy = self._policy
        if policy is not None and policy.digest not in self.journal.policies:
            line = {"line": "policy", "digest": policy.digest, "text": policy.text}
            self.journal.add(only_now=json_line(line) + text, begins=True)
            self.journal.policies.add(policy.digest)
        else:
            self.journal.add(only_now=text, begins=True)

    def flush(self) -> None:
        """Write what happened.

        Raises:
            JournalError: If it cannot be written now.
        """
        self.journal.add(self._lines.news() + self._recalled())

    def _recalled(self) -> str:
        calls = self._starts.recall() if self._starts.early else ()
        if not calls:
            return ""
        line = {"line": "recalled", "turn": self.number}
        return json_line({**line, "calls": [self._run.plan.calls[i].name for i in calls]})

    def starting(self, index: int) -> None:
        """Write that a body is about to be entered.

        Raises:
            JournalError: If it cannot be written; the body must not be entered.
        """
        run, names = self._run, self._lines.names
        if self._starts.written[index]:
            return
        attempts = run.options.attempts
        lease = run.records[index].lease
        calls, more = names[index], ""
        if index in attempts or lease is not None:
            more = f',"attempt":{attempts.get(index, 0) + 1}'
            if lease is not None:
                more += f',"fence":{lease.fence}'
        else:
            calls = ",".join([names[each] for each in self._starts.group(index)])
        line = f'{{"line":"started","turn":{self.number},"calls":[{calls}]{more}'
        line += f',"at":{run.now():.6f}}}\n'
        try:
            self.journal.add(self._lines.news(), only_now=line)
        except JournalError:
            self._starts.forget()
            raise
        if self._starts.early and not self.scheduled:
            self._schedule()

    def outcome(self, index: int, outcome: Outcome) -> None:
        """Write how a body ended, before that counts.

        Raises:
            JournalError: If it cannot be written now.
        """
        self.journal.add(self._lines.news() + self._lines.ended(index, outcome))

    def prepared(self, call: CallPlan) -> None:
        """Write that a before-hook changed a call's arguments; with the next lines."""
        args = call.args if self._masker is None else self._masker.value(call.args)
        line = {"line": "prepared", "turn": self.number, "call": call.name, "args": args}
        self._add_later(line)

    def aborted(self, cause: str) -> None:
        """Write that the run is aborted: what has not ended is void, however it is opened again."""
        line = {"line": "aborted", "turn": self.number, "cause": self._lines.text(cause)}
        self._add_later(line)

    def _add_later(self, line: Mapping[str, Any]) -> None:
        with suppress(JournalError):  # it is kept, and told with the next lines
            self.journal.add(self._lines.news() + json_line(line))

    # ---- when ----

    def noticed(self) -> None:
        """Something happened: write it in the next turn of the event loop."""
        if self._lines.waiting and not self.scheduled:
            self._schedule()

    def _schedule(self) -> None:
        self.scheduled = True
        if self._soon is None:
            self._soon = next_turn()
        self._soon(self._tick)

    def _tick(self) -> None:
        self.scheduled = False
        if self._closed:
            return
        run = self._run
        try:
            self.flush()
        except JournalError as error:
            run.mail.deliver(partial(run.journal_failed, error))
        except BaseException as error:  # noqa: BLE001  # told when the run has ended
            run.mail.deliver(partial(run.broken, error))
        else:
            if self._starts.early:
                self._schedule()
            if self.journal.durability == "batch" and not self._syncing.goes_on:
                run.mail.deliver(partial(self._syncing.behind, run))

    async def on_disk(self) -> None:
        """Wait until all that was written is on the disk itself.

        Raises:
            JournalError: If it cannot be.
        """
        await self._syncing.on_disk()

    # ---- the end ----

    def close(self) -> None:
        """The tasks of the run end."""
        self._closed = True
        self._syncing.close()

    async def before_commit(self) -> None:
        """Have every outcome where it is to be before the turn is committed.

        Raises:
            JournalError: If that cannot be done.
        """
        self.flush()
        if self.journal.durability != "none":
            await self.on_disk()
            self._synced = True

    async def end(self, result: RunResult | None) -> None:
        """Write how the run ended.

        Args:
            result: What became of it; ``None`` where toolflow itself failed.

        Raises:
            JournalError: If it cannot be written.
        """
        self._closed = True
        line = json_line(end_line(self.number, self._run, result, self._masker))
        self.journal.add(self._lines.news() + line)
        if self.strict or (self.journal.durability == "batch" and not self._synced):
            await self.on_disk()
