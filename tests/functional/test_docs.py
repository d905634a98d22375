"""Every code block and every ``$ toolflow`` block of the README and the docs runs.

A page is one story: its blocks run in order, in one folder that starts as a copy of ``flows/``.
``python`` blocks share their names (``await`` is allowed); a block that opens with a comment
``# file: name`` is written to that file first and not run. ``yaml`` blocks that open so are
written, too. In ``console`` blocks, lines after ``$ `` are commands; what follows is what they
print on standard output and standard error, where a line ``...`` stands for any lines, and ``...``
at the end of a line for the rest of it.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NEEDS = {"use-mcp-servers": "mcp"}  # pages by the extra that they need
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^# file: (\S+)\n")


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(language, text) for language, text in _BLOCK.findall(page.read_text("utf-8"))]


def is_story(page: Path) -> bool:
    return any(language in {"python", "console"} for language, _ in blocks(page))


@pytest.mark.parametrize("page", [p for p in PAGES if is_story(p)], ids=lambda p: p.stem)
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem], reason=f"the extra {NEEDS[page.stem]} is not here")
    shutil.copytree(ROOT / "flows", tmp_path / "flows")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, Any] = {"__name__": "__main__"}
    for language, text in blocks(page):
        named = _FILE.match(text)
        if named:
            Path(named[1]).parent.mkdir(parents=True, exist_ok=True)
            Path(named[1]).write_text(text[named.end() :], "utf-8")
        elif language == "python":
            run_python(text, names, page)
        elif language == "console":
            run_console(text, page)


def run_python(text: str, names: dict[str, Any], page: Path) -> None:
    code = compile(text, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if inspect.iscoroutine(result):
        asyncio.run(result)


def run_console(text: str, page: Path) -> None:
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    for command, shown in zip(parts[1::2], parts[2::2], strict=True):
        if not command.startswith("toolflow"):
            continue
        line = command.replace("toolflow", f"{sys.executable} -m toolflow", 1)
        ran = subprocess.run(
            line, shell=True, capture_output=True, text=True, timeout=120, check=False
        )
        printed = ran.stdout + ran.stderr
        assert matches(shown, printed), f"{page.name}: $ {command}\n{printed}"


def matches(shown: str, printed: str) -> bool:
    """Whether output is as shown; a line of three dots stands for any lines, or for none."""
    wanted = "".join(
        "(?:.*\n)*?" if line.strip() == "..." else _line(line) for line in shown.splitlines()
    )
    if printed and not printed.endswith("\n"):
        printed += "\n"
    return re.fullmatch(wanted, printed) is not None


def _line(line: str) -> str:
    start = line.removesuffix("...")
    return re.escape(start) + (".*\n" if start != line else "\n")
