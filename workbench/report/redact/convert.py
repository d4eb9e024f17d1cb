"""Inputs that are not written back in their own format: AG-UI as `.agui.jsonl`, telemetry as OTLP JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from workbench.readers.records import NO_TIME, Records
from workbench.readers.telemetry.columns import KINDS
from workbench.readers.telemetry.rows import LogRow, SpanRow
from workbench.trace import Trace


def agui(trace: Trace, source: int) -> str:
    """Requests and events of one source as an AG-UI DevTools capture; "" where it has none.

    Where the capture is cut, so is the text: its last line ends inside its JSON.
    """
    lines = list(_agui(trace.records, source))
    if not lines:
        return ""
    header = {
        "kind": "header",
        "schemaVersion": 1,
        "tool": "workbench redact",
        "transport": "fetch",
        "redacted": ["all"],
    }
    text = "".join(f"{line}\n" for line in (json.dumps(header), *lines))
    streams = [s for s in trace.records.streams if s.source == source]
    if not trace.records.sources[source].complete or any(not s.complete for s in streams):
        text += '{"kind":"event","connId":"cut","event":{"type":"'
    return text


def payloads(trace: Trace, source: int) -> str:
    """Payloads and histories of one source, one a line: exchanges, or lists of messages; "" where it has none."""
    made = []
    for payload in trace.records.payloads:
        if payload.source != source:
            continue
        line: dict[str, Any] = {} if payload.history.whole else {"left_out": True}
        if payload.place == "history":
            made.append({**line, **payload.body})
            continue
        if payload.answer is not None:
            answer = payload.answer
            line |= _present(
                status=answer.status, response={"error": {"message": answer.error}} if answer.error else None
            )
        made.append({**line, "url": payload.url, "request": payload.body})
    return "".join(f"{json.dumps(line)}\n" for line in made)


def _agui(records: Records, source: int) -> Iterator[str]:
    events = records.events
    rows: dict[int, list[int]] = {}
    for row, stream in enumerate(events.stream):
        if events.source[row] == source:
            rows.setdefault(stream, []).append(row)
    asked = {s.request: number for number, s in enumerate(records.streams) if s.request is not None}
    done: set[int] = set()
    for number, request in enumerate(records.requests):
        if request.source == source and request.event is None:
            own_stream = asked.get(number)
            line: dict[str, Any] = {
                "kind": "request",
                "connId": f"conn{'r' if own_stream is None else ''}{number if own_stream is None else own_stream}",
            }
            if request.time is not None:
                line["time"] = _iso(request.time)
            yield json.dumps({**line, "input": request.body})
            if own_stream is not None:
                done.add(own_stream)
                yield from _events(records, own_stream, rows.get(own_stream, ()))
    for stream, own in rows.items():
        if stream not in done:
            yield from _events(records, stream, own)


def _events(records: Records, stream: int, rows: Any) -> Iterator[str]:
    for number, row in enumerate(rows):
        time = records.events.time[row]
        when = "" if time == NO_TIME else f'"time":"{_iso(time)}",'
        raw = records.json_bytes(row).decode("utf-8", "replace")
        if "\n" in raw or "\r" in raw:
            raw = json.dumps(records.json(row))
        yield f'{{"kind":"event","connId":"conn{stream}","seq":{number},{when}"event":{raw}}}'


def _iso(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def otlp(trace: Trace, source: int) -> str:
    """Spans and logs of one source as OTLP JSON lines, one record a line; "" where it has none."""
    records = trace.records
    lines = [
        {"resourceSpans": [_resource(span.service, "scopeSpans", span.scope, "spans", _span(span))]}
        for row, number in enumerate(records.spans.source)
        if number == source
        for span in (records.span(row),)
    ]
    lines += [
        {"resourceLogs": [_resource(log.service, "scopeLogs", log.logger, "logRecords", _log(log))]}
        for row, number in enumerate(records.logs.source)
        if number == source
        for log in (records.log(row),)
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def _resource(
    service: str | None, scopes: str, scope: str | None, items: str, item: dict[str, Any]
) -> dict[str, Any]:
    resource = {"attributes": _attributes({"service.name": service} if service else {})}
    return {"resource": resource, scopes: [{"scope": {"name": scope} if scope else {}, items: [item]}]}


def _span(span: SpanRow) -> dict[str, Any]:
    code = {"ok": 1, "error": 2}.get(span.status, 0)
    return _present(
        traceId=span.trace_id,
        spanId=span.span_id,
        parentSpanId=span.parent_id,
        name=span.name,
        kind=KINDS.index(span.kind) if span.kind in KINDS else 0,
        startTimeUnixNano=None if span.start is None else str(span.start),
        endTimeUnixNano=None if span.end is None else str(span.end),
        attributes=_attributes(span.attributes),
        events=[
            _present(
                name=event.get("name"),
                timeUnixNano=None if event.get("time") is None else str(event["time"]),
                attributes=_attributes(event.get("attributes") or {}),
            )
            for event in span.events
        ],
        links=[_present(traceId=link.get("trace_id"), spanId=link.get("span_id")) for link in span.links],
        status=_present(code=code, message=span.message),
    )


def _log(log: LogRow) -> dict[str, Any]:
    attributes = dict(log.attributes)
    if log.order is not None:
        attributes.setdefault("aspire.log_id", log.order)
    return _present(
        timeUnixNano=None if log.time is None else str(log.time),
        observedTimeUnixNano=None if log.observed is None else str(log.observed),
        severityText=log.severity,
        severityNumber=log.number,
        eventName=log.event,
        body=None if log.body is None else _value(log.body),
        attributes=_attributes(attributes),
        traceId=log.trace_id,
        spanId=log.span_id,
    )


def _present(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Any) -> dict[str, Any]:
    """A value of OTLP JSON."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _attributes(value)}}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value, default=str)}
