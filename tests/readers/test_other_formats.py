"""What is particular to inspector captures, logs, printed dictionaries and WebSocket lines."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from workbench.readers import load
from workbench.readers.python_repr import literal
from workbench.readers.records import TIME_ARRIVAL

DATA = Path(__file__).resolve().parent.parent / "data" / "formats"


def types(records):
    return [records.pool.text(code) for code in records.events.type]


def counts(records):
    (source,) = records.sources
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    return source


def test_aimock_fixtures_for_model_providers_hold_no_events():
    document = json.loads((DATA / "03e_aimock_fixture.json").read_bytes())
    document["fixtures"].insert(1, {"match": {"message": "x"}, "response": {"content": "y"}})
    records = load([json.dumps(document).encode()])
    assert len(records.events) == 12
    assert counts(records).ignored == {"fixtures without events": 1}
    assert sorted(set(records.events.stream)) == [0, 1]


def test_a_damaged_aimock_recording_loses_one_event_of_one_fixture():
    data = (DATA / "03e_aimock_fixture.json").read_bytes()
    records = load([data.replace(b'"TOOL_CALL_END"', b'"TOOL_CALL_END', 1)])
    assert types(records).count("RUN_STARTED") == 2
    assert len(records.events) == 11
    assert counts(records).problems == 1


def test_copies_of_two_agents_are_two_streams():
    copied = json.loads((DATA / "06b_cpk_inspector_copy.json").read_bytes())
    copied[1]["agentId"] = "other"
    records = load([json.dumps(copied).encode()])
    assert list(records.events.stream) == [0, 1] + [0] * 10


def test_one_copied_event_and_a_payload_as_text():
    one = json.loads((DATA / "06b_cpk_inspector_copy.json").read_bytes())[0]
    assert types(load([json.dumps(one, indent=1).encode()])) == ["RUN_STARTED"]
    one["payload"] = json.dumps(one["payload"])
    records = load([json.dumps([one]).encode()])
    assert records.json(0)["threadId"] == "t1"


def test_an_envelope_over_several_data_lines():
    data = b'data: {"timestamp":1,"agentId":"a",\ndata: "event":{"type":"STEP_STARTED",\ndata: "stepName":"s"}}\n\n'
    whole = (DATA / "06_cpk_debug.sse").read_bytes()
    records = load([whole + data])
    assert records.json(12) == {"type": "STEP_STARTED", "stepName": "s"}
    assert b"\ndata:" in records.raw(12)


def test_an_envelope_without_an_event_is_a_problem():
    records = load([(DATA / "06_cpk_debug.sse").read_bytes() + b'data: {"timestamp":1,"agentId":"a"}\n\n'])
    assert counts(records).problems == 1
    assert "without `event`" in records.problems[0].reason


def test_the_request_in_an_envelope_leads_to_its_own_bytes():
    records = load([DATA / "06c_cpk_single_route_request.json"])
    assert json.loads(records.request_raw(0)) == records.requests[0].body
    assert records.requests[0].body["threadId"] == "t1"


# ------------------------------------------------------------------ agui-inspector


def session():
    return json.loads((DATA / "08_agui-inspector-session.json").read_bytes())


def test_session_requests_count_once():
    source = counts(load([DATA / "08_agui-inspector-session.json"]))
    assert (source.rows, source.duplicates) == (14, 2)


def test_session_without_request_bodies_takes_the_inputs_of_runs():
    document = session()
    for exchange in document["session"]["exchanges"]:
        del exchange["requestBody"]
    records = load([json.dumps(document).encode()])
    assert [request.stream for request in records.requests] == [0, 1]
    assert counts(records).duplicates == 0


def test_session_frames_of_protobuf_and_of_the_end():
    document = session()
    stream = (DATA / "07_events.aguiproto").read_bytes()
    size = 4 + int.from_bytes(stream[:4], "big")
    frames = document["session"]["frames"]
    base = {"exchangeId": "x0", "index": 9, "envelope": "", "offsetMs": 40}
    frames.append({**base, "classification": "data", "bytes": base64.b64encode(stream[:size]).decode()})
    frames.append({**base, "classification": "control", "summary": "SSE comment"})
    frames.append({**base, "classification": "partial", "data": '{"type":"RUN'})
    frames.append({**base, "classification": "data", "bytes": "***"})
    frames.append({**base, "classification": "data", "data": "[DONE]"})
    records = load([json.dumps(document).encode()])
    assert types(records)[-1] == "RUN_STARTED"
    assert records.events.time_source[12] == TIME_ARRIVAL
    assert counts(records).ignored == {"control frames": 1, "end marks": 1}
    assert [problem.reason for problem in records.problems] == ["truncated last event", "damaged base64"]
    assert not records.sources[0].complete
    assert [stream.complete for stream in records.streams] == [False, True]


def test_session_that_was_stopped_is_cut():
    document = session()
    document["session"]["exchanges"][1]["transport"] = "user-stopped"
    records = load([json.dumps(document).encode()])
    assert [stream.complete for stream in records.streams] == [True, False]
    assert not records.sources[0].complete


def test_damaged_session_keeps_the_other_frames_and_requests():
    data = (DATA / "08_agui-inspector-session.json").read_bytes()
    at = data.index(b'"f0-3",', data.index(b'"frames": ['))
    records = load([data[:at] + b'"' + data[at:]])
    assert len(records.events) == 11
    assert len(records.requests) == 2
    assert counts(records).problems == 1


# ------------------------------------------------------------------ logs


@pytest.mark.parametrize(("name", "times"), [("09_ts_debug_old.log", 2), ("09b_ts_debug_v1.log", 3)])
def test_an_event_that_is_logged_several_times_counts_once(name, times):
    source = counts(load([DATA / name]))
    assert (source.rows, source.duplicates) == (6, 6 * (times - 1))
    assert "several times" in source.note


def test_client_log_among_other_lines():
    data = (DATA / "09b_ts_debug_v1.log").read_bytes().replace(b"[HTTP]", b"12:00:01.003 app.js:7 [HTTP]")
    records = load([b"starting up\n" + data + b'[VERIFY] Event: {"type":"RUN_'])
    source = counts(records)
    assert (source.rows, source.ignored) == (6, {"other log lines": 1})
    assert types(load([data + b'[HTTP] Event received: {"type":"RUN_'])) == types(records)


def test_client_log_that_ends_early_is_cut():
    data = (DATA / "09_ts_debug_old.log").read_bytes()
    records = load([data[:-40]])
    assert len(records.events) == 5
    assert not counts(records).complete


def test_a_delta_that_quotes_a_log_makes_no_log():
    event = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": 'it says\n[VERIFY]: {"a": 1}'}
    assert load([json.dumps([event]).encode()]).sources[0].format == "json-array"


def test_server_log_times_are_arrivals_and_endpoints_are_streams():
    line = b'2026-09-21 14:13:20,250 - x - DEBUG - [/%s] Encoded as: data: {"type":"STEP_STARTED","stepName":"s"}\n\n\n'
    records = load([line % b"a" + line % b"b" + b"2026-09-21 INFO other\n"])
    assert list(records.events.stream) == [0, 1]
    assert records.events.time[0] == 1790000000_250_000_000
    assert records.events.time_source[0] == TIME_ARRIVAL
    assert "read as UTC" in records.sources[0].note
    assert counts(records).ignored == {"other log lines": 1}
    zoned = load([(line % b"a").replace(b",250", b",250+02:00")])
    assert zoned.events.time[0] == 1790000000_250_000_000 - 2 * 3600 * 10**9


def test_server_log_cuts_are_said_as_the_real_logger_writes_them():
    event = json.dumps({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x" * 300})
    whole = 'DEBUG [/a] Encoded as: data: {"type":"STEP_STARTED","stepName":"s"}\n\n\n'
    records = load([(whole + f"DEBUG [/a] Encoded as: {f'data: {event}'[:200]}...\n" + whole).encode()])
    assert types(records) == ["STEP_STARTED", "STEP_STARTED"]
    assert "200 characters" in records.problems[0].reason
    assert not records.sources[0].complete


# ------------------------------------------------------------------ printed dictionaries


def test_enum_members_and_text_before_the_dictionary():
    line = b"12:00 INFO got {'type': <EventType.STEP_STARTED: 'STEP_STARTED'>, 'stepName': 'it\\'s', 'n': (1, -2.5e3, None, True)}\n"
    records = load([line])
    assert records.json(0) == {"type": "STEP_STARTED", "stepName": "it's", "n": [1, -2500.0, None, True]}
    assert records.raw(0).startswith(b"{'type'")


@pytest.mark.parametrize(
    "text",
    ["__import__('os').system('x')", "{'a': open('x')}", "{'type': x}", "[" * 1000 + "]" * 1000, "-" * 10_000 + "1",
     "{'a': f'{1}'}", "1 + 1", "{'a': lambda: 0}", "'" * 10_001, "{**{}}", "9" * 10_000, "{[]: 1}", "{'a': 1", ""],
)  # fmt: skip
def test_nothing_but_literals_is_taken(text):
    with pytest.raises(ValueError):
        literal(text)
    records = load([b"{'type': 'RUN_STARTED', 'threadId': 't', 'runId': 'r'}\n{'type': 'RUN_STARTED', 'x': " + text.encode() + b"}\n"])  # fmt: skip
    assert len(records.events) == 1
    assert counts(records).problems == 1


# ------------------------------------------------------------------ WebSocket lines


def test_websocket_messages_as_lines():
    lines = (DATA / "more" / "websocket.jsonl").read_bytes()
    records = load([lines + b'{"type": "send", "time": 1790000001, "opcode": 1, "data": "ping"}\n'])
    assert (len(records.events), len(records.requests)) == (6, 1)
    assert [request.stream for request in records.requests] == [0]
    assert counts(records).ignored == {"WebSocket messages without an event": 1}
    assert json.loads(records.json_bytes(0))["type"] == "RUN_STARTED"
