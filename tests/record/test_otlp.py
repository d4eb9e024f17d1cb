"""The receiver of telemetry: what exporters send becomes lines that are read, without secrets."""

from __future__ import annotations

import gzip
import json

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient

import workbench as wb
from workbench.record.journal import Recording
from workbench.record.otlp import MAX_EXPORT, receiver

PROTO, JSON = "application/x-protobuf", "application/json"
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def client(tmp_path):
    return TestClient(receiver(Recording(tmp_path / "rec")))


def traces(**attributes):
    export = ExportTraceServiceRequest()
    resource = export.resource_spans.add()
    span = resource.scope_spans.add().spans.add(
        trace_id=bytes(range(16)), span_id=bytes(range(8)), name="execute_tool deploy", kind=1,
        start_time_unix_nano=1_790_000_000_000_000_000, end_time_unix_nano=1_790_000_001_000_000_000,
    )  # fmt: skip
    for key, value in attributes.items():
        span.attributes.add(key=key.replace("__", ".")).value.string_value = value
    event = span.events.add(name="exception")
    event.attributes.add(
        key="exception.message"
    ).value.string_value = "GET http://h/x?key=in-exception-1 failed"
    span.status.code = 2
    span.status.message = "GET http://h/x?key=in-status-1 failed"
    return export


def folder(tmp_path):
    return b"".join(path.read_bytes() for path in (tmp_path / "rec").iterdir())


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_protobuf_of_the_official_exporter(client, tmp_path, pack):
    export = traces(
        gen_ai__tool__call__id="call-1", gen_ai__tool__name="deploy", gen_ai__tool__call__result="ok"
    )
    headers = {"content-type": PROTO, **({"content-encoding": "gzip"} if pack is gzip.compress else {})}
    response = client.post("/v1/traces", content=pack(export.SerializeToString()), headers=headers)
    assert (response.status_code, response.content, response.headers["content-type"]) == (200, b"", PROTO)
    trace = wb.load(tmp_path / "rec")
    assert trace.sources.format.tolist() == ["otlp"]
    (span,) = trace.spans.to_dict("records")
    assert (span["trace_id"], span["span_id"]) == (bytes(range(16)).hex(), bytes(range(8)).hex())
    assert (span["call_id"], span["tool"]) == ("call-1", "deploy")


def test_logs_keep_the_messages_in_them(client, tmp_path):
    export = ExportLogsServiceRequest()
    record = (
        export.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=1_790_000_000_000_000_000)
    )
    record.body.string_value = "HTTP Request: POST https://h/v1?api_key=in-a-log-1"
    record.attributes.add(key="event.name").value.string_value = "gen_ai.user.message"
    client.post("/v1/logs", content=export.SerializeToString(), headers={"content-type": PROTO})
    assert len(wb.load(tmp_path / "rec").logs) == 1
    assert b"in-a-log-1" not in folder(tmp_path)
    assert b"https://h/v1?api_key=" in folder(tmp_path)


def test_secrets_in_attributes_are_removed_and_the_conversation_stays(client, tmp_path):
    export = traces(
        http__request__header__authorization="Bearer in-attribute-1",
        url__full="https://h/v1?sig=in-attribute-2",
        url__query="sig=in-attribute-2",
        http__target="/v1?token=in-attribute-3",
        gen_ai__tool__call__arguments='{"url":"https://docs.test/?page=7"}',
    )
    client.post(
        "/v1/traces?key=in-query-1",
        content=export.SerializeToString(),
        headers={"content-type": PROTO, "x-honeycomb-team-key": "in-header-1"},
    )
    kept = folder(tmp_path)
    for secret in ("in-attribute", "in-exception-1", "in-status-1", "in-query-1", "in-header-1"):
        assert secret.encode() not in kept
    assert b"https://docs.test/?page=7" in kept


def test_json_keeps_what_it_has(client, tmp_path):
    export = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a" * 32, "spanId": "b" * 16, "name": "x",
              "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": []}]}]}]}  # fmt: skip
    assert client.post("/v1/traces", json=export).json() == {}
    (line,) = folder(tmp_path).splitlines()
    assert json.loads(line) == export
    assert client.post("/v1/metrics", json={"resourceMetrics": []}).status_code == 200
    assert len(folder(tmp_path).splitlines()) == 1


@pytest.mark.parametrize(
    ("path", "content", "headers", "status"),
    [
        ("/v1/traces", b"{", {"content-type": JSON}, 400),
        ("/v1/traces", b"[1]", {"content-type": JSON}, 400),
        ("/v1/traces", b"\xff\xff\xff", {"content-type": PROTO}, 400),
        ("/v1/traces", b"x", {"content-type": "text/plain"}, 415),
        ("/v1/traces", b"x", {"content-type": PROTO, "content-encoding": "br"}, 415),
        ("/v1/traces", b"x", {"content-type": PROTO, "content-encoding": "gzip"}, 400),
        ("/v1/traces", gzip.compress(b"\0" * (MAX_EXPORT + 1)), {"content-type": PROTO, "content-encoding": "gzip"}, 413),
        ("/v1/profiles", b"{}", {"content-type": JSON}, 404),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_refused_with_words(client, tmp_path, path, content, headers, status):
    response = client.post(path, content=content, headers=headers)
    assert response.status_code == status
    assert response.json()["message"]
    assert folder(tmp_path) == b""
