"""Fixtures for all tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import pytest
from hypothesis import settings

from toolflow.testing import run_virtual

# No test is about time, so none has a deadline: it would fail on a machine that is busy.
settings.register_profile("toolflow", deadline=None)
settings.load_profile("toolflow")


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function in virtual time, once on each event loop."""
    return partial(run_virtual, backend=request.param)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With ``TOOLFLOW_NO_SKIPS`` set, a skipped test fails: whatever it needs should be there."""
    report = yield
    if report.skipped and os.environ.get("TOOLFLOW_NO_SKIPS"):
        report.outcome = "failed"
        report.longrepr = (
            f"{item.nodeid} was skipped, which counts as a failure here: {report.longrepr}"
        )
    return report
