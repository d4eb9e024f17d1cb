"""`spans` and `logs` as DataFrames: columns as they were gathered, texts decoded where they are shown."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench import model
from workbench.calls.telemetry.columns import Columns
from workbench.calls.telemetry.threads import Threads
from workbench.readers.records import NO_TIME, Records
from workbench.readers.telemetry import detail, log_lines, values
from workbench.readers.telemetry.columns import KINDS, STATUSES, Rows

if TYPE_CHECKING:
    import pandas as pd


def _place(columns: Columns, rows: Rows) -> dict[str, Any]:
    return {
        "source": columns.numbers(rows.source), "record": columns.numbers(rows.record),
        "line": columns.numbers(rows.line, 1), "offset": columns.numbers(rows.offset, 0),
        "length": columns.numbers(rows.length), "trace_id": columns.coded(rows.trace),
        "service": columns.coded(rows.service),
    }  # fmt: skip


def _time_source(times: array[int], word: str) -> list[str]:
    return ["none" if time == NO_TIME else word for time in times]


#: thread of a row and how it was joined with it
Joined = Mapping[int, tuple[str, str]]


def _threads(columns: Columns, own: array[int], joined: Joined) -> dict[str, Any]:
    """The thread of each row: that of the AG-UI side where it was joined, else what the telemetry names."""
    if not any(sure for _, sure in joined.values()):
        return {"thread_id": columns.coded(own), "joined": columns.texts([None] * len(own))}
    text = columns.text
    rows = [joined.get(row, (text(code) or "", "")) for row, code in enumerate(own)]
    return {
        "thread_id": columns.texts([thread or None for thread, _ in rows]),
        "joined": columns.texts([sure or None for _, sure in rows]),
    }


def spans(records: Records, threads: Threads, joined: Joined) -> pd.DataFrame:
    """Spans in the order in which they were read."""
    s = records.spans
    columns = Columns(records)
    coded = columns.coded
    arguments: list[str | None] = [None] * len(s)
    results: list[str | None] = [None] * len(s)
    tool_spans = records.pool.codes.get("execute_tool", -2)
    for row, code in enumerate(s.operation):
        if code == tool_spans:
            arguments[row], results[row] = detail.content(records, row)
    starts, ends = columns.times(s.start), columns.times(s.end)
    return model.SPANS.frame({
        **_place(columns, s), "span_id": columns.texts(s.span), "parent_span_id": columns.texts(s.parent),
        **_threads(columns, threads.spans, joined), "call_id": coded(s.call), "name": coded(s.name),
        "kind": coded(s.kind, KINDS), "operation": coded(s.operation), "tool": coded(s.tool),
        "arguments": columns.texts(arguments), "result": columns.texts(results), "scope": coded(s.scope),
        "time": starts, "ended": ends, "time_source": columns.texts(_time_source(s.start, "span")),
        "duration": columns.milliseconds(s.start, s.end), "status": coded(s.status, STATUSES),
        "error": coded(s.error),
    })  # fmt: skip


def logs(
    records: Records, threads: Threads, joined: Joined, named: Mapping[int, tuple[str, str]]
) -> pd.DataFrame:
    """Log records in the order in which they were read; `named` has the calls that their lines speak of."""
    g = records.logs
    columns = Columns(records)
    coded = columns.coded
    calls: list[str | None] = []
    known: list[str | None] = []
    tools: list[str | None] = []
    bodies: list[str | None] = []
    for row in range(len(g)):
        log = records.log(row)
        found = log_lines.fact_of(log)
        call, sure = named.get(row) or (
            (found.call_id, "call id") if found and found.call_id else (None, None)
        )
        calls.append(call)
        known.append(sure)
        tools.append(found.tool if found else None)
        bodies.append(values.as_text(log.body))
    times = array(
        "q", (time if time != NO_TIME else seen for time, seen in zip(g.time, g.observed, strict=True))
    )
    return model.LOGS.frame({
        **_place(columns, g), "span_id": columns.texts(g.span), **_threads(columns, threads.logs, joined),
        "call_id": columns.texts(calls), "call_from": columns.texts(known), "time": columns.times(times),
        "time_source": columns.texts(_time_source(times, "log")), "order": columns.numbers(g.order, 0),
        "logger": coded(g.logger), "severity": coded(g.severity), "event": coded(g.event),
        "tool": columns.texts(tools), "text": columns.texts(bodies),
    })  # fmt: skip
