"""Progress on standard error: live on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from toolflow.cli.console import harmless, has_colour, is_live, tell
from toolflow.model.event import Event

if TYPE_CHECKING:
    from rich.live import Live

_LARGE = 4 * 1024 * 1024  # bytes that take about a second to read
_NAME = 40  # characters of a file's name beside a bar
_MARKS = {"ok": "✓", "running": "…", "failed": "✗", "timed_out": "✗", "aborted": "✗"}


class Progress:
    """Shows plans as they are made, and calls as they start and settle.

    Args:
        quiet: Whether to show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live: Live | None = None
        self._labels: dict[tuple[str, str], str] = {}
        self._running: dict[tuple[str, str], str] = {}

    def __enter__(self) -> Self:
        if is_live() and not self._quiet:
            from rich.console import Console  # noqa: PLC0415  # only for terminals
            from rich.live import Live  # noqa: PLC0415

            console = Console(stderr=True, no_color=not has_colour(), highlight=False)
            self._live = Live(console=console, transient=True, refresh_per_second=8)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def plan(self, stage: str, text: str, labels: Mapping[str, str]) -> None:
        """Show the plan of a stage."""
        for name, label in labels.items():
            self._labels[stage, name] = label
        self._line(f"{stage}: the plan\n" + "\n".join(f"  {line}" for line in text.splitlines()))

    def event(self, event: Event) -> None:
        """Show an event, if it is one that people want to see."""
        key = (event.turn, event.call or "")
        if event.kind == "call_started":
            self._running[key] = self._label(event)
            self._line(f"{event.turn}: {event.call} started  {self._label(event)}", live=False)
        elif event.kind == "call_settled":
            self._running.pop(key, None)
            status = str(event.data.get("status"))
            mark = _MARKS.get(status, "-")
            self._line(f"{event.turn}: {mark} {event.call} {status} after {event.at:.3f} s")
        elif event.kind == "call_queued":
            self._line(f"{event.turn}: {event.call} waits for {', '.join(event.data['waits'])}")
        self._refresh()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Leave the terminal to somebody else for a while."""
        live = self._live
        if live is not None:
            live.stop()
        try:
            yield
        finally:
            if live is not None and self._live is live:
                live.start()

    def _label(self, event: Event) -> str:
        return self._labels.get((event.turn, event.call or ""), "")

    def _line(self, text: str, *, live: bool = True) -> None:
        """Write a line that stays; ``live=False``: not where it is shown live anyway."""
        if self._quiet:
            return
        if self._live is None:
            tell(text)
        elif live:
            from rich.text import Text  # noqa: PLC0415  # only for terminals

            self._live.console.print(Text(harmless(text)), soft_wrap=True)

    def _refresh(self) -> None:
        if self._live is not None:
            from rich.text import Text  # noqa: PLC0415  # only for terminals

            lines = [f"  running: {name}  {label}" for (_, name), label in self._running.items()]
            self._live.update(Text(harmless("\n".join(lines))))


@contextmanager
def bytes_read(name: str, size: int) -> Iterator[Callable[[int], object] | None]:
    """A progress bar for a large file, where standard error is a terminal.

    Args:
        name: The file's name.
        size: Its size in bytes; a small one needs no bar.

    Yields:
        What to call with how many bytes were read so far, or ``None``: nobody watches.
    """
    if size < _LARGE or not is_live():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  # only for terminals
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars  # noqa: PLC0415

    console = Console(stderr=True, no_color=not has_colour(), highlight=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Bars(*columns, TimeRemainingColumn(), console=console, transient=True) as bars:
        shown = name if len(name) <= _NAME else f"…{name[1 - _NAME :]}"  # its end tells the most
        bar = bars.add_task(harmless(shown), total=size)
        yield lambda done: bars.update(bar, completed=done)
