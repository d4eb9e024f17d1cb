"""Nothing of a capture acts where it is shown: the corpus of `display_corpus.py` in every surface, in Chromium.

`pytest tests/hostile/test_display.py -s` prints how many inputs there were and the highest memory seen.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import workbench as wb
from workbench import views

sys.path.insert(0, str(Path(__file__).parent))
from display_corpus import GROUPS, TEXTS
from hostile_text import everywhere

#: mebibytes that all surfaces of one group may take together, the interpreter and pandas included
MEMORY = 250
#: elements that no text of a capture may make, and attributes that run something
ACTING = """
() => {
    if (window.ran) return ["it ran"];
    const own = new Set([...document.querySelectorAll("script, style, link, meta, base, iframe")]);
    return [...document.querySelectorAll("*")].flatMap(element => [
        ...[...element.attributes].filter(a => /^on/i.test(a.name)
            || /^(src|href|action|formaction|data|srcset|srcdoc|style|xlink:href)$/i.test(a.name)
            && /javascript|vbscript|attacker\\.invalid|data:text/i.test(a.value))
            .map(a => `${element.localName} ${a.name}=${a.value.slice(0, 80)}`),
        ...(/^(object|embed|iframe|form|math|video|base|template|foreignobject|animate)$/i.test(element.localName)
            ? [element.localName] : []),
    ]);
}
"""


def capture(texts: list[str]) -> bytes:
    """One capture with a thread for each text."""
    return b"".join(map(everywhere, texts))


@pytest.fixture(scope="module", params=GROUPS)
def group(request: Any) -> tuple[str, wb.Trace, wb.Findings]:
    trace = wb.load(capture(GROUPS[request.param]))
    found = wb.check(trace)
    assert not [s for s in found.skipped if s.failed]
    assert len(found) >= 3 * len(GROUPS[request.param])
    return request.param, trace, found


@pytest.fixture
def quiet(offline_page: Any) -> Callable[[str], list[str]]:
    """Opens a page and gives what in it acts; nothing is asked for, no dialog opens, it stays where it is."""
    said: list[str] = []
    page = offline_page.page
    page.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("popup", lambda _: said.append("popup"))

    def opened(html: str) -> list[str]:
        offline_page.open(html)
        page.wait_for_load_state("load")
        page.keyboard.press("Tab")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        where = page.evaluate("location.href")
        assert where == "about:blank"
        return [*said, *offline_page.requests, *page.evaluate(ACTING)]

    return opened


@pytest.mark.browser
@pytest.mark.slow
def test_the_page(group: tuple[str, wb.Trace, wb.Findings], quiet: Callable[[str], list[str]]) -> None:
    """As it is, and without its Content-Security-Policy, which would hide a text that acts."""
    name, _, found = group
    page = wb.report(found, format="html", redact=False)
    own = quiet(wb.report(wb.load(everywhere("plain words")), format="html"))
    assert own == ["form"], "the field to search in"
    assert quiet(page) == own
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert bare != page
    assert quiet(bare) == own
    if name == "markup":
        assert "window.ran=1" in bare


@pytest.mark.browser
def test_the_views_of_a_notebook(
    group: tuple[str, wb.Trace, wb.Findings], quiet: Callable[[str], list[str]]
) -> None:
    _, trace, found = group
    diagram = wb.sequence_diagram(trace, findings=found)
    timeline = wb.timeline(trace, findings=found)
    grids = (
        views.calls_table(trace),
        views.approvals_table(trace),
        views.findings_table(found),
        views.sources_table(trace),
    )
    shown = [
        diagram.html, diagram.svg, timeline.html, timeline.svg, *(grid.html for grid in grids),
        *(c.html for c in trace.conversations if hasattr(c, "html")),
    ]  # fmt: skip
    assert quiet("<body>" + "\n".join(shown)) == []
    for picture in (diagram.svg, timeline.svg):
        tags = {element.tag.rpartition("}")[2].lower() for element in ET.fromstring(picture.encode()).iter()}
        assert not tags & {"script", "foreignobject", "image", "iframe", "animate", "set", "style"} - {
            "style"
        }


@pytest.mark.browser
@pytest.mark.slow
def test_the_notebook_as_a_page(tmp_path: Path, quiet: Callable[[str], list[str]]) -> None:
    """The whole notebook over the whole corpus, exported: the scripts of the exporter run, those of the capture do not."""
    from workbench.report.run import run

    source = tmp_path / "corpus.sse"
    source.write_bytes(capture([text for name, texts in GROUPS.items() if name != "long" for text in texts]))
    _, page = run(sources=[str(source)], output=tmp_path / "shown")
    text = page.read_text(encoding="utf-8")
    assert "window.ran=1" in text
    acting = [one for one in quiet(text) if not one.startswith(("form", "template"))]
    assert acting == []


def test_terminals(group: tuple[str, wb.Trace, wb.Findings]) -> None:
    from hostile_captures import terminal

    _, trace, found = group
    for width in (40, 100):
        shown = terminal(trace, found, width)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)


def test_spreadsheets(group: tuple[str, wb.Trace, wb.Findings]) -> None:
    _, trace, found = group
    cells = 0
    for grid in (views.calls_table(trace), views.approvals_table(trace), views.findings_table(found)):
        for row in csv.reader(io.StringIO(grid.to_csv())):
            assert len(row) == len(grid.columns)
            for value in row:
                first = unicodedata.normalize("NFKC", value.strip()[:1])
                assert not first or first not in "=+-@|%\t\r", value
                cells += 1
    assert cells > 20


def test_issues(group: tuple[str, wb.Trace, wb.Findings]) -> None:
    """Rendered as GitHub renders: no element but those that the report itself is made of."""
    from markdown_it import MarkdownIt

    _, trace, found = group
    body = wb.markdown(trace, found)
    html = MarkdownIt("gfm-like", {"linkify": False}).enable("table").render(body)
    made = set(re.findall(r"<([a-z]\w*)", html))
    own = {
        "p", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "h1", "h2", "h3", "h4", "strong", "em", "ul", "ol",
        "li", "details", "summary", "br", "hr",
    }  # fmt: skip
    assert made <= own, made - own
    assert html.count("<details>") == html.count("</details>")


_MEASURED = """
import re, resource, sys
from pathlib import Path
sys.path[:0] = [{here!r}]
import workbench as wb
from workbench import views
from display_corpus import GROUPS
from hostile_captures import terminal
from test_display import capture
trace = wb.load(capture(GROUPS[{name!r}]))
found = wb.check(trace)
wb.report(found, format="html")
for form in ("md", "junit", "sarif"):
    wb.report(found, format=form, redact=False)
wb.sequence_diagram(trace, findings=found).html
wb.timeline(trace, findings=found).html
terminal(trace, found)
status = Path("/proc/self/status")
# where there is /proc: what getrusage says begins with the memory of the process that forked this one
peak = re.search(r"VmHWM:\\s+(\\d+)", status.read_text()) if status.exists() else None
print(int(peak[1] if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) // 1024)
"""


def test_memory_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    """Load, check, and write every form, in a process of its own for each group."""
    highest = {}
    for name in GROUPS:
        code = _MEASURED.format(here=str(Path(__file__).parent), name=name)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        highest[name] = int(done.stdout)
    places = len(
        re.findall(r"\btext\b", Path(__file__).with_name("hostile_text.py").read_text(encoding="utf-8"))
    )
    with capsys.disabled():
        print(
            f"\ndisplay: {len(TEXTS)} texts, each in about {places} places; "
            f"highest memory {max(highest.values())} MiB ({json.dumps(highest)})"
        )
    assert max(highest.values()) < MEMORY
