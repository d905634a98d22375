"""What people see: text without control characters, colours only where they are wanted."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from typing import Any, Literal

import typer

Output = Literal["text", "json", "yaml"]

_CONTROL = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1, without tab and line feed
    "\u2028\u2029\u202a-\u202e\u2066-\u2069"  # line separators, and what turns text around
    "\ud800-\udfff"  # lone surrogates, which no terminal can be sent
    "]"
)


def harmless(text: str) -> str:
    """Text that cannot steer a terminal: control characters become visible escapes."""
    return _CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


def say(text: str = "") -> None:
    """Write a line of data to standard output."""
    typer.echo(harmless(text))


def tell(text: str = "") -> None:
    """Write a line of talk to standard error."""
    typer.echo(harmless(text), err=True)


def complain(message: str, *, hint: str = "") -> None:
    """Say what is wrong, one line a problem."""
    lines = message.splitlines() or [""]
    for line in lines:
        tell(f"toolflow: {line}{hint if line is lines[-1] else ''}")


def say_data(value: Any, output: Output) -> None:
    """Write a JSON-like value to standard output as JSON or YAML."""
    if output == "json":
        typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
        return
    from toolflow import yamlio  # noqa: PLC0415  # only where YAML is wanted

    typer.echo(yamlio.dump(value), nl=False)


def terminal_width() -> int | None:
    """How many characters a line of standard output may have; ``None`` where it is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def is_live() -> bool:
    """Whether standard error is a terminal that can show something that changes."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") != "dumb"


def has_colour() -> bool:
    """Whether colours are wanted: a terminal, and no ``NO_COLOR``."""
    return is_live() and not os.environ.get("NO_COLOR")
