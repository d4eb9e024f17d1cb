"""The drawer that issues are shown with takes our diagrams: Mermaid itself, in Chromium (`make referee` brings it)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.report.markdown import DIAGRAM, LIMIT, units

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))
from display_corpus import TEXTS
from hostile_text import everywhere

ROOT = Path(__file__).resolve().parents[2]
MERMAID = ROOT / ".node" / "node_modules" / "mermaid" / "dist" / "mermaid.min.js"

pytestmark = [pytest.mark.browser, pytest.mark.slow]


ACTING = """
picture => {
    const page = new DOMParser().parseFromString(picture, "image/svg+xml");
    const found = [...page.querySelectorAll("*")].flatMap(element => [
        ...(/^(script|img|image|iframe|object|embed|a|animate|form|link|meta|base)$/i.test(element.localName) ? [element.localName] : []),
        ...[...element.attributes].filter(a => /^on/i.test(a.name) || /javascript:/i.test(a.value)).map(a => a.name),
    ]);
    return window.ran ? [...found, "it ran"] : found;
}
"""


@pytest.fixture
def acting(offline_page: Any) -> Callable[[str], list[str]]:
    """What in a picture could do something."""
    return lambda picture: offline_page.page.evaluate(ACTING, picture)


@pytest.fixture
def draw(offline_page: Any) -> Callable[[str], tuple[str, str]]:
    """What Mermaid says to a text: what kind of diagram it is, and the picture."""
    if not MERMAID.exists():
        pytest.skip("Mermaid is not here: make referee")
    page = offline_page.open("<body></body>")
    page.add_script_tag(path=MERMAID)
    page.evaluate("mermaid.initialize({startOnLoad: false, securityLevel: 'strict'})")

    def drawn(text: str) -> tuple[str, str]:
        kind = page.evaluate("async text => (await mermaid.parse(text)).diagramType", text)
        picture = page.evaluate(
            "async text => { window.n = (window.n || 0) + 1;"
            " return (await mermaid.render('d' + window.n, text)).svg }", text
        )  # fmt: skip
        assert not offline_page.requests
        return kind, picture

    return drawn


def calls(number: int) -> wb.Trace:
    """A run with that many calls, every third of them started twice."""
    events: list[dict[str, Any]] = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    for n in range(number):
        start = {
            "type": "TOOL_CALL_START",
            "toolCallId": f"call_{n:05}",
            "toolCallName": f"read_meter_{n % 7}",
        }
        events += [start] * (2 if n % 3 == 0 else 1)
        events += [
            {"type": "TOOL_CALL_ARGS", "toolCallId": f"call_{n:05}", "delta": json.dumps({"meter": n})},
            {"type": "TOOL_CALL_END", "toolCallId": f"call_{n:05}"},
        ]
    events.append({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"})
    return wb.load("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode())


def arrows(text: str) -> int:
    return len(re.findall(r"^ +p\d+-[->x)]+", text, flags=re.MULTILINE))


@pytest.mark.parametrize("messages", [20, 300])
def test_mermaid_draws_every_arrow(draw: Callable[[str], tuple[str, str]], messages: int) -> None:
    diagram = wb.sequence_diagram(calls(messages // 3), findings=(), max_steps=None)
    text = diagram.mermaid()
    kind, picture = draw(text)
    assert kind == "sequence"
    assert arrows(text) == diagram.arrows
    assert len(re.findall(r'class="messageLine[01]"', picture)) == diagram.arrows
    assert "Syntax error" not in picture


def test_mermaid_draws_what_an_issue_is_cut_to(draw: Callable[[str], tuple[str, str]]) -> None:
    trace = calls(2000)
    body = wb.markdown(trace, wb.check(trace))
    assert units(body) <= LIMIT
    (text,) = re.findall(r"```mermaid\n(.*?)```", body, flags=re.DOTALL)
    assert DIAGRAM / 4 < units(text) <= DIAGRAM
    assert "would not fit into an issue" in body
    kind, picture = draw(text)
    assert kind == "sequence"
    assert len(re.findall(r'class="messageLine[01]"', picture)) == arrows(text) > 100


@pytest.mark.parametrize("path", sorted((ROOT / "traces").iterdir()), ids=lambda path: path.name)
def test_mermaid_draws_the_bundled_captures(draw: Callable[[str], tuple[str, str]], path: Path) -> None:
    if path.suffix == ".md":
        pytest.skip("a description")
    assert draw(wb.sequence_diagram(wb.load(path)).mermaid())[0] == "sequence"


def test_mermaid_takes_nothing_for_more_than_text(
    draw: Callable[[str], tuple[str, str]], acting: Callable[[str], list[str]]
) -> None:
    """Every text of the corpus in every place: the picture has as many arrows and notes as the steps call for."""
    for text in TEXTS:
        diagram = wb.sequence_diagram(wb.load(everywhere(text)))
        kind, picture = draw(diagram.mermaid())
        assert kind == "sequence", text
        drawn = sum(step.kind != "log" for step in diagram.steps)
        assert len(re.findall(r'class="messageLine[01]"', picture)) == drawn, text
        assert not acting(picture), text
