"""What classifying one call costs, and its parts: rule search, condition, key (spec 4, 15).

Run it by hand: ``python tests/benchmarks/bench_classify.py``. The policy has 200 rules with
conditions of their own; the calls' tool is named by the last one, which has a condition, a
predicate and the key of a file. Each figure is the smallest processor time of many runs in
microseconds a call; ratio is the whole divided by one `os.path.realpath` of such a path, which
machines that are busy otherwise change less.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

from toolflow.model import Call, Turn
from toolflow.policy import KeyFilters, Policy, load_policy
from toolflow.policy.classify import Classifier
from toolflow.policy.terms import SharedTerms

RULES = 200
RULE = """\
  - tool: read_file
    when: "{{ args.mode in ['text', 'lines'] }}"
    safe: "{{ args.limit == 10 }}"
    reads: ["file:{{ args.path | file_key }}"]
"""


def policy() -> Policy:
    """The policy: one rule about the calls, behind many about others."""
    others = "".join(
        f'  - {{tool: "tool_{number}", when: "{{{{ args.x == {number} }}}}", safe: true}}\n'
        for number in range(RULES - 1)
    )
    return load_policy(f"version: 1\nrules:\n{others}{RULE}")


def turn(count: int) -> Turn:
    """A turn of calls that read files of a few folders."""
    return Turn(
        "turn-1",
        tuple(
            Call(
                index,
                f"call-{index}",
                "read_file",
                {"path": f"toolflow/{'policy' if index % 2 else 'model'}/part_{index % 50}.py"}
                | {"mode": "text", "limit": 10},
            )
            for index in range(count)
        ),
    )


def fastest(work: Callable[[], object], times: int) -> float:
    """The smallest time that some work takes, in seconds."""
    best = float("inf")
    for _ in range(times):
        begin = process_time()
        work()
        best = min(best, process_time() - begin)
    return best


def parts(rules: Policy, calls: Turn, cwd: str) -> dict[str, float]:
    """Seconds that each part of classifying a turn takes."""
    classifier = Classifier(rules.settings, calls, None, cwd, SharedTerms(rules.settings))
    known = classifier.known_of(calls.calls[0])
    (rule,) = known.rules
    seen = [classifier.names_of(known, call.args) for call in calls.calls]
    book, key = rules.settings.book, (rule.reads or ())[0]
    assert rule.when not in {None, True, False}
    assert rule.safe not in {None, True, False}
    return {
        "search": fastest(lambda: [book.about(call.tool, None) for call in calls.calls], 20),
        "when": fastest(lambda: [rule.when(names) for names in seen], 20),  # type: ignore[operator, misc]
        "safe": fastest(lambda: [rule.safe(names) for names in seen], 20),  # type: ignore[operator, misc]
        "key": fastest(lambda: _keys(key, classifier, seen, cwd), 20),
        "label": fastest(
            lambda: [classifier._texts.plain_label(c.tool, c.args) for c in calls.calls], 20
        ),
    }


def _keys(key: object, classifier: Classifier, seen: list[dict[str, object]], cwd: str) -> None:
    fresh = KeyFilters(cwd, classifier.settings.paths)  # as every turn has its own
    for names in seen:
        key({**names, "_keys": fresh})  # type: ignore[operator]


def main() -> None:
    """Print a table: a row for turns of each size."""
    rules, cwd = policy(), str(Path(__file__).resolve().parents[2])
    path = f"{cwd}/toolflow/policy/part_1.py"
    unit = fastest(lambda: os.path.realpath(path), 2000)
    print(f"realpath of one path: {unit * 1e6:.1f} µs")
    print("calls   whole  ratio  search   when   safe    key  label")
    for count in (1, 10, 100, 1000):
        calls = turn(count)
        whole = fastest(lambda calls=calls: rules.classify(calls, cwd=cwd), 30) / count
        each = {name: took / count for name, took in parts(rules, calls, cwd).items()}
        shown = "  ".join(f"{took * 1e6:5.2f}" for took in each.values())
        print(f"{count:5}  {whole * 1e6:6.2f}  {whole / unit:5.2f}   {shown}")


if __name__ == "__main__":
    sys.exit(main())
