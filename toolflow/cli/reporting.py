"""``toolflow report``: a recording as one HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import typer

from toolflow.cli.console import tell
from toolflow.cli.inputs import Input, each_turn, folder_of, look_at, plan_of, policy_of
from toolflow.errors import UsageError
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.turn import Notice
from toolflow.policy import Policy
from toolflow.recording.importing import open_log
from toolflow.render.facts import count
from toolflow.render.report import page_text
from toolflow.render.report_data import page_data
from toolflow.render.save import write_text


def report(
    recording: str = typer.Argument(
        ..., metavar="RECORDING", help="A recording, run, journal, session log or messages."
    ),
    to: str | None = typer.Option(None, "--to", "-o", help="The HTML file to write."),
    turn: list[str] = typer.Option(
        [], "--turn", "-t", help="Only this turn: its id or number. May be given several times."
    ),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="Plans turns that have no plan: a policy file or shipped:NAME."
    ),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths in keys start."),
    title: str | None = typer.Option(None, "--title", help="The title of the page."),
    pictures: bool = typer.Option(True, help="Whether plans are drawn."),
) -> int:
    """Write plan, timeline, events and results as one HTML page. Without --to: standard output."""
    given = look_at(recording, forced=form)
    rules = policy_of(policy) if policy is not None else None
    source = _Planned(*_opened(given, form), rules, cwd or folder_of(given))
    data = page_data(source, title=title, turns=turn, pictures=pictures)
    if not data.turns:
        raise UsageError(f"{recording}: there are no turns with calls in it.")
    page = page_text(data)
    if to is None:
        typer.echo(page, nl=False)
    else:
        write_text(to, page)
        size = f"{len(page.encode()) / 1e6:.2f} MB"
        tell(f"written: {to} ({count(data.turns, 'turn')}, {size})")
    if data.left:
        tell(f"{data.left:,} more turns have no room in the page. Choose turns with --turn.")
    return 0


@dataclass(frozen=True, slots=True)
class _Planned:
    """The turns of a file with plans, and what stands beside them once they were read.

    Attributes:
        turns: The turns as they are read.
        beside: Gives the recording without turns, with its notices.
        policy: What plans turns without a plan, and masks all; ``None``: nothing does.
        cwd: Where relative paths in keys start.
    """

    turns: Iterable[RecordedTurn]
    beside: Callable[[], Recording]
    policy: Policy | None
    cwd: str | None

    @property
    def head(self) -> Recording:
        return self.beside()

    @property
    def notices(self) -> tuple[Notice, ...]:
        return self.beside().notices

    def __iter__(self) -> Iterator[RecordedTurn]:
        for recorded in self.turns:
            yield recorded if self.policy is None else _planned(recorded, self.policy, self.cwd)


def _planned(recorded: RecordedTurn, policy: Policy, cwd: str | None) -> RecordedTurn:
    """A turn with a plan: its own, or else that of the policy, whose secrets are masked."""
    plan = recorded.plan if recorded.plan is not None else plan_of(recorded.turn, policy, cwd)
    return replace(recorded, plan=replace(plan, redactor=policy.redactor or None))


def _opened(
    given: Input, form: str | None
) -> tuple[Iterable[RecordedTurn], Callable[[], Recording]]:
    if given.kind == "recording":
        source = given.recording()
        return source, lambda: replace(source.head, notices=source.notices)
    if given.kind == "log":
        log = open_log(given.path, format=form)
        return log.turns, lambda: Recording((), log.source(), notices=log.notices())
    name = given.path.rpartition("/")[2]
    return each_turn(given, form), lambda: Recording((), {"path": name})
