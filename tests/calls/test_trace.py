"""The trace: tables as declared, selection, and the door back to the bytes."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

import workbench as wb
from workbench import model
from workbench.trace import Trace

TABLES = sorted(model.TABLES)
IDS = {"thread_id", "run_id", "call_id", "approval_id", "message_id", "trace_id", "span_id", "parent_span_id"}


@pytest.fixture(scope="module")
def approval() -> Trace:
    return wb.load("sample:approval")


def lines(*events: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(event) for event in events).encode()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("source", [b"", "sample:approval"])
def test_every_table_has_its_declared_columns(name: str, source: Any) -> None:
    frame = getattr(wb.load(source), name)
    declared = model.TABLES[name].columns
    assert list(frame.columns) == [column.name for column in declared]
    for column in declared:
        assert str(frame[column.name].dtype) == model.PANDAS_DTYPES[column.dtype], column.name


def test_any_two_id_columns_compare_merge_and_concatenate(approval: Trace) -> None:
    columns = [
        getattr(approval, name)[c] for name in TABLES for c in getattr(approval, name).columns if c in IDS
    ]
    for left in columns:
        for right in columns:
            both = pd.concat([left, right])
            assert both.dtype == left.dtype
            assert (
                left.reset_index(drop=True) == right.reset_index(drop=True).reindex(left.index)
            ).dtype == bool
    merged = approval.events.merge(approval.calls, on=["thread_id", "call_id"])
    assert len(merged) > 0


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(KeyError, match="no column nonsense"):
        model.CALLS.frame({"nonsense": [1]})


def test_nanoseconds_survive_beside_missing_times() -> None:
    frame = model.RUNS.frame({"started": [1_790_000_000_000_000_001, None]})
    assert frame.started[0].value == 1_790_000_000_000_000_001
    assert pd.isna(frame.started[1])


def test_times_are_never_invented() -> None:
    trace = wb.load("sample:healthy")
    assert trace.events.time.isna().all()
    assert set(trace.events.time_source) == {"none"}
    assert trace.calls.asked.isna().all()


def test_raw_gives_the_bytes_of_an_event(approval: Trace) -> None:
    for row in range(len(approval.events)):
        event = json.loads(approval.raw(row))
        assert event["type"] == approval.events.type[row]


def test_raw_refuses_a_row_that_is_not_there(approval: Trace) -> None:
    with pytest.raises(IndexError):
        approval.raw(10_000)


def test_evidence_takes_what_comes_out_of_a_table(approval: Trace) -> None:
    calls = approval.calls
    (one,) = approval.evidence(calls.asked_event.iloc[0])
    assert one.line is not None
    assert approval.evidence(None, pd.NA, float("nan")) == ()


def test_selection_by_thread_run_call_and_signal() -> None:
    two = [
        {"type": kind, "threadId": t, "runId": f"r{t}"}
        for t in "ab"
        for kind in ("RUN_STARTED", "RUN_FINISHED")
    ]
    trace = wb.load(lines(*two))
    assert list(trace.select(thread="a").events.thread_id) == ["a", "a"]
    assert list(trace.select(run="rb").runs.run_id) == ["rb"]
    assert len(trace.select(thread="a", run="rb").events) == 0
    approval = wb.load("sample:approval")
    call = str(approval.calls.call_id[0])
    assert len(approval.select(call_id=call).calls) == len(approval.calls)
    assert len(approval.select(call_id="nowhere").events) == 0
    assert len(approval.select(signal="requests").events) == 0
    assert len(approval.select(signal="events").requests) == 0


def test_selection_by_time_leaves_out_what_has_none() -> None:
    events = [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "timestamp": 1_790_000_000_000},
        {"type": "STEP_STARTED", "stepName": "s"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "timestamp": 1_790_000_000_500},
    ]
    trace = wb.load(lines(*events))
    assert list(trace.select(until=1_790_000_000_000_000_000).events.type) == ["RUN_STARTED"]
    assert len(trace.select(since=1_790_000_000_000_000_000).events) == 2


def test_selected_requests_stay_with_their_runs() -> None:
    trace = wb.load("sample:approval")
    last = str(trace.runs.run_id.iloc[-1])
    part = trace.select(run=last)
    assert list(part.requests.run_id) == [last]
    assert list(part.requests.run) == [0]


def test_the_summary_needs_no_table() -> None:
    trace = wb.load("sample:approval")
    summary = trace.summary()
    assert summary["runs"] == len(trace.runs)
    assert summary["calls"] == len(trace.calls)
    assert summary["approvals"] == len(trace.approvals)
    assert summary["threads"] == 1


def test_findings_of_one_fault_are_one() -> None:
    message = {"id": "a", "role": "assistant", "toolCalls": [{"id": "c", "type": "function",
               "function": {"name": "look", "arguments": "{}"}}]}  # fmt: skip
    later = {"id": "u", "role": "user", "content": "and?"}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [message, later]}
    run = [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
    ]
    trace = wb.load(lines(run[0], snapshot, snapshot, run[1]))
    found = [f for f in wb.check(trace) if f.rule == "call-unanswered"]
    assert len(found) == 1
    assert len(found[0].evidence) >= 2
