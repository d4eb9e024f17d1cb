"""One conversation in every dialect: each file has to give what `expect.tsv` says, and nothing else."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import workbench as wb

DATA = Path(__file__).resolve().parents[2] / "data" / "telemetry"
with (DATA / "expect.tsv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
SINGLE = [row for row in ROWS if "together" not in row["file"]]


def files(name: str) -> list[Path]:
    """The files of a row: one, several joined by `+`, or a whole folder."""
    name = name.removesuffix(" together")
    if name.endswith("/*"):
        return sorted((DATA / name[:-2]).iterdir())
    return [DATA / part for part in name.split(" + ")]


@cache
def loaded(name: str) -> wb.Trace:
    return wb.load(*files(name))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_counts(row):
    trace = loaded(row["file"])
    sources = trace.records.sources
    assert len(trace.spans) == int(row["spans"])
    assert sum(s.duplicates for s in sources) == int(row["duplicates"])
    assert len(trace.logs) == int(row["logs"])
    assert len(trace.events) == int(row["agui_events"])
    assert len(trace.requests) == int(row["requests"])
    points, metrics = ([*re.findall(r"\d+", row["metrics"]), "0"])[:2]
    assert sum(s.points for s in sources) == int(points)
    assert sum(s.ignored["metrics"] for s in sources) == int(metrics)
    for source in sources:
        assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    assert len(trace.problems) == (1 if "truncated" in row["file"] else 0)


def split(cell: str, width: int) -> list[tuple[str, ...]]:
    """The rows of a cell, each from the right, because ids may contain `:`."""
    return sorted(tuple(item.rsplit(":", width)) for item in cell.split(";")) if cell != "none" else []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_calls_and_approvals(row):
    trace = loaded(row["file"])
    calls, approvals = trace.calls, trace.approvals
    columns = (calls.call_id, calls.tool, calls.executed.astype(str), calls.result_class)
    assert sorted(zip(*columns, strict=True)) == split(row["calls"], 3)
    assert {*calls.call_id} - {""} == {*row["call_ids"].split(";")} - {"none"}
    decided = (approvals.approval_id, approvals.decision, approvals.state)
    assert sorted(zip(*decided, strict=True)) == split(row["approvals"], 2)


#: Words of the column `may_be_empty` and the columns of `spans` and `logs` that they stand for
EMPTY = {
    "thread": ["thread_id"],
    "scope": ["scope", "logger"],
    "time": ["time", "ended", "duration"],
    "date": ["time", "ended", "duration"],
    "span kind": ["kind"],
    "end time (timestamp + whole ms)": ["ended", "duration"],
    "trace and span id": ["trace_id", "span_id", "thread_id"],
    "status message": ["error"],
    "resource": ["service"],
    "call id": ["call_id", "tool", "arguments", "result"],
    "parent": ["parent_span_id"],
    "attributes": ["operation", "thread_id", "call_id", "arguments", "result", "scope"],
    "messages": [],
    "arguments": ["arguments"],
    "results": ["result"],
    "span events": [],
    "event name": ["event"],
    "sender's severity text": ["severity"],
    "spans": ["thread_id"],
    "every text beyond 128 characters (messages, tool definitions, stack trace)": [],
}
#: Rows whose times are cut or rounded, and by how much at most
UNITS = {
    "end time (timestamp + whole ms)": 100,
    "time below 1 us": 1000,
    "time below 100 ns": 100,
    "time below about 1 us": 2000,
}
SPAN_COLUMNS = [
    "trace_id", "span_id", "parent_span_id", "thread_id", "call_id", "name", "kind", "operation", "tool",
    "arguments", "result", "scope", "service", "time", "ended", "duration", "error",
]  # fmt: skip
LOG_COLUMNS = ["trace_id", "span_id", "logger", "service", "time", "severity", "event", "call_id", "tool"]


def missing_columns(row: dict[str, str]) -> tuple[set[str], int]:
    words = [word.strip() for word in row["may_be_empty"].split(";")]
    words += ["thread"] if "thread empty" in row["note"] else []
    columns = {column for word in words for column in EMPTY.get(word, [])}
    return columns, max((UNITS[word] for word in words if word in UNITS), default=0)


def body(text: str) -> str:
    """A body as it is compared: Aspire makes text of structured bodies, with other escapes."""
    return repr(json.loads(text)) if text.startswith("{") else " ".join(text.split())


def same(name: str, left: pd.Series, right: pd.Series, unit: int) -> None:
    if name in ("time", "ended") and unit:
        far = (left - right).abs().max()
        assert far <= pd.Timedelta(unit, "ns"), name
    elif name == "duration":
        assert (left - right).abs().max() <= 2 * unit / 1e6
    else:
        assert left.fillna("").tolist() == right.fillna("").tolist(), name


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["file"])
def test_every_column_that_the_dialect_carries_equals_that_of_the_otlp_file(row):
    folder = row["file"].split("/")[0]
    whole = loaded(f"{folder if folder.startswith('af') else 'af'}/all.otlp.jsonl")
    missing, unit = missing_columns(row)
    spans = loaded(row["file"]).spans
    if len(spans):
        ours = spans.set_index("span_id", drop=False).sort_index()
        theirs = whole.spans.set_index("span_id", drop=False).sort_index().loc[ours.index]
        for column in SPAN_COLUMNS:
            if column not in missing:
                same(column, ours[column], theirs[column], unit)
    logs = loaded(row["file"]).logs
    if len(logs) == len(whole.logs):
        assert sorted(map(body, logs.text)) == sorted(map(body, whole.logs.text))
        if not {"time", "time_of_day"} & missing:
            for column in LOG_COLUMNS:
                if column not in missing:
                    ours, theirs = (frame.sort_values("time", kind="stable") for frame in (logs, whole.logs))
                    if column == "call_id" and not len(spans):
                        assert ours.call_id.notna().any()
                        # the spans of the other file name the calls of lines that name none themselves
                        theirs = theirs.assign(call_id=theirs.call_id.where(ours.call_id.notna().to_numpy()))
                    same(
                        column,
                        ours[column].reset_index(drop=True),
                        theirs[column].reset_index(drop=True),
                        unit,
                    )


def test_aspire_logs_without_times_keep_their_order():
    logs = loaded("aspire/cli_otel_logs.json").logs
    assert logs.order.is_monotonic_increasing
    assert logs.order.tolist() == list(range(38, 78))
    assert logs.time.isna().all()
    assert set(logs.time_source) == {"none"}


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["file"])
def test_raw_bytes_of_a_row_are_the_record(row):
    trace = loaded(row["file"])
    for kind, frame in (("span", trace.spans), ("log", trace.logs)):
        for number in range(len(frame)):
            raw = trace.raw(wb_at(kind, number))
            assert raw
            assert len(raw) == frame.length[number]
            (evidence,) = trace.evidence(wb_at(kind, number))
            assert evidence.offset == frame.offset[number]
            name = frame.name[number] if kind == "span" else None
            assert name is None or name.encode() in raw or name.split()[0].encode() in raw


def wb_at(kind: str, row: int):
    from workbench.calls.conversation import At

    return At(kind, row)
