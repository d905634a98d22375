"""The short form of ``tests/fuzz/fuzz_policy.py``: two thousand inputs, and bombs with bounds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from policy_soup import seeds

sys.path.insert(0, str(Path(__file__).parent))

from fuzz_policy import run, text_of

INPUTS = 2000
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_odd_policies_are_refused_or_used_and_touch_nothing(part: int) -> None:
    count = INPUTS // PARTS
    result = run(seeds(), part * count, count)
    assert result.faults == []
    assert result.inputs == count
    assert result.told["refused"] > 0
    assert result.told["loaded, none safe"] > 0


def test_an_input_is_the_same_each_time() -> None:
    sources = seeds()
    assert [text_of(sources, n) for n in (16, 17)] == [text_of(sources, n) for n in (16, 17)]


BOMBS = {
    "aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(12)
    ),
    "merges": "a: &a {x: 1}\n" + "".join(f"b{n}: &b{n} {{<<: [*a, *a]}}\n" for n in range(20_000)),
    "depth": "version: 1\nrules: " + "[" * 100_000,
    "keys": "version: 1\nrules:\n" + "  - {tool: a, tool: b}\n" * 5_000,
    "templates": "version: 1\nrules:\n  - {tool: a, show: '" + "{{ args.x }}" * 1_600 + "'}\n",
    "expression": "version: 1\nrules: [{tool: a, when: '{{ " + "(" * 9_000 + " }}'}]\n",
}
CHILD = """\
import resource, sys, time
from toolflow.errors import PolicyError
from toolflow.policy import load_policy
load_policy("version: 1\\nrules: [{tool: a, when: '{{ args.x }}'}]\\n")
text = sys.stdin.read()
pages = int(open("/proc/self/statm").read().split()[0])
memory = pages * resource.getpagesize() + 100 * 1024 * 1024
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
seconds = int(time.process_time()) + 2  # the limit is in whole seconds: at least one, at most two
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
try:
    load_policy(text)
except PolicyError as error:
    print(len(error.problems), "problems")
else:
    print("loaded")
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limits need Linux's /proc")
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_within_a_second_or_two_and_a_hundred_megabytes(bomb: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=BOMBS[bomb],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("problems\n") or bomb == "templates"
