"""The Markdown for an issue: nothing of a capture acts in it, it fits, and it says what it left out."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import workbench as wb
from workbench.findings import Evidence, Finding, Findings
from workbench.report import escape
from workbench.report.markdown import LIMIT, markdown, units

NASTY = st.text(
    st.sampled_from("`|<>@#*_~[]()!\\&;:/.-+=$%\"' \n\r\t\x1b\u202eab1é中🙂")
    | st.characters(exclude_categories=["Cs"]),
    max_size=40,
)
WORDS = st.lists(
    st.sampled_from([
        "@octocat", "#12", "GH-3", "org/repo#4", "<script>alert(1)</script>", "</details>", "```", "~~~", "|", "||",
        "](http://x.example)", "![x](y)", "www.example.com", "https://x.example/a", "a@b.example", "-->", "<!--",
        "**", "1.", "-", "#", "deadbeef0", "&lt;", "$x$", "`", "``", "\\", "word", "end", "\n\n# x", "\n---\n",
    ]),
    max_size=8,
).map(" ".join)  # fmt: skip
TEXTS = NASTY | WORDS


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def acting(text: str) -> list[str]:
    """What a Markdown text does besides being prose, code, tables and lists."""
    found = []

    def walk(tokens):
        for token in tokens:
            if token.type in ("html_block", "html_inline"):
                rest = re.sub(
                    r"</?details>|<summary>(?:[a-z]+: [a-z-]+|Timeline of the flagged calls)</summary>|</?code>",
                    "",
                    token.content,
                )
                if rest.strip():
                    found.append(f"html {rest!r}")
            elif token.type in (
                "link_open",
                "image",
                "em_open",
                "s_open",
                "heading_open",
                "hr",
                "blockquote_open",
            ):
                found.append(token.type)
            elif token.type == "text" and not inside_code[-1]:
                risk = r"(?<![\w])@\w|#\d|\bGH-\d|https?://|www\.|\$\S"
                if re.search(risk, token.content):
                    found.append(f"text {token.content!r}")
            if token.type == "html_inline":
                inside_code[-1] = {"<code>": True, "</code>": False}.get(token.content, inside_code[-1])
            if token.children:
                inside_code.append(False)
                walk(token.children)
                inside_code.pop()

    inside_code = [False]
    walk(parser().parse(text))
    return found


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_prose_and_code_do_not_act(text):
    for shown in (
        escape.prose(text),
        escape.code(text),
        "- " + escape.prose(text),
        escape.fenced(escape.plain(text)),
    ):
        assert not acting(shown)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS)
def test_no_text_adds_a_cell_to_a_table(one, two):
    row = f"| {escape.code(one, table=True)} | {escape.prose(two, table=True)} |"
    tokens = parser().parse(f"| a | b |\n|---|---|\n{row}\nafter\n")
    cells = [t for t in tokens if t.type == "td_open"]
    # the line after a table is its last row
    assert len(cells) == 4
    assert not acting(f"| a | b |\n|---|---|\n{row}\n")


@settings(max_examples=100, deadline=None)
@given(NASTY)
def test_code_shows_the_text_itself(text):
    expected = escape.plain(text)
    if not expected.strip():
        return
    for table in (False, True):
        shown = escape.code(text, table=table)
        html = parser().renderInline(shown)
        inner = re.fullmatch(r"<code>(.*)</code>", html, re.DOTALL)
        assert inner is not None
        import html as entities

        assert entities.unescape(inner.group(1)) == expected


@pytest.fixture(scope="module")
def trace():
    return wb.load("sample:provider-tool-lost")


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_nothing_of_a_finding_acts(trace, data):
    draw = data.draw
    finding = Finding(
        draw(TEXTS), "stream", draw(TEXTS), draw(TEXTS), (draw(TEXTS),), (draw(TEXTS),), (draw(TEXTS),),
        (Evidence(draw(TEXTS), draw(TEXTS), 1, 2, 3),), "error", "call-not-open", "CAL001", draw(TEXTS),
    )  # fmt: skip
    text = markdown(trace, Findings(trace, [finding]), diagram=False)
    assert not acting(text)
    assert [line for line in text.splitlines() if line.endswith("details>")] == ["<details>", "</details>"]


@settings(max_examples=20, deadline=None)
@given(TEXTS.filter(bool), TEXTS, TEXTS)
def test_nothing_of_a_capture_acts(call, tool, text):
    start = {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool}
    events = [
        {"type": "RUN_STARTED", "threadId": text, "runId": call},
        start,
        start,
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": text},
        {"type": "TOOL_CALL_RESULT", "toolCallId": call, "messageId": text, "content": text},
    ]
    trace = wb.load("\n".join(map(json.dumps, events)).encode())
    body = markdown(trace, wb.check(trace))
    assert not acting(body)
    assert body.count("```mermaid") == 1


def many(trace, number, size=2000):
    places = tuple(Evidence(f"folder/capture-{i}.sse", "", i, i, i) for i in range(12))
    severities = sorted(["error", "warning", "info"] * number, key=["error", "warning", "info"].index)
    items = [
        Finding(
            "x" * size,
            call_ids=(f"call-{i}",),
            evidence=places,
            severity=s,
            rule="call-not-open",
            help="y" * size,
        )
        for i, s in enumerate(severities)
    ]
    return Findings(trace, items)


def test_it_fits_an_issue_and_says_what_is_left_out(trace):
    text = markdown(trace, many(trace, 200))
    assert units(text) <= LIMIT
    assert "left out" in text
    assert "not in the table" in text
    assert text.count("<details>") == text.count("</details>") > 5
    # the worst are kept
    assert "<summary>info" not in text


@pytest.mark.parametrize("limit", [3000, 5000, 10_000, 30_000])
def test_smaller_limits_hold(trace, limit):
    assert units(markdown(trace, many(trace, 30), limit=limit)) <= limit


def test_units_are_those_of_utf_16():
    assert units("a🙂") == 3


def test_a_faulty_capture_tells_the_story(trace):
    text = markdown(trace, wb.check(trace))
    assert text.startswith("**")
    assert "result-placeholder" in text
    assert "```mermaid\nsequenceDiagram" in text
    assert "provider-tool-lost" in text
    assert "<details>" in text
    assert "Tool call invocation failed." in text


def test_a_healthy_capture_tells_what_happened():
    trace = wb.load("sample:healthy")
    text = markdown(trace, wb.check(trace))
    assert "Nothing wrong" in text
    assert "answered" in text
    assert "mermaid" not in text


def test_a_diagram_that_is_too_long_is_refused_with_a_note(trace, monkeypatch):
    from workbench.views import sequence

    def refuse(self):
        raise ValueError("too long")

    monkeypatch.setattr(sequence.SequenceDiagram, "mermaid", refuse)
    text = markdown(trace, wb.check(trace))
    assert "```mermaid" not in text
    assert "too long for an issue" in text


def test_unread_input_is_said(tmp_path):
    trace = wb.load("sample:healthy", tmp_path / "missing.har")
    assert "could not be used" in markdown(trace, wb.check(trace))
