"""Commands that are not one line of text: lists of words, and folders in which they run."""

from __future__ import annotations

import shlex
from typing import Final

from toolflow.errors import UsageError

_SHELLS: Final = frozenset({"bash", "/bin/bash", "/usr/bin/bash", "sh", "/bin/sh", "/usr/bin/sh"})
_SCRIPT: Final = frozenset({"-c", "-lc"})  # a login shell reads the user's own start-up files


def command_line(command: object, folder: object = None) -> str:
    """A command as one line for Bash, as `toolflow.policy.shell.shell_effects` takes it.

    ``["bash", "-lc", "ls src"]`` becomes ``ls src``: what a shell is given as a script is the line.
    Any other list becomes its words, quoted, so that no sign in them means anything.

    Args:
        command: A line, which is given back as it is, or a list of texts.
        folder: The folder in which it runs, if not in that of the call. The line then begins with
            ``cd``, which tells where its relative paths start.

    Returns:
        The line.

    Raises:
        UsageError: If the command is neither text nor a list of texts, or the folder no text.
    """
    line = command if isinstance(command, str) else _joined(command)
    if folder is None or folder == "":
        return line
    if not isinstance(folder, str):
        raise UsageError(f"The folder is a value of type {type(folder).__name__}. Use text.")
    return f"cd -- {shlex.quote(folder)} && {{ {line}\n}}"


def _joined(command: object) -> str:
    if not isinstance(command, list | tuple) or not command:
        kind = type(command).__name__
        raise UsageError(f"The command is a value of type {kind}. Use text or a list of texts.")
    words = list(command)
    if not all(isinstance(word, str) for word in words):
        raise UsageError("The command is a list that holds more than texts. Use texts.")
    if len(words) == 3 and words[0] in _SHELLS and words[1] in _SCRIPT:
        return str(words[2])
    return shlex.join(words)
