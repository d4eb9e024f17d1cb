"""Spans that are one flat object each: Python's console exporter, Phoenix, MLflow, JavaScript's
ReadableSpan, DevUI, and the lists that tools make of their own. Keys and times are told by what is there.
"""

from __future__ import annotations

import re
from typing import Any

from workbench.readers.telemetry import clock, ids, otlp_rows, values
from workbench.readers.telemetry.dispatch import UNKNOWN, Found, Keys, Shape, Telemetry
from workbench.readers.telemetry.rows import LogRow, SpanRow

_TRACE = ("trace_id", "traceId", "context.trace_id")
_SPAN = ("span_id", "spanId", "context.span_id", "id")
_PARENT = ("parent_id", "parent_span_id", "parentSpanId", "parentId", "parentSpan_id")
_NAME = ("name", "operation_name", "operationName", "span_name")
_START = (
    "start_time",
    "startTime",
    "start_time_unix_nano",
    "startTimeUnixNano",
    "start_timestamp",
    "start",
    "timestamp",
)
_END = ("end_time", "endTime", "end_time_unix_nano", "endTimeUnixNano", "end_timestamp", "end")
_SCOPE = (
    "instrumentation_scope",
    "instrumentationScope",
    "instrumentationLibrary",
    "scope",
    "instrumentation_info",
)
_LENGTH = ("duration_ms", "durationMs", "duration_ns", "duration")
_SERVICE_IN_REPR = re.compile(r"""'service\.name': '([^']*)'""")
_SEVERITY_IN_REPR = re.compile(r"<SeverityNumber\.\w+: (\d+)>")


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _time(value: Any, faults: list[str]) -> int | None:
    try:
        return clock.guess(value)
    except clock.OutOfRange as problem:
        faults.append(str(problem))
        return None


def span_row(value: dict[str, Any]) -> SpanRow:
    """A span of any flat form."""
    faults: list[str] = []
    context = _object(value.get("context")) or _object(value.get("spanContext")) or value
    parent = _first(value, _PARENT)
    if parent is None:
        parent = _first(_object(value.get("parentSpanContext") or value.get("parent")), _SPAN)
    start = _time(_first(value, _START), faults)
    name = _first(value, _NAME)
    kind = value.get("kind")
    # SDKs count kinds from 0 (INTERNAL); OTLP's names of fields come with OTLP's numbers
    counts_from_one = "start_time_unix_nano" in value or "startTimeUnixNano" in value
    message, status = _status(value)
    return SpanRow(
        trace_id=ids.trace_id(_first(context, _TRACE)),
        span_id=ids.span_id(_first(context, _SPAN)),
        parent_id=ids.span_id(parent),
        name=name if isinstance(name, str) else "",
        kind=otlp_rows.kind_word(kind, 0 if counts_from_one else 1),
        start=start,
        end=_end(value, start, faults),
        status=status,
        message=message,
        scope=_named(value),
        service=service_in(value.get("resource"))
        or values.word(value.get("serviceName") or value.get("service_name")),
        attributes=_attributes(value),
        events=otlp_rows.events_of(value.get("events") or value.get("span_events")),
        links=otlp_rows.links_of(value.get("links")),
        faults=faults,
    )


def _end(value: dict[str, Any], start: int | None, faults: list[str]) -> int | None:
    end = _first(value, _END)
    if end is not None or start is None:
        return _time(end, faults)
    for key, unit in (
        ("duration_ms", 1_000_000),
        ("durationMs", 1_000_000),
        ("duration_ns", 1),
        ("duration", 1000),
    ):
        length = value.get(key)
        try:
            if isinstance(length, list):
                return start + (clock.pair(length) or 0)
            if isinstance(length, int | float) and not isinstance(length, bool):
                return start + (clock.scaled(length, unit) or 0)
        except clock.OutOfRange as problem:
            faults.append(str(problem))
    return None


def _status(value: dict[str, Any]) -> tuple[str | None, str]:
    """Message and word of a status in one of its forms."""
    status = value.get("status", value.get("status_code", value.get("otel_status_code")))
    if status is None:
        status = value.get("statusCode")
    message = value.get("status_message", value.get("statusMessage", value.get("otel_status_message")))
    if isinstance(status, dict):
        message = _first(status, ("description", "message")) or message
        status = _first(status, ("status_code", "code"))
    if status is None and "status" not in value and "status_code" not in value:
        return values.word(message), ""
    return values.word(message), otlp_rows.status_word(status)


def _named(value: dict[str, Any]) -> str | None:
    scope = _first(value, _SCOPE)
    return values.word(scope.get("name")) if isinstance(scope, dict) else values.word(scope)


