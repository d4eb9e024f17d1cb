"""Telemetry made to hurt: mutated files, spans in circles, one id thousands of times, archives that unpack to gigabytes."""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_captures import call, finished, jsonl, started

import workbench as wb
from workbench.readers import Limits

spec = importlib.util.spec_from_file_location("telemetry_fuzz", Path(__file__).with_name("telemetry_fuzz.py"))
assert spec is not None
assert spec.loader is not None
fuzz = importlib.util.module_from_spec(spec)
sys.modules["telemetry_fuzz"] = fuzz
spec.loader.exec_module(fuzz)

SECONDS = 4
BEGIN = 1_790_000_000_000_000_000


def span(number, operation="chat", trace=1, parent="", thread="t", end=None, **attributes):
    told = {"gen_ai.operation.name": operation, "gen_ai.conversation.id": thread, **attributes}
    return {
        "traceId": f"{trace:032x}", "spanId": f"{number + 1:016x}", "parentSpanId": parent, "name": operation,
        "startTimeUnixNano": str(BEGIN + number * 1000), "endTimeUnixNano": str(BEGIN + number * 1000 + 500 if end is None else end),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in told.items() if v],
    }  # fmt: skip


def tool(number, call_id="", **more):
    return span(
        number, "execute_tool", **{"gen_ai.tool.name": "move", "gen_ai.tool.call.id": call_id, **more}
    )


def said(*parts, role="assistant"):
    return json.dumps([{"role": role, "parts": list(parts)}])


def asks(call_id, arguments="{}"):
    return {"type": "tool_call", "id": call_id, "name": "move", "arguments": arguments}


def approval(kind, name, call_id):
    function = {"id": call_id, "name": "move", "arguments": "{}"}
    return {"type": f"function_approval_{kind}", "id": name, "approved": True, "function_call": function}


def export(spans):
    return (
        json.dumps({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "s"}, "spans": spans}]}]}).encode()
        + b"\n"
    )


def lines_of_log(texts, trace=1):
    records = [
        {"timeUnixNano": str(BEGIN + n), "traceId": f"{trace:032x}", "body": {"stringValue": text}}
        for n, text in enumerate(texts)
    ]
    return json.dumps(
        {"resourceLogs": [{"scopeLogs": [{"scope": {"name": "agent_framework"}, "logRecords": records}]}]}
    ).encode()


def chat(number, given="", gave="", operation="chat", **more):
    return span(number, operation, **{"gen_ai.input.messages": given, "gen_ai.output.messages": gave, **more})


def above(number):
    return f"{number + 1:016x}"


