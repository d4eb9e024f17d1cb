"""The timeline of very many calls in headless Chromium: `python benchmarks/timeline.py [CALLS] [--write]`.

Prints the size of the figure, seconds until it is drawn from a file, and milliseconds of a zoom,
each from the start to the second frame after it; beside them the time that the same page
takes for an empty figure, because drawing without a graphics card depends on what else the machine does.
`--write` puts the figures into docs/performance.md.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import explorer  # noqa: E402
import plotly.graph_objects as go  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

import workbench as wb  # noqa: E402
from tests.conftest import browser_path  # noqa: E402
from workbench.views import timeline_plotly  # noqa: E402

BEGIN, END = "<!-- timeline: begin -->", "<!-- timeline: end -->"
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
ZOOM = """
async part => {
  const plot = document.querySelector('.js-plotly-plot');
  const [low, high] = plot._fullLayout.xaxis.range.map(Number);
  const began = performance.now();
  await Plotly.relayout(plot, {'xaxis.range': [low + (high - low) * part, low + (high - low) * (part + 0.3)]});
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - began;
}
"""


def drawn(browser: Browser, figure: Any) -> tuple[float, list[float]]:
    """Seconds until a figure is drawn, milliseconds of some zooms."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "figure.html"
        path.write_text(timeline_plotly.html(figure, "", plotlyjs=True), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 950})
        page.set_default_timeout(120_000)
        began = time.monotonic()
        page.goto(path.as_uri())
        page.evaluate(FRAMES)
        first = time.monotonic() - began
        zooms = [page.evaluate(ZOOM, part) for part in (0.1, 0.3, 0.5, 0.2, 0.0)]
        page.close()
    return first, sorted(zooms)


def main() -> None:
    """Measure and print."""
    count = next((int(a) for a in sys.argv[1:] if a.isdigit()), 100_000)
    with tempfile.TemporaryDirectory() as name:
        capture = Path(name) / "calls.sse"
        explorer.calls_only(capture, count * 4)
        trace = wb.load(capture)
        conversations = trace.conversations
        began = time.process_time()
        figure = wb.timeline(trace, findings=()).figure
        made = time.process_time() - began
    assert sum(len(talk.calls) for talk in conversations) == count
    size = len(json.dumps(timeline_plotly.data(figure))) / 1e6
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        empty = go.Figure(go.Scattergl(x=[0, 1], y=[0, 1]), {"height": 900, "xaxis": {"range": [0, 1]}})
        rows = {"empty figure": drawn(browser, empty), f"{count:,} calls": drawn(browser, figure)}
        browser.close()
    lines = ["| figure | first draw, s | zoom, ms: median | slowest |", "|---|---|---|---|"]
    lines += [
        f"| {what} | {first:.1f} | {zooms[2]:.0f} | {zooms[-1]:.0f} |"
        for what, (first, zooms) in rows.items()
    ]
    lines.append(
        f"\nThe figure of {count:,} calls is {size:.1f} MB and takes {made:.1f} CPU seconds to make."
    )
    print("\n".join(lines))
    if "--write" in sys.argv:
        page = explorer.PAGE.read_text(encoding="utf-8")
        table = "\n".join([BEGIN, *lines, END])
        explorer.PAGE.write_text(
            re.sub(f"{BEGIN}.*{END}", lambda _: table, page, flags=re.DOTALL), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
