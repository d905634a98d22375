"""Fixtures for all tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from toolflow.testing import run_virtual


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function in virtual time, once on each event loop."""
    return partial(run_virtual, backend=request.param)
