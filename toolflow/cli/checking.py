"""``toolflow check``: is this file right? All problems at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import typer

from toolflow.cli.console import Output, complain, say, say_data, tell
from toolflow.cli.inputs import Input, look_at, turns_of
from toolflow.cli.lints import flow_problems, policy_problems
from toolflow.cli.progress import bytes_read
from toolflow.cli.reports import Finding, github, sarif
from toolflow.compiler import load_plan
from toolflow.errors import DocumentError, Problem, RecordingError, TurnError, UsageError
from toolflow.flow import load_flow
from toolflow.formats import FORMATS
from toolflow.formats.doctor import Report
from toolflow.formats.message_file import Found, Mended, MessageFile, open_messages
from toolflow.formats.session import open_session
from toolflow.formats.session.doctor import examine_session
from toolflow.formats.talks import Shape
from toolflow.policy import load_policy
from toolflow.recording.atomic import write_text

_SHAPES: dict[str, Shape] = {
    ".json": "json",
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".yaml": "yaml",
    ".yml": "yaml",
}
Form = Literal["text", "json", "yaml", "sarif", "github"]
_USAGE = frozenset({"unknown_format", "unknown_policy"})  # wrong words, not wrong files
_MESSAGES = frozenset({"messages", "gemini-cli"})
"""Log formats of which a file can be a list of messages that a provider would take."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """What was found in a file: problems of a document, or findings of conversations."""

    kind: str
    problems: tuple[Problem, ...] = ()
    reports: tuple[Report, ...] = ()
    found: tuple[Found, ...] = ()
    messages: MessageFile | None = None


def check(
    file: str = typer.Argument(
        ..., metavar="FILE", help="A policy, flow, plan, turn, list of messages, log or recording."
    ),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    repair: bool = typer.Option(
        False, "--repair", help="Write a valid copy of a list of messages, and say what was done."
    ),
    to: str | None = typer.Option(
        None, "--to", help="Write the copy to this file instead of standard output."
    ),
    whole: bool = typer.Option(
        False, "--all", help="The last turn needs results too, although nothing follows it."
    ),
    tools: list[str] = typer.Option(
        [], "--tools", metavar="FILE", help="Tools that a policy's rules are held against."
    ),
    strict: bool = typer.Option(False, "--strict", help="End with 1 for warnings too."),
    output: Form = typer.Option(
        "text", "--output", "-o", help="text, json, yaml, sarif or github."
    ),
) -> int:
    """Check a file and tell every problem with its place. Ends with 1 if there are any.

    Of policies, and of those of flows: also warnings, such as rules that can never match. With
    --tools, a list of tools or a flow, also names of tools and arguments that are not there.

    Of lists of messages and logs: calls without a result, results that stand wrong or belong to no
    call, doubled ids, arguments that cannot be read.
    """
    if to is not None and not repair:
        raise UsageError("--to is where a repaired copy goes. Use it with --repair.")
    if repair and to is None and output != "text":
        raise UsageError(f"--output {output} needs --to: the copy goes to standard output.")
    try:
        checked = _check(file, form, tools, whole=whole)
    except DocumentError as error:
        if repair or any(problem.code in _USAGE for problem in error.problems):
            raise
        checked = _Checked("file", error.problems)
    named = "<stdin>" if file == "-" else file
    if repair:
        if output == "sarif" or output == "github":  # noqa: PLR1714 - narrows the type
            raise UsageError(f"--output {output} tells findings. Use it without --repair.")
        return _repair(named, checked, to, output, whole=whole)
    if output == "sarif":
        say_data(sarif(list(_findings(named, checked)), version("toolflow")), "json")
    elif output == "github":
        for line in github(_findings(named, checked)):
            say(line)
    elif output != "text":
        say_data(_data(named, checked), output)
    else:
        _say(named, checked)
    bad = any(strict or problem.severity == "error" for problem in checked.problems)
    return 1 if bad or checked.found else 0


def _check(file: str, form: str | None, tools: list[str], *, whole: bool) -> _Checked:
    given = look_at(file, forced=form)
    if given.kind == "log":
        return _check_log(given, form, whole=whole)
    if given.kind == "turns":
        return _check_messages(given, given.text, form, whole=whole)
    if given.kind == "policy":
        policy = load_policy(Path(file) if file != "-" else given.text)
        return _Checked(given.kind, policy_problems(policy, tools))
    if given.kind == "flow":
        return _Checked(given.kind, flow_problems(load_flow(file), tools))
    if given.kind == "plan":
        load_plan(Path(file))
    else:
        _check_recording(given)
    return _Checked(given.kind)


def _check_recording(given: Input) -> None:
    """Read every turn of a recording.

    Raises:
        RecordingError: If something is wrong with it, or with a turn.
    """
    source = given.recording()
    for _ in source:
        pass
    if source.problems:
        raise RecordingError(source.problems)


def _check_log(given: Input, form: str | None, *, whole: bool) -> _Checked:
    if form not in FORMATS:
        try:
            name = open_session(given.path, format=form).format.name
        except TurnError:
            turns_of(given, form)  # messages that are no conversation
            return _Checked("message file")
        if name not in _MESSAGES or (name != "messages" and not _is_conversation(given)):
            return _check_session(given, name)
    wire = form if form in FORMATS else None
    return _check_messages(given, Path(given.path).read_bytes(), wire, whole=whole)


def _check_session(given: Input, form: str) -> _Checked:
    with bytes_read(given.path, Path(given.path).stat().st_size) as progress:
        report = examine_session(open_session(given.path, format=form, progress=progress))
    lines = [(notice, notice.line) for notice in report.findings]
    found = [Found(notice, "" if line is None else str(line), line) for notice, line in lines]
    return _Checked("session log", reports=(report,), found=tuple(found))


def _is_conversation(given: Input) -> bool:
    """Whether a log is nothing but a conversation in a wire format: a saved history."""
    try:
        return open_messages(Path(given.path).read_bytes(), source=given.path) is not None
    except DocumentError:
        return False


def _check_messages(given: Input, text: str | bytes, form: str | None, *, whole: bool) -> _Checked:
    messages = open_messages(text, source=given.path, format=form)
    if messages is None:
        turns_of(given, form)
        return _Checked("message file")
    try:
        reports, found = messages.examined(whole=whole)
    except TurnError:
        turns_of(given, form)  # tells the same with lines and columns
        raise
    return _Checked("message file", (), tuple(reports), tuple(found), messages)


def _repair(file: str, checked: _Checked, to: str | None, output: Output, *, whole: bool) -> int:
    if checked.messages is None:
        hint = " Write its turns with `toolflow export`, and repair that."
        raise UsageError(
            f"{file}: this is a {checked.kind}, no list of messages, and is not repaired."
            f"{hint if checked.kind == 'session log' else ''}"
        )
    mended = checked.messages.repaired(whole=whole)
    shape = _SHAPES.get(Path(to).suffix.lower()) if to is not None else None
    if to is None:
        typer.echo(mended.text(), nl=False)
    else:
        write_text(to, mended.text(shape))
    if output != "text":
        say_data({**_data(file, checked), **_repair_data(mended)}, output)
        return 1 if mended.left else 0
    for change in mended.changes:
        tell(_line(file, change))
    for one in mended.left:
        tell(f"left as it is: {_line(file, one)}")
    if not mended.changes and not mended.left:
        tell(f"{file}: nothing to repair")
    if to is not None:
        tell(f"written: {to}")
    return 1 if mended.left else 0


def _say(file: str, checked: _Checked) -> None:
    errors = [each for each in checked.problems if each.severity == "error"]
    warnings = [each for each in checked.problems if each.severity == "warning"]
    if errors:
        complain("\n".join(f"{problem} [{problem.code}]" for problem in errors))
    for warning in warnings:
        say(f"{replace(warning, message=f'warning: {warning.message}')} [{warning.code}]")
    for one in checked.found:
        say(_line(file, one))
    if checked.found:
        hint = "" if checked.messages is None else "; --repair writes a copy that is mended"
        tell(f"{_many(len(checked.found), 'finding')} in {_counts(checked)}{hint}")
    elif warnings and not errors:
        tell(f"{file}: a {checked.kind} with {_many(len(warnings), 'warning')}")
    elif not errors:
        counts = f": {_counts(checked)}" if checked.reports else ""
        say(f"{file}: a {checked.kind} without problems{counts}")


def _line(file: str, found: Found) -> str:
    return f"{file}:{found}" if found.where else f"{file}: {found}"


def _counts(checked: _Checked) -> str:
    forms = ", ".join(sorted({report.format for report in checked.reports}))
    facts = _facts(checked)
    several = len(checked.reports)
    talks = f"{several} conversations, " if several > 1 else ""
    return f"{talks}{_many(facts['turns'], 'turn')}, {_many(facts['calls'], 'call')} ({forms})"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _facts(checked: _Checked) -> dict[str, int]:
    names = ("messages", "turns", "calls", "results")
    return {name: sum(getattr(report, name) for report in checked.reports) for name in names}


def _data(file: str, checked: _Checked) -> dict[str, Any]:
    data: dict[str, Any] = {"file": file, "kind": checked.kind}
    if checked.reports:
        data["formats"] = sorted({report.format for report in checked.reports})
        data["conversations"] = len(checked.reports)
        data |= _facts(checked)
    problems = [_problem_data(problem, file) for problem in checked.problems]
    return {**data, "problems": problems or [_found_data(one) for one in checked.found]}


def _repair_data(mended: Mended) -> dict[str, Any]:
    changes, left = map(_found_data, mended.changes), map(_found_data, mended.left)
    return {"changes": list(changes), "left": list(left)}


def _problem_data(problem: Problem, file: str) -> dict[str, object]:
    return {
        "line": problem.line,
        "column": problem.column,
        "code": problem.code,
        "message": problem.message,
        **({} if problem.source == file else {"file": problem.source}),
        **({} if problem.severity == "error" else {"severity": problem.severity}),
    }


def _findings(file: str, checked: _Checked) -> Iterator[Finding]:
    for problem in checked.problems:
        place = (problem.source, problem.line, problem.column)
        yield Finding(problem.severity, problem.code, problem.message, *place)
    for found in checked.found:
        where = f"{found.where}: " if found.where and found.line is None else ""
        said = f"{where}{found.notice.message}"
        yield Finding("error", found.notice.code, said, file, found.line)


def _found_data(found: Found) -> dict[str, object]:
    notice = found.notice
    return {
        "line": found.line,
        "place": found.where,
        "turn": notice.turn,
        "call": notice.call,
        "code": notice.code,
        "message": notice.message,
    }
