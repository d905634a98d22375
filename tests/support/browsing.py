"""A real browser for pages and pictures: headless Chromium without a network.

`page` is all that a test needs::

    with page() as tab:
        tab.goto(file.as_uri())
        assert tab.locator("svg").count() == 1

When the block ends, the test fails if the page wrote an error to the console, threw one, opened a
dialog or another page, began a download, or asked for anything but the files that the test opened
by itself. What is built into the page (``data:`` and ``blob:``) is no request.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright, Request, Route

_FLAGS = (
    "--no-sandbox",  # tests run in containers, which have no other one inside
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--force-color-profile=srgb",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium; the test is skipped where that, or playwright, is missing.

    The browser is `TOOLFLOW_CHROMIUM` if that is set, else the first one on the ``PATH``, else
    the one that ``playwright install chromium`` brings.
    """
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed here (pip install playwright)"
    )
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=_program(playwright), args=[*_FLAGS], headless=True
        )
        try:
            yield started
        finally:
            started.close()


@contextmanager
def page(
    inside: Browser | None = None,
    *,
    scheme: Literal["light", "dark"] = "light",
    width: int = 1280,
    height: int = 900,
    errors: bool = True,
) -> Iterator[Page]:
    """An empty page; when the block ends, what it must not do is a failure of the test.

    Args:
        inside: A browser to open it in, for tests that open many; ``None`` starts one.
        scheme: What the page is told about the colours that its reader likes.
        width: Its width in pixels.
        height: Its height in pixels.
        errors: Whether errors on the console and in scripts are failures; requests always are.
    """
    if inside is None:
        with (
            browser() as started,
            page(started, scheme=scheme, width=width, height=height, errors=errors) as one,
        ):
            yield one
        return
    context = inside.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        offline=True,
        service_workers="block",
        reduced_motion="reduce",
    )
    try:
        tab = context.new_page()
        faults = _watched(tab, errors=errors)
        yield tab
        assert not faults, "\n".join(faults)
    finally:
        context.close()


def _program(playwright: Playwright) -> str:
    named = os.environ.get("TOOLFLOW_CHROMIUM")
    found = [named] if named else [shutil.which(name) for name in _NAMES]
    found.append(playwright.chromium.executable_path)
    for program in found:
        if program and Path(program).exists():
            return program
    pytest.skip("no Chromium is installed here (playwright install chromium)")


def _watched(tab: Page, *, errors: bool) -> list[str]:
    """Note whatever a page does that it must not."""
    faults: list[str] = []

    def routed(route: Route, request: Request) -> None:
        if _own(request):
            route.continue_()
        else:
            faults.append(f"request: {request.resource_type} {request.url[:300]}")
            route.abort()

    def note(kind: str) -> Any:
        return lambda *_: faults.append(kind)

    tab.route("**/*", routed)
    tab.on("popup", note("opened another page"))
    tab.on("download", note("began a download"))
    tab.on("websocket", lambda socket: faults.append(f"websocket: {socket.url[:300]}"))
    tab.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    if errors:
        tab.on("pageerror", lambda error: faults.append(f"thrown: {error}"))
        tab.on(
            "console",
            lambda said: faults.append(f"console: {said.text}") if said.type == "error" else None,
        )
    return faults


def _own(request: Request) -> bool:
    """Whether a request is the test's own: opening a file, or something built into the page."""
    scheme = request.url.partition(":")[0]
    if scheme in {"data", "blob", "about"}:
        return True
    main = request.is_navigation_request() and request.frame.parent_frame is None
    return scheme == "file" and main
