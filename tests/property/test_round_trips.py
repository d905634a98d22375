"""Read, write, read again, in every wire format; and the SDKs' own types take what is written.

What is compared is told by `round_trips.same_again`. The long form, with ten thousand turns of each
format, is ``python tests/benchmarks/round_trips.py``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus import corpus_dir
from corpus_index import rows
from made_turns import MAKERS, made, outcomes
from round_trips import same_again
from sdk_types import CHECKS

from toolflow.formats import FORMATS, write_turn
from toolflow.model import Call, Outcome, Turn
from toolflow.recording.importing import open_log

COUNT = 200
FOLDERS = (
    "bfcl",
    "cassettes",
    "claude-code",
    "gemini-cli",
    "mcp",
    "other-agents",
    "pi",
    "trajectories",
    "vercel",
)


def test_turns_are_made_of_every_format_and_checked_by_every_sdk():
    assert set(MAKERS) == set(FORMATS)
    assert set(CHECKS) == set(FORMATS) - {"calls"}


@pytest.mark.parametrize("form", MAKERS)
def test_made_turns_are_the_same_when_they_are_written_and_read_again(form):
    for number in range(COUNT):
        same_again(*made(form, number))


@pytest.mark.parametrize("form", CHECKS)
def test_what_is_written_of_made_turns_passes_the_types_of_the_sdk(form):
    for number in range(COUNT):
        CHECKS[form](*write_turn(*made(form, number), texts=["go on"]))


def test_made_turns_hold_what_goes_wrong():
    found = [call for form in MAKERS for n in range(COUNT) for call in made(form, n)[0].calls]

    assert sum(call.problem is not None for call in found) > 100
    assert sum(not call.id for call in found) > 20
    assert sum(not call.tool.isidentifier() for call in found) > 100
    assert made("anthropic", 7) == made("anthropic", 7)
    assert made("anthropic", 7) != made("anthropic", 11)


CALL = Call(0, "a", "read", {"path": "x"})
OTHERS = [
    (form, other)
    for form in ("anthropic", "openai-chat", "gemini", "calls")
    for other in (replace(CALL, args={"path": "y"}), replace(CALL, tool="write"))
]
OTHERS.append(("openai-chat", replace(CALL, problem="It is no object.", args={}, raw="[1]")))


@pytest.mark.parametrize(("form", "other"), OTHERS)
def test_a_call_that_is_not_what_its_message_says_is_found_out(form, other):
    message = write_turn(Turn("t", (CALL,), form), [Outcome("ok")])[0][0]

    same_again(Turn("t", (CALL,), form, message), [Outcome("ok", "x")])
    with pytest.raises(AssertionError):
        same_again(Turn("t", (other,), form, message), [Outcome("ok", "x")])


def recorded(folder: str, name: str) -> list[tuple[Turn, list[Outcome]]]:
    """The turns of a file with their outcomes; of those without, with some that are made up."""
    found = []
    for number, turn in enumerate(open_log(corpus_dir(folder, name)).turns):
        others = outcomes(f"{name} {number}", len(turn.turn.calls))
        pairs = zip(turn.outcomes, others, strict=True)
        found.append((turn.turn, [own or other for own, other in pairs]))
    return found


def sendable(value: Any) -> Any:
    """A message as it was before its file was made ready for others.

    Signatures are masked with a word that is no base64, or left out; one file has a caller of a
    kind that there is not; and fields that the program that wrote the log knew to be absent stand
    there as ``null``, which a type for requests refuses.
    """
    if isinstance(value, list):
        return [sendable(item) for item in value]
    if not isinstance(value, dict):
        return "TUFTS0VE" if value == "MASKED" else value
    whole = {key: sendable(item) for key, item in value.items() if item is not None}
    if whole.get("caller") == {"type": "assistant"}:
        del whole["caller"]
    if whole.get("type") == "thinking":
        whole.setdefault("signature", "TUFTS0VE")
    return whole


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_recorded_turn_is_the_same_again_and_passes_the_types_of_the_sdk(folder):
    for name in rows(folder):
        for turn, done in recorded(folder, name):
            assistant, results = same_again(turn, done)
            if turn.format in CHECKS:
                CHECKS[turn.format](sendable(assistant), results)


def test_recorded_turns_are_written_as_they_were_read():
    kept = whole = 0
    for folder in FOLDERS:
        for name in rows(folder):
            for turn, done in recorded(folder, name):
                assistant, _ = write_turn(turn, done)
                message = turn.message if turn.format == "openai-responses" else [turn.message]
                kept += json.dumps(assistant) == json.dumps(message)
                whole += 1

    # Six have an id twice or an empty one, or arguments that are cut off.
    assert (whole, whole - kept) == (2265, 6)


def test_the_long_form_is_where_this_file_says():
    assert (Path(__file__).parents[1] / "benchmarks" / "round_trips.py").exists()
