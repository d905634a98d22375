"""Mermaid text in Mermaid itself, in a real browser.

The environment variable TOOLFLOW_MERMAID says where Mermaid is: its ``mermaid.min.js``, the
``dist`` folder of its package, or the package (``npm install mermaid``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plans
import pytest
from browsing import browser, page
from mermaids import chart

from toolflow.model import Outcome, PlanData, Times
from toolflow.render import mermaid_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NASTY = (
    *plans.EVIL,
    *("1. first", "- item", "+ item", "* item", "1) first", "> quoted", "# head", "---", "***"),
    *(
        "**bold**",
        "*em*",
        "_em_",
        "__b__",
        "`code`",
        '"`md`"',
        "~~gone~~",
        "a\\*b\\*",
        "src/**/*.py",
    ),
    *("[text](http://example.com)", "[a]: http://example.com", "![i](http://example.com/i.png)"),
    *("http://example.com/a", "www.example.com", "someone@example.com", "javascript:alert(1)"),
    *(
        "<img src=x onerror=alert(1)>",
        "<a href='http://example.com'>x</a>",
        "<svg onload=alert(1)>",
    ),
    *("</span><b>x", "<!-- gone -->", "<style>*{display:none}</style>", "<br>", "<br/>", "&nbsp;"),
    *("#60;b#62;", "#lt;", "#quot;", "&#60;", "ﬂ°°60", "¶", "#br#", "a\\nb", "\\"),
    *("$$x^2$$", "fa:fa-car", "fab:fa-github", "%%{init: {'theme': 'dark'}}%%", "%% comment"),
    *("end", "subgraph x", "graph TD", "click call_1 callback", "a:::b", "style call_1 fill:#f00;"),
    *("classDef x fill:#f00;", "linkStyle 0 stroke:#f00;", "call_1 --> call_2", "@{shape: circle}"),
    *('x"] --> y["z', "((x))", "{{x}}", "[/x/]", ">x]", "|x|", "accTitle: x", "direction LR", "o"),
)
_TAGS = {
    "svg", "style", "g", "marker", "path", "polygon", "circle", "rect", "defs", "filter",
    "feDropShadow", "linearGradient", "stop", "foreignObject", "DIV", "SPAN", "P", "BR", "text",
    "tspan",
}  # fmt: skip


@pytest.fixture(scope="module")
def bundle() -> str:
    place = os.environ.get("TOOLFLOW_MERMAID")
    if not place:
        pytest.skip("TOOLFLOW_MERMAID does not say where Mermaid is (npm install mermaid)")
    for path in (Path(place), *(Path(place, *way, "mermaid.min.js") for way in ((), ("dist",)))):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    pytest.skip(f"TOOLFLOW_MERMAID is {place}, where there is no mermaid.min.js")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


_DRAW = """async ([text, settings]) => {
    mermaid.initialize({startOnLoad: false, ...settings});
    const drawn = await mermaid.render('drawn', text);
    document.body.innerHTML = drawn.svg;
    drawn.bindFunctions?.(document.body);
}"""
_READ = """() => {
    const lines = label => label.querySelector('foreignObject')
        ? label.querySelector('foreignObject').firstElementChild.innerText
        : [...label.querySelectorAll('tspan.text-outer-tspan')].map(e => e.textContent).join('\\n');
    const all = [...document.querySelectorAll('body *')];
    return {
        nodes: Object.fromEntries([...document.querySelectorAll('g.node')].map(
            e => [e.id.match(/(call|gate|rest)_\\d+|legend|skipped|plan/)[0], lines(e)])),
        clusters: Object.fromEntries([...document.querySelectorAll('g.cluster')].map(
            e => [e.id.match(/node_\\d+|plan|settled/)[0], lines(e)])),
        keys: [...document.querySelectorAll('g.edgeLabel')].map(lines).filter(text => text),
        edges: document.querySelectorAll('.edgePaths path').length,
        tags: [...new Set(all.map(e => e.tagName))],
        attributes: [...new Set(all.flatMap(e => e.getAttributeNames()))],
    };
}"""


def drawn(tab: Page, bundle: str, text: str, **settings: Any) -> dict[str, Any]:
    """What Mermaid makes of a text, as a reader and as a page would see it."""
    tab.set_content("<!doctype html><body></body>")
    tab.add_script_tag(content=bundle)
    tab.evaluate(_DRAW, [text, settings])
    found: dict[str, Any] = tab.evaluate(_READ)
    assert set(found["tags"]) <= _TAGS
    assert not [name for name in found["attributes"] if "href" in name or name.startswith("on")]
    return found


def plain(text: str) -> str:
    """A text as the writer meant it: without the joiners, with plain blanks."""
    return re.sub("[\u2060\ufeff]", "", text).replace("\xa0", " ").strip()


def nasty() -> PlanData:
    """Each text as label, name, tool, key, question and reason; an edge for each key."""
    calls = [
        plans.call(
            text,
            tool=text or "t",
            name=f"{text} {at}",
            writes=[f"{text} {at // 2}"],
            ask=text,
            uses={text or "r": 2},
        )
        for at, text in enumerate([each for each in NASTY for _ in (0, 1)])
    ]
    settled = [
        plans.call(text, kind="settled", status="denied", reason=text, name=f"{text}{at}")
        for at, text in enumerate(NASTY)
    ]
    return plans.plan(*calls, *settled, turn_id='"]<b>x</b>`')


@pytest.mark.parametrize("level", ["strict", "loose"])
def test_any_text_comes_out_as_itself(chromium: Browser, bundle: str, level: str) -> None:
    text = mermaid_text(nasty(), fold=False)
    meant = chart(text)
    with page(chromium) as tab:
        found = drawn(tab, bundle, text, securityLevel=level, maxTextSize=10**6, maxEdges=10**4)
    for name, shown in (found["nodes"] | found["clusters"]).items():
        assert plain(shown) == meant.labels[name].strip(), name
    assert set(found["nodes"]) | set(found["clusters"]) == set(meant.labels)
    wanted = [label.strip() for _, _, label, _ in meant.arrows if label]
    assert sorted(map(plain, found["keys"])) == sorted(wanted)
    assert len(wanted) >= len(NASTY)


def test_any_text_is_harmless_where_labels_are_svg_text(chromium: Browser, bundle: str) -> None:
    text = mermaid_text(nasty(), fold=False)
    settings = {"htmlLabels": False, "maxTextSize": 10**6, "maxEdges": 10**4}
    with page(chromium) as tab:
        found = drawn(tab, bundle, text, flowchart={"htmlLabels": False}, **settings)
    assert set(found["nodes"]) | set(found["clusters"]) == set(chart(text).labels)


@pytest.mark.parametrize(
    "plan",
    [
        plans.three(),
        plans.nine(),
        plans.gated(),
        plans.chain(16),
        plans.large(60),
        plans.large(3000),
        plans.plan(*[plans.call(f"c{at}", kind="exclusive") for at in range(600)]),
        plans.plan(*[plans.call("x", kind="settled", status="denied")] * 3),
        plans.plan(turn_id="t"),
    ],
    ids=["three", "nine", "gate", "chain", "sixty", "folded", "barriers", "settled", "empty"],
)
def test_mermaid_draws_what_was_meant_within_its_own_limits(
    chromium: Browser, bundle: str, plan: PlanData
) -> None:
    text = mermaid_text(plan)
    meant = chart(text)
    with page(chromium) as tab:
        found = drawn(tab, bundle, text)
    assert set(found["nodes"]) | set(found["clusters"]) >= set(meant.labels) - {"plan"}
    assert found["edges"] == meant.edges


def test_states_look_different_without_their_colours(chromium: Browser, bundle: str) -> None:
    statuses = ("ok", "failed", "timed_out", "skipped", "held", "running", "declined")
    plan = plans.plan(*[plans.read("a")] * len(statuses))
    outcomes = [Outcome(status) for status in statuses]  # type: ignore[arg-type]
    text = mermaid_text(plan, outcomes=outcomes, times=[Times()] * len(statuses))
    with page(chromium) as tab:
        drawn(tab, bundle, text)
        looks = tab.evaluate(
            """() => [...document.querySelectorAll('g.node')].filter(e => /call_/.test(e.id)).map(
            e => { const shape = e.querySelector('rect,polygon,path');
            const style = getComputedStyle(shape);
            return [shape.tagName, shape.getAttribute('points') || '', style.strokeWidth,
                    style.strokeDasharray].join(' ') })"""
        )
    assert len(set(looks)) == len(statuses)
