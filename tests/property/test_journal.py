"""A journal that ends at any byte tells what was written before it, and never anything else."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from journals import MESSAGE, World, answer_to

from toolflow.recording.crash import CrashRepair
from toolflow.recording.journal import open_journal, read_journal
from toolflow.testing import run_virtual


@cache
def whole() -> bytes:
    """The journal of a turn that paused twice on its way."""
    with TemporaryDirectory() as folder:
        path, world = Path(folder) / "j.jsonl", World()
        result = run_virtual(partial(world.engine().run, MESSAGE, journal=path))
        while result.status == "paused":
            answers = {q.call: answer_to(q.kind, repeat=True) for q in result.questions}
            go = partial(world.engine().resume, result.checkpoint, answers, journal=path)
            result = run_virtual(go)
        return path.read_bytes()


def facts(content: bytes) -> tuple[list[str], tuple[CrashRepair, ...], list[object]]:
    """What a journal with some content tells."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "j.jsonl"
        path.write_bytes(content)
        read = read_journal(path)
        turns = [turn for each in read.turns for turn in (each.turn.id, *map(str, each.outcomes))]
        notices = [notice.code for notice in read.notices]
        before = (turns, read.repair(), list(notices))
        read.recording()
        with open_journal(path):
            pass
        again = read_journal(path)
        assert again.repair() == read.repair()
        assert [each.outcomes for each in again.turns] == [each.outcomes for each in read.turns]
        assert again.notices == ()
        return before


@given(st.data())
def test_a_journal_cut_at_any_byte_gives_the_facts_before_that_byte(data: st.DataObject) -> None:
    content = whole()
    end = data.draw(st.integers(0, len(content)))
    kept = content[: content.rfind(b"\n", 0, end) + 1]
    if not kept:
        assert facts(content[:end])[:2] == ([], ())
        return
    cut, prefix = facts(content[:end]), facts(kept)
    assert cut[:2] == prefix[:2]
    assert cut[2] == (["torn_line"] if end > len(kept) else [])
    known = [text for text in cut[0] if text != "None"]
    assert set(known) <= set(facts(content)[0])
