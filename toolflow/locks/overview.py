"""The statistics of the lock store in a file: owners as their processes know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import monotonic
from types import MappingProxyType
from typing import Any

from toolflow.locks.operations import OwnerName
from toolflow.locks.owners import OwnerNumbers
from toolflow.locks.replica import Replica
from toolflow.scheduler.lock_statistics import LockStatistics, QueueStatistics, Stand, Wait


def overview(replica: Replica, owners: OwnerNumbers) -> LockStatistics:
    """Describe a state.

    Args:
        replica: The state.
        owners: The owners of this process. Those of others are shown by their numbers.
    """
    state = replica.table.statistics()
    return LockStatistics(
        _queues(replica, owners, state.keys),
        _queues(replica, owners, state.resources),
        tuple(replace(one, **_whose(replica, owners, one)) for one in state.waits),
        monotonic(),
    )


def _queues(
    replica: Replica, owners: OwnerNumbers, found: Mapping[str, QueueStatistics]
) -> Mapping[str, QueueStatistics]:
    def here(stands: tuple[Stand, ...]) -> tuple[Stand, ...]:
        return tuple(replace(one, **_whose(replica, owners, one)) for one in stands)

    return MappingProxyType(
        {name: QueueStatistics(here(one.holders), here(one.waiters)) for name, one in found.items()}
    )


def _whose(replica: Replica, owners: OwnerNumbers, one: Stand | Wait) -> dict[str, Any]:
    process, number = OwnerName.of(one.owner)
    member = replica.members[process]
    return {
        "owner": owners.owner(number) if process == replica.me else one.owner,
        "name": one.name.removesuffix(replica.label_of(process, "")),
        "pid": member.pid,
        "process": member.name,
    }
