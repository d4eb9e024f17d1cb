"""Streams without times are put in order by what answers what."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import workbench as wb

RUNS = {
    "ask.sse": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"},
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "rent"},
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r1", "outcome": {
            "type": "interrupt", "interrupts": [{"id": "i1", "reason": "tool_call", "toolCallId": "c1"}]}},
    ],
    "result.sse": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r2"},
        {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c1", "content": "rented"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r2"},
    ],
}  # fmt: skip
REQUEST = {"threadId": "t", "runId": "r2", "messages": [], "tools": [], "state": {}, "resume": [
    {"interruptId": "i1", "status": "resolved", "payload": {"approved": True}}]}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, events in RUNS.items():
        (tmp_path / name).write_text("".join(f"data: {json.dumps(e)}\n\n" for e in events))
    (tmp_path / "request.json").write_text(json.dumps(REQUEST))
    return [str(tmp_path / name) for name in (*RUNS, "request.json")]


def test_every_order_of_the_files_tells_the_same_story(files: list[str]) -> None:
    for order in itertools.permutations(files):
        trace = wb.load(*order)
        assert list(trace.runs.run_id) == ["r1", "r2"]
        assert list(zip(trace.approvals.decision, trace.approvals.state, strict=True)) == [
            ("approved", "executed")
        ]
        assert not wb.check(trace).items


def test_without_the_request_the_result_tells_the_order(files: list[str]) -> None:
    trace = wb.load(files[1], files[0])
    assert list(trace.runs.run_id) == ["r1", "r2"]
    assert trace.conversations[0].notes == ["no times: the responses were put in order by what answers what"]
    assert wb.load(files[0], files[1]).conversations[0].notes == []


def test_a_circle_keeps_the_order_of_loading(tmp_path: Path) -> None:
    paths = []
    for name, own, other in (("a", "c1", "c2"), ("b", "c2", "c1")):
        events = [
            {"type": "RUN_STARTED", "threadId": "t", "runId": name},
            {"type": "TOOL_CALL_START", "toolCallId": own, "toolCallName": "x"},
            {"type": "TOOL_CALL_END", "toolCallId": own},
            {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": other, "content": "1"},
            {"type": "RUN_FINISHED", "threadId": "t", "runId": name},
        ]
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(events))
    trace = wb.load(*map(str, reversed(paths)))
    assert list(trace.runs.run_id) == ["b", "a"]
