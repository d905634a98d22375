"""What a shell command does, told from its text (spec 16, faults 57 to 66).

``shell_effects(line)`` tells whether a command line only reads, what it reads and writes, and
what it cannot tell. Nothing is run, looked up or expanded. It fails closed: a line only reads where
every part of it is fully understood: its words, its operators, its redirections, each command by
a table, each option by an allow-list. The first word alone decides nothing.

* `lexer` and `grammar` read the line twice, and have to agree;
* `judge` goes through its parts, and follows ``cd``;
* `commands`, and the tables it leads to, know single commands.
"""

from __future__ import annotations

from functools import lru_cache

from toolflow.errors import UsageError
from toolflow.policy.effects import ShellEffects
from toolflow.policy.shell.grammar import MAX_LENGTH, line_of, require_grammar
from toolflow.policy.shell.judge import judge
from toolflow.policy.shell.lexer import NotFollowedError
from toolflow.policy.shell.report import Report

__all__ = ["ShellEffects", "require_grammar", "shell_effects"]


def shell_effects(command: str) -> ShellEffects:
    """Tell what a command line does, as far as its text tells it.

    Args:
        command: A command line for Bash, of any content and length.

    Returns:
        Its effects; equal lines share one value.

    Raises:
        UsageError: If the command is no text, or the Bash grammar (``toolflow[shell]``) is not
            installed.
    """
    given: object = command  # what policies hand over is checked, whatever the type says
    if not isinstance(given, str):
        kind = type(given).__name__
        raise UsageError(f"The command is a value of type {kind}. Use text.")
    # What is longer is refused by its length; cut, it does not fill the memory.
    return _effects(str(given[: MAX_LENGTH + 1]))


@lru_cache(maxsize=512)
def _effects(command: str) -> ShellEffects:
    report = Report()
    try:
        judge(line_of(command), report)
    except NotFollowedError as odd:
        report.not_understood(str(odd))
    return report.effects()
