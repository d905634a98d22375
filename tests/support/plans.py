"""Plans put together by hand, for tests of what is done with plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from toolflow.model import CallPlan, Edge, Gate, Limits, Node, PlanData, Terms, Verdict


def call(
    label: str = "",
    *,
    kind: str = "safe",
    tool: str = "read_file",
    name: str = "",
    writes: Sequence[str] | None = None,
    reads: Sequence[str] | None = None,
    reason: str = "rule 1 says so",
    status: str | None = None,
    ask: str | None = None,
    args: Mapping[str, Any] | None = None,
    **terms: Any,
) -> CallPlan:
    """One call; its place is set by `plan`."""
    return CallPlan(
        index=0,
        name=name,
        id=name,
        tool=tool,
        args=args or {},
        verdict=Verdict(kind, reason, status=status),  # type: ignore[arg-type]
        reads=None if reads is None else tuple(reads),
        writes=None if writes is None else tuple(writes),
        terms=Terms(**terms),
        ask=ask,
        label=label,
    )


def plan(
    *calls: CallPlan,
    edges: Sequence[Edge] = (),
    gates: Sequence[Gate] = (),
    pool: int = 10,
    turn_id: str = "turn-1",
) -> PlanData:
    """Calls as a plan: safe ones next to each other make a pool, writers of a key a chain."""
    placed = [
        replace(one, index=at, name=one.name or f"c{at + 1}", id=one.id or f"c{at + 1}")
        for at, one in enumerate(calls)
    ]
    nodes = _nodes(placed)
    running = [node for node in nodes if node.kind != "settled"]
    order = [Edge(a.id, b.id, ("order of the turn",), "order") for a, b in pairwise(running)]
    keys = [edge for node in running for edge in _chains([placed[i] for i in node.calls])]
    return PlanData(
        turn_id=turn_id,
        message_id=None,
        source="main",
        calls=tuple(placed),
        nodes=tuple(nodes),
        gates=tuple(gates),
        edges=(*order, *(edges or keys)),
        limits=Limits(pool),
    )


def _nodes(calls: Sequence[CallPlan]) -> list[Node]:
    groups: list[tuple[str, list[int]]] = []
    for one in calls:
        if one.verdict.kind == "exclusive":
            groups.append(("barrier", [one.index]))
        elif one.verdict.kind == "safe":
            if not groups or groups[-1][0] != "pool":
                groups.append(("pool", []))
            groups[-1][1].append(one.index)
    nodes = [
        Node(f"{kind}-{at}", kind, tuple(indexes))  # type: ignore[arg-type]
        for at, (kind, indexes) in enumerate(groups, 1)
    ]
    settled = [one.index for one in calls if one.verdict.kind == "settled"]
    return [*nodes, *(Node(f"settled-{at}", "settled", (i,)) for at, i in enumerate(settled, 1))]


def _chains(calls: Sequence[CallPlan]) -> list[Edge]:
    last: dict[str, str] = {}
    edges = []
    for one in calls:
        for key in one.writes or ():
            if key in last:
                edges.append(Edge(last[key], one.name, (f"key {key} write",)))
            last[key] = one.name
    return edges


_SRC = "file:/repo/project/src/"


def read(file: str, **more: Any) -> CallPlan:
    return call(f"read_file src/{file}", reads=[_SRC + file], **more)


def edit(file: str, **more: Any) -> CallPlan:
    return call(f"edit_file src/{file}", tool="edit_file", writes=[_SRC + file], **more)


def three() -> PlanData:
    """Two safe calls, then an exclusive one."""
    return plan(
        read("auth.py"),
        call('grep "login" src', tool="grep", uses={"subprocess": 1}),
        call('git commit -m "Fix"', kind="exclusive", tool="git", hold="turn"),
    )


def nine() -> PlanData:
    """Something of everything: pools, barriers, a key, a settled call, a question."""
    return plan(
        read("auth.py"),
        read("user.py"),
        call('grep "login" src', tool="grep", uses={"subprocess": 1}),
        edit("app.py"),
        edit("app.py"),
        call("run_command make test", kind="exclusive", tool="run_command", timeout=120.0),
        call(
            "frobnicate x=1",
            kind="settled",
            tool="frobnicate",
            status="unknown_tool",
            reason='There is no tool "frobnicate". Near names: format, fabricate.',
        ),
        read("out.log"),
        call(
            "deploy_web service=web",
            kind="exclusive",
            tool="deploy_web",
            ask="Deploy web?",
            timeout=600.0,
            stop="before",
            on_error="stop",
        ),
    )


def chain(length: int) -> PlanData:
    """Edits of one file."""
    return plan(*(edit("server/handlers.py") for _ in range(length)))


def gated() -> PlanData:
    """Six reads below a folder, then its removal, joined by a gate."""
    tree = f"{_SRC}**"
    into = [
        Edge(f"c{at}", "gate-1", (f"key {_SRC}part_{at - 1}.py in {tree} read",))
        for at in range(1, 7)
    ]
    return plan(
        *(read(f"part_{at}.py") for at in range(6)),
        call("delete_file src", tool="delete_file", writes=[tree]),
        call("list_files docs", tool="list_files"),
        edges=[*into, Edge("gate-1", "c7", (f"key {tree} write after read",))],
        gates=[Gate("gate-1", tree)],
    )


def large(length: int) -> PlanData:
    """Reads, edits of a few files and, at every twentieth place, a command."""
    return plan(
        *(
            call(f"run_command step {at}", kind="exclusive", tool="run_command")
            if at % 20 == 19
            else edit(f"mod_{at % 7}.py")
            if at % 3 == 1
            else read(f"part_{at}.py")
            for at in range(length)
        )
    )


EVIL = (
    "<b>bold</b><script>alert(1)</script>",
    "dir C:\\",
    'say "hi" \\N \\G \\" \\\\" &lt; &amp;#60;',
    "cat > f <<EOF\none\ntwo\nthree\nEOF",
    "日本語のラベル 😀 عربي",
    "bell\x07 esc\x1b[31m nul\x00 del\x7f c1\x9b",
    "over\u202eride \ud800 lone \ufffe",
    "x" * 5000,
    'a"]; evil [href="javascript:alert(1)" URL="x"',
    "<<table><tr><td>x</td></tr></table>>",
    "a}; subgraph { b -> c } # /* //",
    "",
    "\\",
    "\\\\\\",
    "&",
    "&#10;&quot;",
    "{a|b|<p>c}",
    "line\\",
)


def evil() -> PlanData:
    """Texts that would break or bend a picture, as labels, names, tools, reasons and keys."""
    return plan(
        *(
            call(
                text,
                tool=text or "t",
                name=f"{text}{at}",
                kind="safe" if at % 3 else "exclusive",
                reason=text,
                writes=[f"file:/{text}"],
                ask=text if at % 5 == 0 else None,
                uses={text or "r": 2},
            )
            for at, text in enumerate(EVIL)
        ),
        call("s", kind="settled", status="denied", reason=EVIL[0] + EVIL[2]),
        call(EVIL[1], name="twin-1", writes=["file:/a\\"]),
        call(EVIL[1], name='twin-2"', writes=["file:/a\\"]),
        turn_id='turn "1"\\',
    )
