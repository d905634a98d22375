"""The command line (spec 12): one module a command, none of them with a logic of its own."""

from toolflow.cli.app import main

__all__ = ["main"]
