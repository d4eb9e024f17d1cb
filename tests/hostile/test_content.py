"""Contents that read fine and are meant to break what comes after reading."""

from __future__ import annotations

import io
import json
import re

import pandas as pd
import pytest
from hostile_captures import (
    answered,
    approve,
    call,
    everything,
    finished,
    interrupted,
    jsonl,
    listed,
    request,
    started,
    terminal,
)

import workbench as wb

MANY = 300_000
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
EVIL = (
    "\x1b[31mred\x1b]8;;http://x\x07y\x1b]52;c;aGk=\x07\r\n\x08\x00\x7f\x9b\u202eabc\u2066\u2028"
    "<script>alert(1)</script>]]>--></svg>[red]x[/red][link=http://x]y[/link]```|%%{init:{}}%%@user #1"
)


def nested(depth, leaf="1"):
    return "[" * depth + leaf + "]" * depth


@pytest.mark.parametrize(
    "expires",
    [
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00+14:00",
        "2262-04-12T00:00:00Z",
        "1600-01-01",
        "soon",
        5,
        None,
        [],
    ],
)
def test_an_approval_may_run_out_at_any_time(expires):
    asked = interrupted({"id": "i", "toolCallId": "c", "expiresAt": expires})
    trace, _ = everything(jsonl([started(), *call("c"), asked, request(), started("r2"), finished("r2")]))
    assert trace.approvals["expires"].isna().all()


def test_a_time_that_fits_stays():
    asked = interrupted({"id": "i", "expiresAt": "2026-09-21T10:00:00Z"})
    trace = wb.load(jsonl([started(), asked]))
    assert trace.approvals["expires"].tolist() == [pd.Timestamp("2026-09-21T10:00:00Z")]


@pytest.mark.parametrize("depth", [40, 500, 960])
@pytest.mark.parametrize(
    "key", ["resume", "payload", "command", "interruptEvent", "tool-message", "approval"]
)
def test_an_answer_nested_deeply_is_an_answer_without_a_decision(depth, key):
    deep, quoted = nested(depth), json.dumps(nested(depth * 4))
    body = {
        "resume": f'"resume": {deep}',
        "payload": f'"resume": [{{"interruptId": "i", "status": "resolved", "payload": {deep}}}]',
        "command": f'"forwardedProps": {{"command": {{"resume": {deep}}}}}',
        "interruptEvent": f'"forwardedProps": {{"command": {{"resume": true, "interruptEvent": {quoted}}}}}',
        "tool-message": '"x": 1',
        "approval": '"x": 1',
    }[key]
    messages = [listed("c", "a", tool="request_approval"), answered("c", "x", nested(depth * 4))]
    if key == "approval":
        messages = [
            {"id": "u", "role": "user", "content": "", "function_approvals": [{"id": "i", "approved": [[1]]}]}
        ]
    asked = request(messages=messages)
    line = json.dumps(asked)[:-1].encode() + b", " + body.encode() + b"}\n"
    head = jsonl([started(), *call("c", nested(depth * 4)), interrupted({"id": "i", "toolCallId": "c"})])
    everything(head + line + jsonl([started("r2"), finished("r2")]))


def test_a_decision_is_found_in_lists_and_texts_within_reason():
    from workbench.calls.decisions import decide

    assert decide([[True]]) == "approved"
    assert decide(json.dumps(json.dumps({"approved": False}))) == "rejected"
    assert decide(json.loads(nested(30, "true"))) is None


def test_arguments_of_an_approval_nested_deeply():
    asked = interrupted(
        {"id": "i", "toolCallId": "c", "value": {"function_call": {"arguments": nested(5000)}}}
    )
    everything(
        jsonl([started(), *call("c"), asked, request(resume=approve("i")), started("r2"), finished("r2")])
    )


def hostile(evil):
    return jsonl([
        {"type": "CUSTOM", "name": "first", "value": 1},
        started(evil, evil),
        *call(evil, json.dumps({evil: evil}), evil, result=evil),
        {"type": "TOOL_CALL_RESULT", "toolCallId": f"{evil}2", "messageId": evil, "content": evil},
        {"type": "TEXT_MESSAGE_START", "messageId": evil, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": evil, "delta": evil},
        {"type": "STEP_STARTED", "stepName": evil},
        {"type": evil, "name": evil},
        finished(evil, evil, outcome={"type": "interrupt", "interrupts": [
            {"id": evil, "toolCallId": evil, "reason": evil, "message": evil}]}),
        {**request(evil), "threadId": evil, "resume": approve(f"{evil}3")},
        started(f"{evil}4", evil),
        {"type": "RUN_ERROR", "message": evil, "code": evil},
    ])  # fmt: skip


@pytest.mark.parametrize("width", [20, 100])
def test_nothing_acts_in_a_terminal(width):
    trace, found = everything(hostile(EVIL))
    shown = terminal(trace, found, width)
    assert len(found) > 5
    assert not ACTS.search(shown)


@pytest.mark.parametrize("filling", ["a", "\u202e"])
def test_a_very_long_id_is_not_told_in_full(filling):
    trace = wb.load(hostile(filling * (MANY // len(filling))))
    found = wb.check(trace)
    assert len(terminal(trace, found)) < 200_000
    assert len(wb.markdown(trace, found)) <= 65_536
    with pytest.raises(ValueError, match="known:") as refused:
        wb.sequence_diagram(trace, call_id="nobody")
    assert len(str(refused.value)) < 2000


def test_a_thousand_healthy_threads_are_not_all_told():
    runs = [
        (started(f"r{i}", f"t{i}"), *call(f"c{i}", result="ok"), finished(f"r{i}", f"t{i}"))
        for i in range(1000)
    ]
    trace = wb.load(jsonl([e for run in runs for e in run]))
    from rich.console import Console

    from workbench.report import notebook, text

    out = Console(width=80, record=True, file=io.StringIO())
    text.findings(out, wb.check(trace))
    assert "970 threads more" in out.export_text()
    assert "950 threads more" in notebook.happened(trace).text


def test_what_an_unloadable_list_of_sources_says():
    from workbench.report.sources import resolve

    names = [f"capture-{number:03}.sse" for number in range(60)]
    assert resolve(json.dumps(names)) == names
    with pytest.raises(ValueError, match="neither a path nor a list"):
        resolve("[" * 1200)
