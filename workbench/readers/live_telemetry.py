"""Spans and log records of opentelemetry-sdk as lines of OTLP JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec


def is_span(item: Any) -> bool:
    """Whether an object is a ReadableSpan, finished or not."""
    return all(hasattr(item, name) for name in ("get_span_context", "start_time", "attributes", "name"))


def is_log(item: Any) -> bool:
    """Whether an object is what an exporter of log records is given, in any release of the SDK."""
    record = getattr(item, "log_record", item)
    return hasattr(record, "severity_number") and hasattr(record, "body") and hasattr(record, "trace_id")


def spans(items: Iterable[Any]) -> bytes:
    """A line for each span."""
    made = []
    for item in items:
        scope = {"scope": _scope(item), "spans": [_span(item)]}
        made.append(_line("resourceSpans", "scopeSpans", item, scope))
    return b"".join(made)


def logs(items: Iterable[Any]) -> bytes:
    """A line for each log record."""
    made = []
    for item in items:
        scope = {"scope": _scope(item), "logRecords": [_log(getattr(item, "log_record", item))]}
        made.append(_line("resourceLogs", "scopeLogs", item, scope))
    return b"".join(made)


def _line(outer: str, inner: str, item: Any, scope: dict[str, Any]) -> bytes:
    resource = getattr(item, "resource", None) or getattr(getattr(item, "log_record", None), "resource", None)
    attributes = _attributes(getattr(resource, "attributes", None))
    export = {outer: [{"resource": {"attributes": attributes}, inner: [scope]}]}
    return msgspec.json.encode(export) + b"\n"


def _scope(item: Any) -> dict[str, Any]:
    scope = getattr(item, "instrumentation_scope", None)
    found = {"name": getattr(scope, "name", None), "version": getattr(scope, "version", None)}
    return {key: value for key, value in found.items() if value}


def _span(span: Any) -> dict[str, Any]:
    context = span.get_span_context()
    parent = span.parent
    status = getattr(span, "status", None)
    made: dict[str, Any] = {
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        "name": span.name,
        # the SDK counts kinds from 0 (internal), OTLP from 1
        "kind": getattr(getattr(span, "kind", None), "value", -1) + 1,
        "attributes": _attributes(span.attributes),
        "events": [
            {"timeUnixNano": str(e.timestamp), "name": e.name, "attributes": _attributes(e.attributes)}
            for e in span.events
        ],
        "links": [
            {"traceId": f"{link.context.trace_id:032x}", "spanId": f"{link.context.span_id:016x}",
             "attributes": _attributes(link.attributes)}
            for link in span.links
        ],
        "status": {"code": getattr(getattr(status, "status_code", None), "value", 0)},
    }  # fmt: skip
    if parent is not None:
        made["parentSpanId"] = f"{parent.span_id:016x}"
    if status is not None and status.description:
        made["status"]["message"] = status.description
    for name, value in (("startTimeUnixNano", span.start_time), ("endTimeUnixNano", span.end_time)):
        if value is not None:
            made[name] = str(value)
    return made


def _log(record: Any) -> dict[str, Any]:
    number = getattr(record.severity_number, "value", record.severity_number)
    made: dict[str, Any] = {"attributes": _attributes(record.attributes)}
    times = (("timeUnixNano", "timestamp"), ("observedTimeUnixNano", "observed_timestamp"))
    for name, key in times:
        if getattr(record, key, None) is not None:
            made[name] = str(getattr(record, key))
    if record.body is not None:
        made["body"] = _any(record.body)
    if number is not None:
        made["severityNumber"] = number
    if getattr(record, "severity_text", None):
        made["severityText"] = record.severity_text
    if getattr(record, "event_name", None):
        made["eventName"] = record.event_name
    if record.trace_id:
        made["traceId"] = f"{record.trace_id:032x}"
    if record.span_id:
        made["spanId"] = f"{record.span_id:016x}"
    return made


def _attributes(attributes: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    return [{"key": str(key), "value": _any(value)} for key, value in (attributes or {}).items()]


def _any(value: Any) -> dict[str, Any]:
    """A value as OTLP's AnyValue."""
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if math.isfinite(value) else str(value)}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": _attributes(value)}}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return {"arrayValue": {"values": [_any(item) for item in value]}}
    return {"stringValue": str(value)}
