"""Every test in this folder runs over every kind of lock store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest
from lock_stores import SETTINGS, Calls, opened

from toolflow.locks import LockStore


@pytest.fixture(params=SETTINGS, ids=lambda setting: "-".join(map(str, setting)))
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[LockStore]]:
    """One store, or several that behave like those of several processes."""
    with opened(*request.param, tmp_path) as found:
        yield found


@pytest.fixture
def store(stores: list[LockStore]) -> LockStore:
    """The store of a process."""
    return stores[0]


@pytest.fixture
def other(stores: list[LockStore]) -> LockStore:
    """That of another process, where there is one."""
    return stores[-1]


@pytest.fixture
async def calls(stores: list[LockStore]) -> AsyncIterator[Calls]:
    """Calls in these stores; what is left at the end is cancelled."""
    async with anyio.create_task_group() as tasks:
        yield Calls(stores, tasks)
        tasks.cancel_scope.cancel()
