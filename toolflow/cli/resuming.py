"""``toolflow resume``: go on with a run that paused, or whose process died."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from toolflow.cli.console import Output, harmless, is_live, tell
from toolflow.cli.going import Wishes, go
from toolflow.cli.naming import JOURNAL, places_of_run
from toolflow.cli.running import Source, flow_of
from toolflow.errors import UsageError
from toolflow.flow import Past, addressed, past_of
from toolflow.recording.journal import Durability, JournalContent, open_journal, read_journal
from toolflow.recording.side_files import LARGE
from toolflow.runtime.approvals import Answer, Question

_YES, _NO = frozenset({"yes", "y", "true"}), frozenset({"no", "n", "false"})


def resume(
    what: str = typer.Argument(..., metavar="RUN", help="Its folder, or its name in .toolflow."),
    answers: list[str] = typer.Option(
        [],
        "--answer",
        metavar="CALL=VALUE",
        help="The answer to a question: yes or no (no: REASON), or any text or JSON where a tool "
        "asks. STAGE/CALL=VALUE where two stages have calls of one name.",
    ),
    pool: int | None = typer.Option(None, "--pool", min=1, help="Calls that run at once."),
    locks: str | None = typer.Option(
        None, "--locks", metavar="memory|machine|PATH", help="As for run."
    ),
    durability: Durability = typer.Option("batch", "--durability", help="As for run."),
    aside: int = typer.Option(
        LARGE, "--results-above", min=0, metavar="BYTES", help="Results that go into own files."
    ),
    yes: bool = typer.Option(
        False,
        "--yes",
        help="Approve every call whose rule asks. Calls that may have taken effect before a crash "
        "are not run again for that: answer those by name.",
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Show neither plans nor progress."),
    output: Output = typer.Option("text", "--output", "-o", help="How to write the results."),
) -> int:
    """Go on with a run that paused, or whose process died, in this process.

    Calls that have finished do not run again. Of a call that had started when the process died and
    that is not idempotent nobody knows how it ended, so a person is asked.
    """
    path = journal_of(what)
    with open_journal(path, durability=durability) as journal:
        content = read_journal(path)
        for notice in (*journal.notices, *content.notices):
            tell(f"notice: {notice.message}")
        flow = flow_of(source_of(content))
        past = replace(past_of(content), pool=pool)
        given = _answers(past, answers)
        if is_live():
            given = _asked(past, given)
        wishes = Wishes(yes, quiet, output, pool, locks, aside)
        return go(flow, journal, replace(past, answers=_with_yes(past, given, yes=yes)), wishes)


def journal_of(what: str) -> Path:
    """The journal of a run that was named: by its folder, its name, or the journal itself.

    Raises:
        UsageError: If there is none.
    """
    for path in (Path(what), *(folder / JOURNAL for folder in places_of_run(what))):
        if path.is_file():
            return path
    raise UsageError(f"{what}: there is no run with a journal. See `toolflow runs`.")


def source_of(content: JournalContent) -> Source:
    """What a journal says was run.

    Raises:
        UsageError: If it is not the journal of a run of the command line.
    """
    words = content.about.get("run")
    given = words if isinstance(words, Mapping) else {}
    texts = {n: v for n, v in given.items() if n in Source.__slots__ and isinstance(v, str)}
    if "what" not in texts:
        raise UsageError(
            f"{content.path}: this journal is not of `toolflow run`. Go on with it from Python: "
            "read_journal(path).repair() has the checkpoints."
        )
    tools = given.get("tools", ())
    named = tuple(str(each) for each in tools) if isinstance(tools, list) else ()
    fields: dict[str, Any] = {**texts, "tools": named}
    return Source(**fields)


def _answers(past: Past, words: Sequence[str]) -> dict[str, dict[str, Any]]:
    texts: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or name in texts:
            raise UsageError(f"--answer is {word!r}. Use CALL=VALUE, once for each call.")
        texts[name] = value
    kinds = {(stage, question.call): question.kind for stage, question in past.questions()}
    return {
        stage: {call: _value(kinds[stage, call], call, text) for call, text in found.items()}
        for stage, found in addressed(past, texts).items()
    }


def _value(kind: str, call: str, text: str) -> Any:
    """An answer as the run takes it."""
    if kind == "interrupt":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    word, _, reason = text.partition(":")
    if word.strip().lower() in _YES and not reason:
        return True
    if word.strip().lower() in _NO:
        return Answer(approved=False, reason=reason.strip() or None)
    raise UsageError(f"--answer: {call}={text!r}. Use yes, no, or no: REASON.")


def _with_yes(past: Past, given: dict[str, dict[str, Any]], *, yes: bool) -> Any:
    """The answers, with a yes to every rule that asks, where that is wanted."""
    if yes:
        for stage, question in past.questions():
            if question.kind == "approval":
                given.setdefault(stage, {}).setdefault(question.call, True)
    return given


def _asked(past: Past, given: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Ask the person at the terminal what is still open."""
    for stage, question in past.questions():
        done = question.call in given.get(stage, {})
        if done or question.kind == "approval":  # those are asked when their turn comes
            continue
        if (answer := _ask(stage, question)) is not None:
            given.setdefault(stage, {})[question.call] = answer
    return given


def _ask(stage: str, question: Question) -> Any:
    how = "your answer" if question.kind == "interrupt" else "yes or no"
    sys.stderr.write(harmless(f"{stage}: {question.call}: {question.text} ({how}): "))
    sys.stderr.flush()
    line = sys.stdin.readline().rstrip("\n")
    return _value(question.kind, question.call, line) if line else None
