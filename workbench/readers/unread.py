"""Formats that are recognised but not read, each with what to do instead."""

from __future__ import annotations

import re

from workbench.readers import requests
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

_MITMPROXY = re.compile(rb"\d{1,10}:\d{1,3}:[a-z_]+;")  # a dictionary whose first key is text
#: size of the message (and a second byte of a tag above 15), field 1, its size, a number
_INNER = re.compile(
    rb"[\x00-\xff]{1,4}?\x0a(?:\x00|[\x01-\x7f][\x08\x10]|[\x80-\xff][\x01-\x7f][\x08\x10])", re.DOTALL
)
_TELEMETRY = frozenset(
    {
        "resourceSpans",
        "resourceLogs",
        "resourceMetrics",
        "resource_spans",
        "resource_logs",
        "scopeSpans",
        "scopeLogs",
    }
)
_PROVIDER_TYPES = frozenset({"message_start", "content_block_start", "content_block_delta", "message_delta"})
_LOG_PREFIX = re.compile(rb"(?:\A|[\r\n])\[(?:VERIFY|TRANSFORM|APPLY|HTTP)\](?: Event[a-z ]*)?:? *\{")
_REPR = re.compile(rb"'type': '[A-Z][A-Z_]+'")


def _is_protobuf(sniff: Sniff) -> bool:
    head = sniff.head
    if len(head) < 6 or head[0] != 0:
        return False
    size = int.from_bytes(head[:4], "big")
    if not 0 < size <= 10 * 1024 * 1024 or head[4] & 7 != 2:
        return False
    # Event {one of 31 messages {baseEvent {type, timestamp, …}}}: OTLP has text where this has a number
    return _INNER.match(head, 5) is not None


def _is_har_zip(sniff: Sniff) -> bool:
    return sniff.head.startswith(b"PK\x03\x04") and b".har" in sniff.head


def _is_sqlite(sniff: Sniff) -> bool:
    return sniff.head.startswith(b"SQLite format 3\0")


def _is_single_route(sniff: Sniff) -> bool:
    return sniff.first == b"{" and sniff.keys.get("method") == '"' and sniff.keys.get("body") == "{"


def _is_inspector_copy(sniff: Sniff) -> bool:
    return (
        sniff.first in (b"{", b"[")
        and sniff.keys.get("payload") == "{"
        and {"type", "agentId"} <= set(sniff.keys)
    )


def _is_cpk_debug(sniff: Sniff) -> bool:
    return (
        sniff.has_data_lines
        and re.search(
            rb'(?:\A|[\r\n])data: ?\{(?:"[a-zA-Z]+":(?:"[^"]*"|\d+), ?)*"event": ?\{"type"', sniff.head
        )
        is not None
    )


def _is_responses(sniff: Sniff) -> bool:
    kinds = sniff.types
    return bool(kinds) and sum(kind.startswith("response.") for kind in kinds) * 2 >= len(kinds)


def _is_provider_stream(sniff: Sniff) -> bool:
    if sniff.has_types or not (sniff.has_data_lines or sniff.is_lines):
        return False
    return b'"chat.completion.chunk"' in sniff.head or bool(_PROVIDER_TYPES & set(sniff.types))


def _is_provider_body(sniff: Sniff) -> bool:
    if sniff.first != b"{":
        return False
    sample = {key: "…" if first == '"' else [] for key, first in sniff.keys.items() if first in ('"', "[")}
    return requests.is_provider_body(sample)


def _is_telemetry(sniff: Sniff) -> bool:
    keys = set(sniff.keys)
    return sniff.first in (b"{", b"[") and (bool(_TELEMETRY & keys) or {"traceId", "spanId"} <= keys)


_CONVERT = "save the AG-UI response as SSE (curl -N) or the browser's network log as HAR, and open that"

