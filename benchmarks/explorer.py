"""The explorer on a large capture in JupyterLab, as headless Chromium sees it.

    python benchmarks/explorer.py [--events 100000] [--calls] [--write]

Makes a capture of that many events, opens `wb.explore(trace)` in JupyterLab, types into the
filters and prints: seconds from running the cell to the first view (check included, the capture
loaded before) and of that check alone, milliseconds from typing to the painted answer (median
and the slowest), bytes that came over the wire, and the way to the end of the ladder. `--calls` makes
four events per call in one thread instead of 64 threads of streamed text. `--write` puts the
figures of both into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import big_capture  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

import workbench as wb  # noqa: E402
from tests.conftest import browser_path  # noqa: E402
from tests.notebooks import lab  # noqa: E402

PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- explorer: begin -->", "<!-- explorer: end -->"
#: what is typed, into which filter; every one is a question of its own
TYPED = [
    ("call", "1"), ("call", "12"), ("call", "call"), ("call", ""), ("tool", "o"), ("tool", "tool_1"), ("tool", ""),
    ("thread", "1"), ("thread", ""), ("text", "tide"), ("text", "berth 7"), ("text", "no such words"), ("text", ""),
    ("run", "r"), ("run", "1"), ("run", ""), ("since", "+60"), ("until", "+90"), ("since", ""), ("until", ""),
    ("severity", "error"), ("severity", ""), ("signal", "stream"), ("signal", "snapshot"), ("signal", ""),
]  # fmt: skip
#: from the input to the frame after the one in which the answer was painted
TYPE = """
async ([name, value]) => {
  const root = document.querySelector('.wb-explorer');
  const field = root.querySelector(`[data-filter=${name}]`);
  const frame = () => new Promise(requestAnimationFrame);
  const rows = root.querySelector('.ladder .tall');
  const began = performance.now();
  const changed = new Promise(resolve => {
    const seen = new MutationObserver(() => { seen.disconnect(); resolve(); });
    seen.observe(root.querySelector('.calls .tall'), {childList: true});
  });
  field.value = value;
  field.dispatchEvent(new Event('input', {bubbles: true}));
  await changed; await frame(); await frame();
  return performance.now() - began;
}
"""

#: from the first row of the ladder to the last one, painted
END_OF_LADDER = """
async () => {
  const list = document.querySelector('.wb-explorer .ladder .list');
  const rows = Math.round(list.querySelector('.tall').clientHeight / 30);
  const began = performance.now();
  list.scrollTop = list.scrollHeight;
  while (!list.querySelector(`[data-row="${rows - 1}"]`)) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return [rows, performance.now() - began];
}
"""


def calls_only(path: Path, total: int, runs: int = 500) -> None:
    """One thread, four events per call."""
    clock, number, per = 1_790_000_000_000, 0, total // 4 // runs
    with path.open("w", encoding="utf-8") as file:
        for run in range(runs):
            ids = {"threadId": "the-thread", "runId": f"run-{run:04}"}
            events: list[dict[str, Any]] = [{"type": "RUN_STARTED", **ids}]
            for _ in range(per):
                one = {"toolCallId": f"call-{number:06}"}
                words = json.dumps({"berth": number, "note": "on the tide"})
                events += [
                    {"type": "TOOL_CALL_START", "toolCallName": f"tool_{number % 5}", **one},
                    {"type": "TOOL_CALL_ARGS", "delta": words, **one},
                    {"type": "TOOL_CALL_END", **one},
                    {
                        "type": "TOOL_CALL_RESULT",
                        "messageId": f"m{number}",
                        "content": f"berth {number} is free",
                        **one,
                    },
                ]
                number += 1
            for event in [*events, {"type": "RUN_FINISHED", **ids}]:
                clock += 7
                file.write(f"data: {json.dumps({**event, 'timestamp': clock})}\n\n")


def measure(events: int, *, calls: bool) -> dict[str, float]:
    """All figures for one capture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture = folder / "big.sse"
        if calls:
            calls_only(capture, events)
        else:
            with capture.open("w", encoding="utf-8") as file:
                file.writelines(f"data: {json.dumps(e)}\n\n" for e in big_capture.events(events))
        cells = (
            "import time\nimport workbench as wb\nimport anywidget",
            f"trace = wb.load({str(capture)!r})\ntrace.conversations\nlen(trace.records.events)",
            "wb.explore(trace)",
        )
        lab.write(folder, "big.ipynb", lab.notebook(*cells))
        check = _check(capture)
        with lab.server(folder) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=browser_path(),
                args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
            )
            page = browser.new_page(viewport={"width": 1500, "height": 1250})
            page.set_default_timeout(120_000)
            wire = _Wire()
            page.on("websocket", lambda socket: socket.on("framereceived", wire))
            lab.open_notebook(page, address, "big.ipynb")
            page.wait_for_selector("text=/Python 3 .ipykernel. . Idle/")
            for number in (0, 1):
                page.locator(".jp-Cell").nth(number).locator(".cm-content").click()
                page.keyboard.press("Control+Enter")
                page.wait_for_function(
                    "n => /\\d/.test(document.querySelectorAll('.jp-InputPrompt')[n].textContent)", arg=number
                )
            page.locator(".jp-Cell").nth(2).locator(".cm-content").click()
            wire.bytes = 0
            first = page.evaluate(
                """() => { window.began = performance.now(); window.first = new Promise(resolve => {
                  const seen = new MutationObserver(() => {
                    if (!document.querySelector('.wb-explorer .rung.step')) return;
                    seen.disconnect();
                    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
                  });
                  seen.observe(document.body, {childList: true, subtree: true});
                }); }"""
            )
            page.keyboard.press("Control+Enter")
            first = page.evaluate("async () => (await window.first) - window.began") / 1e3
            shown = wire.bytes
            times = [page.evaluate(TYPE, list(typed)) for typed in TYPED]
            page.wait_for_function(
                "!document.querySelector('.wb-explorer .ladder .count').textContent.includes('…')"
            )
            end = page.evaluate(END_OF_LADDER)
            browser.close()
    slow = sorted(zip(times, TYPED, strict=True), reverse=True)[:3]
    print("slowest:", ", ".join(f"{name} {value!r} {time:.0f} ms" for time, (name, value) in slow))
    return {
        "check": check, "first": first, "median": statistics.median(times), "most": max(times), "wire": shown / 1e6,
        "all": wire.bytes / 1e6, "rows": end[0], "end": end[1],
    }  # fmt: skip


