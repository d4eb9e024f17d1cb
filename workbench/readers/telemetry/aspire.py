"""What `aspire otel logs|spans|traces --format json` and Aspire's MCP tools give (13.3 and later).

Log records have no time here: their order is that of `logId`. `source` is the logger of a log record,
but the resource of a span. Keys are snake_case and ids seven digits long in what MCP tools gave before.
"""

from __future__ import annotations

from typing import Any

from workbench.readers.telemetry import clock, ids, values
from workbench.readers.telemetry.dispatch import Found, Keys, Shape, Telemetry
from workbench.readers.telemetry.rows import LogRow, SpanRow

_LEVELS = {
    "Trace": 1, "Debug": 5, "Information": 9, "Warning": 13, "Error": 17, "Critical": 21,
}  # fmt: skip


def _get(value: dict[str, Any], camel: str, snake: str) -> Any:
    found = value.get(camel)
    return value.get(snake) if found is None else found


def log_row(value: dict[str, Any]) -> LogRow:
    """A log record; the severity text is Aspire's level and says nothing about the sender's number."""
    order = _get(value, "logId", "log_id")
    attributes = values.flat(value.get("attributes"))
    exception = value.get("exception")
    if exception is not None:
        attributes.setdefault("exception.stacktrace", exception)
    return LogRow(
        severity=values.word(value.get("severity")),
        body=value.get("message"),
        event=values.word(attributes.get("event.name")),
        logger=values.word(value.get("source")),
        service=values.word(_get(value, "resourceName", "resource_name")),
        trace_id=ids.trace_id(_get(value, "traceId", "trace_id")),
        span_id=ids.span_id(_get(value, "spanId", "span_id")),
        attributes=attributes,
        order=order if isinstance(order, int) else None,
    )


def span_row(value: dict[str, Any]) -> SpanRow:
    """A span; it ends a whole number of milliseconds after its start."""
    faults: list[str] = []
    start = end = None
    try:
        start = clock.iso(value.get("timestamp"))
        duration = clock.scaled(_get(value, "durationMs", "duration_ms"), 1_000_000)
        # a duration of 0 ms is one, too
        end = (
            None
            if start is None or _get(value, "durationMs", "duration_ms") is None
            else start + (duration or 0)
        )
    except clock.OutOfRange as problem:
        faults.append(str(problem))
    status = value.get("status")
    name, kind = value.get("name"), value.get("kind")
    return SpanRow(
        trace_id=ids.trace_id(_get(value, "traceId", "trace_id")),
        span_id=ids.span_id(_get(value, "spanId", "span_id")),
        parent_id=ids.span_id(_get(value, "parentSpanId", "parent_span_id")),
        name=name if isinstance(name, str) else "",
        kind=kind.lower() if isinstance(kind, str) else "",
        start=start,
        end=end if end is None or end < clock.LIMIT else None,
        status=status.lower() if isinstance(status, str) and status.lower() in ("ok", "error") else "unset",
        message=values.word(_get(value, "statusMessage", "status_message")),
        service=values.word(value.get("source")),
        attributes=values.flat(value.get("attributes")),
        links=[
            {"trace_id": ids.trace_id(link.get("traceId")), "span_id": ids.span_id(link.get("spanId"))}
            for link in value.get("links") or ()
            if isinstance(link, dict)
        ],
        faults=faults,
    )


def _is_log(keys: Keys) -> bool:
    return ("logId" in keys or "log_id" in keys) and ("message" in keys or "severity" in keys)


def _is_span(keys: Keys) -> bool:
    duration = "durationMs" in keys or "duration_ms" in keys
    return duration and ("spanId" in keys or "span_id" in keys) and "operation_name" not in keys


def _is_trace(keys: Keys) -> bool:
    return keys.get("spans") == "[" and ("durationMs" in keys or "duration_ms" in keys)


def _take_log(telemetry: Telemetry, found: Found) -> str:
    telemetry.writer.log(log_row(found.node.value()), "aspire-dto", found.node.place)
    return ""


def _take_span(telemetry: Telemetry, found: Found) -> str:
    telemetry.writer.span(span_row(found.node.value()), "aspire-dto", found.node.place)
    return ""


def _take_trace(telemetry: Telemetry, found: Found) -> str:
    return telemetry.node(found.members["spans"])


def _is_resource(keys: Keys) -> bool:
    return {"name", "displayName"} <= keys.keys() and bool(
        {"instanceId", "hasLogs", "resourceType"} & keys.keys()
    )


def _take_resource(telemetry: Telemetry, _: Found) -> str:
    telemetry.reading.ignore("descriptions of resources")
    return ""


SHAPES = (
    Shape("log", "aspire", _is_log, _take_log),
    Shape("span", "aspire", _is_span, _take_span),
    Shape("trace", "aspire", _is_trace, _take_trace),
    Shape("resource", "aspire", _is_resource, _take_resource),
)
