"""The pages are true: their links lead somewhere and their examples run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.readers import registry
from workbench.rules.registry import RULES

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "traces/*.md")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(?:#[^)]*)?\)")


def example(root: Path, page: str) -> dict[str, Any]:
    """What the first Python fence of a page defines, once it ran."""
    text = (root / "docs" / page).read_text(encoding="utf-8")
    fence = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert fence is not None
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(fence.group(1), page, "exec"), names)
    return names


def test_links_lead_somewhere(root: Path) -> None:
    dead = []
    for pattern in PAGES:
        for page in root.glob(pattern):
            text = re.sub(
                r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
            )
            dead += [
                f"{page.relative_to(root)}: {link}"
                for link in LINK.findall(text)
                if not (page.parent / link).exists()
            ]
    assert not dead


def test_the_rule_of_the_page_fires_and_stays_quiet(root: Path) -> None:
    slow = (root / "traces/approval.har").read_bytes()
    quick = slow.replace(b"2026-11-12T09:41:27", b"2026-11-12T09:41:17")
    assert quick != slow
    try:
        example(root, "add-a-rule.md")
        found = wb.check(wb.load(slow), select=["approval-slow"])
        assert [f.message for f in found] == ["pay_invoice was approved after 19 s"]
        assert found[0].evidence
        assert not wb.check(wb.load(quick), select=["approval-slow"])
    finally:
        RULES.pop("approval-slow", None)


def test_the_reader_of_the_page_counts_every_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.known_formats()
    monkeypatch.setattr(registry, "_FORMATS", list(registry._FORMATS))
    example(root, "add-a-reader.md")
    events = [
        b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}',
        b'{"type":"RUN_FINISHED","threadId":"t","runId":"r"}',
    ]
    whole = b"1790000000000\t%s\n\n1790000000250\t%s\n" % tuple(events)
    trace = wb.load(whole)
    (source,) = trace.summary()["sources"]
    assert source["format"] == "timed-lines"
    assert (source["records"], source["rows"], source["ignored"], source["problems"]) == (3, 2, 1, 0)
    assert [trace.raw(row) for row in (0, 1)] == events
    gap = trace.events["time"].diff().iloc[1]
    assert gap.total_seconds() == 0.25
    damaged = wb.load(whole.replace(b'"runId":"r"}\n\n', b'"runId":"r\n\n'))
    assert len(damaged.problems) == 1
    assert damaged.problems["line"].iloc[0] == 1
    assert damaged.raw(0) == events[1]


def test_the_view_of_the_page_shows_itself(root: Path) -> None:
    bars = example(root, "add-a-view.md")["RunBars"]
    bundle = bars(wb.load("sample:approval"))._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/plain"}
    assert bundle["image/svg+xml"].count('class="box"') == 2
    assert bars(wb.load(b"")).alt == "Events of 0 runs"