def _check(capture: Path) -> float:
    """Seconds of the check that the first view includes, here, under the load of the moment."""
    trace = wb.load(capture)
    assert trace.conversations
    began = time.monotonic()
    wb.check(trace)
    return time.monotonic() - began


class _Wire:
    """Counts what the page receives."""

    def __init__(self) -> None:
        self.bytes = 0

    def __call__(self, payload: str | bytes) -> None:
        self.bytes += len(payload)


def row(name: str, events: int, figures: dict[str, float]) -> str:
    """One line of the table."""
    return (
        f"| {name} | {events:,} | {figures['first']:.1f} | {figures['check']:.1f} | {figures['median']:.0f} | {figures['most']:.0f} "
        f"| {figures['wire']:.2f} | {figures['all']:.2f} | {figures['rows']:,.0f} | {figures['end']:.0f} |"
    )


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--calls", action="store_true", help="four events per call in one thread")
    parser.add_argument("--write", action="store_true", help="measure both and write the page")
    asked = parser.parse_args()
    lines = [
        "| capture | events | first view, s | a check alone, s | filter to repaint, ms: median | slowest | wire, MB: first view | after all filters | rows of the ladder | to the end, ms |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for calls in (False, True) if asked.write else (asked.calls,):
        name = "25,000 calls in one thread" if calls else "64 threads of text and calls"
        lines.append(row(name, asked.events, measure(asked.events, calls=calls)))
    print("\n".join(lines))
    if asked.write:
        page = PAGE.read_text(encoding="utf-8")
        table = "\n".join([BEGIN, *lines, END])
        PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: table, page, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