OUT, IN, RESULT = "gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.tool.call.result"
SHAPES: dict[str, Callable[[int], bytes]] = {
    "a circle of parents": lambda n: export([tool(i, f"c{i}", thread="", parent=above((i + 1) % n)) for i in range(n)]),
    "its own parent": lambda n: export([tool(i, "c", parent=above(i)) for i in range(n)]),
    "a deep chain": lambda n: export([tool(i, "c", thread="", parent=above(i - 1)) for i in range(n)]),
    "a deep chain from below": lambda n: export([span(i, thread="", parent=above(i + 1)) for i in range(n)]),
    "agents in agents": lambda n: export([span(i, "invoke_agent", parent=above(i - 1)) for i in range(n)]),
    "one call id": lambda n: export([tool(i, "c", **{RESULT: json.dumps({"r": i})}) for i in range(n)]),
    "one call id in every trace": lambda n: export([tool(i, "call_x", trace=i + 1) for i in range(n)]),
    "all at once": lambda n: export([tool(i, "c", end=2 * BEGIN) for i in range(n)]),
    "no call ids": lambda n: export([
        chat(0, gave=said(*(asks(f"c{i}", json.dumps({"i": i})) for i in range(n)))),
        *(tool(i + 1, **{"gen_ai.tool.call.arguments": json.dumps({"i": i})}) for i in range(n)),
    ]),
    "no call ids and no arguments": lambda n: export([
        chat(0, gave=said(*(asks(f"c{i}") for i in range(n)))), *(tool(i + 1) for i in range(n)),
    ]),
    "approvals": lambda n: export([chat(0, gave=said(*(approval("request", f"a{i}", f"c{i}") for i in range(n))))]),
    "answers": lambda n: export([
        chat(0, given=said(*(approval("response", f"a{i}", f"c{i}") for i in range(n)), role="user")),
    ]),
    "one approval answered for many calls": lambda n: export([
        chat(0, gave=said(approval("request", "a", "c"))),
        chat(1, given=said(*(approval("response", "a", f"c{i}") for i in range(n)), role="user"), trace=2),
    ]),
    "lines that name one tool": lambda n: export([chat(0, gave=said(*(asks(f"c{i}") for i in range(n))))])
    + lines_of_log(["Function move succeeded."] * n),
    "lines between agents": lambda n: export([span(i, "invoke_agent") for i in range(n)]) + lines_of_log(["x"] * n),
    "traces of one thread": lambda n: export([chat(i, gave=said(asks(f"c{i}")), trace=i + 1) for i in range(n)]),
    "threads": lambda n: export([span(i, "invoke_agent", trace=i + 1, thread=f"t{i}") for i in range(n)]),
    "threads in one trace": lambda n: export([span(i, "invoke_agent", thread=f"t{i}") for i in range(n)]),
    "a damaged document": lambda n: export([tool(i, f"c{i}") for i in range(n)]).replace(b'"c7"', b'"c7'),
    "a record for every line": lambda n: json.dumps(json.loads(export([tool(i, f"c{i}") for i in range(n)])), indent=1).encode(),
    "a text cut behind a backslash": lambda n: export([span(0, **{IN: '"\\' * 20 * n})])[: 12 * n].rpartition(b"\\")[0] + b"\\",
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_of_telemetry_is_read_and_checked_in_seconds(shape):
    data = SHAPES[shape](1000)
    begun = time.process_time()
    trace = wb.load(data)
    wb.check(trace)
    assert time.process_time() - begun < SECONDS
    assert len(trace.records.spans) + len(trace.problems) >= 1
    (source,) = trace.records.sources
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems


def test_many_runs_beside_their_telemetry():
    runs = [
        {**event, "timestamp": 1_790_000_000_000 + i}
        for i in range(1500)
        for event in (started(f"r{i}", f"t{i % 3}"), *call(f"c{i}"), finished(f"r{i}", f"t{i % 3}"))
    ]
    spans = [chat(i * 1000, gave=said(asks(f"c{i}")), trace=i + 1, thread="") for i in range(1500)]
    begun = time.process_time()
    trace = wb.load(jsonl(runs), export(spans))
    wb.check(trace)
    assert time.process_time() - begun < 2 * SECONDS
    assert set(trace.spans.joined) == {"call id"}


def test_an_unrelated_call_keeps_its_row_whatever_happens_to_another_span():
    spans = [tool(0, "one", **{RESULT: "1"}), tool(1, "two", trace=2, thread="u", **{RESULT: "2"})]
    whole = wb.load(export(spans)).calls.set_index("call_id").loc["two"]
    text = json.dumps(spans[0])
    for at in range(1, len(text) - 1, 23):
        for damaged in (
            text[:at] + text[at + 1 :],
            text[:at] + "\\" + text[at:],
            text[:at] + "}" + text[at:],
        ):
            data = export(spans).replace(text.encode(), damaged.encode())
            left = wb.load(data).calls.set_index("call_id").loc["two"]
            same = [name for name in whole.index if not name.endswith(("_span", "_event", "_row"))]
            assert left[same].astype(str).tolist() == whole[same].astype(str).tolist(), damaged[:200]


def test_ids_of_a_megabyte():
    name = "x" * (1 << 20)
    spans = [tool(i, f"{name}{i}", thread=name) for i in range(3)]
    trace = wb.load(export(spans))
    assert len(wb.markdown(trace, wb.check(trace))) <= 65_536
    assert len(trace.spans) == 3


@pytest.mark.parametrize(
    "value", ["-9223372036854775808", "9223372036854775807", "9223372036854775808", "-1", "0", "9" * 5000, "1e400",
              "9999-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z", "²", "NaN"],
)  # fmt: skip
def test_times_at_the_edges(value):
    damaged = export([tool(0, "c"), tool(1, "d")]).replace(str(BEGIN).encode(), value.encode())
    backwards = export([tool(0, "c", end=1), tool(1, "d")])
    for data in (damaged, backwards):
        trace = wb.load(data)
        wb.check(trace)
        assert len(trace.spans) == 2
        assert set(trace.calls.call_id) == {"c", "d"}
        assert wb.timeline(trace).svg


def test_words_that_are_numbers_to_python_only():
    record = {"timeUnixNano": "5", "severityNumber": "INFO" + "9" * 5000, "body": {"stringValue": "x"},
              "attributes": [{"key": "aspire.log_id", "value": {"stringValue": "1" * 5000}}]}  # fmt: skip
    data = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode()
    assert len(wb.load(data).logs) == 1
    kinds = export([{**span(0), "kind": "²"}])
    assert len(wb.load(kinds).spans) == 1


@pytest.mark.parametrize("damage", [b'"spans": "x"', b'"spans": 5', b'"spans": {}'])
def test_what_should_be_a_list_is_said(damage):
    trace = wb.load(export([]).replace(b'"spans": []', damage))
    assert trace.problems.reason.tolist() == ["spans of a scope that are no array"]


def test_lines_that_all_need_repair_are_lines():
    events = [started(), *call("c"), finished()]
    data = b"".join(json.dumps({**event, "rawEvent": "\ud800"}).encode() + b"\n" for event in events)
    assert len(wb.load(data).events) == len(events)
    data = data.replace(b'"\\ud800"', b"NaN")
    assert len(wb.load(data).events) == len(events)


def bombs() -> dict[str, bytes]:
    import zstandard

    empty = b'{"resourceSpans":[' + b" " * (64 << 20) + b"]}"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"traces/{number}.json", empty)
    frame = zstandard.compress(empty)
    return {
        "gzip": gzip.compress(empty, 1),
        "zip": packed.getvalue(),
        "zstd": frame,
        "zstd in each frame": b"".join(len(frame).to_bytes(4, "big") + frame for _ in range(3)),
    }


def test_archives_that_unpack_to_more_than_is_allowed():
    for name, data in bombs().items():
        assert len(data) < 2 << 20
        begun = time.process_time()
        trace = wb.load(data, limits=Limits(max_decompressed=4 << 20))
        assert time.process_time() - begun < SECONDS, name
        assert len(trace.problems) >= 1, name


def test_mutated_telemetry(tmp_path):
    formats, _ = fuzz.run(30, 5, inputs=60, keep=tmp_path)
    assert formats["inputs"] == 60
