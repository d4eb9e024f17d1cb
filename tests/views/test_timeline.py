"""The timeline: lanes, axes, flags, and the figure behind the picture."""

from __future__ import annotations

import json
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.views import timeline_plotly

KEYS = {"text/html", "image/svg+xml", "text/plain"}


def names(figure: Any) -> list[str]:
    return [trace.name for trace in figure.data]


def test_the_bundle_has_exactly_three_keys(approval: wb.Trace) -> None:
    bundle = wb.timeline(approval)._repr_mimebundle_()
    assert set(bundle) == KEYS
    assert re.search(r'<img alt="[^"]+" [^>]*src="data:image/svg\+xml;base64,', bundle["text/html"])


def test_one_lane_per_call_occurrence(trace_path: Path) -> None:
    trace = wb.load(trace_path)
    timeline = wb.timeline(trace)
    lanes = [lane for lane in timeline.chart.lanes if lane.call is not None]
    assert len(lanes) == len(trace.calls)
    assert timeline.svg.count('<g class="lane">') == len(timeline.chart.lanes)
    for lane in lanes:
        for segment in lane.segments:
            assert timeline.chart.start <= segment.start <= segment.end <= timeline.chart.end
    assert timeline.svg == wb.timeline(wb.load(trace_path)).svg
    ET.fromstring(timeline.svg)


def test_every_finding_is_flagged(trace_path: Path) -> None:
    trace = wb.load(trace_path)
    findings = wb.check(trace)
    timeline = wb.timeline(trace, findings=findings)
    assert {flag.finding for lane in timeline.chart.lanes for flag in lane.flags} == set(findings)
    flags = sum(len(lane.flags) for lane in timeline.chart.lanes)
    told = [
        text for t in timeline.figure.data if t.name in ("error", "warning", "info") for text in t.hovertext
    ]
    assert "".join(told).count("<b>") == flags >= len(findings)
    assert timeline.svg.count('<g class="mark">') == flags


def test_an_approval_waits_until_the_answer_of_the_next_request(approval: wb.Trace) -> None:
    lanes = [
        lane for lane in wb.timeline(approval).chart.lanes if lane.call and lane.call.synthetic_for is None
    ]
    for lane in lanes:
        kinds = [segment.kind for segment in lane.segments]
        assert kinds[:2] == ["asked", "waiting"]
        waiting = lane.segments[1]
        request = approval.conversations[0].runs[1].request
        assert request is not None
        sent = approval.records.requests[request].time
        assert sent is not None
        assert waiting.end == sent / 1e6
    assert [lane.decisions[0][1] for lane in lanes] == ["approved", "rejected"]


def test_with_times_the_axis_is_time(approval: wb.Trace) -> None:
    timeline = wb.timeline(approval)
    assert timeline.chart.axis == "time"
    assert timeline.figure.layout.xaxis.type == "date"
    assert "time, UTC" in timeline.svg


def test_without_times_the_axis_is_the_event_number() -> None:
    timeline = wb.timeline(wb.load("sample:healthy"))
    assert timeline.chart.axis == "events"
    assert timeline.figure.layout.xaxis.type == "linear"
    assert "event number" in timeline.svg
    assert "event number" in timeline.figure.layout.xaxis.title.text
    assert timeline.chart.runs[0][0] == -0.5
    asked = next(s for s in timeline.chart.lanes[0].segments if s.kind == "asked")
    call = timeline.chart.lanes[0].call
    assert call is not None
    assert (asked.start, asked.end) == (call.starts[0].event, call.ends[0])


def test_a_time_that_was_copied_from_the_request_is_no_time_axis(tmp_path: Path) -> None:
    """HAR without a time per event: all events of a response would stand at one instant."""
    timeline = wb.timeline(wb.load("sample:provider-tool-lost"))
    assert timeline.chart.axis == "events"
    assert "run begins" in names(timeline.figure)


def test_a_capture_without_calls_is_a_friendly_picture(make: Callable[..., wb.Trace]) -> None:
    for trace in (wb.load(b""), make([{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}])):
        timeline = wb.timeline(trace, findings=())
        assert "No tool call in view" in timeline.svg
        assert "No tool call in view" in timeline.figure.layout.annotations[0].text
        assert set(timeline._repr_mimebundle_()) == KEYS


def test_one_call_alone(approval: wb.Trace) -> None:
    call = approval.conversations[0].calls[0]
    lanes = wb.timeline(approval, call_id=call.id).chart.lanes
    assert [lane.call for lane in lanes] == [call]
    run = approval.conversations[0].runs[0].run_id
    assert len(wb.timeline(approval, run=run).chart.lanes) == 4
    with pytest.raises(ValueError, match="no call or approval 'x'"):
        wb.timeline(approval, call_id="x")


