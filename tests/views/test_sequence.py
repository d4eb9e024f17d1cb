"""The ladder: its forms, its counts, its marks, its cuts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

import workbench as wb
from workbench.exceptions import DiagramError, WorkbenchError
from workbench.findings import Finding

KEYS = {"text/html", "image/svg+xml", "text/plain"}
SVG = "{http://www.w3.org/2000/svg}"


def events_of_file(path: Path) -> int:
    """Rows of `events`, by the table and not by the view."""
    return len(wb.load(path).events)


def drawn(svg: str) -> list[ET.Element]:
    root = ET.fromstring(svg)
    return [g for g in root.iter(f"{SVG}g") if "step" in (g.get("class") or "").split()]


def numbers_marked(svg: str) -> set[int]:
    return {int(n) for text in re.findall(r'data-findings="([\d ]+)"', svg) for n in text.split()}


def test_the_bundle_has_exactly_three_keys(approval: wb.Trace) -> None:
    bundle = wb.sequence_diagram(approval)._repr_mimebundle_()
    assert set(bundle) == KEYS
    assert re.search(
        r'<img alt="[^"]+" [^>]*src="data:image/svg\+xml;base64,[A-Za-z0-9+/=]+"', bundle["text/html"]
    )
    assert len(bundle["text/plain"]) < 300
    assert set(wb.sequence_diagram(approval)._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}


def test_every_event_of_every_capture_is_behind_one_arrow(trace_path: Path) -> None:
    trace = wb.load(trace_path)
    diagram = wb.sequence_diagram(trace)
    assert diagram.events_shown == events_of_file(trace_path) == diagram.arrows + diagram.folded
    counted = [int(g.get("data-events", "0")) for g in drawn(diagram.svg)]
    assert sum(counted) == diagram.events_shown
    assert sum(n > 0 for n in counted) == diagram.arrows
    assert sum(n == 0 for n in counted) == diagram.request_arrows


def test_every_finding_of_every_capture_has_a_mark(trace_path: Path) -> None:
    trace = wb.load(trace_path)
    findings = wb.check(trace)
    diagram = wb.sequence_diagram(trace, findings=findings)
    assert diagram.outside == []
    assert set(diagram.marked) == set(findings)
    assert numbers_marked(diagram.svg) == set(range(1, len(findings) + 1))


def test_hard_captures_keep_the_promise_too(hard: dict[str, wb.Trace], hard_name: str) -> None:
    trace = hard[hard_name]
    diagram = wb.sequence_diagram(trace, max_steps=None)
    assert diagram.arrows + diagram.folded == diagram.events_shown == len(trace.records.events)
    assert numbers_marked(diagram.svg) | set() == set(range(1, len(wb.check(trace)) + 1))
    ET.fromstring(diagram.svg)
    assert "<script" not in diagram.svg
    assert "<script" not in diagram.html
    assert not re.search(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\u202a-\u202e]", diagram.svg + diagram.mermaid()
    )


def test_deltas_are_folded_with_their_count(hard: dict[str, wb.Trace]) -> None:
    trace = hard["200 folded deltas"]
    folded = wb.sequence_diagram(trace, findings=())
    assert (folded.arrows, folded.folded) == (5, 199)
    assert "TEXT_MESSAGE_CONTENT × 200" in folded.svg
    whole = wb.sequence_diagram(trace, findings=(), fold=False)
    assert (whole.arrows, whole.folded) == (204, 0)


def test_raw_events_between_deltas_do_not_break_the_fold(make: Callable[..., wb.Trace]) -> None:
    delta = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x"}
    raw = {"type": "RAW", "event": {"event": "on_chain_stream"}}
    trace = make(
        [
            {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
            {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
            *[event for _ in range(30) for event in (raw, delta)],
            {"type": "TEXT_MESSAGE_END", "messageId": "m"},
            {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
        ]
    )
    diagram = wb.sequence_diagram(trace, findings=())
    assert (diagram.arrows, diagram.folded, diagram.events_shown) == (6, 58, 64)


def test_two_open_messages_are_not_folded_into_each_other(make: Callable[..., wb.Trace]) -> None:
    turns = [{"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": name} for name in "abababa"]
    diagram = wb.sequence_diagram(make(turns), findings=())
    assert (diagram.arrows, diagram.folded) == (7, 0)


def test_an_unknown_name_says_what_there_is(approval: wb.Trace) -> None:
    with pytest.raises(ValueError, match="no thread 'x' in the trace; known: '"):
        wb.sequence_diagram(approval, thread="x")
    with pytest.raises(ValueError, match="no run 'x' here; known: '"):
        wb.sequence_diagram(approval, run="x")
    with pytest.raises(ValueError, match="no call or approval 'x' here; known: '"):
        wb.sequence_diagram(approval, call_id="x")


def test_one_run_alone(approval: wb.Trace) -> None:
    run = approval.conversations[0].runs[1]
    diagram = wb.sequence_diagram(approval, run=run.run_id)
    assert diagram.events_shown == run.events == diagram.arrows + diagram.folded
    assert {step.run.run_id for step in diagram.steps} == {run.run_id}


def test_one_call_with_its_approval_and_neighbours(approval: wb.Trace) -> None:
    call = next(c for c in approval.conversations[0].calls if c.synthetic_for is None)
    alone = wb.sequence_diagram(approval, call_id=call.id)
    kinds = {step.kind for step in alone.steps}
    assert {"call", "result", "approval", "answer"} <= kinds
    assert all(call.id in (s.call_id, s.call.synthetic_for if s.call else "") for s in alone.steps)
    wider = wb.sequence_diagram(approval, call_id=call.id, neighbours=1)
    assert len(alone.steps) < len(wider.steps) < len(wb.sequence_diagram(approval).steps)
    for diagram in (alone, wider):
        assert diagram.arrows + diagram.folded == diagram.events_shown < len(approval.records.events)
        assert "not shown" in diagram.svg


def test_a_cut_keeps_every_mark_and_counts_the_rest() -> None:
    trace = wb.load("sample:duplicate-starts")
    findings = wb.check(trace, select=["call-start-duplicated"])
    diagram = wb.sequence_diagram(trace, findings=findings, neighbours=0)
    assert set(diagram.marked) == set(findings)
    assert diagram.arrows + diagram.folded == diagram.events_shown < len(trace.records.events)
    assert any("not shown" in note for note in diagram.notes)


def test_a_cut_still_says_what_every_mark_means() -> None:
    trace = wb.load("sample:provider-tool-lost")
    call = trace.conversations[0].calls[0]
    diagram = wb.sequence_diagram(trace, call_id=call.id)
    for finding in diagram.marked:
        mains = [m for step in diagram.steps for m in step.marks if m.finding == finding and m.main]
        assert len(mains) == 1


def test_a_finding_from_elsewhere_is_listed_below(approval: wb.Trace) -> None:
    finding = Finding("It happened in another file.", rule="run-error", code="RUN001", severity="warning")
    diagram = wb.sequence_diagram(approval, findings=[finding])
    assert diagram.outside == [finding]
    assert "another file" in diagram.svg
    assert "another file" in diagram.mermaid()


def test_a_very_long_capture_cuts_itself_and_says_so(make: Callable[..., wb.Trace]) -> None:
    steps = [{"type": "STEP_STARTED", "stepName": f"s{n}"} for n in range(900)]
    diagram = wb.sequence_diagram(make(steps), findings=())
    assert len(diagram.steps) == 400
    assert diagram.arrows + diagram.folded == diagram.events_shown
    assert any("Too long" in note and "500 events of 900" in note for note in diagram.notes)


def test_mermaid_refuses_what_renderers_refuse(make: Callable[..., wb.Trace]) -> None:
    steps = [{"type": "STEP_STARTED", "stepName": f"step number {n}"} for n in range(1400)]
    trace = make(steps)
    diagram = wb.sequence_diagram(trace, findings=(), max_steps=None)
    with pytest.raises(DiagramError, match="neighbours=2") as caught:
        diagram.mermaid()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, WorkbenchError)
    evidence = trace.evidence(700)
    finding = Finding("here", rule="some-rule", severity="error", evidence=evidence)
    cut = wb.sequence_diagram(trace, findings=[finding], neighbours=2, max_steps=None)
    assert "some-rule" in cut.mermaid()
    assert cut.arrows == 5


def test_mermaid_escapes_what_would_be_syntax(make: Callable[..., wb.Trace]) -> None:
    evil = 'end; #1 <b>x</b> "q" %%{init: {}}%% $$x$$\nNote over p0: injected'
    text = wb.sequence_diagram(
        make(
            [{"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": name} for name in ("end", evil)]
        ),
        findings=(),
    ).mermaid()
    lines = text.splitlines()
    assert lines[0] == "sequenceDiagram"
    assert "    participant p2 as #101;nd" in lines
    for line in lines[1:]:
        label = line.partition(": ")[2]
        assert not set(re.sub(r"#\d+;", "", label)) & set(';#<>"')
        assert "%%" not in line
        assert "$$" not in line
    assert sum(line.startswith("    Note over") and "injected" in line for line in lines) == 0


def test_tools_beyond_the_limit_share_a_lifeline(hard: dict[str, wb.Trace]) -> None:
    diagram = wb.sequence_diagram(hard["20 tools"], findings=())
    assert len(diagram.participants) == 12
    assert diagram.participants[-1].name == "other tools"
    assert diagram.arrows == len(hard["20 tools"].records.events)


def test_an_empty_capture_is_a_friendly_picture() -> None:
    diagram = wb.sequence_diagram(wb.load(b""))
    assert diagram.events_shown == diagram.arrows == diagram.folded == 0
    assert "nothing to draw" in diagram.svg
    assert diagram.mermaid().startswith("sequenceDiagram\n")
    assert set(diagram._repr_mimebundle_()) == KEYS


def test_the_same_capture_gives_the_same_bytes(trace_path: Path) -> None:
    one, two = (wb.sequence_diagram(wb.load(trace_path)) for _ in range(2))
    assert one.svg == two.svg
    assert one.mermaid() == two.mermaid()
    assert one.html == two.html


def test_steps_have_anchors_and_call_ids(approval: wb.Trace) -> None:
    svg = wb.sequence_diagram(approval, id_prefix="d1-").svg
    ids = [g.get("id") for g in drawn(svg)]
    assert len(set(ids)) == len(ids)
    assert all(name and name.startswith("d1-step-") for name in ids)
    calls = {call.id for call in approval.conversations[0].calls}
    assert calls <= {g.get("data-call") for g in drawn(svg)}


def test_the_picture_needs_nothing_from_outside(approval: wb.Trace) -> None:
    svg = wb.sequence_diagram(approval).svg
    assert not re.search(r"(?:href|src|url\()", svg)
    assert "prefers-color-scheme:dark" in svg


def test_it_is_written_to_a_file(approval: wb.Trace, tmp_path: Path) -> None:
    diagram = wb.sequence_diagram(approval)
    assert diagram.to_svg(tmp_path / "a.svg").read_text(encoding="utf-8") == diagram.svg


def test_a_request_to_the_model_has_its_arrow_and_its_lifeline() -> None:
    trace = wb.load(Path(__file__).parent / "payload.har")
    findings = wb.check(trace)
    diagram = wb.sequence_diagram(trace, findings=findings)
    assert [person.key for person in diagram.participants][:3] == ["client-tool:sign_doc", "client", "agent"]
    assert "model" in {person.key for person in diagram.participants}
    sent = [step for step in diagram.steps if step.kind == "payload"]
    assert [(step.source, step.target, step.events) for step in sent] == [("agent", "model", 0)]
    assert diagram.arrows + diagram.folded == diagram.events_shown == len(trace.records.events)
    assert set(diagram.marked) == set(findings)
    assert wb.timeline(trace, findings=findings).chart.lanes
