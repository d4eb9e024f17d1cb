"""Spans and log records of OTLP JSON in any spelling, as rows; also kinds, states and numbers of other dialects."""

from __future__ import annotations

from typing import Any

from workbench.readers.telemetry import clock, ids, values
from workbench.readers.telemetry.columns import KINDS
from workbench.readers.telemetry.rows import LogRow, SpanRow

_SEVERITIES = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_POINTS = ("dataPoints", "data_points")


def _get(value: dict[str, Any], camel: str, snake: str) -> Any:
    found = value.get(camel)
    return value.get(snake) if found is None else found


def _time(value: Any, faults: list[str]) -> int | None:
    try:
        found = clock.nanos(value)
        return clock.iso(value) if found is None and isinstance(value, str) else found
    except clock.OutOfRange as problem:
        faults.append(str(problem))
        return None


def kind_word(value: Any, first: int = 0) -> str:
    """A span kind as a word of `KINDS`; `first` is the number of INTERNAL less one where kinds count from 0."""
    if isinstance(value, str):
        word = value.rpartition(".")[2].removeprefix("SPAN_KIND_").lower()
        if not (word.isascii() and word.isdigit()):
            return word if word in KINDS else ""
        value = int(word[:3])
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value + first < len(KINDS):
        return KINDS[int(value) + first]
    return ""


def status_word(value: Any) -> str:
    """A status code as a word of `STATUSES`."""
    if isinstance(value, str):
        word = value.rpartition(".")[2].upper().removeprefix("STATUS_CODE_")
        return {"OK": "ok", "1": "ok", "ERROR": "error", "2": "error"}.get(word, "unset")
    return "ok" if value == 1 else "error" if value == 2 else "unset"


def events_of(value: Any) -> list[dict[str, Any]]:
    """Span events as {name, time, attributes}."""
    found = []
    for event in value if isinstance(value, list) else ():
        if not isinstance(event, dict):
            continue
        time: int | None
        try:
            time = clock.guess(
                _get(event, "timeUnixNano", "time_unix_nano") or event.get("timestamp") or event.get("time")
            )
        except clock.OutOfRange:
            time = None
        name = event.get("name")
        found.append({
            "name": name if isinstance(name, str) else "",
            "time": time,
            "attributes": values.flat(event.get("attributes")),
        })  # fmt: skip
    return found


def links_of(value: Any) -> list[dict[str, Any]]:
    """Links as {trace_id, span_id}."""
    found = []
    for link in value if isinstance(value, list) else ():
        if isinstance(link, dict):
            inner = link.get("context")
            context: dict[str, Any] = inner if isinstance(inner, dict) else link
            trace, span = _get(context, "traceId", "trace_id"), _get(context, "spanId", "span_id")
            found.append({"trace_id": ids.trace_id(trace), "span_id": ids.span_id(span)})
    return found


def span_row(value: dict[str, Any]) -> SpanRow:
    """A span of OTLP JSON in any spelling."""
    faults: list[str] = []
    status = value.get("status")
    status = status if isinstance(status, dict) else {"code": status}
    name = value.get("name")
    return SpanRow(
        trace_id=ids.trace_id(_get(value, "traceId", "trace_id")),
        span_id=ids.span_id(_get(value, "spanId", "span_id")),
        parent_id=ids.span_id(_get(value, "parentSpanId", "parent_span_id")),
        name=name if isinstance(name, str) else "",
        kind=kind_word(value.get("kind")),
        start=_time(_get(value, "startTimeUnixNano", "start_time_unix_nano"), faults),
        end=_time(_get(value, "endTimeUnixNano", "end_time_unix_nano"), faults),
        status=status_word(status.get("code")),
        message=values.word(status.get("message")),
        attributes=values.flat(value.get("attributes")),
        events=events_of(value.get("events")),
        links=links_of(value.get("links")),
        faults=faults,
    )


def severity_number(value: Any) -> int | None:
    """A severity number, also from its name in protobuf's JSON; None for none."""
    if isinstance(value, str):
        name = value.removeprefix("SEVERITY_NUMBER_")
        base = name.rstrip("0123456789")
        if base in _SEVERITIES:
            return _SEVERITIES.index(base) * 4 + int(name[len(base) :][:2] or 1)
        value = int(name) if name.isascii() and name.isdigit() and len(name) < 4 else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= 24 else None


def log_row(value: dict[str, Any]) -> LogRow:
    """A log record of OTLP JSON in any spelling."""
    faults: list[str] = []
    attributes = values.flat(value.get("attributes"))
    event = _get(value, "eventName", "event_name") or attributes.get("event.name")
    order = attributes.get("aspire.log_id")
    return LogRow(
        time=_time(_get(value, "timeUnixNano", "time_unix_nano"), faults),
        observed=_time(_get(value, "observedTimeUnixNano", "observed_time_unix_nano"), faults),
        severity=values.word(_get(value, "severityText", "severity_text")),
        number=severity_number(_get(value, "severityNumber", "severity_number")),
        body=values.any_value(value.get("body")),
        event=values.word(event),
        trace_id=ids.trace_id(_get(value, "traceId", "trace_id")),
        span_id=ids.span_id(_get(value, "spanId", "span_id")),
        attributes=attributes,
        order=int(order)
        if isinstance(order, int) or (isinstance(order, str) and order.isdecimal() and len(order) < 20)
        else None,
        faults=faults,
    )


def points_of(metric: dict[str, Any]) -> int:
    """Data points of a metric, in OTLP's form or that of the Python console."""
    return sum(
        len(data[key])
        for data in metric.values()
        if isinstance(data, dict)
        for key in _POINTS
        if isinstance(data.get(key), list)
    )


def service_of(resource: Any) -> str | None:
    """The service that a resource names."""
    attributes = values.flat(resource.get("attributes", resource)) if isinstance(resource, dict) else {}
    return values.word(attributes.get("service.name"))
