"""Real session logs, from the log to the plan, by the commands that people use.

The logs lie outside the project, with an index that says how much is in each; see
`tests/support/corpus.py`. What the index counts as turns are the messages of the model.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from corpus import corpus_dir

from toolflow.cli import main

POLICY = "shipped:claude-code"
_ROW = re.compile(
    r"^\| (\S+\.jsonl?) \([^|]*\|[^|]*\| claude-code[^|]*\|([^|]*)\|([^|]*)\|[^|]*\|([^|]*)\|"
)

# Where the index is wrong: it leaves out two messages of the model whose content is plain text.
RIGHT = {"polylogue-normalization-main.jsonl": (4, 1, 2)}


def indexed() -> dict[str, tuple[int, int, int]]:
    """Messages, turns with two or more calls, largest turn, by the log's name."""
    text = corpus_dir("INDEX.md").read_text("utf-8")
    rows = [_ROW.match(line) for line in text.splitlines()]
    found = {row[1]: (int(row[2]), int(row[3]), int(row[4])) for row in rows if row}
    return found | {name: right for name, right in RIGHT.items() if name in found}


def command(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--output", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_import_counts_what_the_index_counts(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = indexed()
    assert len(wanted) == 15
    folder = corpus_dir("claude-code")
    counted = {}
    for name in wanted:
        facts = command(capsys, "import", str(folder / name))
        counted[name] = (facts["messages"], facts["parallel_turns"], facts["largest"])
    assert counted == wanted


def test_every_turn_of_every_log_compiles_and_its_recording_reads_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = tmp_path / "recording.yaml"
    for name in indexed():
        log = str(corpus_dir("claude-code") / name)
        facts = command(capsys, "import", log, "--to", str(kept))
        for source in (log, str(kept)):
            assert main(["plan", source, "--policy", POLICY, "--summary"]) == 0
            line = capsys.readouterr().out
            counts = [int(number) for number in re.findall(r"\d+", line)][:4]
            wanted = [facts[what] for what in ("turns", "parallel_turns", "largest", "calls")]
            assert counts == wanted, (name, line)
