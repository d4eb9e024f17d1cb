"""The dialects: which shapes of JSON objects there are, and how their rows are decoded again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.readers.telemetry import aspire, azure, flat, jaeger, langfuse, otlp_rows, zipkin
from workbench.readers.telemetry.dispatch import OTLP, Found, Keys, Shape, Telemetry
from workbench.readers.telemetry.rows import LogRow, SpanRow

#: What answers of APIs and files of tools put around what they hold
ENVELOPES = ("data", "result", "trace", "traces", "results", "items")


def _is_otlp_span(keys: Keys) -> bool:
    return {"traceId", "spanId", "startTimeUnixNano"} <= keys.keys()


def _is_otlp_log(keys: Keys) -> bool:
    return "timeUnixNano" in keys or "observedTimeUnixNano" in keys


def _take_otlp_span(telemetry: Telemetry, found: Found) -> str:
    telemetry.writer.span(otlp_rows.span_row(found.node.value()), "otlp", found.node.place)
    return ""


def _take_otlp_log(telemetry: Telemetry, found: Found) -> str:
    telemetry.writer.log(otlp_rows.log_row(found.node.value()), "otlp", found.node.place)
    return ""


def _is_list(keys: Keys) -> bool:
    return keys.get("spans") == "["


def _take_list(telemetry: Telemetry, found: Found) -> str:
    return telemetry.node(found.members["spans"])


def _is_envelope(keys: Keys) -> bool:
    return any(keys.get(key) in ("{", "[") for key in ENVELOPES)


def _take_envelope(telemetry: Telemetry, found: Found) -> str:
    key = next(key for key in ENVELOPES if key in found.members and found.members[key].first in ("{", "["))
    return telemetry.node(found.members[key])


SHAPES: tuple[Shape, ...] = (
    OTLP,
    *langfuse.SHAPES,
    *jaeger.SHAPES,
    *aspire.SHAPES,
    *flat.CONSOLE,
    *zipkin.SHAPES,
    Shape("span", "otlp", _is_otlp_span, _take_otlp_span),
    Shape("log", "otlp", _is_otlp_log, _take_otlp_log),
    *azure.SHAPES,
    *flat.SHAPES,
    Shape("list", "spans-json", _is_list, _take_list),
    Shape("envelope", "", _is_envelope, _take_envelope),
)

#: By form (`columns.FORMS`): the JSON object of a row → the row
SPANS: Mapping[str, Callable[[dict[str, Any]], SpanRow]] = {
    "otlp": otlp_rows.span_row,
    "aspire-dto": aspire.span_row,
    "flat": flat.span_row,
    "zipkin": zipkin.span_row,
    "jaeger": jaeger.span_row,
    "langfuse": langfuse.span_row,
    "azure": azure.span_row,
}
LOGS: Mapping[str, Callable[[dict[str, Any]], LogRow]] = {
    "otlp": otlp_rows.log_row,
    "aspire-dto": aspire.log_row,
    "console": flat.log_row,
    "azure": azure.log_row,
}
