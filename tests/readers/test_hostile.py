"""Bad input: never a crash, never silence, and nothing else is lost."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.exceptions import LoadError, WorkbenchError
from workbench.readers import Limits, load
from workbench.readers.records import NO_TIME, TIME_NONE

START = b'{"type":"RUN_STARTED","threadId":"t1","runId":"r1"}'
END = b'{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}'


def sse(*events: bytes) -> bytes:
    return b"".join(b"data: " + event + b"\n\n" for event in events)


def types(records):
    return [records.pool.text(code) for code in records.events.type]


def deviations(records):
    return [(d.event, d.kind, d.field) for d in records.deviations]


def test_empty():
    records = load([b""])
    assert records.sources[0].format == "empty"
    assert records.sources[0].records == 0
    assert "empty" in records.problems[0].reason


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings(encoding):
    text = sse(START, '{"type":"TEXT_MESSAGE_START","messageId":"ü𝄞"}'.encode(), END).decode()
    data = text.encode(encoding)
    if encoding in ("utf-16-le", "utf-16-be"):
        assert not data.startswith((b"\xff\xfe", b"\xfe\xff"))
    records = load([data])
    assert types(records) == ["RUN_STARTED", "TEXT_MESSAGE_START", "RUN_FINISHED"]
    assert list(records.texts(records.events.message)) == [None, "ü𝄞", None]
    assert records.raw(2) == END
    assert not records.problems


def test_half_a_character_of_utf_16_is_said():
    records = load([sse(START).decode().encode("utf-16") + b"\0\xd8"])
    assert types(records) == ["RUN_STARTED"]
    assert any("U+FFFD" in problem.reason for problem in records.problems)


def test_lone_surrogate_is_replaced_and_said():
    event = rb'{"type":"TEXT_MESSAGE_START","messageId":"a\ud800b"}'
    records = load([sse(START, event, END)])
    assert types(records) == ["RUN_STARTED", "TEXT_MESSAGE_START", "RUN_FINISHED"]
    assert list(records.texts(records.events.message))[1] == "a\ufffdb"
    assert records.json(1)["messageId"] == "a\ufffdb"
    assert records.raw(1) == event
    assert [(p.record, p.line) for p in records.problems] == [(1, 3)]
    assert records.sources[0].problems == 0


@pytest.mark.parametrize("field", [b"delta", b"extra"])
def test_bytes_that_are_not_utf_8(field):
    event = b'{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x","' + field + b'":"\xff\xfe"}'
    records = load([sse(START, event, END)])
    assert len(records.events) == 3
    assert records.json(1)[field.decode()] == "\ufffd\ufffd"
    assert records.raw(1) == event
    assert "UTF-8" in records.problems[0].reason


def test_nan_becomes_null_and_is_said():
    records = load([sse(START, b'{"type":"STATE_SNAPSHOT","snapshot":{"x":NaN,"y":-Infinity}}')])
    assert records.json(1)["snapshot"] == {"x": None, "y": None}
    assert "NaN" in records.problems[0].reason


def test_nul():
    escaped = rb'{"type":"TEXT_MESSAGE_START","messageId":"a\u0000b"}'
    bare = b'{"type":"TEXT_MESSAGE_START","messageId":"a\0b"}'
    records = load([sse(START, escaped, bare, END)])
    assert list(records.texts(records.events.message)) == [None, "a\0b", None]
    assert records.problems[0].record == 2


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("layout", ["sse", "jsonl", "array", "request", "har"])
def test_deep_nesting(layout, opening):
    closing = b"]" if opening == b"[" else b"}"
    deep = opening * 100_000 + b"1" + closing * 100_000
    bomb = b'{"type":"CUSTOM","name":"n","value":%s}' % deep
    data = {
        "sse": sse(START, bomb, END),
        "jsonl": b"\n".join([START, bomb, END]),
        "array": b"[" + b",".join([START, bomb, END]) + b"]",
        "request": b'{"threadId":"t","runId":"r","messages":[],"state":%s}' % deep,
        "har": b'{"log":{"entries":[{"request":{},"response":{"content":{"mimeType":"text/event-stream","text":%s}}},{"x":%s}]}}'
        % (json.dumps(sse(START, END).decode()).encode(), deep),
    }[layout]
    records = load([data])
    assert types(records) == ([] if layout == "request" else ["RUN_STARTED", "RUN_FINISHED"])
    assert records.problems


def test_a_line_of_50_mb_is_read_and_a_longer_one_than_allowed_is_skipped(tmp_path):
    big = b'{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"' + b"x" * 50_000_000 + b'"}'
    path = tmp_path / "big.sse"
    path.write_bytes(sse(START, big, END))
    assert types(load([path])) == ["RUN_STARTED", "TEXT_MESSAGE_CONTENT", "RUN_FINISHED"]
    records = load([path], limits=Limits(max_line=1_000_000))
    assert types(records) == ["RUN_STARTED", "RUN_FINISHED"]
    (problem,) = records.problems
    assert (problem.line, problem.offset) == (3, len(sse(START)))
    assert records.raw(1) == END
    assert not records.streams[0].complete


@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
def test_line_ends_across_the_pieces_of_a_read(ends, tmp_path):
    events = [b'{"type":"STEP_STARTED","stepName":"%d"}' % n for n in range(200)]
    data = b"".join(b"data: " + event + ends * 2 for event in events)
    path = tmp_path / "x.sse"
    path.write_bytes(data)
    for size in range(50, 90):
        records = load([path], limits=Limits(max_line=size))
        assert list(records.texts(records.events.name)) == [str(n) for n in range(200)]
        assert [records.raw(row) for row in (0, 99, 199)] == [events[0], events[99], events[199]]


def test_json_document_beyond_the_limit():
    records = load([b"[" + START + b"]"], limits=Limits(max_json_document=10))
    assert "document of more than 10 bytes" in records.problems[0].reason
    assert not records.sources[0].complete


def test_gzip_bomb_is_cut_and_what_was_unpacked_is_read():
    bomb = gzip.compress(sse(START, END) + b": keepalive\n\n" * 4_000_000)
    assert len(bomb) < 300_000
    records = load([bomb], limits=Limits(max_decompressed=1_000_000))
    assert types(records) == ["RUN_STARTED", "RUN_FINISHED"]
    assert not records.sources[0].complete
    assert any("1,000,000" in problem.reason for problem in records.problems)


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-20], lambda d: d[:-8] + b"\0" * 8, lambda d: d[:60] + b"\0\0\0" + d[63:]]
)
def test_damaged_gzip_gives_what_can_be_unpacked(damage):
    records = load([damage(gzip.compress(sse(*[START] * 200, END)))])
    assert not records.sources[0].complete
    assert records.problems


def test_gzip_in_gzip_ends():
    data = sse(START)
    for _ in range(3):
        data = gzip.compress(data)
    assert types(load([data])) == ["RUN_STARTED"]
    for _ in range(20):
        data = gzip.compress(data)
    assert "inside each other" in load([data]).problems[0].reason


def test_several_gzip_members():
    assert len(load([gzip.compress(sse(START)) + gzip.compress(sse(END)) + b"\0\0"]).events) == 2


def test_binary_garbage():
    data = bytes(range(256)) * 50
    records = load([data])
    assert records.sources[0].format == "unknown"
    assert records.sources[0].problems == 1


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass"))),
       st.sampled_from([b"", b"data: ", b'{"type":"', b"[{", b'{"log":{"entries":[', b"HTTP/1.1 200 OK\r\n\r\n", b"\x1f\x8b\x08",
                        b'```\ndata: {"type":"RUN_STARTED"}\n', b'{"threadId":"t","runId":"r","messages":', b'{"events":[{"type":"RUN_STARTED"},',
                        b'{"kind":"header","schemaVersion":1}\n', b"\xff\xfe", b'{"event":{"type":"RUN_STARTED"']))  # fmt: skip
def test_anything_at_all(data, prefix):
    records = load([prefix + data])
    (source,) = records.sources
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    assert source.rows or source.ignored or records.problems or source.notes
    for row in range(len(records.events)):
        assert isinstance(records.json(row), dict)


def test_missing_folder_and_unreadable(tmp_path):
    (tmp_path / "empty").mkdir()
    records = load(
        [
            tmp_path / "nothing.sse",
            str(tmp_path / "*.none"),
            tmp_path / "empty",
            7,
            "\0",
            "sample:no-such",
            sse(START),
        ]
    )
    assert [source.format for source in records.sources] == ["unreadable"] * 6 + ["sse"]
    assert len(records.problems) == 6
    assert len(records.events) == 1
    with pytest.raises(LoadError, match="no such file") as caught:
        load([tmp_path / "nothing.sse"], strict=True)
    assert isinstance(caught.value, WorkbenchError)
    assert len(caught.value.problems) == 1


def test_strict_raises_for_a_bad_record_and_not_for_a_good_capture():
    load([sse(START, END)], strict=True)
    with pytest.raises(LoadError, match=r"<bytes>:3: not JSON.*"):
        load([sse(START, b'{"type":')], strict=True)


def test_stdin_is_kept(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sse(START, END))))
    records = load(["-", "-"])
    assert records.sources[0].path == "-"
    assert len(records.sources) == 1
    assert records.raw(1) == END


def test_file_objects_and_the_same_file_twice(tmp_path):
    path = tmp_path / "a.sse"
    path.write_bytes(sse(START))
    link = tmp_path / "b.sse"
    os.link(path, link)
    with path.open("rb") as binary, path.open(encoding="utf-8") as text:
        records = load([binary, text, path, str(path), link])
    assert len(records.sources) == 3
    assert "read once" in records.sources[2].note
    assert [records.raw(row) for row in range(3)] == [START] * 3


def test_a_file_that_cannot_be_read_any_more_gives_nothing(tmp_path):
    path = tmp_path / "a.sse"
    path.write_bytes(sse(START) * 10_000)
    records = load([path])
    path.unlink()
    assert records.json(9_999) == {}


def test_no_handle_stays_open(tmp_path):
    path = tmp_path / "a.sse.gz"
    path.write_bytes(gzip.compress(sse(START) + os.urandom(1000).hex().encode() * 20_000))
    plain = tmp_path / "b.sse"
    plain.write_bytes(sse(START))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
        records = load([path, plain])
        assert records.raw(0) == START
        assert records.raw(1) == START
        del records
        gc.collect()
        after = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    assert after == before


def test_progress_reaches_the_size(tmp_path):
    path = tmp_path / "a.sse"
    path.write_bytes(sse(START) * 50_000)
    seen = []
    load([path], progress=lambda *step: seen.append(step))
    assert len(seen) > 1
    assert seen[-1] == (str(path), path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (b'{"type":"USAGE_METADATA","x":1}', [("unknown-type", "type")]),
        (b'{"type":"run_started","threadId":"t"}', [("unknown-type", "type")]),
        (b'{"type":"TEXT_MESSAGE_START","role":"assistant"}', [("field-missing", "messageId")]),
        (b'{"type":"TEXT_MESSAGE_START","messageId":null}', [("field-invalid", "messageId")]),
        (b'{"type":"TEXT_MESSAGE_START","messageId":""}', []),
        (b'{"type":"TEXT_MESSAGE_START","messageId":"m","role":null}', []),
        (b'{"type":"TEXT_MESSAGE_START","messageId":"m","role":"robot"}', [("field-invalid", "role")]),
        (b'{"type":"TOOL_CALL_ARGS","toolCallId":7,"delta":"x"}', [("field-invalid", "toolCallId")]),
        (b'{"type":"TOOL_CALL_START","tool_call_id":"c","toolCallName":"n"}', [("snake-case", "tool_call_id")]),
        (b'{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text"}]}', []),
        (b'{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":3}', [("field-invalid", "content")]),
        (b'{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}', []),
        (b'{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":null}', []),
        (b'{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused"}}', [("field-invalid", "outcome.type")]),
        (b'{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}}',
         [("field-missing", "outcome.interrupts[0].reason")]),
        (b'{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null}]}', []),
        (b'{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a"}]}', [("field-missing", "delta[0].value")]),
        (b'{"type":"STATE_DELTA","delta":[{"op":"frob","path":"/a"}]}', [("field-invalid", "delta[0].op")]),
        (b'{"type":"STATE_DELTA","delta":[{"op":"remove","path":"a"}]}', [("field-invalid", "delta[0].path")]),
        (b'{"type":"CUSTOM","name":"n"}', []),
        (b'{"type":"CUSTOM","name":"n","name":"m","timestamp":"x","type":"CUSTOM"}',
         [("duplicate-key", "name"), ("duplicate-key", "type"), ("field-invalid", "timestamp")]),
        (b'{"type":"THINKING_START"}', []),
        (b'{"type":"CUSTOM","name":"n","value":1,"timestamp":1790000000000.0}', []),
        (b'{"type":"CUSTOM","name":"n","value":1,"timestamp":true}', [("field-invalid", "timestamp")]),
    ],
)  # fmt: skip
def test_deviations_from_the_schema(event, expected):
    records = load([sse(START, event)])
    assert [(kind, field) for _, kind, field in deviations(records)] == expected
    assert len(records.events) == 2


def test_ids_of_another_type_become_text():
    records = load([sse(START, b'{"type":"TOOL_CALL_END","toolCallId":7}')])
    assert list(records.texts(records.events.call)) == [None, "7"]


@pytest.mark.parametrize("stamp", [b"99999999999999999999", b"1e300", b"-9300000000000000"])
def test_timestamps_out_of_range_are_no_time(stamp):
    records = load([sse(START, b'{"type":"CUSTOM","name":"n","value":1,"timestamp":%s}' % stamp)])
    assert (records.events.time[1], records.events.time_source[1]) == (NO_TIME, TIME_NONE)
    assert "beyond" in records.problems[0].reason
    assert records.sources[0].problems == 0


def test_an_object_without_a_type_is_a_problem():
    records = load([sse(START, b'{"messageId":"m"}', b"[1]", b"null", b"{}")])
    assert len(records.events) == 1
    assert [problem.record for problem in records.problems] == [1, 2, 3, 4]


CHUNK = b'{"type":"TEXT_MESSAGE_CHUNK","delta":"a"}'
NAMED = b'{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}'
CALL = b'{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"n","delta":"{"}'
MORE = b'{"type":"TOOL_CALL_CHUNK","delta":"}"}'


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([START, CHUNK], [(1, "field-missing", "messageId")]),
        ([START, NAMED, CHUNK, CHUNK], []),
        ([START, CALL, MORE], []),
        ([START, MORE], [(1, "field-missing", "toolCallId"), (1, "field-missing", "toolCallName")]),
        ([START, NAMED, CALL, CHUNK], [(3, "field-missing", "messageId")]),
        ([START, NAMED, b'{"type":"RAW","event":{}}', CHUNK], []),
        ([START, NAMED, END, START, CHUNK], [(4, "field-missing", "messageId")]),
        ([START, b'{"type":"TEXT_MESS', CHUNK], []),  # what named it may be lost
    ],
)
def test_the_first_chunk_has_to_name_what_it_opens(events, expected):
    assert deviations(load([sse(*events)])) == expected


def test_raw_events_are_named_by_what_they_carry():
    records = load([sse(b'{"type":"RAW","event":{"event":"on_chain_start","name":"x"}}', b'{"type":"RAW","event":1,"source":"lg"}', b'{"type":"RAW"}')])  # fmt: skip
    assert list(records.texts(records.events.name)) == ["on_chain_start", "lg", None]


BODY = b'{"threadId":"t1","runId":"r1","messages":[]}'


def test_the_request_inside_run_started_counts_only_without_a_real_body():
    started = b'{"type":"RUN_STARTED","threadId":"t1","runId":"r1","input":%s}' % BODY
    alone = load([sse(started)])
    assert [(request.event, request.stream) for request in alone.requests] == [(0, 0)]
    assert alone.request_raw(0) == started
    assert [request.event for request in load([sse(started), BODY]).requests] == [None]
    assert [request.event for request in load([BODY, sse(started)]).requests] == [None]


def test_snake_case_request():
    records = load([b'{"thread_id":"t","run_id":"r","messages":[],"forwarded_props":{}}'])
    assert records.requests[0].body == {"threadId": "t", "runId": "r", "messages": [], "forwardedProps": {}}


def test_wrapped_lines_belong_to_their_connection_or_thread():
    line = b'{"%s":"%s","event":{"type":"STEP_STARTED","stepName":"s"}}\n'
    for key in (b"connectionId", b"threadId"):
        records = load([line % (key, b"a") + line % (key, b"b") + line % (key, b"a")])
        assert list(records.events.stream) == [0, 1, 0]
    assert list(records.texts(records.events.own_thread)) == ["a", "b", "a"]


def test_an_event_as_json_text_in_an_envelope():
    records = load(
        [
            b'{"ts":1790000000.5,"data":"{\\"type\\":\\"RUN_STARTED\\",\\"threadId\\":\\"t\\",\\"runId\\":\\"r\\"}"}\n'
        ]
    )
    assert records.json(0)["threadId"] == "t"
    assert records.raw(0).startswith(b'"{\\"type\\"')
    assert records.events.time[0] == 1790000000_500_000_000


def test_pasted_frames_that_are_indented_or_quoted():
    records = load([b"> data: " + START + b"\n> \n>   data: " + END + b"\n"])
    assert types(records) == ["RUN_STARTED", "RUN_FINISHED"]
    assert records.raw(1) == END


def test_http_status_reaches_the_stream():
    head = b"HTTP/1.1 301 Moved\r\nlocation: /x\r\n\r\nHTTP/1.1 500 Oops\r\n\r\n"
    records = load([head + sse(b'{"type":"RUN_ERROR","message":"x"}')])
    assert records.streams[0].status == 500
    assert records.events.line[0] == 6
    assert records.events.offset[0] == len(head) + 6


def test_keepalive_events_are_no_events():
    records = load([b"event: ping\ndata: {}\n\n" + sse(START)])
    assert records.sources[0].ignored == {"keepalive events": 1}


@pytest.mark.parametrize("damage", ["*", "=", "==", "===", "é", "\ud800"])
def test_damaged_base64_costs_its_own_bytes(damage):
    import base64

    text = base64.b64encode(sse(START, START, END)).decode()
    text = text[:30] + damage + text[30 + len(damage) :]
    content = {"mimeType": "text/event-stream", "encoding": "base64", "text": text}
    entry = {"request": {"method": "POST"}, "response": {"content": content}}
    records = load([json.dumps({"log": {"entries": [entry]}}).encode()])
    assert types(records)[-2:] == ["RUN_STARTED", "RUN_FINISHED"]
    assert any("base64" in problem.reason for problem in records.problems)
    for cut in range(1, 12):
        content["text"] = text[:-cut]
        assert types(load([json.dumps({"log": {"entries": [entry]}}).encode()]))[0] == "RUN_STARTED"


@pytest.mark.parametrize(
    "time", ["1" + "0" * 400, "1e400", "-9223372036854775807", "9223372036854775807", "true", '"x"']
)
def test_arrivals_beyond_any_clock(time):
    line = b'{"ts":%s,"event":{"type":"STEP_STARTED","stepName":"s"}}\n' % time.encode()
    header = b'{"kind":"header","schemaVersion":1,"capturedAt":"2262-04-11T23:47:16Z"}\n'
    event = b'{"kind":"event","connId":"c","tMs":%s,"event":{"type":"STEP_STARTED","stepName":"s"}}\n'
    frame = {"exchangeId": "x", "classification": "data", "data": START.decode(), "offsetMs": 0}
    session = {"exchanges": [{"id": "x", "startedAt": 9.2e18}], "frames": [frame]}
    text = json.dumps({"version": 0, "session": session}).replace('"offsetMs": 0', f'"offsetMs": {time}')
    for data in (line, header + event % time.encode(), text.encode()):
        assert len(load([data]).events) == 1
