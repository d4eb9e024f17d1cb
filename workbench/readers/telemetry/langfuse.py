"""Langfuse's download of a trace: observations, whose messages and results stand in `input` and `output`."""

from __future__ import annotations

from typing import Any

from workbench.readers.telemetry import clock, ids, values
from workbench.readers.telemetry.dispatch import Found, Keys, Shape, Telemetry
from workbench.readers.telemetry.nodes import Node
from workbench.readers.telemetry.rows import SpanRow


def span_row(value: dict[str, Any]) -> SpanRow:
    """An observation. What OpenTelemetry sent stands in its metadata, often as JSON in a string."""
    faults: list[str] = []
    metadata = _object(value.get("metadata"))
    attributes = values.flat(_object(metadata.get("attributes")))
    resource = _object(metadata.get("resourceAttributes"))
    kind = values.word(value.get("type"))
    if kind is not None:
        attributes.setdefault("langfuse.observation.type", kind)
    for key in ("input", "output"):
        if value.get(key) is not None:
            attributes.setdefault(f"langfuse.observation.{key}", value[key])
    level, name = value.get("level"), value.get("name")
    times = []
    for key in ("startTime", "endTime"):
        try:
            times.append(clock.guess(value.get(key)))
        except clock.OutOfRange as problem:
            faults.append(str(problem))
            times.append(None)
    return SpanRow(
        trace_id=ids.trace_id(value.get("traceId")),
        span_id=ids.span_id(value.get("id")),
        parent_id=ids.span_id(value.get("parentObservationId")),
        name=name if isinstance(name, str) else "",
        start=times[0],
        end=times[1],
        status="error" if level == "ERROR" else "unset",
        message=values.word(value.get("statusMessage")),
        scope=values.word(_object(metadata.get("scope")).get("name")),
        service=values.word(values.flat(resource).get("service.name")),
        attributes=attributes,
        faults=faults,
    )


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = values.loads(value)
    return value if isinstance(value, dict) else {}


def _is_trace(keys: Keys) -> bool:
    return keys.get("observations") == "["


def _is_observation(keys: Keys) -> bool:
    return {"traceId", "id", "type", "startTime"} <= keys.keys()


def _take_trace(telemetry: Telemetry, found: Found) -> str:
    """The observations; the trace names the session of those that do not."""
    trace = found.members["trace"].value() if "trace" in found.members else found.node.value()
    session = values.word(trace.get("sessionId")) if isinstance(trace, dict) else None
    for item in found.members["observations"].elements():
        value = item.value()
        if isinstance(value, dict):
            _span(telemetry, item, value, session)
        else:
            telemetry.bad("an observation that is no object", item)
    return ""


def _take_observation(telemetry: Telemetry, found: Found) -> str:
    _span(telemetry, found.node, found.node.value(), None)
    return ""


def _span(telemetry: Telemetry, node: Node, value: dict[str, Any], session: str | None) -> None:
    row = span_row(value)
    if session is not None:
        row.attributes.setdefault("langfuse.session.id", session)
    telemetry.writer.span(row, "langfuse", node.place)


SHAPES = (
    Shape("trace", "langfuse", _is_trace, _take_trace),
    Shape("observation", "langfuse", _is_observation, _take_observation),
)
