"""The program ``toolflow``: its commands, its exit codes, and how it says what is wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from toolflow.cli.console import complain
from toolflow.errors import DivergenceError, InternalError, ToolflowError

DONE, FAILED, WRONG, PAUSED, ABORTED = 0, 1, 2, 3, 130

HELP = """Plan, run, draw and replay the tool calls of model turns.

A TURN is a file with a provider's message, a list of messages, plain calls, a session log or a
recording; `-` is standard input. Data goes to standard output, everything else to standard error.

Exit codes: 0 done; 1 finished, but a call failed, a check failed or a replay diverged; 2 wrong
usage or configuration; 3 paused and resumable; 130 aborted.
"""

_COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("plan", "planning:plan", "Show what will run beside what, what waits for what, and why."),
    ("run", "running:run", "Run a flow, a turn or a plan."),
    ("resume", "resuming:resume", "Go on with a run that paused, or whose process died."),
    ("runs", "listing:runs", "List the runs of a folder and how they ended."),
    ("replay", "replaying:replay", "Run a recording again in virtual time, or ask what if."),
    ("fork", "forking:fork", "Start a new run in the middle of a recorded one."),
    ("diff", "diffing:diff", "Compare two plans, turns or recordings."),
    ("render", "rendering:render", "Draw a plan, or a run with what became of its calls."),
    ("report", "reporting:report", "Write a recording as one HTML page that opens offline."),
    ("import", "importing:import_", "Read session logs and write them as recordings."),
    ("audit", "auditing:audit_", "Say which calls of real turns meet, what was lost, what to win."),
    ("export", "exporting:export", "Write turns and results in the form of any provider."),
    ("init", "initialising:init", "Write a policy to start from, out of tools or a log."),
    ("check", "checking:check", "Check a file and tell every problem with its place."),
    ("locks", "locking:locks", "Show who holds and who waits for which keys."),
    ("schema", "describing:schema", "Print the JSON Schema of a kind of file, for editors."),
    ("test", "trying:try_", "Try the cases of a policy."),
    ("explain", "explaining:explain_", "Say why calls are decided as they are."),
    ("why", "telling_why:why", "Say why one of two calls waits for the other."),
)


def _app(wanted: str | None) -> typer.Typer:
    """The program with one of its commands; of the others only names and a line each.

    A command loads what it needs, which is most of a second for all of them together.

    Args:
        wanted: The name of the command; ``None`` for help about all.
    """
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    for name, place, said in _COMMANDS:
        module, _, function = place.partition(":")
        command = _unloaded
        if name == wanted:
            command = getattr(import_module(f"toolflow.cli.{module}"), function)
        app.command(name, short_help=said)(command)
    app.callback(invoke_without_command=True)(_root)
    return app


def _unloaded() -> int:
    """A command that was not asked for."""
    raise AssertionError


def _root(
    version: bool = typer.Option(False, "--version", help="Say the version and end."),
) -> None:
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415  # rarely wanted

        typer.echo(f"toolflow {installed('toolflow')}")
        raise typer.Exit


# What typer raises for wrong words: the base class of its public error. Older typers take it from
# the package click, newer ones bring their own copy, so it cannot be imported by one name.
_WrongWordsError: type[Any] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program.

    Args:
        argv: The words after the program's name; those of the process by default.

    Returns:
        The exit code.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        # Options of the program itself take no values, so the first other word is the command.
        app = _app(next((word for word in words if not word.startswith("-")), None))
        code = app(args=words, standalone_mode=False)
    except DivergenceError as error:
        complain(str(error))
        return FAILED
    except InternalError:
        raise
    except ToolflowError as error:
        complain(str(error))
        return WRONG
    except _WrongWordsError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
            typer.echo(error.format_message(), err=True)
        else:
            complain(_sentence(error.format_message()), hint=_hint(error))
        return WRONG
    except (typer.Abort, KeyboardInterrupt):
        complain("aborted")
        return ABORTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads any more
        return DONE
    return code if isinstance(code, int) else DONE


def _sentence(message: str) -> str:
    """What typer says, with one mark at its end and nothing of how it came to say it."""
    said = message.replace("Value error, ", "", 1).rstrip(".")
    return said if said.endswith("?") else f"{said}."


def _hint(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f" See '{context.command_path} --help'." if context is not None else ""
