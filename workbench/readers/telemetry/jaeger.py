"""Jaeger's API: traces with their processes, and bare arrays of spans; times in microseconds."""

from __future__ import annotations

from typing import Any

from workbench.readers.telemetry import clock, ids, values
from workbench.readers.telemetry.dispatch import Found, Keys, Shape, Telemetry
from workbench.readers.telemetry.nodes import Node
from workbench.readers.telemetry.rows import SpanRow


def _padded(value: Any, width: int) -> Any:
    """Jaeger leaves out leading zeros."""
    if not isinstance(value, str) or not value or len(value) > 32:
        return value
    return value.rjust(16 if len(value) <= 16 else width, "0")


def span_row(value: dict[str, Any]) -> SpanRow:
    """A span of Jaeger's JSON."""
    faults: list[str] = []
    start = end = None
    try:
        start = clock.scaled(value.get("startTime"), 1000)
        if start is not None and value.get("duration") is not None:
            end = start + (clock.scaled(value["duration"], 1000) or 0)
    except clock.OutOfRange as problem:
        faults.append(str(problem))
    tags = _tags(value.get("tags"))
    kind, name = tags.get("span.kind"), value.get("operationName")
    failed = tags.get("error") in (True, "true") or str(tags.get("otel.status_code", "")).upper() == "ERROR"
    return SpanRow(
        trace_id=ids.trace_id(_padded(value.get("traceID"), 32)),
        span_id=ids.span_id(_padded(value.get("spanID"), 16)),
        parent_id=ids.span_id(_padded(_parent(value), 16)),
        name=name if isinstance(name, str) else "",
        kind=kind if kind in ("internal", "server", "client", "producer", "consumer") else "",
        start=start,
        end=end,
        status="error" if failed else ("ok" if tags.get("otel.status_code") == "OK" else "unset"),
        message=values.word(tags.get("otel.status_description")) if failed else None,
        scope=values.word(tags.get("otel.scope.name", tags.get("otel.library.name"))),
        attributes=tags,
        events=_events(value.get("logs")),
        faults=faults,
    )


def _tags(given: Any) -> dict[str, Any]:
    tags: dict[str, Any] = {}
    for tag in given if isinstance(given, list) else ():
        if isinstance(tag, dict) and isinstance(tag.get("key"), str):
            item = tag.get("value")
            if tag.get("type") == "int64" and isinstance(item, str) and item.lstrip("-").isdecimal():
                item = int(item)
            tags[tag["key"]] = item
    return tags or values.flat(given if isinstance(given, dict) else None)


def _parent(value: dict[str, Any]) -> Any:
    for reference in value.get("references") or ():
        if isinstance(reference, dict) and reference.get("refType") == "CHILD_OF":
            return reference.get("spanID")
    return value.get("parentSpanID")


def _events(logs: Any) -> list[dict[str, Any]]:
    found = []
    for item in logs if isinstance(logs, list) else ():
        if not isinstance(item, dict):
            continue
        fields = _tags(item.get("fields"))
        name = fields.pop("event", fields.pop("name", ""))
        try:
            time = clock.scaled(item.get("timestamp"), 1000)
        except clock.OutOfRange:
            time = None
        found.append({"name": name if isinstance(name, str) else "", "time": time, "attributes": fields})
    return found


def _take_trace(telemetry: Telemetry, found: Found) -> str:
    processes = found.members["processes"].value() if "processes" in found.members else None
    for item in found.members["spans"].elements():
        value = item.value()
        if not isinstance(value, dict):
            telemetry.bad("a span that is no object", item)
            continue
        _span(telemetry, item, value, processes)
    return ""


def _take_span(telemetry: Telemetry, found: Found) -> str:
    _span(telemetry, found.node, found.node.value(), None)
    return ""


def _span(telemetry: Telemetry, node: Node, value: dict[str, Any], processes: Any) -> None:
    row = span_row(value)
    process = value.get("process")
    if process is None and isinstance(processes, dict):
        process = processes.get(str(value.get("processID")))
    if isinstance(process, dict):
        row.service = values.word(process.get("serviceName"))
    telemetry.writer.span(row, "jaeger", node.place)


def _is_trace(keys: Keys) -> bool:
    return "traceID" in keys and keys.get("spans") == "["


def _is_span(keys: Keys) -> bool:
    return {"traceID", "spanID"} <= keys.keys()


SHAPES = (Shape("trace", "jaeger", _is_trace, _take_trace), Shape("span", "jaeger", _is_span, _take_span))
