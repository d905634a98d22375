"""The shell commands of real sessions: how many are judged reading, and which.

The sessions lie outside the project (see `tests/support/corpus.py`). The sample was read by hand:
each line that is judged reading was looked at, and none writes.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from corpus import corpus_dir

from toolflow.formats.session import read_session
from toolflow.policy.shell import shell_effects

# Commands of which no use in these sessions is judged reading.
WRITERS = {
    "brew", "chmod", "curl", "gh", "mkdir", "npm", "npx", "pkill", "powershell.exe", "python",
    "ssh", "ssh-keygen", "sudo", "timeout", "winget",
}  # fmt: skip
# The same of subcommands of git.
GIT_WRITERS = {"add", "checkout", "commit", "fetch", "merge", "pull", "push", "rebase"}
READERS = {"cat", "dig", "echo", "find", "git", "grep", "head", "ls", "test", "whoami"}


@cache
def commands() -> tuple[str, ...]:
    """The command of every call of the tool ``Bash``, in the order of the logs."""
    logs = sorted(Path(corpus_dir("claude-code")).glob("*.jsonl"))
    return tuple(
        call.args["command"]
        for log in logs
        for turn in read_session(log).turns
        for call in turn.turn.calls
        if call.tool == "Bash" and isinstance(call.args.get("command"), str)
    )


def parts(line: str) -> list[list[str]]:
    """The words of the parts of a line, split roughly: enough to look at plain lines by hand."""
    for sign in ("&&", "||", "|", ";", "\n"):
        line = line.replace(sign, "\0")
    return [words for part in line.split("\0") if (words := part.split())]


def test_so_many_commands_are_judged_reading() -> None:
    reading = [line for line in commands() if shell_effects(line).reads_only]
    assert (len(commands()), len(reading), len(set(reading))) == (599, 109, 86)


def test_what_writes_by_its_first_words_is_never_judged_reading() -> None:
    for line in commands():
        words = [part[:2] for part in parts(line)]
        heads = {part[0] for part in words}
        git = {part[1] for part in words if part[0] == "git" and len(part) > 1}
        if heads & WRITERS or git & GIT_WRITERS:
            quoted = '"' in line or "'" in line  # then the parts may be wrong
            assert quoted or not shell_effects(line).reads_only, line


def test_what_is_judged_reading_begins_with_commands_that_were_looked_at() -> None:
    reading = [line for line in commands() if shell_effects(line).reads_only]
    heads = Counter(parts(line)[0][0] for line in reading)
    assert set(heads) - READERS == {"cd", "false", "ps", "pwd", "sleep", "tree"}


def test_every_command_has_one_sentence_that_says_why() -> None:
    for line in commands():
        reason = shell_effects(line).reason
        assert reason.endswith(".")
        assert reason.isprintable()
