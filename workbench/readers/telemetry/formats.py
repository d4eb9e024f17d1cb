"""The formats of telemetry, as `workbench formats` lists them."""

from __future__ import annotations

import re

from workbench.readers import jsonl, protocol
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff, object_keys
from workbench.readers.telemetry import aspire_text, azure, catalogue, otlp_frames, zstd
from workbench.readers.telemetry.dispatch import Shape
from workbench.readers.telemetry.framing import OPENS
from workbench.readers.telemetry.reader import read

#: Where a value may begin: at the margin, behind `data:`
_VALUE = re.compile(rb"(?:\A|[\r\n])[ \t]*(?:data: ?)?([\[{])")
_BEHIND = re.compile(rb'\{"(?:resource(?:Spans|Logs|Metrics)?|scopeSpans)" ?:')
#: An event of AG-UI at the start of a line
_EVENT = re.compile(rb'(?:\A|[\r\n])(?:data: ?)?\{"type": ?"([A-Z_]{3,60})"')
#: A further record in an array
_FURTHER = re.compile(rb",\s*(?=\{)")
_INNER = 3
_LOOKED_AT = 60


def _shape(head: bytes, at: int, depth: int = 0) -> Shape | None:
    """The shape of the value that begins at `at`, or of what its envelope holds."""
    keys = object_keys(head, at)
    shape = next((shape for shape in catalogue.SHAPES if shape.fits(keys)), None)
    if shape is None or depth >= _INNER:
        return None
    if shape.name == "devui":
        return shape if re.match(rb'\{"type": ?"response\.trace', head[at : at + 60]) else None
    if shape.name not in ("envelope", "list"):
        return shape
    for key in (*catalogue.ENVELOPES, "spans"):
        if keys.get(key) in ("{", "["):
            inner = re.compile(rb'"' + key.encode() + rb'"\s*:\s*[\[\s]*').search(head, at)
            if inner is not None and head[inner.end() : inner.end() + 1] == b"{":
                return _shape(head, inner.end(), depth + 1)
    return None


def _name(sniff: Sniff) -> str:
    """The format of the first value that has a known shape; "" for none. Remembered, for all formats ask."""
    known: str | None = getattr(sniff, "telemetry", None)
    if known is None:
        known = _find(sniff)
        sniff.telemetry = known  # type: ignore[attr-defined]
    return known


def _find(sniff: Sniff) -> str:
    head = sniff.text
    if _events(head) * 2 >= len(sniff.lines):
        return ""
    for count, found in enumerate(_VALUE.finditer(head)):
        if count >= _LOOKED_AT:
            break
        at = found.start(1)
        if OPENS.match(head, at) is None:
            continue
        shape = _shape(head, at)
        if shape is not None:
            return shape.format
    if sniff.first in (b"[", b"{"):  # the first record may be damaged
        for count, found in enumerate(_FURTHER.finditer(head)):
            if count >= _LOOKED_AT:
                break
            shape = _shape(head, found.end())
            if shape is not None:
                return shape.format
    return "otlp" if any(_BEHIND.search(line) for line in sniff.lines[:_LOOKED_AT]) else ""


def _events(head: bytes) -> int:
    """Events of AG-UI at the start of lines."""
    return sum(found.decode() in protocol.BY_NAME for found in _EVENT.findall(head))


def _read(reading: Reading) -> None:
    """Read values of any dialect; where events of AG-UI stand between them, line by line."""
    if _events(reading.content.head(reading.limits.max_sniff)):
        jsonl.read(reading)
    else:
        read(reading)


def _format(name: str, title: str, recognised_by: str, *extensions: str) -> Format:
    return Format(name, title, recognised_by, extensions, lambda sniff: _name(sniff) == name, _read)


OTLP = _format(
    "otlp",
    "OpenTelemetry JSON (OTLP): lines, documents, arrays, answers of APIs (Collector, Aspire, Tempo)",
    "resourceSpans, resourceLogs, resourceMetrics or scopeSpans, in any spelling",
    ".jsonl", ".json", ".ndjson",
)  # fmt: skip
ASPIRE = _format(
    "aspire",
    "`aspire otel … --format json`, answers of Aspire's MCP tools and of its API for resources",
    "objects with logId, or with spanId and durationMs",
    ".json", ".ndjson", ".txt",
)  # fmt: skip
CONSOLE = _format(
    "otel-console",
    "Console exporters of OpenTelemetry for Python, amid other output",
    "objects with context and start_time, with body and severity_number, or with resource_metrics",
    ".txt", ".log",
)  # fmt: skip
ZIPKIN = _format(
    "zipkin", "Zipkin spans", "objects with traceId, id and localEndpoint or tags", ".json", ".jsonl"
)
JAEGER = _format(
    "jaeger", "Jaeger traces", "objects with traceID and spans, or with traceID and spanID", ".json"
)
DEVUI = _format(
    "devui-trace", "Traces in the stream of agent-framework DevUI", "type response.trace.…", ".sse"
)
LANGFUSE = _format(
    "langfuse", "Langfuse download of a trace", "observations, or objects with traceId and startTime", ".json"
)
AZURE = _format(
    "azure-monitor",
    "Application Insights or Log Analytics as JSON",
    "tables of columns and rows, or operation_Id",
    ".json",
)
FLAT = _format(
    "spans-json",
    "Spans as flat objects: Phoenix, MLflow, JavaScript's ReadableSpan, lists of tools",
    "objects with a trace id, a span id and a start, in any spelling",
    ".json", ".jsonl",
)  # fmt: skip

FORMATS = (
    OTLP, ASPIRE, CONSOLE, ZIPKIN, JAEGER, DEVUI, LANGFUSE, AZURE, FLAT, azure.CSV, aspire_text.FORMAT,
)  # fmt: skip
ZSTD = zstd.FORMAT
BINARY = (otlp_frames.FRAMED, otlp_frames.ONE)
