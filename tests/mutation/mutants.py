"""Faults planted into the scheduler, one at a time: the tests must notice every one of them.

    python tests/mutation/mutants.py            # all of them, two at a time
    python tests/mutation/mutants.py NAME ...   # some of them

Each mutant of ``mutants.txt`` is a change of one rule, as text, in a copy of the package; then the
tests of the scheduler run against the copy, the quick ones first, until one fails. A mutant that no
test notices survives, and then the exit code is 1: a rule is not tested.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
QUICK = ("tests/unit/scheduler",)
TESTS = (*QUICK, "tests/property/test_explorer.py", "tests/property/test_scheduler_machine.py")
TIMEOUT = 400.0  # seconds; a mutant that makes the scheduler spin is noticed by that


class Mutant(NamedTuple):
    """One planted fault: in a module of the scheduler, one text becomes another."""

    name: str
    module: str
    old: str
    new: str


def read_mutants(text: str) -> Iterator[Mutant]:
    """The mutants of the list: blocks of a headline, lines with ``-`` and lines with ``+``."""
    for block in text.split("\n\n")[1:]:
        head, *lines = block.strip("\n").split("\n")
        name, _, module = head.partition(" in ")
        old, new = ("\n".join(x[1:] for x in lines if x[0] == sign) for sign in "-+")
        yield Mutant(name, module, old, new)


MUTANTS = tuple(read_mutants(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")))


def mutate(mutant: Mutant, package: Path) -> None:
    """Plant a fault.

    Raises:
        LookupError: If the text does not occur exactly once: the list is out of date.
    """
    path = package / "scheduler" / f"{mutant.module}.py"
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise LookupError(
            f"{mutant.name}: the text occurs {text.count(mutant.old)} times in {mutant.module}.py."
        )
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")


def killer(mutant: Mutant | None, tests: tuple[str, ...] = TESTS) -> str:
    """Run the tests against a mutant, or against a plain copy.

    Returns:
        The test that noticed it, ``timeout``, or an empty text where it survives.
    """
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "toolflow"
        shutil.copytree(ROOT / "toolflow", package, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            mutate(mutant, package)
        command = [
            *(sys.executable, "-P", "-B", "-m", "pytest", "-x", "-q", "--tb=no", "-rfE"),
            *("-p", "no:cacheprovider", "-p", "no:randomly", *tests),
        ]
        environment = {**os.environ, "PYTHONPATH": folder}
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "timeout"
    if done.returncode == 0:
        return ""
    told = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return told[0].split(" ")[1].rpartition("/")[2] if told else done.stdout[-200:]


def main() -> int:
    """Run all mutants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="mutants; all by default")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if not given.names or mutant.name in given.names]
    begun = time.monotonic()
    if failing := killer(None, QUICK):
        print(f"The tests fail without a mutant: {failing}")
        return 2
    survivors = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for mutant, test in zip(chosen, pool.map(killer, chosen), strict=True):
            survivors += not test
            print(f"{mutant.name:36} {mutant.module:10} {test or 'SURVIVES'}", flush=True)
    killed = len(chosen) - survivors
    print(f"{killed} of {len(chosen)} mutants killed in {time.monotonic() - begun:.0f} s.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
