"""The errors of toolflow.

    ToolflowError
    ├── DocumentError            a document that cannot be used; every problem at once
    │   ├── ConfigError          the author's documents
    │   │   ├── PolicyError
    │   │   ├── FlowError
    │   │   └── RecordingError
    │   ├── TurnError            a message or log that cannot be read as a turn
    │   └── PlanError            a plan that does not hold together
    ├── UsageError               a call of the API or the command line with a wrong value
    ├── RunError                 a run that cannot go on
    │   ├── CheckpointError
    │   ├── JournalError         the journal cannot be written or read
    │   ├── LockCycleError
    │   ├── LockLostError
    │   ├── LockStoreError
    │   └── ServerError          an MCP server that did not start
    ├── ReplayError
    │   └── DivergenceError      a replay that left the recorded path
    ├── RenderError
    └── InternalError            a bug of toolflow's own

The model's mistakes and the failures of tools are outcomes, never errors (ADR 0003).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a document.

    Attributes:
        message: A sentence: what is wrong with which value, and what is allowed.
        source: The file's name, or a word such as ``<policy>`` where there is no file.
        line: The line, counted from 1, or ``None`` where it is not known.
        column: The column, counted from 1, or ``None`` where it is not known.
        code: A short stable word for the kind of problem, for machines.
        severity: ``warning`` for what is odd about a document that can be used all the same.
    """

    message: str
    source: str = "<input>"
    line: int | None = None
    column: int | None = None
    code: str = "invalid"
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        where = [self.source, *(str(n) for n in (self.line, self.column) if n is not None)]
        return f"{':'.join(where)}: {self.message}"


class ToolflowError(Exception):
    """The base of every error that toolflow raises on purpose."""


class DocumentError(ToolflowError):
    """A document cannot be used. Carries every problem found, not only the first.

    Args:
        problems: At least one problem.
    """

    def __init__(self, problems: Iterable[Problem] | Problem | str) -> None:
        if isinstance(problems, str):
            problems = Problem(problems)
        self.problems: tuple[Problem, ...] = (
            (problems,) if isinstance(problems, Problem) else tuple(problems)
        )
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @property
    def source(self) -> str:
        """The name of the document."""
        return self.problems[0].source if self.problems else "<input>"


class ConfigError(DocumentError):
    """A document that its author has to mend: a policy, a flow or a recording."""


class PolicyError(ConfigError):
    """A policy that cannot be used."""


class FlowError(ConfigError):
    """A flow that cannot be used."""


class RecordingError(ConfigError):
    """A recording that cannot be used."""


class TurnError(DocumentError):
    """A message or a log that cannot be read as a turn."""


class PlanError(DocumentError):
    """A plan that does not hold together, or that cannot be compiled."""


class UsageError(ToolflowError):
    """A value given to the API or on the command line that is not allowed."""


class RunError(ToolflowError):
    """A run that cannot go on."""


class CheckpointError(RunError):
    """A checkpoint that does not fit, or an answer for a call that does not wait for one."""


class JournalError(RunError):
    """A journal cannot be written or read.

    A run stops for it before its next body starts, and bodies that run finish.

    Attributes:
        result: What became of the run that could not write its journal (a `RunResult`; where the
            run could pause, with the checkpoint to go on from), or ``None``.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.result: Any = None


class LockCycleError(RunError):
    """Waiting for these keys would close a circle of calls that wait for each other."""


class LockLostError(RunError):
    """Keys that were held were lost, or a key is held by a body that never stopped."""


class LockStoreError(RunError):
    """A lock store that lives outside this process cannot be used: no key is taken then."""


class ServerError(RunError):
    """An MCP server cannot be used; all others that were to start with it are closed.

    Args:
        message: Which one, and why, as one line.
        server: Its name.
        output: The last lines that it wrote to stderr.
    """

    def __init__(self, message: str, *, server: str, output: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.server = server
        self.output = tuple(output)


class ReplayError(ToolflowError):
    """A recording cannot be replayed."""


class DivergenceError(ReplayError):
    """A replay left the recorded path.

    Args:
        message: Where it diverged and how, as one line.
        call: The id of the call at which it diverged, or ``None`` for the turn as a whole.
        expected: What the recording holds.
        actual: What is now.
        kind: The kind of difference, where a replay may pass over it; else empty.
    """

    def __init__(
        self,
        message: str,
        *,
        call: str | None = None,
        expected: object = None,
        actual: object = None,
        kind: str = "",
    ) -> None:
        super().__init__(message)
        self.call = call
        self.expected = expected
        self.actual = actual
        self.kind = kind


class RenderError(ToolflowError):
    """A picture cannot be made."""


class InternalError(ToolflowError):
    """A bug of toolflow's own, not of its caller's."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} This is a bug in toolflow, please report it.")
