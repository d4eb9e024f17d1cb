"""The tables for people: forms, words, escapes."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import workbench as wb
from workbench.findings import Evidence, Finding
from workbench.views import Grid, sources_table
from workbench.views.grid import code, markdown


class Tags(HTMLParser):
    """All tags and attribute names of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def all_tables(trace: wb.Trace) -> list[Grid]:
    return [
        wb.calls_table(trace),
        wb.approvals_table(trace),
        wb.findings_table(wb.check(trace)),
        sources_table(trace),
    ]


def words(grid: Grid, column: str) -> list[str]:
    index = list(grid.columns).index(column)
    return [row[index].text for row in grid.rows]


def test_the_bundle_has_exactly_two_keys(approval: wb.Trace) -> None:
    for grid in all_tables(approval):
        assert set(grid._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_rows_are_those_of_the_tables(trace_path: Path) -> None:
    trace = wb.load(trace_path)
    calls, approvals, findings, sources = all_tables(trace)
    assert len(calls) == len(trace.calls)
    assert len(approvals) == len(trace.approvals)
    assert len(findings) == len(wb.check(trace))
    assert len(sources) == len(trace.sources)
    for grid in (calls, approvals, findings, sources):
        assert all(len(row) == len(grid.columns) for row in grid.rows)
        assert [line for line in grid.text.splitlines() if line != line.rstrip()] == []


def test_what_became_of_it_is_said_in_words(approval: wb.Trace) -> None:
    assert words(wb.calls_table(approval), "what became of it")[:2] == [
        "the tool answered",
        "rejected, did not run",
    ]
    assert words(wb.calls_table(approval), "decision")[:2] == ["approved", "rejected"]
    assert words(wb.approvals_table(approval), "state") == [
        "answered, and it ran",
        "answered, nothing ran in view",
    ]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("fine", "the tool answered"),
        ("Error: Function failed.", "the tool failed"),
        ("Error: Tool call invocation failed.", "a placeholder instead of a result"),
        (None, "no result in view"),
    ],
)
def test_each_kind_of_result_has_its_own_words(
    make: Callable[..., wb.Trace], result: str | None, said: str
) -> None:
    events = [
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "look"},
        {"type": "TOOL_CALL_END", "toolCallId": "c"},
    ]
    if result is not None:
        events.append({"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c", "content": result})
    assert words(wb.calls_table(make(events)), "what became of it") == [said]


def test_colour_never_stands_alone(approval: wb.Trace) -> None:
    for grid in all_tables(approval):
        for row in grid.rows:
            for item in row:
                assert bool(item.tone) == bool(item.symbol)
                assert not item.symbol or item.text


def test_an_empty_capture_is_said_in_words() -> None:
    trace = wb.load(b"")
    assert wb.calls_table(trace).text == "0 calls: no tool call in view"
    assert wb.findings_table([]).to_markdown() == "**0 findings**: nothing wrong was found\n"
    assert "nobody was asked" in wb.approvals_table(trace).html


def test_hostile_text_stays_text(hard: dict[str, wb.Trace], hard_name: str) -> None:
    for grid in all_tables(hard[hard_name]):
        seen = Tags(grid.html)
        assert seen.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td", "span"}
        assert seen.attributes <= {"style", "title", "scope"}
        for line in grid.to_markdown().splitlines():
            assert len(re.findall(r"(?<!\\)\|", line)) in (0, len(grid.columns) + 1)
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]", grid.text + grid.html)


def test_long_values_are_shortened_with_the_whole_in_the_tooltip(make: Callable[..., wb.Trace]) -> None:
    long = '{"q":"' + "x" * 300 + '"}'
    trace = make(
        [
            {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "look"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": long},
        ]
    )
    html = wb.calls_table(trace).html
    assert f'title="{long.replace(chr(34), "&quot;")}"' in html
    assert max(map(len, Tags(html).words)) < 130


def test_findings_point_at_their_evidence() -> None:
    finding = Finding(
        "It | broke.", rule="call-x", code="CAL999", severity="warning", call_ids=("a", "b"), help="Fix it.",
        evidence=(Evidence("f.sse", line=3), Evidence("f.sse", line=9)),
    )  # fmt: skip
    text = wb.findings_table([finding]).text
    assert "W warning" in text
    assert "f.sse:3 and 1 more" in text
    assert "It \\| broke." in wb.findings_table([finding]).to_markdown()


def test_markdown_makes_nothing_of_text() -> None:
    assert markdown("a_b _c_ *d* <e> #1 @f") == "a_b \\_c\\_ \\*d\\* &lt;e&gt; #\u200b1 @\u200bf"
    assert code("a`b|c") == "``a`b\\|c``"
    assert code("`") == "`` ` ``"
