"""Zipkin v2 spans: times in microseconds, all tags are text, one id may be two spans."""

from __future__ import annotations

from typing import Any

from workbench.readers.telemetry import clock, ids, values
from workbench.readers.telemetry.dispatch import Found, Keys, Shape, Telemetry
from workbench.readers.telemetry.rows import SpanRow

_KINDS = ("CLIENT", "SERVER", "PRODUCER", "CONSUMER")


def span_row(value: dict[str, Any]) -> SpanRow:
    """A span. Without a kind it is not said what it was; exporters write INTERNAL that way."""
    faults: list[str] = []
    start = end = None
    try:
        start = clock.scaled(value.get("timestamp"), 1000)
        length = value.get("duration")
        if start is not None and length is not None:
            end = start + (clock.scaled(length, 1000) or 0)
    except clock.OutOfRange as problem:
        faults.append(str(problem))
    tags = values.flat(value.get("tags"))
    kind, name = value.get("kind"), value.get("name")
    endpoint = value.get("localEndpoint")
    error = tags.get("error")
    failed = error is not None or str(tags.get("otel.status_code", "")).upper() == "ERROR"
    said = tags.get("otel.status_description") or (error if error not in ("true", "") else None)
    return SpanRow(
        trace_id=ids.trace_id(value.get("traceId")),
        span_id=ids.span_id(value.get("id")),
        parent_id=ids.span_id(value.get("parentId")),
        name=name if isinstance(name, str) else "",
        kind=kind.lower() if isinstance(kind, str) and kind in _KINDS else "",
        start=start,
        end=end,
        status="error" if failed else ("ok" if tags.get("otel.status_code") == "OK" else "unset"),
        message=values.word(said) if failed else None,
        scope=values.word(tags.get("otel.scope.name", tags.get("otel.library.name"))),
        service=_service(tags, endpoint),
        attributes=tags,
        events=_events(value.get("annotations")),
        faults=faults,
    )


def _service(tags: dict[str, Any], endpoint: Any) -> str | None:
    """Exporters that take the endpoint from a global setting name the real service in a tag."""
    said = values.word(endpoint.get("serviceName")) if isinstance(endpoint, dict) else None
    return values.word(tags.get("service.name")) or said


def _events(annotations: Any) -> list[dict[str, Any]]:
    found = []
    for item in annotations if isinstance(annotations, list) else ():
        if not isinstance(item, dict):
            continue
        text = item.get("value")
        said = values.loads(text) if isinstance(text, str) and text[:1] == "{" else None
        name, attributes = (text if isinstance(text, str) else ""), {}
        if isinstance(said, dict) and len(said) == 1:  # Python's exporter: {name: attributes}
            name, inner = next(iter(said.items()))
            attributes = values.flat(inner)
        try:
            time = clock.scaled(item.get("timestamp"), 1000)
        except clock.OutOfRange:
            time = None
        found.append({"name": name, "time": time, "attributes": attributes})
    return found


def _is_span(keys: Keys) -> bool:
    return {"traceId", "id"} <= keys.keys() and bool(
        {"localEndpoint", "remoteEndpoint", "tags", "annotations", "shared"} & keys.keys()
        or ({"timestamp", "name"} <= keys.keys() and not {"attributes", "startTime", "type"} & keys.keys())
    )


def _take(telemetry: Telemetry, found: Found) -> str:
    telemetry.writer.span(span_row(found.node.value()), "zipkin", found.node.place, shared=True)
    return ""


SHAPES = (Shape("zipkin", "zipkin", _is_span, _take),)
