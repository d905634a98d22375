"""One party of a circle, as a process: ``python circle_process.py STORE PARTIES NUMBER``.

It says ``inside`` once it holds its key, waits for a line, then goes on; its last line is JSON.
`circle_of_processes` starts all parties.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from lock_shows import Circle

from toolflow.locks import open_store


class Party(Circle):
    """A party whose others are elsewhere."""

    async def meet(self) -> None:
        """Wait for the word that all the others are inside as well."""
        print("inside", flush=True)
        await to_thread.run_sync(sys.stdin.readline)


def circle_of_processes(store: Path, parties: int) -> list[dict[str, Any]]:
    """Run a circle, each party in a process of its own.

    Args:
        store: The lock file.
        parties: How many.

    Returns:
        For each the ``status`` of its inner call, and ``failed_after`` in seconds if it failed.
    """
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, str(store), str(parties), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(parties)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "inside\n"
    answers = []
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        answers.append(json.loads(out.splitlines()[-1]))
    return answers


def main() -> None:
    """Run one party."""
    where, parties, number = sys.argv[1:]
    party = Party(int(parties), open_store(where))
    status = anyio.run(party.party, int(number))
    print(json.dumps({"status": status, "failed_after": sum(party.failed_after)}))


if __name__ == "__main__":
    main()
