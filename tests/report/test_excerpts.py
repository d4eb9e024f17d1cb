"""From a finding back to its bytes."""

from __future__ import annotations

import json

import workbench as wb
from workbench.report.excerpts import excerpts, part


def test_every_place_of_every_finding_has_its_record(trace_path):
    trace = wb.load(trace_path)
    findings = wb.check(trace)
    told = excerpts(trace, findings)
    for finding in findings:
        for place in finding.evidence[:8]:
            assert told[finding, place], (finding.rule, place)


def test_a_record_is_the_one_at_the_place(tmp_path):
    events = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    events += [{"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "dig"}] * 2
    lines = [json.dumps(event) for event in events]
    path = tmp_path / "twice.jsonl"
    path.write_text("\n".join(lines))
    trace = wb.load(path)
    findings = [f for f in wb.check(trace) if f.rule == "call-start-duplicated"]
    told = excerpts(trace, findings)
    assert {place.line: text for (_, place), text in told.items()}[3] == lines[2]


def test_a_file_that_is_gone_leaves_the_places(tmp_path):
    path = tmp_path / "gone.jsonl"
    path.write_text('{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n' * 2)
    trace = wb.load(path)
    findings = wb.check(trace)
    path.unlink()
    told = excerpts(trace, findings)
    assert all(isinstance(text, str) for text in told.values())
    assert wb.markdown(trace, findings)


def test_a_long_record_is_shown_around_the_id():
    text = "a" * 1000 + "call_7" + "b" * 1000
    shown = part(text, 90, ["nowhere", "call_7"])
    assert "call_7" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 92
    assert part(text, 90).startswith("aaa")
    assert part("short", 90) == "short"