def service_in(resource: Any) -> str | None:
    """The service of a resource, also where Python wrote the resource as text."""
    if isinstance(resource, str):
        found = _SERVICE_IN_REPR.search(resource)
        return found[1] if found is not None else None
    if isinstance(resource, dict) and isinstance(resource.get("_rawAttributes"), list):
        pairs = (pair for pair in resource["_rawAttributes"] if isinstance(pair, list) and len(pair) == 2)
        return next((values.word(item) for key, item in pairs if key == "service.name"), None)
    return otlp_rows.service_of(resource)


def _attributes(value: dict[str, Any]) -> dict[str, Any]:
    given = value.get("attributes")
    attributes = values.flat(given if given is not None else value.get("tags"))
    for key, item in value.items():
        if key.startswith("attributes.") and item is not None:  # a row of a DataFrame
            attributes.update(values.flat({key.removeprefix("attributes."): item}))
    if any(key.startswith("mlflow.") for key in attributes):
        # MLflow writes every value as JSON
        attributes = {key: _inner(item) for key, item in attributes.items()}
    kind = value.get("span_kind")
    if isinstance(kind, str) and "openinference.span.kind" not in attributes:
        attributes["openinference.span.kind"] = kind
    return attributes


def _inner(value: Any) -> Any:
    if not isinstance(value, str) or value[:1] not in '"[{tfn-0123456789':
        return value
    found = values.loads(value)
    return value if found is None and value != "null" else found


def log_row(value: dict[str, Any]) -> LogRow:
    """A log record of Python's console exporter, old or new."""
    faults: list[str] = []
    number = value.get("severity_number")
    if isinstance(number, str):
        found = _SEVERITY_IN_REPR.match(number)
        number = int(found[1]) if found is not None else None
    attributes = values.flat(value.get("attributes"))
    return LogRow(
        time=_time(value.get("timestamp"), faults),
        observed=_time(value.get("observed_timestamp"), faults),
        severity=values.word(value.get("severity_text")),
        number=otlp_rows.severity_number(number),
        body=value.get("body"),
        event=values.word(value.get("event_name") or attributes.get("event.name")),
        logger=_named(value),
        service=service_in(value.get("resource")),
        trace_id=ids.trace_id(value.get("trace_id")),
        span_id=ids.span_id(value.get("span_id")),
        attributes=attributes,
        faults=faults,
    )


# ------------------------------------------------------------------ shapes


def _has(keys: Keys, names: tuple[str, ...]) -> bool:
    return any(name in keys for name in names)


def _is_console_span(keys: Keys) -> bool:
    return keys.get("context") == "{" and "start_time" in keys and "kind" in keys and "span_kind" not in keys


def _is_console_log(keys: Keys) -> bool:
    severity = "severity_number" in keys or "severity_text" in keys
    return severity and "body" in keys and ("trace_id" in keys or "timestamp" in keys)


def _is_flat(keys: Keys) -> bool:
    # a log record in JSON has ids and a timestamp too, but neither a start nor a length
    begins = _has(keys, _START[:-1]) or ("timestamp" in keys and _has(keys, _LENGTH))
    if keys.get("context") == "{" or keys.get("spanContext") == "{" or "context.trace_id" in keys:
        return _has(keys, _NAME) and begins
    spans = ("span_id", "spanId") if "attributes" not in keys else _SPAN
    return _has(keys, ("trace_id", "traceId")) and _has(keys, spans) and begins


def _is_devui(keys: Keys) -> bool:
    return keys.get("type") == '"' and keys.get("data") == "{"


def _take_span(telemetry: Telemetry, found: Found) -> str:
    telemetry.writer.span(span_row(found.node.value()), "flat", found.node.place)
    return ""


def _take_log(telemetry: Telemetry, found: Found) -> str:
    telemetry.writer.log(log_row(found.node.value()), "console", found.node.place)
    return ""


def _take_devui(telemetry: Telemetry, found: Found) -> str:
    kind = found.members["type"].value()
    if isinstance(kind, str) and kind.startswith("response."):
        if "trace" in kind:
            return telemetry.node(found.members["data"])
        telemetry.reading.ignore("events of the model's answer")
        return ""
    return UNKNOWN


CONSOLE = (
    Shape("console-span", "otel-console", _is_console_span, _take_span),
    Shape("console-log", "otel-console", _is_console_log, _take_log),
)
SHAPES = (
    Shape("devui", "devui-trace", _is_devui, _take_devui),
    Shape("span", "spans-json", _is_flat, _take_span),
)
