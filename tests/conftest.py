"""What every test may ask for: the repository, the bundled captures, a page in a browser without network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
TRACES = ROOT / "traces"
# A busy machine is no fault of the code: examples are bounded in number, not in time.
settings.register_profile("bounded", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("bounded")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def trace_files() -> list[Path]:
    """Every bundled capture of AG-UI; for parametrize: `@pytest.mark.parametrize("path", trace_files(), ids=name)`."""
    return sorted(path for path in TRACES.iterdir() if path.suffix not in (".md", ".zip"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `trace_path` runs once for every bundled capture."""
    if "trace_path" in metafunc.fixturenames:
        paths = trace_files()
        metafunc.parametrize("trace_path", paths, ids=[path.name for path in paths])


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of bundled captures."""
    return TRACES


def browser_path() -> str | None:
    """Where Chromium is: CHROMIUM, else the first known name on the path."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, one per worker; skips where there is none."""
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium on this machine: install `chromium` or set CHROMIUM (see `make browser`)")
    from playwright.sync_api import sync_playwright

    root_flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=[*root_flags, "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield chromium
        chromium.close()


class OfflinePage:
    """A page whose network is cut: `requests` lists what it asked for, `errors` what its scripts threw."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.route("**/*", self._answer)

    def _answer(self, route: Any) -> None:
        url = route.request.url
        if url.startswith(("file:", "data:", "blob:", "about:")):
            route.continue_()
        else:
            self.requests.append(url)
            route.abort()

    def open(self, source: Path | str) -> Page:
        """Show a file, or HTML given as text, and give the page."""
        if isinstance(source, Path):
            self.page.goto(source.resolve().as_uri())
        else:
            self.page.set_content(source)
        return self.page


@pytest.fixture
def offline_page(browser: Browser) -> Iterator[OfflinePage]:
    """A fresh page without network, 1280 × 900 CSS pixels."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield OfflinePage(context.new_page())
    context.close()
