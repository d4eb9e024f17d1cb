"""Take the picture of docs/explorer.md: `python -m tests.notebooks.explorer_picture [FILE]`.

JupyterLab runs `wb.explore` on a bundled capture in headless Chromium, a finding is clicked.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.conftest import ROOT, browser_path
from tests.notebooks import lab

CELLS = ("import workbench as wb", 'wb.explore(wb.load("sample:mixed-decisions"))')


def main(target: Path) -> None:
    """Write the picture to a file."""
    with tempfile.TemporaryDirectory() as folder:
        lab.write(Path(folder), "explore.ipynb", lab.notebook(*CELLS))
        with lab.server(Path(folder)) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=browser_path(),
                args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
            )
            page = browser.new_page(viewport={"width": 1500, "height": 1250})
            page.set_default_timeout(120_000)
            lab.open_notebook(page, address, "explore.ipynb")
            lab.run_all(page)
            explorer = page.locator(".wb-explorer")
            explorer.locator(".findings .row", has_text="approval-reasked").click()
            explorer.locator(".detail pre.raw").first.wait_for()
            page.mouse.move(0, 0)
            explorer.screenshot(path=target)
            browser.close()
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "explorer.png")
