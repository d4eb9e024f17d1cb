"""Dialects without a file of their own in the data: one small capture each, and what has to come out."""

from __future__ import annotations

import base64
import gzip
import json

import pytest
import zstandard

import workbench as wb
from workbench.readers.telemetry import clock, ids

TRACE, SPAN, PARENT = "637e86570765f742503788a5ce4bf9aa", "ab489f356c4975d6", "3228f1119d2277a3"
NS = 1796066277808232863
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "move", "gen_ai.tool.call.id": "call_1"}


def load(value) -> wb.Trace:
    return wb.load(value if isinstance(value, bytes) else json.dumps(value).encode())


def kv(attributes: dict) -> list:
    return [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]


OTLP_SPAN = {"traceId": TRACE, "spanId": SPAN, "parentSpanId": PARENT, "name": "execute_tool move", "kind": 1,
             "startTimeUnixNano": str(NS), "endTimeUnixNano": str(NS + 1), "attributes": kv(TOOL)}  # fmt: skip
EXPORT = {"resourceSpans": [{"resource": {"attributes": kv({"service.name": "svc"})},
                             "scopeSpans": [{"scope": {"name": "af"}, "spans": [OTLP_SPAN]}]}]}  # fmt: skip
MICRO = NS // 1000 * 1000
CASES = {
    "bare-span": (OTLP_SPAN, NS),
    "tempo-batches": ({"batches": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": [
        {**OTLP_SPAN, "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(), "kind": "SPAN_KIND_INTERNAL",
         "spanId": base64.b64encode(bytes.fromhex(SPAN)).decode(),
         "parentSpanId": base64.b64encode(bytes.fromhex(PARENT)).decode()}]}]}]}, NS),
    "tempo-v2": ({"trace": EXPORT}, NS),
    "jaeger-v3": ({"result": EXPORT}, NS),
    "upper-hex": ({**OTLP_SPAN, "traceId": TRACE.upper(), "spanId": SPAN.upper(), "parentSpanId": PARENT.upper()}, NS),
    "jaeger": ({"data": [{"traceID": TRACE, "processes": {"p1": {"serviceName": "svc"}}, "spans": [
        {"traceID": TRACE, "spanID": SPAN, "operationName": "execute_tool move", "processID": "p1",
         "startTime": NS // 1000, "duration": 5, "references": [{"refType": "CHILD_OF", "spanID": PARENT}],
         "tags": [{"key": key, "type": "string", "value": value} for key, value in TOOL.items()]}]}]}, MICRO),
    "console-old": ({"name": "execute_tool move", "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}"},
                     "kind": "SpanKind.INTERNAL", "parent_id": f"0x{PARENT}", "attributes": TOOL,
                     "start_time": "2026-11-30T19:17:57.808232Z", "end_time": "2026-11-30T19:17:57.809Z"}, MICRO),
    "phoenix": ([{"name": "execute_tool move", "context": {"trace_id": TRACE, "span_id": SPAN}, "parent_id": PARENT,
                  "span_kind": "TOOL", "start_time": "2026-11-30T19:17:57.808232+00:00", "status_code": "OK",
                  "attributes": {"tool.name": "move", "tool": {"id": "call_1"}}}], MICRO),
    "phoenix-frame": ({"context.trace_id": TRACE, "context.span_id": SPAN, "parent_id": PARENT, "span_kind": "TOOL",
                       "name": "execute_tool move", "start_time": "2026-11-30T19:17:57.808232+00:00",
                       "attributes.tool.name": "move", "attributes.tool_call.id": "call_1"}, MICRO),
    "flat-list": ({"session_id": "s", "spans": [{"trace_id": TRACE, "span_id": SPAN, "parent_span_id": PARENT,
                   "name": "execute_tool move", "start_time": NS, "end_time": NS + 5, "attributes": TOOL}]}, NS),
    "any-agent": ({"spans": [{"name": "execute_tool move", "kind": "internal", "start_time": NS,
                   "context": {"trace_id": int(TRACE, 16), "span_id": int(SPAN, 16)},
                   "parent": {"span_id": int(PARENT, 16)}, "attributes": TOOL}], "final_output": "x"}, NS),
    "readable-span": ([{"name": "execute_tool move", "kind": 0, "spanContext": {"traceId": TRACE, "spanId": SPAN},
                        "parentSpanContext": {"traceId": TRACE, "spanId": PARENT}, "status": {"code": 0},
                        "startTime": [NS // 10**9, NS % 10**9], "duration": [0, 9], "attributes": TOOL}], NS),
    "mlflow": ({"trace_id": base64.b64encode(bytes.fromhex(TRACE)).decode(), "name": "execute_tool move",
                "span_id": base64.b64encode(bytes.fromhex(SPAN)).decode(), "start_time_unix_nano": NS,
                "parent_span_id": base64.b64encode(bytes.fromhex(PARENT)).decode(),
                "attributes": {"mlflow.spanType": '"TOOL"', "gen_ai.tool.name": '"move"',
                               "gen_ai.tool.call.id": '"call_1"'}}, NS),
    "langfuse": ({"trace": {"id": TRACE, "sessionId": "th"}, "observations": [
        {"id": SPAN, "traceId": TRACE, "parentObservationId": PARENT, "type": "TOOL", "name": "execute_tool move",
         "startTime": "2026-11-30T19:17:57.808Z", "input": '{"bay": 1}', "output": "done",
         "metadata": json.dumps({"attributes": TOOL})}]}, NS // 10**6 * 10**6),
    "azure-tables": ({"tables": [{"name": "PrimaryResult", "columns": [
        {"name": "timestamp"}, {"name": "id"}, {"name": "operation_Id"}, {"name": "operation_ParentId"},
        {"name": "name"}, {"name": "duration"}, {"name": "customDimensions"}],
        "rows": [["2026-11-30T19:17:57.8082328Z", SPAN, TRACE, PARENT, "execute_tool move", 4, json.dumps(TOOL)]]}]},
        NS // 100 * 100),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_tool_span(name):
    value, time = CASES[name]
    trace = load(value)
    assert trace.problems.empty
    (span,) = trace.spans.to_dict("records")
    assert (span["trace_id"], span["span_id"], span["parent_span_id"]) == (TRACE, SPAN, PARENT)
    assert (span["name"], span["operation"], span["tool"], span["call_id"]) == (
        "execute_tool move", "execute_tool", "move", "call_1",
    )  # fmt: skip
    assert span["time"].value == time
    assert not isinstance(span["error"], str)


def test_csv_of_application_insights():
    text = (
        "timestamp,id,operation_Id,operation_ParentId,name,duration,customDimensions,message\r\n"
        f'2026-11-30T19:17:57Z,{SPAN},{TRACE},{PARENT},execute_tool move,4,"{json.dumps(TOOL).replace(chr(34), chr(34) * 2)}",\r\n'
        f'2026-11-30T19:17:58Z,,{TRACE},{SPAN},,,"{{}}","Function move\nsucceeded."\r\n'
    )
    trace = wb.load(text.encode())
    assert trace.spans.call_id.tolist() == ["call_1"]
    assert trace.logs.span_id.tolist() == [SPAN]
    assert trace.problems.empty


def test_old_console_log_with_a_resource_as_text():
    record = {"body": "Function move succeeded.", "severity_number": "<SeverityNumber.INFO: 9>", "severity_text": "INFO",
              "attributes": {}, "timestamp": "2026-11-30T19:17:57.808232Z", "trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}",
              "resource": "BoundedAttributes({'service.name': 'svc'}, maxlen=None)"}  # fmt: skip
    trace = wb.load(b"hello\n" + json.dumps(record, indent=4).encode() + b"\nbye\n")
    (log,) = trace.logs.to_dict("records")
    assert (log["service"], log["tool"], log["severity"]) == ("svc", "move", "INFO")
    assert trace.records.logs.number[0] == 9
    assert trace.sources.ignored.tolist() == [2]


def test_mcp_text_keeps_cut_and_repeated_values_as_they_are():
    logs = [
        {
            "log_id": 1,
            "span_id": "ab489f3",
            "trace_id": "637e865",
            "message": "x" * 20 + "...[TRUNCATED]",
            "severity": "Debug",
        },
        {
            "log_id": 2,
            "span_id": "ab489f3",
            "trace_id": "637e865",
            "message": 'Duplicate of "message" for log entry 1',
            "severity": "Debug",
        },
    ]
    text = "Returned latest 2 log entries. Earlier 9 log entries not returned because of size limits.\n\n# STRUCTURED LOGS DATA\n\n"
    trace = wb.load((text + json.dumps(logs)).encode())
    assert trace.logs.text.tolist() == [log["message"] for log in logs]
    assert trace.logs.span_id.tolist() == ["ab489f3", "ab489f3"]
    assert trace.logs.order.tolist() == [1, 2]


def test_zipkin_ids_that_client_and_server_share_are_two_spans():
    base = {"traceId": TRACE, "id": SPAN, "name": "x", "timestamp": 1796066277808232, "localEndpoint": {}}
    trace = load(
        [{**base, "kind": "CLIENT"}, {**base, "kind": "SERVER", "shared": True}, {**base, "kind": "CLIENT"}]
    )
    assert trace.spans.kind.tolist() == ["client", "server"]
    assert trace.sources.duplicates.tolist() == [1]


def test_duplicates_over_files_keep_the_first():
    one = json.dumps(EXPORT).encode()
    trace = wb.load(one, json.dumps({**OTLP_SPAN, "name": "later"}).encode(), one)
    assert trace.spans.name.tolist() == ["execute_tool move"]
    assert trace.sources.duplicates.tolist() == [0, 1, 1]


def test_a_java_logger_writes_resource_spans_behind_a_prefix():
    line = (
        b"[otel] 2026 INFO OtlpJsonLoggingSpanExporter - " + json.dumps(EXPORT["resourceSpans"][0]).encode()
    )
    assert wb.load(b"started\n" + line + b"\n").spans.service.tolist() == ["svc"]


@pytest.mark.parametrize(
    "write",
    [
        lambda value: json.dumps(value, separators=(",", ":")),
        json.dumps,
        lambda value: json.dumps(value, indent=2),
        lambda value: json.dumps([value]),
        lambda value: json.dumps({"data": value}),
    ],
    ids=["compact", "spaced", "pretty", "array", "envelope"],
)
def test_the_fast_way_and_the_slow_way_say_the_same(write):
    tools = [
        {**TOOL, "gen_ai.tool.call.arguments": '{"a":"\\"b\\" ü"}', "gen_ai.tool.call.result": "x\ny"},
        {"openinference.span.kind": "TOOL", "tool.name": "move", "session.id": "t1", "input.value": "1"},
        {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "t1", "x": 'says "gen_ai.tool.name"'},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "unknown", "session.id": "t2"},
        {},
    ]
    spans = [
        {**OTLP_SPAN, "spanId": f"{n + 1:016x}", "parentSpanId": "", "attributes": kv(attributes),
         "status": {"code": 2, "message": "no"} if n == 1 else {}}
        for n, attributes in enumerate(tools)
    ]  # fmt: skip
    export = {"resourceSpans": [{"resource": {"attributes": kv({"service.name": "svc"})},
                                 "scopeSpans": [{"scope": {"name": "af"}, "spans": spans}]}]}  # fmt: skip
    table = wb.load(write(export).encode()).spans.drop(columns=["line", "offset", "length", "record"])
    said = table[
        ["operation", "call_id", "tool", "thread_id", "arguments", "result", "error", "service"]
    ].fillna("")
    assert said.to_numpy().tolist() == [
        ["execute_tool", "call_1", "move", "", '{"a":"\\"b\\" ü"}', "x\ny", "", "svc"],
        ["execute_tool", "", "move", "t1", "1", "", "no", "svc"],
        ["chat", "", "", "t1", "", "", "", "svc"],
        ["execute_tool", "", "move", "t2", "", "", "", "svc"],
        ["execute_tool", "", "move", "", "", "", "", "svc"],
    ]


def test_times_out_of_range_are_missing_and_said():
    trace = load({**OTLP_SPAN, "startTimeUnixNano": str(2**64 - 1)})
    assert trace.spans.time.isna().all()
    assert "out of range" in trace.problems.reason[0]


def test_nan_and_lone_surrogates_cost_nothing_else():
    text = json.dumps(EXPORT).replace('"call_1"', '"call_\\ud83d"').encode()
    trace = wb.load(text)
    assert trace.spans.call_id.tolist() == ["call_\ufffd"]
    assert len(trace.problems) == 1
    assert trace.attributes(0)["gen_ai.tool.name"] == "move"


def test_zstd_bombs_and_cuts_are_bounded_and_said():
    from workbench.readers import Limits

    packed = zstandard.compress(b" " * 5_000_000)
    trace = wb.load(packed, limits=Limits(max_decompressed=1_000_000))
    assert any("more than 1,000,000 bytes" in reason for reason in trace.problems.reason)
    framed = len(packed).to_bytes(4, "big") + packed
    assert any(
        "unpacks to more" in r
        for r in wb.load(framed, limits=Limits(max_decompressed=1_000_000)).problems.reason
    )
    whole = zstandard.compress(json.dumps(EXPORT).encode() * 50)
    assert any("ends early" in reason for reason in wb.load(whole[:-20]).problems.reason)
    assert len(wb.load(gzip.compress(zstandard.compress(json.dumps(EXPORT).encode()))).spans) == 1


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        (TRACE, TRACE), (TRACE.upper(), TRACE), (f"0x{TRACE}", TRACE), (int(TRACE, 16), TRACE),
        (str(int(TRACE, 16)), TRACE), (base64.b64encode(bytes.fromhex(TRACE)).decode(), TRACE),
        ("0" * 32, None), ("", None), (0, None), (None, None), ("637e865", "637e865"),
        ("12345678901234567890123456789012", "12345678901234567890123456789012"),
        ("3fa85f64-5717-4562-b3fc-2c963f66afa6", "3fa85f64-5717-4562-b3fc-2c963f66afa6"),
        ("AAAAAAAAAAAAAAAAAAAAAA==", None),
    ],
)  # fmt: skip
def test_trace_ids(written, normal):
    assert ids.trace_id(written) == normal


def test_times():
    assert clock.iso("2026-11-30T19:17:57.8082328Z") == 1796066277808232800
    assert clock.iso("2026-11-30T20:17:57.808232863+01:00") == NS
    assert clock.guess(NS) == clock.guess(str(NS)) == NS
    assert clock.guess(1796066277.5) == 1796066277500000000
    assert clock.guess(1796066277808) == 1796066277808000000
    assert clock.pair([1796066277, 808232863]) == NS
    assert clock.nanos("0") is None
    assert clock.iso("no time") is None


def test_a_resource_whose_scopes_have_another_name_is_said():
    broken = {"resourceSpans": [{"resource": {"attributes": []}, "scoSpans": [{"spans": [OTLP_SPAN]}]}]}
    trace = wb.load(json.dumps(broken).encode())
    assert [p.reason for p in trace.records.problems] == ["a resource without scopes"]
    empty = {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": []}]}
    assert wb.load(json.dumps(empty).encode()).problems.empty
