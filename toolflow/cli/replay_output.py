"""What ``toolflow replay`` says of each turn, as turns come; nothing of them stays in memory.

Text is written at once. In JSON and YAML what is known last stands first, so the turns wait in a
temporary file; a single turn waits in memory, since it may stand on the line of its list.
"""

from __future__ import annotations

import json
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Any, Final, Self

import typer

from toolflow import yamlio
from toolflow.cli.console import Output, say, say_data, tell
from toolflow.recording.replaying import ReplayedTurn, replayed_data, whole_line

_SMALL: Final = 1024 * 1024  # characters that wait in memory
_PIECE: Final = 64 * 1024


class ReplayOutput:
    """Writes a report, turn by turn.

    Args:
        output: How.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._first: dict[str, Any] | None = None
        self._waiting = SpooledTemporaryFile(  # noqa: SIM115  # this is one itself
            _SMALL, "w+", encoding="utf-8", errors="surrogatepass", newline="\n"
        )
        self._count = self._compared = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._waiting.close()

    def turn(self, turn: ReplayedTurn) -> None:
        """Write a turn that did not leave its path, and tell what was passed over."""
        self._count += 1
        self._compared += bool(turn.compared)
        if self._output == "text":
            say(str(turn))
        elif self._count == 1:
            self._first = replayed_data(turn)
        else:
            if self._count == 2:
                self._wait(self._first)
            self._wait(replayed_data(turn))
        for passed in turn.ignored:
            tell(f"ignored {passed.kind}: {passed}")

    def end(self, *, ok: bool, notices: list[str]) -> None:
        """Write what is known in the end.

        Args:
            ok: Whether everything is as recorded.
            notices: What was odd.
        """
        if self._output == "text":
            say(whole_line(self._count, self._compared, 0))
            return
        if self._count < 2:
            turns = [] if self._first is None else [self._first]
            say_data({"ok": ok, "turns": turns, "notices": notices}, self._output)
            return
        frame = {"ok": ok, "turns": [], "notices": notices}
        if self._output == "json":
            text = json.dumps(frame, ensure_ascii=False, indent=2)
            before, _, after = text.partition("[]")
            self._write(f"{before}[", f"\n  ]{after}\n")
        else:
            before, _, after = yamlio.dump(frame).partition(" []")
            self._write(f"{before}\n", after.removeprefix("\n"))

    def _wait(self, data: Any) -> None:
        """Put a turn behind those that wait."""
        if self._output == "json":
            text = json.dumps(data, ensure_ascii=False, indent=2).replace("\n", "\n    ")
            comma = "," if self._waiting.tell() else ""
            self._waiting.write(f"{comma}\n    {text}")
        else:
            self._waiting.write(yamlio.dump_item(data, 2))

    def _write(self, before: str, after: str) -> None:
        typer.echo(before, nl=False)
        self._waiting.seek(0)
        while piece := self._waiting.read(_PIECE):
            typer.echo(piece, nl=False)
        typer.echo(after, nl=False)
