"""The corpus of command lines: what is said of each, and that reading ones really only read."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell_lines import READING, WRITING

from toolflow.policy.shell import shell_effects

# Lines that ask the network.
NOT_RUN = {"dig example.org +short"}
OF_THE_ROOT = {"find / -maxdepth 1 -perm -4000", "ls /*"}  # where "/" is written
OLD = 1_600_000_000  # seconds; long before git looks, so that it trusts what it noted of a file


def test_the_corpus_is_large_and_says_each_line_once() -> None:
    lines = [line for line, _ in READING] + [line for line, _ in WRITING]
    assert len(READING) >= 200
    assert len(WRITING) >= 300
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(("line", "reads"), READING, ids=[line for line, _ in READING])
def test_a_reading_line_only_reads_these_paths(line: str, reads: tuple[str, ...] | None) -> None:
    effects = shell_effects(line)
    assert effects.reads_only is True, effects.reason
    assert effects.writes == ()
    assert reads is None or sorted(effects.reads) == sorted(reads)
    assert bool(effects.unknown) is ("/" in effects.reads and line not in OF_THE_ROOT)


@pytest.mark.parametrize(("line", "word"), WRITING, ids=[line for line, _ in WRITING])
def test_a_writing_line_does_not_only_read_and_the_reason_names_why(line: str, word: str) -> None:
    effects = shell_effects(line)
    assert effects.reads_only is False
    assert word in effects.reason
    assert effects.reason.endswith(".")
    assert "\n" not in effects.reason
    assert effects.writes or not effects.unknown


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with files, and a repository where git is installed."""
    top = tmp_path_factory.mktemp("lines")
    home, work = top / "home", top / "work"
    for part in (home, work / "src/sub", work / "docs"):
        part.mkdir(parents=True)
    (home / ".profile").write_text("# profile\n")
    for name in ("notes.txt", "other.txt", "with blank.txt", "docs/a.md", "patterns.txt"):
        (work / name).write_text("one\ntwo main\nthree\n")
    (work / "table.csv").write_text("1,a\n2,b\n")
    (work / "data.json").write_text('{"name": "x", "items": [1, 2]}')
    (work / "src/main.py").write_text("import os\n\ndef main(): ...\n")
    for path in sorted(work.rglob("*")):
        os.utime(path, (OLD, OLD))
    if shutil.which("git"):
        for command in ("init -q -b main", "add .", "commit -q -m first", "tag v1.0", "status"):
            run(f"git {command}", top)
    yield top
    shutil.rmtree(top)


def run(line: str, top: Path) -> None:
    """Run a line in the folder, without a terminal and without anybody's settings."""
    names = {
        f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", line],
        cwd=top / "work",
        env={"PATH": os.environ["PATH"], "HOME": str(top / "home"), "LC_ALL": "C.UTF-8", **names},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def snapshot(top: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file and folder below a folder, with its kind, its time of change and its content.

    The time of git's own folder is left out: git takes a lock there for a moment to note what it
    saw of the files, if it is anything new.
    """
    found = {}
    for path in sorted(top.rglob("*")):
        stat = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        time = 0 if path.name == ".git" else stat.st_mtime_ns
        found[str(path.relative_to(top))] = (stat.st_mode, time, content)
    return found


def test_the_lines_that_only_read_change_no_file_when_they_run(folder: Path) -> None:
    before = snapshot(folder)
    assert len(before) > 12
    for line, _ in READING:
        if line not in NOT_RUN:
            run(line, folder)
            assert snapshot(folder) == before, line


def test_a_line_that_writes_is_seen_by_this_check(folder: Path) -> None:
    before = snapshot(folder)
    run("cat notes.txt > copy.txt", folder)
    assert snapshot(folder) != before
    (folder / "work/copy.txt").unlink()
