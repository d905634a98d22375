"""Random command lines of harmless pieces, and a folder in which reading ones run for real."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

from toolflow.policy.shell.options import allowed
from toolflow.policy.shell.readers import READERS

# Pieces that read, pieces that make the file z, and what joins, hides or breaks them.
PIECES = (
    "ls", "cat a", "cat", "echo", "a", "b c", "grep x a", "head -1 a", "wc", "true", "sort a",
    "printf %s", "find . -name a", "sed -n p a", "test -f a", "[ -f a ]", "cd d", "-l", "--", "-",
    "touch z", "tee z", "cp a z", "touch", "z", "> z", ">z", ">> z", ">|z", "&>z", "2>z", ">&z",
    "<>z", "$(touch z)", "`touch z`", "<(touch z)", "-exec touch z ;", "-fprint z", "-o z", "w z",
    "sort -o", "sed 'w z' a", "xargs touch", "eval", "bash -c", "command", "exec", "time", "env",
    "if", "then", "fi", "for", "in", "do", "done", "while", "case", "esac", "function", "f()", "!",
    "{", "}", "(", ")", "((", "))", "[[", "]]", "[", "]", ";", ";;", "&&", "||", "|", "|&", "&",
    "<", ">", "<<<", "2>&1", ">/dev/null", "2>/dev/null", "</dev/null", "<<E\n", "E\n",
    "'", '"', "\\", "\\\n", "\n", " ", "\t", "#", "# x\n", "$", "$x", '"$x"', "${x}", "$'", "{a,b}",
    "*", "?", "[a]", "~", "=", "x=1", "A=touch", "z=z", "1", "2", "1>z", ",", "..", "\\;", "\\ ",
    "'touch z'", '"touch z"', "'a'b", "é",
)  # fmt: skip


def soup(choice: random.Random) -> str:
    """A random line."""
    glue = choice.choice(["", " ", " ", " "])
    return glue.join(choice.choice(PIECES) for _ in range(choice.randint(1, 9)))


def sensible(choice: random.Random) -> str:
    """A random line that is mostly well formed: pieces of commands with operators between them."""
    parts = []
    for _ in range(choice.randint(1, 4)):
        parts += [choice.choice(PIECES[:20]), choice.choice(PIECES), choice.choice(["", " a"])]
        parts.append(choice.choice([";", "&&", "||", "|", "\n", "", " "]))
    return " ".join(parts[:-1])


# Commands that are installed, and end by themselves.
INSTALLED = sorted(name for name in READERS if shutil.which(name) and name not in ("sleep", "tail"))


def with_options(choice: random.Random) -> str:
    """A reading command with options of its allow-list, put together at random, and a file z."""
    name = choice.choice(INSTALLED)
    kinds = allowed(READERS[name].options).kinds
    short = [option[1] for option in kinds if option[1] != "-"]
    words = [name]
    for _ in range(choice.randint(1, 3)):
        option = choice.choice(list(kinds) or ["--"])
        if option[1:2] == "-":
            words.append(option + choice.choice(["", "=z", "=1"] if kinds.get(option) else [""]))
        else:
            words.append("-" + "".join(choice.choices(short, k=choice.randint(1, 3))))
    words += choice.choice([["a"], ["a", "z"], ["1", "a", "z"], ["z", "a"], ["--", "a", "z"], []])
    return " ".join(words)


class Folder:
    """A folder with two files, in which lines are run.

    Args:
        path: An empty folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "a").write_text("x\ny\n")
        (path / "d").mkdir()
        self._before = self._seen()

    def changed_by(self, line: str) -> bool:
        """Run a line; whether anything in the folder is different after it."""
        try:
            subprocess.run(
                ["bash", "--norc", "--noprofile", "-c", line],
                cwd=self.path,
                env={"PATH": os.environ["PATH"], "HOME": str(self.path), "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )
        except ValueError:  # a line that no system takes as an argument
            return False
        return self._seen() != self._before

    def _seen(self) -> list[tuple[str, bytes]]:
        return sorted(
            (str(path.relative_to(self.path)), path.read_bytes() if path.is_file() else b"")
            for path in self.path.rglob("*")
        )
