"""Spoiled policies and odd expressions: ``python tests/fuzz/fuzz_policy.py [--inputs N]``.

Half of the inputs are policies that were changed, half are expressions of odd parts in a policy
around them. Each is loaded, and where it loads, a turn is classified, explained and linted under
it. Only a `PolicyError` may come out of loading and nothing out of the rest; no file is opened but
the shipped policies, nothing is started or connected, no object of ours is called, and nothing may
take longer than ``--bound`` seconds of processor time. The script bounds its own memory. A fault is
told with its number; ``--only NUMBER`` shows it. The short form is a test beside this file.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from fuzzing import HangError, batches, bounded, hangs_found, options
from policy_soup import odd_expression, policy_of, seeds, spoiled_policy

from toolflow.errors import PolicyError
from toolflow.model import Call, Turn
from toolflow.policy import load_policy, shelf
from toolflow.policy.explain import explain
from toolflow.policy.lint import lint_policy

BOUND = 5.0
MEMORY = 1 << 30  # bytes that the script may have
_SHIPPED = str(shelf._FOLDER)
_QUIET = ("compile", "exec", "object.", "marshal.", "code.", "sys._getframe", "builtins.id", "gc.")
_SEEN: list[str] = []
_ARMED = [False]


class Trap:
    """An argument that no expression may call."""

    def __call__(self) -> None:
        _SEEN.append("a trap was called")

    go = __call__


def _audit(event: str, args: tuple[object, ...]) -> None:
    if not _ARMED[0] or event.startswith(_QUIET):
        return
    if event == "open" and str(args[0]).startswith((_SHIPPED, *sys.path[1:])):
        return  # the shipped policies, and modules that are imported when they are first used
    if event in {"os.listdir", "os.scandir"}:
        return  # keys of files ask how a folder takes upper and lower case
    if event.startswith(("open", "os.", "subprocess.", "socket.", "shutil.", "ctypes")):
        _SEEN.append(f"{event} {str(args)[:100]}")


sys.addaudithook(_audit)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Note whatever is opened, started, connected or called in here."""
    _SEEN.clear()
    _ARMED[0] = True
    try:
        yield _SEEN
    finally:
        _ARMED[0] = False


TURN = Turn(
    "turn-1",
    tuple(
        Call(index, f"c{index}", name, args)
        for index, (name, args) in enumerate(
            [
                ("t", {"x": "a b", "p": "src/a.py", "trap": Trap(), "deep": {"a": {"b": 1}}}),
                ("t", {"password": "hunter2", "x": "ls -l", "list": [1, "2", None]}),
                ("t", {}),
                ("a", {"x": "1", "p": "../x"}),
                ("git", {"command": "status"}),
                ("read_file", {"path": "a", "file_path": "b"}),
            ]
        )
    ),
)


@dataclass
class Result:
    """What came of inputs."""

    inputs: int = 0
    told: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def text_of(sources: list[str], number: int) -> str:
    """The policy of a number."""
    if number % 2:
        return policy_of(odd_expression(number), number)
    return spoiled_policy(sources, number)


def feed(text: str) -> str:
    """Load a policy and use it, and say what became of it."""
    try:
        policy = load_policy(f"{text}\n")
    except PolicyError as error:
        return _told(error)
    batch = policy.classify(TURN, cwd="/work")
    explain(policy, TURN, cwd="/work")
    if len(policy.cases) < 3:  # warnings try the cases, of which shipped policies have many
        lint_policy(policy)
    return "loaded, " + (
        "some safe" if any(c.verdict.kind == "safe" for c in batch.calls) else "none safe"
    )


def _told(error: PolicyError) -> str:
    """Every problem is one line, and there is one."""
    lines = [str(problem) for problem in error.problems]
    if not lines or any("\n" in line for line in lines):
        raise AssertionError(f"no plain lines: {lines}")
    return "refused"


def run(sources: list[str], first: int, count: int, *, bound: float = BOUND) -> Result:
    """Feed inputs, each with a bound on its processor time."""
    result = Result()

    feed(seeds()[0])  # whatever is loaded lazily is loaded now
    feed(policy_of("{{ shell_effects(args.x) | tojson }}", 1))
    with hangs_found():
        for number in range(first, first + count):
            text = text_of(sources, number)
            try:
                with bounded(bound), watched() as seen:
                    result.told[feed(text)] += 1
                if seen:
                    result.faults.append(f"{number}: {seen[0]}")
            except HangError:
                result.faults.append(f"{number}: more than {bound:g} s")
            except BaseException as error:  # whatever it is, it is a fault
                result.faults.append(f"{number}: {type(error).__name__}: {str(error)[:200]}")
            result.inputs += 1
    return result


def main() -> int:
    """Run as a program."""
    given = options(__doc__, bound=BOUND)
    _bound_memory()
    sources = seeds()
    if given.only is not None:
        text = text_of(sources, given.only)
        print(ascii(text[:4000]))
        try:
            print(feed(text))
        except Exception:
            traceback.print_exc()
            return 1
        return 0
    total, begin = Result(), time.monotonic()
    for first, count in batches(given, 500):
        found = run(sources, first, count, bound=given.bound)
        total.inputs += found.inputs
        total.told += found.told
        for fault in found.faults:
            print(f"FAULT {fault}", flush=True)
        total.faults += found.faults
    took = time.monotonic() - begin
    used = time.process_time()
    print(f"{total.inputs} inputs in {took:.0f} s ({used:.0f} s of processor time)")
    print(f"{len(total.faults)} faults; {dict(sorted(total.told.items()))}")
    return 1 if total.faults else 0


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:
        return  # not on this system
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    sys.exit(main())
