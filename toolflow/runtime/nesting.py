"""What a run takes over from the call inside whose body it was started (spec 6.11).

Tools, observers and approver belong to the outermost run: a tool that calls tools, or a sub-agent,
knows none of them. A turn of its own it is all the same, with its own pool, hooks and events.
"""

from __future__ import annotations

import inspect
import itertools
import threading
from collections.abc import Iterable
from typing import Any

from toolflow.errors import UsageError
from toolflow.locks.blocks import current_lineage
from toolflow.runtime.approvals import Approver
from toolflow.runtime.context import Context, current_context
from toolflow.runtime.control import Control
from toolflow.runtime.events import Sink
from toolflow.runtime.hooks import HookChain
from toolflow.runtime.options import RunOptions
from toolflow.runtime.toolbox import Toolbox

Pinned = tuple[Toolbox, Toolbox]
_numbers = itertools.count(1)
_counting = threading.Lock()


def run_name(parent: Context | None) -> str:
    """A new run's name, that of the parent's run before it."""
    name = f"run-{next(_numbers)}"
    return name if parent is None else f"{parent.run}/{name}"


def source_of(parent: Context | None) -> str:
    """``main``, or the path of parent calls, for a turn that begins now.

    A body may run several turns, whose calls may have the same names; from the second turn on the
    path ends in ``#2``, ``#3`` ..., so that each call inside a run is called like no other.
    """
    if parent is None:
        return "main"
    with _counting:  # a body may start turns from threads of its own
        parent.turns += 1
        number = parent.turns
    name = parent.name if number == 1 else f"{parent.name}#{number}"
    return name if parent.source == "main" else f"{parent.source}/{name}"


def nested_tools(tools: Toolbox, parent: Context | None) -> tuple[Toolbox, Pinned | None]:
    """The tools of a run, and what turns nested in it go by (conformance 42).

    A nested turn sees the tools as they were when the outermost run began, so that it does not
    depend on what siblings of its parent change meanwhile. One with a toolbox of its own sees that.
    """
    pinned = parent.surroundings.pinned if parent is not None else None
    if pinned is not None and any(tools is box for box in pinned):
        return pinned[1], pinned
    return tools, None


def parent_approver(parent: Context | None) -> Approver | None:
    """Who answers the questions of the parent's run."""
    return parent.surroundings.approver if parent is not None else None


def sinks_of(on_event: Sink | Iterable[Sink], parent: Context | None) -> tuple[Sink, ...]:
    """Observers of a run: its own, then those of the run that it is nested in.

    Raises:
        UsageError: If one of them is no plain function.
    """
    sinks = (on_event,) if callable(on_event) else tuple(on_event)
    given: tuple[object, ...] = sinks
    for sink in given:
        if not callable(sink) or inspect.iscoroutinefunction(sink):
            raise UsageError(
                f"on_event has {sink!r}. Use plain functions that take an event; "
                "one with slow work to do puts it into a queue of its own."
            )
    relay = parent.surroundings.relay if parent is not None else None
    return sinks if relay is None else (*sinks, relay)


def options_around(
    hooks: HookChain,
    approver: Approver | None,
    otherwise: Approver | None,
    *,
    on_event: Sink | Iterable[Sink],
    control: Control | None,
    can_pause: bool,
    **more: Any,
) -> RunOptions:
    """What a run is told of where it runs: at the top, or inside the body of a call.

    Args:
        hooks: Its hooks.
        approver: Who answers its questions.
        otherwise: Who does if nobody is named, and no parent has an approver.
        on_event: Its own observers.
        control: Its handle.
        can_pause: Whether it may pause; a nested one never does.
        **more: Other fields of `RunOptions`.
    """
    parent = current_context()
    return RunOptions(
        run=run_name(parent),
        hooks=hooks,
        approver=approver or parent_approver(parent) or otherwise,
        sinks=sinks_of(on_event, parent),
        control=control or Control(),
        pausable=can_pause and parent is None,
        lineage=current_lineage(),
        source=source_of(parent),
        **more,
    )
