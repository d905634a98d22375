"""Commands run in this process, as the command line runs them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from toolflow.cli import main


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Run a command: its exit code, and what it wrote to standard output and standard error."""
    capsys.readouterr()
    code = main([*words])
    out, err = capsys.readouterr()
    return code, out, err


def record_flow(policy: str, flow: str, files: Mapping[str, str], *words: str) -> int:
    """Run a flow in the present folder, which gets its files, and record it in ``run``.

    Args:
        policy: The text of ``policy.yaml``.
        flow: The text of ``flow.yaml``; its workspace is ``files``.
        files: What is in the workspace, by name.
        words: More words for the command.

    Returns:
        The exit code.
    """
    Path("files").mkdir()
    for name, text in files.items():
        Path("files", name).write_text(text, "utf-8")
    Path("policy.yaml").write_text(policy, "utf-8")
    Path("flow.yaml").write_text(flow, "utf-8")
    return main(["run", "flow.yaml", "--out", "run", "--quiet", *words])
