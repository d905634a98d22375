"""Any text at all in a picture."""

from __future__ import annotations

from collections.abc import Sequence

import plans
from drawing import assert_harmless, drawing_programs, parsed, texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mermaids import chart

from toolflow.model import Call, Outcome, RecordedTurn, Times, Turn
from toolflow.render import dot_text, looks, mermaid_text, svg, timeline_svg, timeline_text
from toolflow.render.labels import columns, lines_of, visible
from toolflow.render.looks import LABEL_WIDTH

TEXT = st.text(st.characters(codec=None) | st.sampled_from('<>&"\\{}|;[]\n\r\t#/&lt;'), max_size=60)
# A program is started for each example, so there are few examples, with many labels each.
FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@FEW
@given(st.lists(TEXT, min_size=24, max_size=24))
def test_any_label_survives_every_program(labels: list[str]) -> None:
    plan = plans.plan(*(plans.call(text or "t", reason=text, writes=[text]) for text in labels))
    for program in drawing_programs():
        drawn = svg(plan, program=program)
        assert_harmless(drawn)
        shown = texts(drawn)
        for at, text in enumerate(labels, 1):
            wanted = list(lines_of(text or "t", width=LABEL_WIDTH, most=3))
            # Programs leave out empty lines, and `texts` makes every blank a plain one.
            wanted = [line.replace("\xa0", " ").strip() for line in wanted]
            got = [line.strip() for line in shown[f"call-{at}"][: len(wanted)]]
            assert got == wanted or wanted == [""]


@FEW
@given(st.lists(TEXT, min_size=12, max_size=12))
def test_no_text_adds_an_attribute_a_vertex_or_an_edge(labels: list[str]) -> None:
    plan = plans.plan(
        *(
            plans.call(text, name=f"{text}{at}", tool=text, writes=[f"k{text}"], ask=text)
            for at, text in enumerate(labels)
        )
    )
    calm = plans.plan(
        *(
            plans.call("x", name=f"n{at}", writes=[f"k{text}"], ask="")
            for at, text in enumerate(labels)
        )
    )
    for program in drawing_programs():
        graph, plain = parsed(dot_text(plan), program), parsed(dot_text(calm), program)
        for part in ("objects", "edges"):
            mine = [sorted(one) for one in graph.get(part, [])]
            assert mine == [sorted(one) for one in plain.get(part, [])]
            assert not any(name in {"URL", "href"} for keys in mine for name in keys)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_timelines_are_harmless_whatever_they_hold(calls: list[tuple[str, str]]) -> None:
    turn = Turn("t", tuple(Call(at, name, tool) for at, (name, tool) in enumerate(calls)))
    run = RecordedTurn(
        turn, tuple(Outcome("ok") for _ in calls), tuple(Times(0, 0, 0, 1, 1) for _ in calls)
    )
    assert_harmless(timeline_svg(run))
    text = timeline_text(run)
    assert not any(ord(char) < 32 and char != "\n" for char in text)
    text.encode()


number = st.none() | st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.builds(Times, number, number, number, number, number), max_size=4))
def test_any_times_can_be_drawn(times: list[Times]) -> None:
    turn = Turn("t", tuple(Call(at, f"c{at}", "tool") for at in range(len(times))))
    run = RecordedTurn(turn, tuple(Outcome("ok") for _ in times), tuple(times))
    assert_harmless(timeline_svg(run))
    assert all(columns(line) <= 100 for line in timeline_text(run).splitlines())


@given(st.lists(TEXT, max_size=8))
def test_the_same_plan_gives_the_same_text(labels: list[str]) -> None:
    first, second = (
        dot_text(plans.plan(*(plans.call(text, writes=[text]) for text in labels))) for _ in "ab"
    )
    assert first == second
    first.encode()


MERMAID = st.text(
    st.characters(codec=None)
    | st.sampled_from('"#;`<>&%\n\\[](){}|:*_~$@.-=/\ufb02\xb0\xb6\xdf\xa0 '),
    max_size=60,
)


@given(st.lists(st.tuples(MERMAID, MERMAID, st.sampled_from("psb")), max_size=12), MERMAID)
def test_no_text_adds_a_line_a_vertex_or_an_arrow_to_mermaid(
    texts: list[tuple[str, str, str]], title: str
) -> None:
    kinds = {"p": "safe", "s": "settled", "b": "exclusive"}
    made = [
        plans.call(
            label, tool=tool or "t", name=f"{tool}{at}", kind=kinds[kind], reason=label, ask=tool,
            status="denied" if kind == "s" else None, writes=[label], uses={tool: 2},
        )
        for at, (label, tool, kind) in enumerate(texts)
    ]  # fmt: skip
    plan = plans.plan(*made, turn_id=title)
    outcomes = [Outcome("failed", error=label) for label, *_ in texts]
    text = mermaid_text(plan, outcomes=outcomes, title=title)
    found = chart(text)
    nodes = sum(node.kind != "settled" for node in plan.nodes)
    assert found.kinds["call"] == len(texts)
    assert found.kinds["node"] == nodes
    assert len(found.arrows) == len(plan.edges)
    assert text == mermaid_text(plan, outcomes=outcomes, title=title)
    for at, call in enumerate(plan.calls, 1):
        lines = looks.call_lines(call, outcomes[at - 1], None)
        assert found.labels[f"call_{at}"] == meant(lines)


def meant(lines: Sequence[str]) -> str:
    """Lines as they are shown: every blank a plain one, marks of Mermaid's own written out."""
    text = "\n".join(visible(line) for line in lines).replace("\xa0", " ")
    return text.replace("\ufb02\xb0", "\\ufb02\xb0").replace("\xb6\xdf", "\\u00b6\xdf")
