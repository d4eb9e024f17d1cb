"""All formats in the order in which they are tried: wrappers, documents, lines, text."""

from __future__ import annotations

from workbench.readers import (
    agent_recording,
    aimock,
    envelopes,
    har,
    http_dump,
    inspector_session,
    json_events,
    jsonl_formats,
    logs,
    markdown,
    mitmproxy,
    protobuf,
    provider_recording,
    python_repr,
    request_body,
    sqlite_runner,
    sse,
    unread,
    wrappers,
    zip_archive,
)
from workbench.readers.payloads import client_log, listing
from workbench.readers.payloads import formats as payloads
from workbench.readers.registry import register
from workbench.readers.telemetry import formats as telemetry

register(
    wrappers.GZIP,
    telemetry.ZSTD,
    zip_archive.FORMAT,
    sqlite_runner.FORMAT,
    wrappers.WIDE,
    mitmproxy.FORMAT,
    *telemetry.BINARY,  # before the other protobuf, which looks like it at first
    protobuf.FORMAT,
    http_dump.FORMAT,
    # JSON documents: what is told by its outermost keys comes before what is told by events
    har.FORMAT,
    provider_recording.FORMAT,
    agent_recording.FORMAT,
    *telemetry.FORMATS,
    aimock.FORMAT,
    inspector_session.FORMAT,
    envelopes.COPY,
    request_body.SINGLE_ROUTE,
    payloads.PAYLOAD,
    logs.CLIENT,  # begins with a bracket too
    json_events.ARRAY,
    jsonl_formats.DEVTOOLS,
    jsonl_formats.WRAPPED,
    jsonl_formats.PLAIN,
    json_events.OBJECT,
    request_body.FORMAT,
    payloads.HISTORY,
    # text: what has lines of its own comes before plain SSE
    logs.SERVER,
    markdown.FORMAT,
    client_log.FORMAT,
    listing.FORMAT,
    envelopes.DEBUG,
    unread.RESPONSES,
    unread.PROVIDER_STREAM,
    sse.FORMAT,
    python_repr.FORMAT,
)