def test_hover_says_what_matters_and_escapes_it(hard: dict[str, wb.Trace]) -> None:
    figure = wb.timeline(hard["hostile"]).figure
    hovers = [text for trace in figure.data if trace.hovertext for text in trace.hovertext]
    assert any("<b>arguments</b>" in text and "<b>result</b>" in text for text in hovers)
    for text in [*hovers, *figure.layout.yaxis.ticktext, figure.layout.title.text]:
        tags = set(re.findall(r"<[^>]*>?", text))
        assert tags <= {"<b>", "</b>", "<br>", "<i>", "</i>"}
        assert "$" not in text


def test_many_calls_are_lines_with_gaps(make: Callable[..., wb.Trace]) -> None:
    count = timeline_plotly.MAX_BARS + 1
    events: list[dict[str, Any]] = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    for number in range(count):
        events += [
            {"type": "TOOL_CALL_START", "toolCallId": f"c{number}", "toolCallName": "look"},
            {"type": "TOOL_CALL_END", "toolCallId": f"c{number}"},
            {
                "type": "TOOL_CALL_RESULT",
                "messageId": f"m{number}",
                "toolCallId": f"c{number}",
                "content": "ok",
            },
        ]
    trace = make(events)
    timeline = wb.timeline(trace, findings=())
    begun = time.process_time()
    figure = timeline.figure
    assert time.process_time() - begun < 20
    kinds = {t.type for t in figure.data}
    assert "bar" not in kinds
    assert "scattergl" in kinds
    asked = next(t for t in figure.data if t.name == "arguments arrive")
    assert len(asked.x) == 3 * count
    assert len(figure.layout.shapes) == 0
    assert "2,941 lanes not shown in this picture" in timeline.svg


def test_very_many_calls_are_points(make: Callable[..., wb.Trace], monkeypatch: Any) -> None:
    monkeypatch.setattr(timeline_plotly, "MAX_BARS", 2)
    monkeypatch.setattr(timeline_plotly, "MAX_LINES", 4)
    start = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    events: list[dict[str, Any]] = [start]
    for number in range(6):
        one = {"toolCallId": f"a-long-call-id-<b>{number}"}
        events += [
            {"type": "TOOL_CALL_START", "toolCallName": "look", **one},
            {"type": "TOOL_CALL_END", **one},
        ]
        if number:
            events.append({"type": "TOOL_CALL_RESULT", "messageId": f"m{number}", "content": "ok", **one})
    timeline = wb.timeline(make(events), findings=())
    by_name = {trace.name: trace for trace in timeline.figure.data}
    assert {trace.type for trace in by_name.values()} == {"scattergl", "scatter"}
    assert len(by_name["call, result ok"].x) == len(by_name["result: ok"].x) == 5
    assert len(by_name["call, result none in view"].x) == 1
    assert list(by_name["call, result ok"].x) == [lane.segments[0].start for lane in timeline.chart.lanes[1:]]
    assert all("<b>" not in text for text in by_name["call, result ok"].hovertext)
    assert len(json.dumps(timeline_plotly.data(timeline.figure))) < 20_000


def test_the_interactive_form_falls_back_to_the_picture(approval: wb.Trace) -> None:
    timeline = wb.timeline(approval)
    bundle = timeline.interactive(plotlyjs=False)._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.plotly.v1+json", "text/html", "text/plain"}
    json.dumps(bundle["application/vnd.plotly.v1+json"])
    assert "data:image/svg+xml;base64," in bundle["text/html"]
    assert len(bundle["text/html"]) < 200_000
    assert wb.timeline(approval).interactive(plotlyjs=False).html == timeline.interactive(plotlyjs=False).html


@pytest.mark.browser
def test_the_interactive_form_is_drawn_without_a_network(approval: wb.Trace, offline_page: Any) -> None:
    html = wb.timeline(approval).interactive().html
    page = offline_page.open(f'<!doctype html><meta charset="utf-8">{html}')
    page.wait_for_selector(".plotly .barlayer path", state="attached")
    assert page.locator(".wb-still").count() == 0
    assert page.locator(".barlayer .trace").count() >= 3
    assert offline_page.requests == []
    assert offline_page.errors == []


@pytest.mark.browser
def test_without_scripts_the_picture_stays(approval: wb.Trace, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(wb.timeline(approval).interactive(plotlyjs=False).html)
    image = page.locator(".wb-still img")
    box = image.bounding_box()
    assert box is not None
    assert box["width"] > 600
    context.close()
