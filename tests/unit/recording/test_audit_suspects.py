"""What later turns show of writes that may have met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from audit_logs import Told, edit, look, policy, read, recording, write

from toolflow.model import RecordedTurn
from toolflow.recording.audit import Finding, TurnAudit, audit, audit_turns
from toolflow.recording.audit.auditing import HELD
from toolflow.recording.audit.suspects import MOST, WINDOW

ONE = ("return the_old_value", "return the_new_value")
TWO = ("the_limit = 100", "the_limit = 200")
OPEN = (0, 5)
MET = [edit("/f", *ONE, at=OPEN), edit("/f", *TWO, at=OPEN)]


def first(path: Path, *later: list[Told]) -> Finding:
    """What is known, in the end, of the two edits of the first turn."""
    turns = audit(recording(path, MET, *later), policy()).turns
    [finding] = turns[0].findings
    assert finding.calls == ("t1c1", "t1c2")
    assert not any(f.kind == "lost_update" for turn in turns[1:] for f in turn.findings)
    return finding


def test_a_later_read_that_shows_replaced_text_shows_a_lost_update(tmp_path: Path) -> None:
    found = first(tmp_path, [look()], [read("/f", f"1\t{ONE[0]}\n2\t{TWO[1]}\n")])
    assert (found.level, found.seen_in) == ("harm", "turn-3")
    assert found.evidence is not None
    assert ONE[0] in found.evidence
    assert found.line == 8


def test_a_later_read_that_shows_both_changes_shows_that_nothing_was_lost(tmp_path: Path) -> None:
    found = first(tmp_path, [read("/f", f"{ONE[1]}\n{TWO[1]}\n")])
    assert (found.level, found.seen_in) == ("note", "turn-2")


def test_a_later_read_of_one_change_alone_shows_nothing(tmp_path: Path) -> None:
    found = first(tmp_path, [read("/f", TWO[1])])
    assert (found.level, found.seen_in) == ("risk", None)


def test_a_later_edit_that_finds_replaced_text_shows_a_lost_update(tmp_path: Path) -> None:
    found = first(tmp_path, [edit("/f", f"def f():\n    {ONE[0]}", "pass")])
    assert (found.level, found.seen_in) == ("harm", "turn-2")


def test_a_later_edit_that_does_not_find_what_was_written_shows_a_lost_update(
    tmp_path: Path,
) -> None:
    text = "<tool_use_error>String to replace not found in file."
    found = first(tmp_path, [edit("/f", f"{ONE[1]} + 1", "pass", text, error=True)])
    assert found.level == "harm"


def test_a_later_edit_that_finds_what_was_written_shows_nothing(tmp_path: Path) -> None:
    assert first(tmp_path, [edit("/f", ONE[1], "another text")]).level == "risk"


def known_after(path: Path, changes: list[tuple[str, str]], *later: list[Told]) -> list[str]:
    met = [edit("/f", *change, at=OPEN) for change in changes]
    return [f.level for f in audit(recording(path, met, *later), policy()).turns[0].findings]


def test_a_later_edit_that_finds_text_which_was_added_to_shows_nothing(tmp_path: Path) -> None:
    added = (ONE[0], f"{ONE[0]} + 1")
    found = known_after(tmp_path, [added, TWO], [edit("/f", added[1], "pass")])
    assert found == ["risk"]


def test_text_that_the_other_edit_replaced_was_not_lost(tmp_path: Path) -> None:
    text = "<tool_use_error>String to replace not found in file."
    again = (ONE[1], "return another_value")
    found = known_after(tmp_path, [ONE, again], [edit("/f", ONE[1], "pass", text, error=True)])
    assert found == ["risk"]


def test_another_failure_of_a_later_edit_shows_nothing(tmp_path: Path) -> None:
    found = first(tmp_path, [edit("/f", ONE[1], "pass", "disk full", error=True)])
    assert found.level == "risk"


def test_after_the_next_write_nothing_can_be_shown(tmp_path: Path) -> None:
    found = first(tmp_path, [write("/f", ONE[0])], [read("/f", ONE[0])])
    assert found.level == "risk"


def test_after_a_call_that_may_change_anything_it_is_a_risk_still(tmp_path: Path) -> None:
    found = first(tmp_path, [Told("Bash", {"command": "git stash"})], [read("/f", ONE[0])])
    assert (found.level, found.seen_in) == ("risk", "turn-3")
    assert found.text.endswith("or no longer.")


def test_reads_of_other_files_show_nothing(tmp_path: Path) -> None:
    assert first(tmp_path, [read("/g", ONE[0])]).level == "risk"


def test_text_that_the_other_edit_brings_back_was_not_lost(tmp_path: Path) -> None:
    calls = [edit("/f", *ONE, at=OPEN), edit("/f", TWO[0], f"{TWO[1]} # {ONE[0]}", at=OPEN)]
    later = [read("/f", f"{TWO[1]} # {ONE[0]}")]
    turns = audit(recording(tmp_path, calls, later), policy()).turns
    assert [finding.level for finding in turns[0].findings] == ["risk"]


def test_turns_long_after_are_not_asked(tmp_path: Path) -> None:
    between = [[look()]] * (WINDOW - 1)
    assert first(tmp_path, *between, [read("/f", ONE[0])]).level == "harm"
    between = [[look()]] * WINDOW
    assert first(tmp_path, *between, [read("/f", ONE[0])]).level == "risk"


def ids(found: tuple[TurnAudit, ...]) -> list[str]:
    return [each.id for each in found]


def test_turns_come_in_order_though_some_are_held_back(tmp_path: Path) -> None:
    turns = [MET if number % 40 == 0 else [look()] for number in range(130)]
    given = recording(tmp_path, *turns)
    assert ids(audit(given, policy()).turns) == [turn.turn.id for turn in given.turns]


def test_no_more_than_so_many_turns_are_held_back(tmp_path: Path) -> None:
    # The source of the suspect has no more turns, so nothing ever ends the waiting.
    given = recording(tmp_path, MET, *[[look()]] * (HELD + 5))
    others = [replace(t, turn=replace(t.turn, source="helper")) for t in given.turns[1:]]
    taken = 0

    def counted() -> Iterator[RecordedTurn]:
        nonlocal taken
        for each in (given.turns[0], *others):
            taken += 1
            yield each

    assert next(audit_turns(counted(), policy())).id == "turn-1"
    assert taken == HELD + 1


def test_of_many_suspects_the_latest_are_kept(tmp_path: Path) -> None:
    calls = [
        edit(f"/f{number}", *change, at=OPEN) for number in range(MOST + 1) for change in (ONE, TWO)
    ]
    later = [read("/f0", ONE[0]), read("/f1", ONE[0])]
    found = audit(recording(tmp_path, calls, later), policy()).turns[0].findings
    assert [finding.key for finding in found if finding.level == "harm"] == ["file:/f1"]


def test_sources_are_kept_apart(tmp_path: Path) -> None:
    given = recording(tmp_path, MET, [read("/f", ONE[0])])
    other = replace(given.turns[1], turn=replace(given.turns[1].turn, source="helper"))
    turns = audit(replace(given, turns=(given.turns[0], other)), policy()).turns
    assert [finding.level for finding in turns[0].findings] == ["risk"]
