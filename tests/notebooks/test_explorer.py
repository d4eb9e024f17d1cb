"""The explorer in JupyterLab as a person uses it, and where it cannot live."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.report import run as runner

from . import lab

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))
from display_corpus import GROUPS
from hostile_text import everywhere

CELLS = ("import workbench as wb", 'trace = wb.load("sample:mixed-decisions")', "wb.explore(trace)")
PAYLOAD = "</script><script>window.ran=1</script>"
ATTACKED = """
attacked = wb.load("corpus.sse")
wb.explore(attacked, trace)
"""

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def address(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("jupyterlab")
    folder = tmp_path_factory.mktemp("lab")
    lab.write(folder, "mixed.ipynb", lab.notebook(*CELLS))
    texts = [text for name, group in GROUPS.items() if name != "long" for text in group]
    # the text that the test looks for comes first, and twice: it has two calls to compare
    (folder / "corpus.sse").write_bytes(b"".join(map(everywhere, [PAYLOAD, *texts])))
    lab.write(folder, "attacked.ipynb", lab.notebook(CELLS[0], CELLS[1], ATTACKED))
    book = lab.notebook(*CELLS)
    with runner._own_kernel():
        executed = _executed(folder, book)
    lab.write(folder, "executed.ipynb", executed)
    with lab.server(folder) as here:
        yield here


def _executed(folder: Path, book: dict[str, Any], *, live: bool = True) -> dict[str, Any]:
    """A notebook with the outputs that somebody else's Lab would have saved."""
    import nbformat
    from nbclient import NotebookClient

    book["cells"][-1]["source"] = f"wb.explore(trace, live={live})"
    made = nbformat.from_dict(book)
    NotebookClient(made, store_widget_state=False, kernel_name="python3").execute()
    return made


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1500, "height": 1250})
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.thrown = []
    page.on("pageerror", lambda error: page.thrown.append(str(error)))
    page.route(lambda url: not url.startswith((address, "data:", "blob:")), lambda route: route.abort())
    yield page
    context.close()


def opened(page: Any, address: str, name: str) -> Any:
    lab.open_notebook(page, address, name)
    lab.run_all(page)
    explorer = page.locator(".wb-explorer")
    explorer.locator(".rung.step").first.wait_for()
    return explorer


def heads(explorer: Any) -> list[str]:
    return explorer.locator(".rung.step .words").all_inner_texts()


def settled(page: Any, title: str) -> None:
    page.wait_for_function(
        "title => document.querySelector('.wb-explorer .ladder strong').textContent.includes(title)",
        arg=title,
    )


def test_from_the_list_to_the_record(page: Any, address: str) -> None:
    explorer = opened(page, address, "mixed.ipynb")
    assert explorer.locator(".calls .row").count() == 5
    assert explorer.locator(".findings .row").count() == 3
    whole = heads(explorer)
    assert whole[0].startswith("request")

    explorer.locator(".findings .row", has_text="approval-reasked").click()
    record = explorer.locator(".detail")
    record.get_by_text("approval-reasked").first.wait_for()
    active = explorer.locator(".rung.active")
    assert "approval-reasked" in active.inner_text()
    seen, inside = active.bounding_box(), explorer.locator(".ladder .list").bounding_box()
    assert inside["y"] <= seen["y"]
    assert seen["y"] + seen["height"] <= inside["y"] + inside["height"] + 1
    assert json.loads(record.locator("pre.raw").last.inner_text())["type"] == "CUSTOM"

    explorer.locator("[data-filter=call]").fill("call_rNc7")
    settled(page, "what fits the filter")
    fewer = heads(explorer)
    assert fewer
    assert len(fewer) < len(whole)
    assert not any(text.startswith("MESSAGES_SNAPSHOT") for text in fewer)
    assert explorer.locator(".rung.gap").count() > 0

    explorer.get_by_text("Clear", exact=True).click()
    settled(page, "thread 461fca63")
    assert heads(explorer) == whole
    assert explorer.locator("[data-filter=call]").input_value() == ""
    assert page.thrown == []


def test_two_calls_are_compared_and_the_view_is_copied(page: Any, address: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explorer = opened(page, address, "mixed.ipynb")
    calls = explorer.locator(".calls .row")
    calls.nth(0).click()
    settled(page, "delete_branch call_rNc7")
    calls.nth(1).click(modifiers=["Control"])
    settled(page, "call_fdNe")
    explorer.get_by_text("Difference (2 of 2 calls)").click()
    explorer.locator(".detail tr.differs").first.wait_for()
    said = explorer.locator(".detail table").first.inner_text()
    assert "≠ fate" in said
    assert "rejected, did not run" in said
    explorer.get_by_text("Copy as Markdown").click()
    explorer.get_by_text("Copied.").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "| `delete_branch` |" in copied
    assert "sequenceDiagram" in copied


def test_the_keyboard_walks_the_ladder(page: Any, address: str) -> None:
    explorer = opened(page, address, "mixed.ipynb")
    explorer.locator(".ladder .list").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    explorer.locator(".detail pre.raw").first.wait_for()
    assert json.loads(explorer.locator(".detail pre.raw").first.inner_text())["type"] == "RUN_STARTED"
    # the notebook did not take the keys
    assert page.locator(".jp-Cell").count() == len(CELLS)


def test_nothing_of_a_capture_acts(page: Any, address: str) -> None:
    explorer = opened(page, address, "attacked.ipynb")
    assert PAYLOAD[:20] in explorer.locator(".calls .row").first.inner_text()
    explorer.locator(".findings .row").first.click()
    explorer.locator(".detail pre.raw").first.wait_for()
    assert PAYLOAD in explorer.locator(".detail").inner_text()
    explorer.locator(".calls .row").nth(0).click()
    explorer.locator(".calls .row").nth(1).click(modifiers=["Control"])
    explorer.locator(".calls .row.chosen").nth(1).wait_for()
    explorer.get_by_text("Difference").click()
    explorer.locator(".detail table").first.wait_for()
    explorer.get_by_text("Copy as Markdown").click()
    page.wait_for_timeout(500)
    assert page.evaluate("window.ran") is None
    assert explorer.locator("img, script, svg[onload], [onerror]").count() == 0
    assert page.thrown == []


def test_where_it_is_not_trusted_the_still_form_is_shown(page: Any, address: str) -> None:
    lab.open_notebook(page, address, "executed.ipynb")
    output = page.locator(".jp-OutputArea-output").last
    output.locator("img[alt^='Sequence diagram']").wait_for()
    assert output.locator("img").evaluate("image => image.naturalWidth") > 600
    assert "call_rNc7uPTDLipecNADVHLXOb0Y" in output.inner_text()
    assert page.locator(".wb-explorer").count() == 0


@pytest.mark.parametrize("live", [None, True])
def test_an_exported_page_shows_the_still_form(live: bool | None, tmp_path: Path, offline_page: Any) -> None:
    """`nbconvert --execute`: nobody is there. And a notebook that Lab saved, without the state of its widgets."""
    from nbconvert import HTMLExporter

    book = lab.notebook(*CELLS)
    with runner._own_kernel():
        made = _executed(tmp_path, book, live=live)
    kinds = set(made["cells"][-1]["outputs"][-1]["data"])
    assert ("application/vnd.jupyter.widget-view+json" in kinds) == bool(live)
    body, _ = HTMLExporter(mathjax_url="", require_js_url="").from_notebook_node(made)
    shown = offline_page.open(body)
    assert shown.locator("img[alt^='Sequence diagram']").evaluate("image => image.naturalWidth") > 600
    assert re.search("approval-not-executed", shown.locator("body").inner_text())
