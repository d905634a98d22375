"""Asking the person at the terminal."""

from __future__ import annotations

import sys

import anyio
from anyio import to_thread

from toolflow.cli.console import harmless
from toolflow.cli.progress import Progress
from toolflow.runtime.approvals import Answer, Question


class TerminalApprover:
    """Puts questions on the terminal, one at a time and in call order.

    Args:
        progress: The display, which stands still while a question is open.
        yes: Whether every question is answered with yes, without asking.
    """

    def __init__(self, progress: Progress, *, yes: bool = False) -> None:
        self._progress = progress
        self._yes = yes
        self._lock: anyio.Lock | None = None

    async def __call__(self, question: Question) -> Answer:
        """Ask, and wait for y, n or a (always)."""
        if self._yes:
            return Answer(approved=True)
        if self._lock is None:
            self._lock = anyio.Lock()
        async with self._lock:
            with self._progress.standing_still():
                return await to_thread.run_sync(self._ask, question, abandon_on_cancel=True)

    def _ask(self, question: Question) -> Answer:
        text = harmless(str(question.text))
        while True:
            sys.stderr.write(f"{question.call}: {text} [y]es, [n]o, [a]lways: ")
            sys.stderr.flush()
            line = sys.stdin.readline()
            word = line.strip().lower()
            if not line or word in {"n", "no"}:
                return Answer(approved=False, reason="the person at the terminal said no")
            if word in {"y", "yes", "a", "always"}:
                return Answer(approved=True, always=word.startswith("a"))
