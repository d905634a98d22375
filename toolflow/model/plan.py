"""The plan as data: nodes, edges with causes, limits, digests (spec 5).

`toolflow.compiler.Plan` is this value with its answers (`why`, `graph` ...); whoever only needs
the facts, such as the scheduler, needs no more than what stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from toolflow.model.batch import CallPlan, Limits
from toolflow.model.mask import Masks
from toolflow.model.turn import Notice, Turn

NodeKind = Literal["pool", "barrier", "settled"]


@dataclass(frozen=True, slots=True)
class Node:
    """A vertex of the plan.

    Attributes:
        id: ``pool-1``, ``barrier-2``, ``settled-1``: the kind and a number. Pools and barriers
            share one count, in the order in which they run.
        kind: A pool of safe calls, a barrier of one exclusive call, or a settled call.
        calls: Indexes of its calls, ascending.
    """

    id: str
    kind: NodeKind
    calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """A joint of key edges, so that many calls on both sides need no edge for every pair.

    It opens when everything before it has settled.

    Attributes:
        name: ``gate-1``, ``gate-2`` ...; no call of the plan has the same name.
        key: The tree key that made it necessary.
    """

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One thing settles before another starts, and why.

    Attributes:
        before: The name of a call or gate (key edges), or the id of a node (order edges).
        after: The same, for what comes later.
        causes: Why, one short text each: ``key file:/x write`` ..., never empty.
        kind: ``order`` between neighbouring nodes, ``key`` between calls and gates in one pool.
    """

    before: str
    after: str
    causes: tuple[str, ...]
    kind: Literal["order", "key"] = "key"


@dataclass(frozen=True, slots=True)
class PlanData:
    """The compiled, frozen graph of one turn.

    Attributes:
        turn_id: The turn's name.
        message_id: The provider's id of the message, where it has one.
        source: ``main`` or the sub-agent that the turn belongs to.
        calls: The calls in call order.
        nodes: Pools and barriers in the order in which they run, then settled calls.
        gates: Joints of key edges.
        edges: Order edges, then key edges, each sorted by place in the turn.
        limits: Bounds in force.
        approvals: ``inline`` or ``first``.
        policy_digest: Digest of the policy.
        turn_digest: Digest of the turn.
        fingerprint: Digest of everything above.
        notices: What was odd about the turn.
        turn: The turn itself, for whoever writes its results back; not part of the identity.
        masked: Names of calls whose arguments were masked when the plan was written: they are not
            what the model sent, and cannot be run.
        redactor: What masks the secrets of the policy, or ``None``.
    """

    turn_id: str
    message_id: str | None
    source: str
    calls: tuple[CallPlan, ...]
    nodes: tuple[Node, ...]
    gates: tuple[Gate, ...]
    edges: tuple[Edge, ...]
    limits: Limits
    approvals: Literal["inline", "first"] = "inline"
    policy_digest: str = ""
    turn_digest: str = ""
    fingerprint: str = field(default="", compare=False)
    notices: tuple[Notice, ...] = field(default=(), compare=False)
    turn: Turn | None = field(default=None, compare=False, repr=False)
    masked: tuple[str, ...] = field(default=(), compare=False)
    redactor: Masks | None = field(default=None, compare=False, repr=False)
