"""Spans and logs of the framework as OTLP JSON lines."""

from __future__ import annotations

import gc
import importlib.util
import logging
import time
from typing import Any

_SEVERITY = {10: 5, 20: 9, 30: 13, 40: 17, 50: 21}


class Logs(logging.Handler):
    """Keeps log records with the span they were written in."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.kept: list[tuple[str, dict[str, Any]]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        from opentelemetry import trace

        told: dict[str, Any] = {
            "timeUnixNano": str(time.time_ns()),
            "severityNumber": _SEVERITY.get(record.levelno, 0),
            "severityText": record.levelname,
            "body": {"stringValue": record.getMessage()},
            "attributes": [
                _attribute("code.file.path", record.pathname),
                _attribute("code.line.number", record.lineno),
            ],
        }
        if record.exc_info and record.exc_info[0] is not None:
            told["attributes"].append(_attribute("exception.type", record.exc_info[0].__name__))
            told["attributes"].append(_attribute("exception.message", str(record.exc_info[1])))
        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            told["traceId"], told["spanId"] = f"{context.trace_id:032x}", f"{context.span_id:016x}"
        self.kept.append((record.name, told))


class Telemetry:
    """Collects the telemetry of an arm. Without the SDK in the environment there are no spans."""

    def __init__(self) -> None:
        self._logs = Logs()
        self._exporter: Any = None

    def start(self) -> None:
        """Switch instrumentation on, with the contents of messages, and debug logs."""
        try:
            from opentelemetry import trace
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import SimpleSpanProcessor
            from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        except ImportError:
            return
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource({"service.name": "replay"}))
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        trace.set_tracer_provider(provider)
        if importlib.util.find_spec("agent_framework"):
            from agent_framework import observability

            enable = getattr(observability, "enable_instrumentation", None)
            if enable is not None:
                enable(enable_sensitive_data=True)
        else:
            from . import agent_spec

            agent_spec.instrument()
        for name in ("agent_framework", "agent_framework_ag_ui", "ag_ui_agentspec"):
            logger = logging.getLogger(name)
            logger.setLevel(logging.DEBUG)
            logger.addHandler(self._logs)

    def take(self) -> list[dict[str, Any]]:
        """What has come in since the last time, as the objects of an OTLP JSON lines file."""
        # some releases end the span of an interrupted run when it is collected
        gc.collect()
        resource = {"attributes": [_attribute("service.name", "replay")]}
        lines = []
        spans = list(self._exporter.get_finished_spans()) if self._exporter is not None else []
        if spans:
            self._exporter.clear()
            scopes = _scopes(
                "spans",
                [
                    ((s.instrumentation_scope.name, s.instrumentation_scope.version or ""), _span(s))
                    for s in spans
                ],
            )
            lines.append({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]})
        logs, self._logs.kept = self._logs.kept, []
        if logs:
            scopes = _scopes("logRecords", [((name, ""), told) for name, told in logs])
            lines.append({"resourceLogs": [{"resource": resource, "scopeLogs": scopes}]})
        return lines


def _scopes(kind: str, items: list[tuple[tuple[str, str], dict[str, Any]]]) -> list[dict[str, Any]]:
    """Items under their scopes, in order: a scope that comes again stands again."""
    scopes: list[dict[str, Any]] = []
    for (name, version), item in items:
        scope = {"name": name, "version": version} if version else {"name": name}
        if not scopes or scopes[-1]["scope"] != scope:
            scopes.append({"scope": scope, kind: []})
        scopes[-1][kind].append(item)
    return scopes


def _span(span: Any) -> dict[str, Any]:
    told = {
        "traceId": f"{span.context.trace_id:032x}",
        "spanId": f"{span.context.span_id:016x}",
        "name": span.name,
        "kind": span.kind.value + 1,
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": [_attribute(key, value) for key, value in (span.attributes or {}).items()],
        "status": {"code": span.status.status_code.value},
    }
    if span.status.description:
        told["status"]["message"] = span.status.description
    if span.parent is not None:
        told["parentSpanId"] = f"{span.parent.span_id:016x}"
    if span.events:
        told["events"] = [
            {
                "timeUnixNano": str(event.timestamp),
                "name": event.name,
                "attributes": [_attribute(key, value) for key, value in (event.attributes or {}).items()],
            }
            for event in span.events
        ]
    return told


def _attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": _value(value)}


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}
