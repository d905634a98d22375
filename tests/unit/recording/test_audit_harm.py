"""Signs of harm within one turn: each rule with what it finds, and with what it must not find."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from audit_logs import Told, edit, look, policy, read, recording, write, write_log

from toolflow.formats.session import read_session
from toolflow.model import Outcome
from toolflow.recording.audit import Finding, audit
from toolflow.recording.audit.meeting import is_everything

OLD, NEW = "return the_old_value", "return the_new_value"
OPEN = {"at": (0, 5)}  # both calls of a turn, open from its start


def found(path: Path, *calls: Told, **more: str) -> list[Finding]:
    [turn] = audit(recording(path, calls, **more), policy()).turns
    return [finding for finding in turn.findings if finding.kind != "out_of_order"]


def kinds(path: Path, *calls: Told) -> list[tuple[str, str]]:
    return [(finding.kind, finding.level) for finding in found(path, *calls)]


# lost updates


def test_two_edits_that_were_open_at_once_may_have_lost_one(tmp_path: Path) -> None:
    one, two = edit("/f", OLD, NEW, **OPEN), edit("/f", "x = 1", "x = 2", **OPEN)
    [finding] = found(tmp_path, one, two)
    assert (finding.kind, finding.level) == ("lost_update", "risk")
    assert (finding.calls, finding.key) == (("t1c1", "t1c2"), "file:/f")
    assert finding.line == 4


def test_three_edits_of_one_file_are_one_finding(tmp_path: Path) -> None:
    calls = [edit("/f", f"the line {at}", f"the new line {at}", **OPEN) for at in range(3)]
    [finding] = found(tmp_path, *calls)
    assert finding.calls == ("t1c1", "t1c2", "t1c3")
    assert finding.text.startswith("3 calls wrote at once")


def test_without_times_the_log_cannot_tell_either(tmp_path: Path) -> None:
    one, two = edit("/f", OLD, NEW), edit("/f", "x = 1", "x = 2")
    assert kinds(tmp_path, one, two) == [("lost_update", "risk")]


def test_edits_one_after_the_other_lose_nothing(tmp_path: Path) -> None:
    one, two = edit("/f", OLD, NEW, at=(0, 1)), edit("/f", "x = 1", "x = 2", at=(2, 3))
    assert kinds(tmp_path, one, two) == []


def test_edits_of_two_files_lose_nothing(tmp_path: Path) -> None:
    assert kinds(tmp_path, edit("/f", OLD, NEW, **OPEN), edit("/g", OLD, NEW, **OPEN)) == []


def test_the_same_write_twice_loses_nothing(tmp_path: Path) -> None:
    assert kinds(tmp_path, write("/f", "text", **OPEN), write("/f", "text", **OPEN)) == []


def test_an_edit_whose_result_shows_the_old_text_of_another_lost_it(tmp_path: Path) -> None:
    snippet = f"Here is the file:\n     1→def f():\n     2→    {OLD}\n     3→x = 2\n"
    one = edit("/f", OLD, NEW, at=(0, 4))
    two = edit("/f", "x = 1", "x = 2", snippet, at=(0, 5))
    [finding] = found(tmp_path, one, two)
    assert (finding.kind, finding.level) == ("lost_update", "harm")
    assert finding.evidence is not None
    assert OLD in finding.evidence
    assert finding.line == 4


def test_an_edit_whose_result_shows_the_new_text_of_another_kept_it(tmp_path: Path) -> None:
    snippet = f"Here is the file:\n     1→    {NEW}\n     2→x = 2\n"
    one, two = edit("/f", OLD, NEW, **OPEN), edit("/f", "x = 1", "x = 2", snippet, **OPEN)
    assert kinds(tmp_path, one, two) == []


def test_an_edit_that_brings_the_old_text_back_lost_nothing(tmp_path: Path) -> None:
    one = edit("/f", OLD, NEW, at=(0, 4))
    two = edit("/f", "x = 1", f"x = 1; {OLD}", f"x = 1; {OLD}", at=(0, 5))
    assert kinds(tmp_path, one, two) == [("lost_update", "risk")]


def test_a_file_as_it_was_before_an_edit_tells_what_the_edit_came_upon(tmp_path: Path) -> None:
    after, before = {"originalFile": f"{NEW}\nx = 1"}, {"originalFile": f"{OLD}\nx = 1"}
    one = edit("/f", OLD, NEW, at=(0, 4), details=before)
    assert kinds(tmp_path, one, edit("/f", "x = 1", "x = 2", at=(0, 5), details=after)) == []
    [finding] = found(tmp_path, one, edit("/f", "x = 1", "x = 2", at=(0, 5), details=before))
    assert (finding.kind, finding.level) == ("lost_update", "harm")
    assert finding.evidence is not None
    assert OLD in finding.evidence


def test_edits_whose_results_came_in_the_other_order_lost_nothing(tmp_path: Path) -> None:
    first = edit("/f", OLD, NEW, at=(0, 5), details={"originalFile": f"{OLD}\nthe_limit = 2"})
    second = edit(
        "/f", "the_limit = 1", "the_limit = 2", at=(0, 5), details={"originalFile": f"{OLD}"}
    )
    assert kinds(tmp_path, first, second) == []


# conflicts


@pytest.mark.parametrize(
    "text",
    [
        "File has been modified since read, either by the user or by a linter. Read it again.",
        "The file was modified since it was read.",
        "Error: file changed on disk",
    ],
)
def test_a_write_refused_since_the_file_had_changed_is_a_conflict(
    tmp_path: Path, text: str
) -> None:
    one = edit("/f", OLD, NEW, at=(0, 4))
    two = edit("/f", "x = 1", "x = 2", text, error=True, at=(0, 5))
    [finding] = found(tmp_path, one, two)
    assert (finding.kind, finding.level) == ("conflict", "harm")
    assert finding.evidence is not None
    assert text[:20] in finding.evidence


def test_a_text_that_another_edit_had_replaced_is_a_conflict(tmp_path: Path) -> None:
    text = "<tool_use_error>String to replace not found in file.\nString: ..."
    one = edit("/f", OLD, NEW, at=(0, 4))
    two = edit("/f", f"def f():\n    {OLD}", "gone", text, error=True, at=(0, 5))
    assert kinds(tmp_path, one, two) == [("conflict", "harm")]


def test_a_text_that_nobody_replaced_is_a_mistake_and_no_conflict(tmp_path: Path) -> None:
    text = "<tool_use_error>String to replace not found in file."
    one = edit("/f", OLD, NEW, at=(0, 1))
    two = edit("/f", "something else", "gone", text, error=True, at=(2, 3))
    assert kinds(tmp_path, one, two) == []


def test_any_other_failure_beside_a_write_is_an_overlap_only(tmp_path: Path) -> None:
    one = edit("/f", OLD, NEW, **OPEN)
    two = edit("/f", "x = 1", "x = 2", "disk full", error=True, **OPEN)
    assert kinds(tmp_path, one, two) == [("overlap", "risk")]


def test_an_edit_that_failed_before_the_other_one_was_done_is_no_conflict(tmp_path: Path) -> None:
    text = "<tool_use_error>String to replace not found in file."
    one = edit("/f", OLD, "gone", text, error=True, at=(0, 1))
    two = edit("/f", OLD, NEW, at=(2, 3))
    assert kinds(tmp_path, one, two) == []


# stale reads


def test_a_read_after_an_edit_that_shows_the_old_text_is_stale(tmp_path: Path) -> None:
    calls = [edit("/f", OLD, NEW, **OPEN), read("/f", f"     1→{OLD}\n", **OPEN)]
    [finding] = found(tmp_path, *calls)
    assert (finding.kind, finding.level) == ("stale_read", "harm")
    assert finding.calls == ("t1c1", "t1c2")


def test_old_text_of_several_lines_is_seen_through_line_numbers(tmp_path: Path) -> None:
    calls = [
        edit("/f", "first line\nsecond line", "another line", at=(0, 1)),
        read("/f", "     7→first line\n     8→second line\n", at=(0, 1)),
    ]
    assert kinds(tmp_path, *calls)[0] == ("stale_read", "harm")


def test_a_read_after_an_edit_that_shows_the_new_text_is_fine(tmp_path: Path) -> None:
    calls = [edit("/f", OLD, NEW, at=(0, 1)), read("/f", f"1\t{NEW}\n", at=(2, 3))]
    assert kinds(tmp_path, *calls) == []


def test_text_that_was_added_to_does_not_look_old(tmp_path: Path) -> None:
    calls = [edit("/f", OLD, f"{OLD} + 1", at=(0, 1)), read("/f", f"{OLD} + 1", at=(2, 3))]
    assert kinds(tmp_path, *calls) == []


def test_text_of_which_a_part_was_taken_out_looks_old(tmp_path: Path) -> None:
    calls = [edit("/f", OLD, "return", at=(0, 1)), read("/f", OLD, at=(2, 3))]
    assert kinds(tmp_path, *calls) == [("stale_read", "harm")]


def test_short_text_proves_nothing(tmp_path: Path) -> None:
    calls = [edit("/f", "a = 1", "a = 2", at=(0, 1)), read("/f", "a = 1", at=(2, 3))]
    assert kinds(tmp_path, *calls) == []


def test_a_read_before_an_edit_that_shows_the_new_text_is_out_of_order(tmp_path: Path) -> None:
    calls = [read("/f", NEW, **OPEN), edit("/f", OLD, NEW, **OPEN)]
    assert kinds(tmp_path, *calls) == [("stale_read", "harm")]


def test_a_read_of_a_part_before_an_edit_proves_nothing(tmp_path: Path) -> None:
    calls = [read("/f", NEW, offset=10, **OPEN), edit("/f", OLD, NEW, **OPEN)]
    assert kinds(tmp_path, *calls) == [("overlap", "risk")]


def test_a_file_that_a_call_before_had_written_and_a_read_did_not_find(tmp_path: Path) -> None:
    text = "File does not exist."
    calls = [write("/f", "text", at=(0, 1)), read("/f", text, error=True, at=(2, 3))]
    assert kinds(tmp_path, *calls) == [("stale_read", "harm")]


def test_a_file_that_is_not_there_before_it_is_written_is_fine(tmp_path: Path) -> None:
    text = "File does not exist."
    calls = [read("/f", text, error=True, at=(0, 1)), write("/f", "text", at=(2, 3))]
    assert kinds(tmp_path, *calls) == []


# overlaps


def test_a_search_beside_a_write_below_it_was_open_at_once(tmp_path: Path) -> None:
    calls = [Told("Grep", {"path": "/d"}, OLD, **OPEN), edit("/d/f", OLD, NEW, **OPEN)]
    [finding] = found(tmp_path, *calls)
    assert (finding.kind, finding.level, finding.key) == ("overlap", "risk", "file:/d/**")
    assert finding.text == "2 calls that meet were open at the same time."


def test_a_search_that_shows_old_text_may_show_that_of_another_file(tmp_path: Path) -> None:
    calls = [edit("/d/f", OLD, NEW, **OPEN), Told("Grep", {"path": "/d"}, OLD, **OPEN)]
    assert kinds(tmp_path, *calls) == [("overlap", "risk")]


@pytest.mark.parametrize(
    ("key", "everything"),
    [
        ("file:/**", True),
        ("file:/repo/**", False),
        ("file://**", True),
        ("/**", True),
        ("file:/repo", False),
        ("todo-list", False),
        ("git:/a/b/**", False),
    ],
)
def test_keys_that_stand_for_everything(key: str, everything: bool) -> None:
    assert is_everything(key) is everything


def test_calls_of_which_nobody_knows_what_they_change_are_a_note(tmp_path: Path) -> None:
    calls = [Told("Grep", {"path": ""}, "x", **OPEN), edit("/d/f", OLD, NEW, **OPEN)]
    [finding] = found(tmp_path, *calls)
    assert (finding.kind, finding.level, finding.key) == ("overlap", "note", "file:/**")
    assert finding.text.endswith("some of which may change anything.")


def test_writes_whose_texts_are_not_known_overlap(tmp_path: Path) -> None:
    calls = [Told("Write", {"file_path": "/f", "blob": n}, **OPEN) for n in (1, 2)]
    assert kinds(tmp_path, *calls) == [("overlap", "risk")]


def test_a_search_without_times_is_no_finding(tmp_path: Path) -> None:
    assert kinds(tmp_path, Told("Grep", {"path": "/d"}, OLD), edit("/d/f", OLD, NEW)) == []


# cascades, results that are missing or late


@pytest.mark.parametrize(
    "text",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "<tool_use_error>Cancelled: parallel tool call Bash(make) errored</tool_use_error>",
    ],
)
def test_calls_cancelled_since_a_sibling_failed(tmp_path: Path, text: str) -> None:
    calls = [
        Told("Bash", {"command": "make"}, "Exit code 2", error=True),
        Told("Bash", {"command": "ls"}, text, error=True),
        read("/f", text, error=True),
    ]
    [finding] = found(tmp_path, *calls)
    assert (finding.kind, finding.level) == ("cancelled", "harm")
    assert finding.calls == ("t1c2", "t1c3")
    assert finding.text == "2 calls were cancelled, because t1c1 failed."
    assert finding.evidence == "'Exit code 2'"


def test_a_cascade_without_a_cause_is_told_too(tmp_path: Path) -> None:
    text = "<tool_use_error>Sibling tool call errored</tool_use_error>"
    [finding] = found(tmp_path, read("/f", text, error=True), look())
    assert finding.text == "1 call was cancelled, because another one failed."


def test_a_cancelled_call_is_not_the_cause(tmp_path: Path) -> None:
    given = recording(tmp_path, [look(), look()])
    told = (Outcome("failed", error="Cancelled: parallel tool call make"), Outcome("failed"))
    turn = replace(given.turns[0], outcomes=told)
    [finding] = audit(replace(given, turns=(turn,)), policy()).turns[0].findings
    assert finding.text == "1 call was cancelled, because t1c2 failed."


def test_a_text_that_only_mentions_siblings_is_no_cascade(tmp_path: Path) -> None:
    assert kinds(tmp_path, read("/f", "Sibling tool call errored: what it means"), look()) == []


def test_a_call_without_a_result_beside_answered_ones_is_a_risk(tmp_path: Path) -> None:
    [finding] = found(tmp_path, look(), read("/f", None))  # type: ignore[arg-type]  # no result
    assert (finding.kind, finding.level) == ("unanswered", "risk")
    assert finding.calls == ("t1c2",)
    assert finding.line == 1


def test_a_turn_without_any_result_is_a_note(tmp_path: Path) -> None:
    [finding] = found(tmp_path, look(text=None), look(text=None))
    assert (finding.kind, finding.level) == ("unanswered", "note")


def test_where_lines_are_broken_a_missing_result_is_a_note(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.jsonl", [look(), look(text=None)])
    path.write_text(path.read_text("utf-8") + '{"torn', encoding="utf-8")
    [turn] = audit(read_session(path), policy()).turns
    assert [(finding.kind, finding.level) for finding in turn.findings] == [("unanswered", "note")]
    assert turn.findings[0].text.endswith("lines of the log could not be read.")


def test_results_out_of_call_order_are_a_note(tmp_path: Path) -> None:
    given = recording(tmp_path, [look(), look(), look()], results="reversed")
    [turn] = audit(given, policy()).turns
    [finding] = turn.findings
    assert (finding.kind, finding.level) == ("out_of_order", "note")
    assert finding.calls == ("t1c2", "t1c3")


# evidence


def test_evidence_is_cut_and_harmless(tmp_path: Path) -> None:
    text = "x" * 500 + f"\x1b[2J\n{OLD}\x07" + "y" * 500
    [finding] = found(tmp_path, edit("/f", OLD, NEW, **OPEN), read("/f", text, **OPEN))
    assert finding.evidence is not None
    assert OLD in finding.evidence
    assert finding.evidence.isprintable()
    assert len(finding.evidence) < 200


def test_the_worst_findings_come_first(tmp_path: Path) -> None:
    calls = [
        look(text=None),
        edit("/g", "the old one", "the new one"),
        edit("/g", "the other", "the others"),
        edit("/f", OLD, NEW),
        read("/f", OLD),
    ]
    [turn] = audit(recording(tmp_path, calls), policy()).turns
    assert [finding.level for finding in turn.findings] == ["harm", "risk", "risk"]
    assert turn.badness[:2] == (1, 2)
