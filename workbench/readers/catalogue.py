"""All formats in the order in which they are tried: wrappers, documents, lines, text."""

from __future__ import annotations

from workbench.readers import (
    har,
    http_dump,
    json_events,
    jsonl_formats,
    markdown,
    request_body,
    sse,
    unread,
    wrappers,
)
from workbench.readers.registry import register

register(
    wrappers.GZIP,
    unread.HAR_ZIP,
    unread.SQLITE,
    wrappers.WIDE,
    unread.MITMPROXY,
    unread.PROTOBUF,
    http_dump.FORMAT,
    # JSON documents: what is told by its outermost keys comes before what is told by events
    har.FORMAT,
    unread.TELEMETRY,
    unread.AIMOCK,
    unread.INSPECTOR_SESSION,
    unread.INSPECTOR_COPY,
    unread.SINGLE_ROUTE,
    unread.PROVIDER_BODY,
    json_events.ARRAY,
    jsonl_formats.DEVTOOLS,
    jsonl_formats.WRAPPED,
    jsonl_formats.PLAIN,
    json_events.OBJECT,
    request_body.FORMAT,
    # text: what has lines of its own comes before plain SSE
    unread.PYTHON_LOG,
    unread.TS_LOG,
    markdown.FORMAT,
    unread.CPK_DEBUG,
    unread.RESPONSES,
    unread.PROVIDER_STREAM,
    sse.FORMAT,
    unread.PYTHON_REPR,
)
