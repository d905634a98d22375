"""What the scheduler says: decisions, and the phases that a call goes through."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

# The phases of a call are plain integers: the scheduler compares them several times a call.
WAITING: Final = 0  # its place in the turn has not been reached
PREPARING: Final = 1  # its before-hook runs
READY: Final = 2  # prepared; it may still wait for calls before it, an answer, a permit
ACQUIRING: Final = 3  # it has a permit and waits for resources and keys
RUNNING: Final = 4  # its body runs
AFTER: Final = 5  # its outcome is known, its after-hook has not begun
HOOKING: Final = 6  # its after-hook runs
ASKING: Final = 7  # its body asked a person and ended; it runs again after the answer
DONE: Final = 8  # nothing more happens to it

DecisionKind = Literal[
    "ask",  # put the call's question to the approver
    "prepare",  # run its before-hook
    "start",  # it has a permit: take its resources and keys, then run its body
    "settle",  # it settles without running, with `status`
    "after",  # run its after-hook
    "cancel",  # end what is under way for it: a wait, a hook or a body
    "pause",  # nothing more happens until the run is resumed
    "finish",  # every call is done
]


class Decision(NamedTuple):
    """One thing for the driver to do.

    Attributes:
        kind: What to do.
        call: The index of the call; -1 for the run as a whole.
        status: For ``settle`` the status of the outcome.
        cause: For ``settle`` the index of the call that is the reason, or -1.
    """

    kind: DecisionKind
    call: int = -1
    status: str = ""
    cause: int = -1


def start(call: int) -> Decision:
    """The decision to start a call: the one that is made for every call, made quickly."""
    return tuple.__new__(Decision, ("start", call, "", -1))