HAR_ZIP = Format(
    "har-zip", "Playwright HAR in a zip", "PK and a .har inside", (".har.zip", ".zip"), _is_har_zip,
    advice="record with content='embed', or unpack it and put the bodies into the .har",
)  # fmt: skip
SQLITE = Format(
    "copilotkit-sqlite", "CopilotKit's SQLite runner", "SQLite format 3", (".db", ".sqlite"), _is_sqlite,
    advice="write the column `events` of the table agent_runs to a .json file, one array per run",
)  # fmt: skip
MITMPROXY = Format(
    "mitmproxy", "mitmproxy flows", "a tnetstring length", (".flow", ".mitm"),
    lambda sniff: _MITMPROXY.match(sniff.head) is not None,
    advice="convert it with: mitmdump -nr FILE --set hardump=out.har",
)  # fmt: skip
PROTOBUF = Format(
    "agui-protobuf", "AG-UI protobuf", "a big-endian length, then an Event message", (".aguiproto",), _is_protobuf,
    advice="ask for text/event-stream in the Accept header and record that",
)  # fmt: skip
TELEMETRY = Format(
    "otlp", "OpenTelemetry", "resourceSpans, resourceLogs or resourceMetrics", (".jsonl", ".json"), _is_telemetry,
    advice="it holds no AG-UI events; open the AG-UI capture of the same run",
)  # fmt: skip
AIMOCK = Format(
    "aimock", "aimock recording", "{fixtures: [{match, events}]}", (".json",),
    lambda sniff: sniff.first == b"{" and sniff.keys.get("fixtures") == "[",
    advice="take the events out with: jq '.fixtures[].events' FILE",
)  # fmt: skip
INSPECTOR_SESSION = Format(
    "agui-inspector", "agui-inspector session", "{version, session: {exchanges, runs, frames}}", (".json",),
    lambda sniff: sniff.first == b"{" and sniff.keys.get("session") == "{",
    advice="take the events out with: jq -c '.session.frames[].data | fromjson' FILE",
)  # fmt: skip
INSPECTOR_COPY = Format(
    "copilotkit-inspector", "CopilotKit inspector copy", "{id, agentId, type, timestamp, payload}", (".json",),
    _is_inspector_copy,
    advice="take the events out with: jq -c '.[].payload' FILE",
)  # fmt: skip
SINGLE_ROUTE = Format(
    "copilotkit-route", "CopilotKit single-route request", '{method: "agent/run", params, body}', (".json",),
    _is_single_route,
    advice="take the request out with: jq .body FILE",
)  # fmt: skip
PROVIDER_BODY = Format(
    "provider-payload", "Request to a model provider", "a model and a list of messages", (".json",),
    _is_provider_body,
    advice="it is no AG-UI traffic; open the capture of the AG-UI endpoint",
)  # fmt: skip
CPK_DEBUG = Format(
    "copilotkit-debug", "CopilotKit debug events", "SSE with {timestamp, agentId, threadId, runId, event}", (".sse",),
    _is_cpk_debug,
    advice="take the events out with: sed -n 's/^data: //p' FILE | jq -c .event",
)  # fmt: skip
RESPONSES = Format(
    "openai-responses", "OpenAI Responses stream (also agent-framework DevUI)", "types response.*", (".sse",),
    _is_responses,
    advice="it is no AG-UI stream; open the capture of the AG-UI endpoint",
)  # fmt: skip
PROVIDER_STREAM = Format(
    "provider-stream", "Stream of a model provider", "chunks of a chat completion or of a message", (".sse",),
    _is_provider_stream,
    advice="it is no AG-UI stream; open the capture of the AG-UI endpoint",
)  # fmt: skip
TS_LOG = Format(
    "ts-debug-log", "Debug log of the TypeScript client", "[VERIFY], [HTTP] or [APPLY] before JSON", (".log",),
    lambda sniff: _LOG_PREFIX.search(sniff.head) is not None,
    advice="keep one kind of line: sed -nE 's/^\\[VERIFY\\]( Event)?: //p' FILE, and open the result",
)  # fmt: skip
PYTHON_LOG = Format(
    "af-python-log", "Log of agent_framework_ag_ui", "`Encoded as: data:`", (".log",),
    lambda sniff: b"Encoded as: data:" in sniff.head,
    advice=f"the logger cuts lines at 200 characters; {_CONVERT}",
)  # fmt: skip
PYTHON_REPR = Format(
    "python-repr", "Printed Python dictionaries", "'type': 'RUN_STARTED'", (".log",),
    lambda sniff: _REPR.search(sniff.head) is not None and not sniff.has_types,
    advice="print json.dumps(event) instead of the event",
)  # fmt: skip
