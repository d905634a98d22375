"""The page of a recording in a real browser, opened as a file and without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import browsing
import plans
import pytest
import reported

from toolflow.model import Edge, Outcome, Recording, Times
from toolflow.render.report import report_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STATES = "() => [...document.querySelectorAll('.calls .state > span')].map(n => n.textContent)"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browsing.browser() as started:
        yield started


@pytest.fixture
def shown(chromium: Browser, tmp_path: Path) -> Any:
    """Opens a recording as a page."""

    @contextmanager
    def open_page(recording: Any, place: str = "", **options: Any) -> Iterator[Page]:
        file = tmp_path / "run.html"
        pictures = options.pop("pictures", False)
        file.write_text(report_html(recording, pictures=pictures), "utf-8")
        with browsing.page(chromium, **options) as tab:
            tab.goto(file.as_uri() + place)
            yield tab

    return open_page


def told(tab: Page) -> str:
    return tab.locator(".slider output").inner_text()


def test_all_turns_are_told_first_and_lead_to_one(shown: Any) -> None:
    with shown(reported.session()) as tab:
        rows = tab.locator(".overview tbody tr")
        assert rows.count() == 2
        first = rows.first.inner_text()
        for word in ("turn-1", "done", "5 ok", "1 timed out", "2.1 s", "1 waited long"):
            assert word in first
        tab.get_by_role("button", name="only what went wrong (1)").click()
        assert rows.locator("visible=true").count() == 1
        tab.get_by_role("button", name="only what went wrong (1)").click()
        tab.get_by_role("link", name="turn-2").click()
        tab.get_by_role("heading", name="turn-2").wait_for()
        assert tab.evaluate("document.activeElement.id") == "title-turn"
        tab.get_by_role("link", name="All turns").click()
        tab.locator(".overview").wait_for()


def test_one_turn_is_shown_at_once(shown: Any) -> None:
    with shown(reported.session(reported.nine())) as tab:
        assert tab.get_by_role("heading", level=2).inner_text().startswith("turn-1")
        assert tab.locator(".calls tbody").count() == 9


def test_a_call_unfolds_by_mouse_and_by_keyboard(shown: Any) -> None:
    with shown(reported.session(), "#turn-1") as tab:
        toggle = tab.get_by_role("button", name="read_file src/user.py")
        assert toggle.get_attribute("aria-expanded") == "false"
        toggle.press("Enter")
        assert toggle.get_attribute("aria-expanded") == "true"
        details = tab.locator(f"#{toggle.get_attribute('aria-controls')}")
        assert "No such file: user.py" in details.inner_text()
        assert tab.evaluate("location.hash") == "#turn-1/c2"
        tab.locator(".calls tbody").nth(1).locator(".verdict").click()
        assert details.is_hidden()
        tab.get_by_role("button", name="open all").click()
        assert tab.locator(".details").count() == 9


@pytest.mark.parametrize("place", ["#turn-1/c4", "#turn-1/4", "#turn-1/c4@3"])
def test_an_address_leads_to_a_call(shown: Any, place: str) -> None:
    with shown(reported.session(), place) as tab:
        if place == "#turn-1/4":
            assert tab.locator(".details").count() == 0  # no call of this name
            return
        tab.locator(".details").wait_for()
        assert "Replaced 1 place." in tab.locator(".details").inner_text()
        assert "src/app.py" in tab.evaluate("document.activeElement.textContent")


def test_an_address_may_name_ids_and_a_moment(shown: Any) -> None:
    plan = plans.plan(plans.call("one", name="a/b c"), plans.call("two"), turn_id="odd id/1")
    turn = reported.run_of(plan, reported.OUTCOMES[:2], reported.TIMES[:2])
    with shown(reported.session(reported.three(), turn), "#odd%20id%2F1/a%2Fb%20c@2") as tab:
        assert told(tab).startswith("2 of 7")
        assert tab.locator(".details").count() == 1
        tab.goto(tab.url.partition("#")[0] + "#turn-1@1")
        tab.get_by_role("heading", name="turn-2").wait_for()
        assert told(tab).startswith("1 of")


@pytest.mark.parametrize("place", ["#nothing", "#turn-9", "#%", "#turn-1/zz", "#turn-1@99999"])
def test_an_address_that_names_nothing_shows_what_there_is(shown: Any, place: str) -> None:
    with shown(reported.session(), place) as tab:
        assert tab.locator("main section").count() > 0


def test_a_link_leads_to_its_call_however_often_it_is_pressed(shown: Any) -> None:
    with shown(reported.session(), "#turn-1") as tab:
        link = tab.locator(".timeline a").nth(3)
        for _ in range(2):
            link.click()
            assert "src/app.py" in tab.evaluate("document.activeElement.textContent")
            tab.get_by_role("button", name="close all").click()
            assert tab.locator(".details").locator("visible=true").count() == 0


def test_a_page_with_one_turn_has_a_list_of_turns_too(shown: Any) -> None:
    with shown(reported.session(reported.nine()), "#main") as tab:
        tab.get_by_role("heading", name="turn-1").wait_for()
        tab.get_by_role("link", name="To the content").press("Enter")
        assert tab.evaluate("document.activeElement.id") == "main"
        tab.get_by_role("link", name="All turns").click()
        tab.locator(".overview").wait_for()


def test_what_got_into_the_page_as_markup_could_do_nothing(
    chromium: Browser, tmp_path: Path
) -> None:
    html = report_html(reported.session(), pictures=False)
    evil = (
        "<script>document.title = 'hacked'</script><svg onload=\"document.title = 'hacked'\"></svg>"
        "<p id='evil' style='color: red' onclick=\"document.title = 'hacked'\">press</p>"
        "<style>#evil { color: red }</style><img src='data:,'><iframe src='data:,x'></iframe>"
    )
    file = tmp_path / "run.html"
    file.write_text(html.replace("<noscript>", f"{evil}<noscript>"), "utf-8")
    with browsing.page(chromium, errors=False) as tab:
        tab.goto(file.as_uri())
        tab.locator("#evil").click()
        assert tab.title() == "s-1"
        assert tab.evaluate("getComputedStyle(evil).color") != "rgb(255, 0, 0)"
        assert tab.locator(".overview tbody tr").count() == 2


def test_the_slider_shows_every_moment_everywhere(shown: Any) -> None:
    with shown(reported.session(), "#turn-1", pictures=True) as tab:
        assert told(tab).startswith("20 of 20")
        slider = tab.get_by_role("slider")
        slider.fill("6")
        assert "call settled c2" in told(tab)
        states = tab.evaluate(STATES)
        assert states == [
            "running", "failed", "waiting", "running", "to come", "to come", "unknown tool",
            "waiting", "to come",
        ]  # fmt: skip
        waits = tab.locator(".calls .state").nth(4).inner_text()
        assert "c4" in waits
        assert "key file:/repo/project/src/app.py write" in waits
        assert "for pool-1" in tab.locator(".calls .state").nth(5).inner_text()
        words = tab.locator(".timeline .word").all_text_contents()
        assert [word.strip() for word in words] == states
        assert tab.locator(".cursor").get_attribute("x1") == "5.714%"
        assert tab.locator(".events li.current").text_content().startswith("120 ms")
        assert tab.evaluate("location.hash") == "#turn-1@6"
        if tab.locator(".picture").count():
            assert tab.locator(".picture .call.running").count() == 2
            assert tab.locator(".picture .call-2.current").count() == 1
            assert "running" in tab.locator(".picture .call-1").text_content()
            assert tab.locator(".picture .call-1 .now").is_visible()
        slider.fill("20")
        assert tab.locator(".picture .running, .picture .coming").count() == 0
        assert "timed out" in tab.evaluate(STATES)


def test_a_body_that_goes_on_after_its_report_is_told(shown: Any) -> None:
    with shown(reported.session(), "#turn-1@12") as tab:
        assert "call settled c5" in told(tab)
        assert tab.evaluate(STATES)[4] == "timed out, still running"
        tab.get_by_role("slider").fill("14")
        assert tab.evaluate(STATES)[4] == "timed out"


def test_of_a_gate_the_calls_that_lead_to_it_are_waited_for(shown: Any) -> None:
    plan = plans.gated()
    back = Edge("gate-1", "gate-1", ("a circle, which no plan has",))
    times = [Times(0, 0, 0, 1, 1)] * 6 + [Times(1, 1, 1, 2, 2), Times(0, 0, 0, 1, 1)]
    for edges in (plan.edges, (*plan.edges, back)):
        turn = reported.run_of(replace(plan, edges=edges), [Outcome("ok")] * 8, times)
        with shown(reported.session(turn), "#turn-1@8") as tab:
            waits = tab.locator(".calls .state").nth(6).inner_text()
            assert "c1 c2 c3 (key file:/repo/project/src/** write after read)" in waits


def test_what_settled_in_an_earlier_run_of_the_turn_has_settled_from_the_start(shown: Any) -> None:
    turn = reported.three()
    rest = tuple(event for event in turn.events if event.call != "c1")
    with shown(reported.session(replace(turn, events=rest)), "#turn-1@0") as tab:
        assert told(tab).startswith("0 of 7 · before the run · 2 to come, 1 settled")
        assert tab.evaluate(STATES) == ["ok", "to come", "to come"]


def test_the_slider_moves_by_keyboard_and_by_buttons(shown: Any) -> None:
    with shown(reported.session(), "#turn-2") as tab:
        slider = tab.get_by_role("slider")
        slider.press("Home")
        assert told(tab).startswith("0 of 9 · before the run · 3 to come")
        slider.press("ArrowRight")
        slider.press("ArrowRight")
        assert told(tab).startswith("2 of 9")
        assert slider.get_attribute("aria-valuetext") == told(tab)
        tab.get_by_role("button", name="Step forward").click()
        tab.get_by_role("button", name="Step forward").press("Enter")
        assert told(tab).startswith("4 of 9")
        tab.get_by_role("button", name="Step back").click()
        assert told(tab).startswith("3 of 9")
        tab.get_by_role("button", name="To the end").click()
        assert told(tab).startswith("9 of 9")
        tab.get_by_role("button", name="Step forward").click()
        assert told(tab).startswith("9 of 9")
        tab.get_by_role("button", name="To the start").click()
        assert told(tab).startswith("0 of 9")


def test_playing_goes_to_the_end_and_stops(shown: Any) -> None:
    with shown(reported.session(), "#turn-2@6") as tab:
        tab.clock.install()
        tab.get_by_role("button", name="Play").click()
        assert tab.get_by_role("button", name="Pause").is_visible()
        tab.clock.run_for(1000)
        assert told(tab).startswith("7 of 9")
        tab.get_by_role("button", name="Pause").click()
        tab.clock.run_for(5000)
        assert told(tab).startswith("7 of 9")
        tab.get_by_role("button", name="Play").click()
        tab.clock.run_for(5000)
        assert told(tab).startswith("9 of 9")
        assert tab.get_by_role("button", name="Play").is_visible()


def test_only_one_voice_tells_the_moment(shown: Any) -> None:
    with shown(reported.session(), "#turn-2") as tab:
        live = tab.locator(".slider output")
        assert live.get_attribute("aria-live") == "polite"
        tab.get_by_role("slider").focus()
        assert live.get_attribute("aria-live") == "off"  # the range tells its value itself
        tab.get_by_role("button", name="Step back").focus()
        assert live.get_attribute("aria-live") == "polite"


def test_the_search_counts_marks_and_goes_to_hits(shown: Any) -> None:
    with shown(reported.session(), "#turn-1") as tab:
        field = tab.get_by_role("searchbox")
        field.fill("APP.PY")
        said = tab.locator("[role=search] output")
        said.filter(has_text="hit").wait_for()
        assert said.inner_text() == "4 hits in 1 turn"
        marks = tab.locator("mark")
        assert {text.lower() for text in marks.all_text_contents()} == {"app.py"}
        assert tab.get_by_text("found in the details").locator("visible=true").count() == 1
        field.press("Enter")
        assert said.inner_text() == "1 of 4 hits in 1 turn"
        assert "app.py:12" in tab.locator(".details").inner_text()
        field.press("Shift+Enter")
        assert said.inner_text() == "4 of 4 hits in 1 turn"
        tab.get_by_role("button", name="only hits").click()
        assert tab.locator(".calls tbody").locator("visible=true").count() == 3
        field.press("Escape")
        assert tab.locator("mark").count() == 0
        assert tab.locator(".calls tbody").locator("visible=true").count() == 9


def test_the_search_looks_into_all_turns_and_into_events_and_messages(shown: Any) -> None:
    with shown(reported.session()) as tab:
        field = tab.get_by_role("searchbox")
        field.fill("run finished")
        said = tab.locator("[role=search] output")
        said.filter(has_text="2 hits in 2 turns").wait_for()
        assert tab.locator(".overview tbody td:last-child").all_inner_texts() == ["1", "1"]
        field.press("Enter")
        field.press("Enter")
        assert tab.get_by_role("heading", level=2).inner_text().startswith("turn-2")
        assert tab.locator(".events li.hit").count() == 1
        assert tab.evaluate("document.activeElement.type") == "search"
        field.fill("I call 3 tools")
        said.filter(has_text="1 hit in 1 turn").wait_for()
        field.press("Enter")
        assert tab.locator(".messages mark").inner_text() == "I call 3 tools"


@pytest.mark.parametrize("text", ["(", "[a", "\\", ".*", "a|b", "$", "^", "-", "/", "{2", "😀"])
def test_the_search_takes_every_text_as_it_is(shown: Any, text: str) -> None:
    with shown(reported.hostile(f"before {text} after")) as tab:
        tab.get_by_role("searchbox").fill(text)
        tab.locator("mark").first.wait_for()
        assert set(tab.locator("mark").all_text_contents()) == {text}


def test_states_are_left_out_and_come_back(shown: Any) -> None:
    with shown(reported.session(), "#turn-1") as tab:
        chip = tab.get_by_role("button", name="ok 5")
        chip.click()
        assert chip.get_attribute("aria-pressed") == "false"
        assert tab.locator(".calls tbody").locator("visible=true").count() == 4
        assert "4 of 9 calls shown" in tab.locator(".calls").inner_text()
        tab.evaluate("location.hash = '#turn-1/c1'")
        tab.locator(".details").wait_for()  # a call that an address names is shown all the same
        chip.click()
        assert tab.locator(".calls tbody").locator("visible=true").count() == 9


def test_hostile_texts_come_out_as_text(shown: Any) -> None:
    evil = [text[:300] or "empty" for text in plans.EVIL]
    evil.append("<img src=x onerror=alert(1)><svg onload=alert(2)></script><script>alert(3)")
    plain = [f"plain {at}" for at in range(len(evil))]
    counts = []
    for texts in (plain, evil):
        with shown(reported.hostile(*texts), "#turn-1") as tab:
            tab.get_by_role("button", name="open all").click()
            for fold in tab.locator(".messages summary").all():
                fold.click()
            counts.append(
                tab.evaluate(
                    "() => ['script', 'style', 'img', 'iframe', 'a', 'button', 'b', 'form', 'link',"
                    " 'object', '[style]', '[onload]', '[onerror]', 'pre', 'tr', 'mark', 'meta']"
                    ".map(one => document.querySelectorAll(one).length)"
                )
            )
            hrefs = tab.evaluate("() => [...document.links].map(one => one.getAttribute('href'))")
            assert all(
                href == "#" or href.startswith(("#turn-", "#turns", "#main")) for href in hrefs
            )
            if texts is evil:
                assert "<script>alert(1)</script>" in tab.locator(".calls").inner_text()
                assert "\\x1b[31m" in tab.locator(".calls").inner_text()
                assert "\\u202e" in tab.locator(".calls").inner_text()
    assert counts[0] == counts[1]


def test_hostile_texts_in_pictures_are_text(shown: Any) -> None:
    texts = ["<script>alert(1)</script>", '"><a href="javascript:alert(1)">x</a>', "]]>&lt;b&gt;"]
    with shown(reported.hostile(*texts), "#turn-1", pictures=True) as tab:
        if not tab.locator(".picture").count():
            pytest.skip("no program to draw with is installed here")
        assert tab.locator(".picture a, .picture script").count() == 0
        assert "<script>alert(1)</script>" in tab.locator(".picture").text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1000, 2000])
def test_it_fits_the_width_and_the_colours_of_its_reader(
    shown: Any, scheme: str, width: int
) -> None:
    with shown(reported.session(), "#turn-1/c2", width=width, scheme=scheme, pictures=True) as tab:
        tab.locator(".details").wait_for()
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        colours = tab.evaluate(CONTRASTS)
        assert colours
        assert {text: ratio for text, ratio in colours.items() if ratio < 4.5} == {}


CONTRASTS = """() => {
  const light = (rgb) => {
    const [r, g, b] = rgb.map((one) => {
      const part = one / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (node) => {
    for (let one = node; one !== null; one = one.parentElement) {
      const colour = rgb(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = {};
  for (const node of document.querySelectorAll(
    'h1, h2, h3, h4, small, p, a, button:enabled, dt, dd, pre, .id, .bad, .note, td > span, th')) {
    if (node.textContent.trim() === '' || node.offsetParent === null) continue;
    const [one, two] = [light(rgb(getComputedStyle(node).color).slice(0, 3)), light(behind(node))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    found[`${node.tagName} ${node.className} ${node.textContent.slice(0, 20)}`] = ratio;
  }
  return found;
}"""


def test_pictures_are_dark_in_the_dark(shown: Any) -> None:
    with shown(reported.session(), "#turn-1", scheme="dark", pictures=True) as tab:
        if not tab.locator(".picture").count():
            pytest.skip("no program to draw with is installed here")
        fills = tab.evaluate(
            "() => [...document.querySelectorAll('.picture polygon, .picture path')]"
            ".map(one => getComputedStyle(one).fill)"
        )
        assert "rgb(255, 255, 255)" not in fills
        assert "rgb(21, 25, 30)" in fills


def test_a_screen_reader_finds_its_way(shown: Any) -> None:
    with shown(reported.session(), "#turn-1/c2", pictures=True) as tab:
        for role in ("banner", "main", "search", "navigation", "slider"):
            assert tab.get_by_role(role).count() == 1, role
        assert tab.get_by_role("table", name="Calls").count() == 1
        assert tab.get_by_role("columnheader").count() == 6
        assert tab.get_by_role("rowheader").count() == 9
        assert (
            tab.evaluate(
                "() => [...document.querySelectorAll('button, input, a, [role=group], [tabindex]')]"
                ".filter(one => !(one.textContent.trim() || one.ariaLabel "
                "|| one.hasAttribute('aria-labelledby'))).length"
            )
            == 0
        )
        ids = tab.evaluate("() => [...document.querySelectorAll('[id]')].map(one => one.id)")
        assert len(ids) == len(set(ids))
        levels = tab.evaluate(
            "() => [...document.querySelectorAll('h1, h2, h3, h4')].map(one => +one.tagName[1])"
        )
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert tab.evaluate("document.documentElement.lang") == "en"


def test_the_keyboard_alone_reaches_everything(shown: Any) -> None:
    with shown(reported.session(), "#turn-2") as tab:
        seen = []
        for _ in range(60):
            tab.keyboard.press("Tab")
            seen.append(
                tab.evaluate(
                    "() => document.activeElement.ariaLabel || document.activeElement.textContent"
                )
            )
        for wanted in (
            "To the content", "Search in calls, results, events and messages", "All turns",
            "Previous turn", "Step back", "Moment of the run", "read_file src/auth.py", "open all",
        ):  # fmt: skip
            assert wanted in seen


def test_on_paper_there_are_no_buttons(shown: Any) -> None:
    with shown(reported.session(), "#turn-1") as tab:
        tab.emulate_media(media="print")
        assert tab.locator(".slider, [role=search], nav").locator("visible=true").count() == 0
        assert tab.locator(".calls tbody").locator("visible=true").count() == 9


def test_three_hundred_calls_stay_usable(shown: Any) -> None:
    with shown(reported.session(reported.large(300)), pictures=True) as tab:
        assert tab.locator(".calls tbody").count() == 300
        assert tab.locator(".events li").count() == 603
        tab.get_by_role("slider").fill("300")
        assert told(tab).startswith("300 of 603")
        assert len(set(tab.evaluate(STATES))) >= 4
        tab.get_by_role("searchbox").fill("result 123")
        tab.locator("[role=search] output").filter(has_text="2 hits").wait_for()
        tab.get_by_role("searchbox").press("Enter")
        assert tab.locator(".details mark").inner_text() == "result 123"


def test_of_very_many_calls_the_first_are_shown_and_any_can_be(shown: Any) -> None:
    with shown(reported.session(reported.large(1200))) as tab:
        rows = tab.locator(".calls tbody").locator("visible=true")
        assert rows.count() == 500
        assert "500 of 1,200 calls shown" in tab.locator(".calls [role=status]").inner_text()
        tab.get_by_role("button", name="show 500 more").click()
        assert rows.count() == 1000
        tab.evaluate("location.hash = '#turn-1/c1100'")
        tab.locator(".details").wait_for()
        assert rows.count() == 1001
        tab.get_by_role("button", name="failed 24").click()
        tab.get_by_role("button", name="show 500 more").click()
        assert rows.count() == 1176


def test_a_turn_of_which_little_is_known_says_so(shown: Any) -> None:
    bare = replace(reported.three(), events=(), times=(), plan=None, messages=())
    bare = replace(bare, outcomes=(None,) * 3)
    with shown(reported.session(bare)) as tab:
        text = tab.locator("main").inner_text()
        for said in (
            "No plan is recorded.", "No times are known.", "no result",
            "Neither events nor times are recorded.", "Nothing was committed",
        ):  # fmt: skip
            assert said in text
        assert tab.get_by_role("slider").count() == 0


def test_without_turns_the_page_says_so(shown: Any) -> None:
    with shown(Recording(())) as tab:
        assert "Turns (0)" in tab.locator("main").inner_text()
