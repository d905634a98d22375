"""Faults where calls share what they should not, or run again when they must not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from toolflow.engine import Engine
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools.shell import shell_tool


@pytest.mark.skipif(os.name != "posix", reason="commands need process groups")
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_b073_loops_in_two_shells_do_not_see_each_other(tmp_path: Path, backend: str) -> None:
    shell = shutil.which("sh")
    assert shell is not None
    box = Toolbox()
    loop = (
        'n=0; for f in "$1"1 "$1"2 "$1"3; do touch "$2/$1.here"; '
        'while [ ! -e "$2/A.here" ] || [ ! -e "$2/B.here" ]; do '  # so that they overlap
        'n=$((n + 1)); [ "$n" -gt 1000000 ] && echo alone && exit 1; done; '
        'echo "$f"; done'
    )
    argv = [shell, "-c", loop, "sh", "{{ args.letter }}", str(tmp_path)]
    shell_tool(box, "letters", argv, cwd=tmp_path, safe=True)
    calls = [{"id": letter, "tool": "letters", "args": {"letter": letter}} for letter in "AB"]

    result = anyio.run(Engine(box).run, {"calls": calls}, backend=backend)

    told = [outcome.text.split() for outcome in result.outcomes if outcome is not None]
    assert told == [["A1", "A2", "A3"], ["B1", "B2", "B3"]]


@pytest.mark.parametrize("idempotent", [True, False])
def test_b106_a_call_that_fails_after_it_acted_is_not_run_again(run: Any, idempotent: bool) -> None:
    sent: list[str] = []
    box = Toolbox()

    @box.tool(idempotent=idempotent)
    async def send(mail: str) -> None:
        sent.append(mail)
        raise ConnectionError("the answer was lost")

    async def main() -> Any:
        calls = [{"id": "a", "tool": "send", "args": {"mail": "hello"}}]
        return await Engine(box).run({"calls": calls})

    result = run(main)
    assert sent == ["hello"]
    assert [outcome.status for outcome in result.outcomes] == ["failed"]
