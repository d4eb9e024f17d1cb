"""One conversation in every format gives the same events and requests, as `expect.tsv` says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import workbench as wb
from workbench.readers import formats, load
from workbench.readers.records import TIME_ARRIVAL, TIME_EVENT

DATA = Path(__file__).resolve().parent.parent / "data" / "formats"
with (DATA / "expect.tsv").open(encoding="utf-8", newline="") as table:
    EXPECTED = {row["file"]: row for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)}
NAMES = {
    "01j_gzip.sse.gz": "sse", "01b_curl_i_headers.txt": "sse", "02c_wrapped.jsonl": "jsonl-wrapped",
    "02d_mixed_req_events.jsonl": "jsonl-wrapped", "05_devtools.agui.jsonl": "agui-devtools",
    "11_request_body.json": "request", "13_issue_paste.md": "markdown",
    "03_array.json": "json-array", "03b_array_bom.json": "json-array",
    "03c_events_object.json": "json-object", "03d_journey_object.json": "json-object",
    "03e_aimock_fixture.json": "aimock", "04g_playwright_attach.har.zip": "zip", "06_cpk_debug.sse": "copilotkit-debug",
    "06b_cpk_inspector_copy.json": "copilotkit-inspector", "06c_cpk_single_route_request.json": "copilotkit-route",
    "06d_cpk_sqlite.db": "copilotkit-sqlite", "07_events.aguiproto": "agui-protobuf",
    "08_agui-inspector-session.json": "agui-inspector", "09_ts_debug_old.log": "ts-debug-log",
    "09b_ts_debug_v1.log": "ts-debug-log", "09c_python_af_agui.log": "af-python-log",
    "10_devui_openai_responses.sse": "openai-responses", "14_python_repr.log": "python-repr",
}  # fmt: skip
#: formats whose bytes are not those of the JSON
ENCODED = {"agui-protobuf", "python-repr", "agui-inspector"}
BY_SUFFIX = {".sse": "sse", ".jsonl": "jsonl", ".har": "har"}


def types(records):
    return [records.pool.text(code) for code in records.events.type]


def test_every_file_has_a_row():
    assert {path.name for path in DATA.iterdir() if path.is_file()} - {"expect.tsv"} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_table(name):
    expected = EXPECTED[name]
    records = load([DATA / name])
    (source,) = records.sources
    assert source.format == NAMES.get(name, BY_SUFFIX.get(Path(name).suffix))
    assert len(records.events) == int(expected["events"])
    assert types(records).count("RUN_STARTED") == int(expected["runs"])
    assert len(records.requests) == int(expected["requests"])
    if expected["complete"] != "not judged":
        assert source.complete == expected["complete"].startswith("complete"), source.note
    assert not records.deviations
    assert (
        records.sources[0].records
        == source.rows + source.duplicates + source.ignored.total() + source.problems
    )


def listed(rows):
    return ";".join(":".join(row) for row in rows) or "none"


@pytest.mark.parametrize("name", EXPECTED)
def test_calls_and_approvals(name):
    """The whole way, as a caller sees it."""
    expected = EXPECTED[name]
    trace = wb.load(DATA / name)
    calls, approvals = trace.calls, trace.approvals
    assert listed(zip(calls.call_id, calls.tool, calls.result_class, strict=True)) == expected["calls"]
    assert (
        listed(zip(approvals.approval_id, approvals.decision, approvals.state, strict=True))
        == expected["approvals"]
    )


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["is_agui"] != "yes"])
def test_what_is_no_agui_is_named_for_what_it_is(name):
    records = load([DATA / name])
    (problem,) = records.problems
    (known,) = [known for known in formats() if known.name == records.sources[0].format]
    assert known.read is None
    assert known.title in problem.reason


#: What each format has to carry: the columns that `may_be_empty` does not name.
@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["may_be_empty"] != "all"])
def test_nothing_is_empty_that_the_format_carries(name):
    empty = set(EXPECTED[name]["may_be_empty"].split(";"))
    records = load([DATA / name])
    if "offset" not in empty:
        assert min(records.events.offset, default=0) >= 0
    if "request" not in empty:
        assert records.requests
    if "time" not in empty and not any("time of" in part for part in empty):
        assert set(records.events.time_source) == {TIME_EVENT}


@pytest.mark.parametrize("name", EXPECTED)
def test_raw_is_the_events_own_bytes(name):
    records = load([DATA / name])
    for row, kind in enumerate(types(records)):
        assert records.json(row)["type"] == kind
        assert records.events.offset[row] >= 0
        raw = records.raw(row)
        if records.sources[0].format not in ENCODED:
            assert raw[:1] == b"{"
            assert raw[-1:] == b"}"
        if row not in records.overrides:
            assert raw == records.json_bytes(row)


@pytest.mark.parametrize("name", [n for n in EXPECTED if int(EXPECTED[n]["events"]) >= 12])
def test_two_runs_say_the_same_everywhere(name):
    wanted, records = load([DATA / "01_raw.sse"]), load([DATA / name])
    for column in ("type", "own_thread", "own_run", "message", "call", "name", "role", "parent"):
        found = list(records.texts(getattr(records.events, column)))
        texts = list(wanted.texts(getattr(wanted.events, column)))
        if name == "06_cpk_debug.sse" and column.startswith("own"):
            # the envelopes say it for every event
            found = [text if text is None else own for own, text in zip(found, texts, strict=True)]
        assert found == texts
    assert records.events.time == wanted.events.time
    assert set(records.events.time_source) == {TIME_EVENT}


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        (
            "01c_ids_event_retry_comments.sse",
            {"comments": 1, "keepalive comments": 6, "frames without data": 1},
        ),
        ("01g_no_space_done.sse", {"end marks": 1}),
        ("05_devtools.agui.jsonl", {"header": 1, "keepalives": 2}),
        ("13_issue_paste.md", {"prose lines": 2, "fence marks": 4}),
        ("06_cpk_debug.sse", {"comments": 1}),
    ],
)
def test_what_is_ignored_is_counted_by_reason(name, reasons):
    assert load([DATA / name]).sources[0].ignored == reasons


def test_truncated_last_frame_is_one_problem_with_line_and_offset():
    records = load([DATA / "01h_truncated_last.sse"])
    (problem,) = records.problems
    assert (problem.reason, problem.record, problem.line) == ("truncated last event", 5, 11)
    assert (
        (DATA / "01h_truncated_last.sse").read_bytes()[problem.offset :].startswith(b'{"type":"RUN_FINISHED"')
    )
    assert not records.streams[0].complete


def test_unterminated_last_frame_is_noted():
    assert "unterminated" in load([DATA / "01i_unterminated_last.sse"]).sources[0].note


def test_several_data_lines_are_one_event():
    records = load([DATA / "01f_multiline_data.sse"])
    assert b"\ndata:" in records.raw(0)
    assert records.json(0)["type"] == "RUN_STARTED"


@pytest.mark.parametrize(
    "name",
    [n for n in EXPECTED if n.startswith(("04", "05", "02d", "06d", "08")) and EXPECTED[n]["events"] != "0"],
)
def test_requests_are_joined_with_their_streams(name):
    records = load([DATA / name])
    for number, request in enumerate(records.requests):
        assert request.stream is not None
        assert records.streams[request.stream].request == number
        rows = [r for r in range(len(records.events)) if records.events.stream[r] == request.stream]
        assert records.json(rows[0])["runId"] == request.body["runId"]
        assert b"threadId" in records.request_raw(number)


def test_omitted_bodies_are_said_entry_by_entry():
    records = load([DATA / "04f_playwright_omit.har"])
    assert [problem.reason.split(":")[0] for problem in records.problems] == [
        "log.entries[0]",
        "log.entries[1]",
    ]
    assert not any(stream.complete for stream in records.streams)
    assert [stream.request for stream in records.streams] == [0, 1]


def without_timestamps(data: bytes) -> bytes:
    import re

    if b'"agentId"' in data:  # the envelopes have a time too, which is when the event came
        return re.sub(rb'("type": ?"[A-Z_]+")(, ?"timestamp": ?\d++)(?!, ?"payload")', rb"\1", data)
    return re.sub(rb'\\?"timestamp\\?": ?\d+, ?', b"", data)


@pytest.mark.parametrize(
    "name",
    ["01c_ids_event_retry_comments.sse", "02b_events_extra.jsonl", "02c_wrapped.jsonl", "04b_chrome_sanitized.har",
     "04c_chrome_unfinished.har", "04h_websocket.har", "05_devtools.agui.jsonl", "06_cpk_debug.sse",
     "06b_cpk_inspector_copy.json", "08_agui-inspector-session.json"],
)  # fmt: skip
def test_arrival_times_stand_in_for_missing_timestamps(name):
    wanted = load([DATA / "01_raw.sse"])
    data = (DATA / name).read_bytes()
    if name == "04b_chrome_sanitized.har":
        import base64
        import json

        archive = json.loads(data)
        for entry in archive["log"]["entries"]:
            content = entry["response"]["content"]
            content["text"] = base64.b64encode(without_timestamps(base64.b64decode(content["text"]))).decode()
        data = json.dumps(archive).encode()
    else:
        data = without_timestamps(data)
    records = load([data])
    assert set(records.events.time_source) == {TIME_ARRIVAL}
    assert list(records.events.time) == list(wanted.events.time[: len(records.events)])


def test_har_entries_are_ordered_by_start_and_ties_keep_the_files_order():
    import json

    archive = json.loads((DATA / "04d_firefox.har").read_bytes())
    entries = archive["log"]["entries"]
    entries[0]["startedDateTime"] = "2026-09-21T14:13:25.000Z"
    records = load([json.dumps(archive).encode()])
    assert [
        records.json(row)["runId"]
        for row in range(len(records.events))
        if types(records)[row] == "RUN_STARTED"
    ] == ["r2", "r1"]
    assert records.members[records.events.member[0]].name == "log.entries[1].response"


def test_bare_inner_log_is_a_har():
    import json

    log = json.loads((DATA / "04d_firefox.har").read_bytes())["log"]
    records = load([json.dumps(log).encode()])
    assert (records.sources[0].format, len(records.events), len(records.requests)) == ("har", 12, 2)


def test_provider_exchanges_and_other_entries_are_no_agui():
    import json

    archive = json.loads((DATA / "04d_firefox.har").read_bytes())
    first = archive["log"]["entries"][0]
    sse = 'data: {"id":"x","object":"chat.completion.chunk","choices":[]}\n\ndata: [DONE]\n\n'
    for url, post, mime, text in [
        ("http://localhost/v1/chat/completions", {"model": "m", "messages": []}, "text/event-stream", sse),
        ("http://localhost/proxy", {"model": "m", "input": "hi"}, "application/json", "{}"),
        ("http://localhost/style.css", None, "text/css", "a{}"),
    ]:
        entry = json.loads(json.dumps(first))
        entry["request"]["url"] = url
        entry["request"]["postData"] = {"text": json.dumps(post)} if post else {}
        entry["response"]["content"] = {"mimeType": mime, "text": text}
        archive["log"]["entries"].append(entry)
    records = load([json.dumps(archive).encode()])
    assert len(records.events) == 12
    assert records.sources[0].ignored == {"provider exchanges": 1, "other HTTP entries": 1}
    (payload,) = records.payloads
    assert payload.url == "http://localhost/v1/chat/completions"
    assert json.loads(records.body_raw(payload)) == payload.body == {"model": "m", "messages": []}
    counts = records.sources[0]
    assert counts.records == counts.rows + counts.duplicates + counts.ignored.total() + counts.problems


UNREAD = {
    "openai-responses": b'data: {"type":"response.created","response":{}}\n\ndata: [DONE]\n\n',
    "provider-stream": b'data: {"object":"chat.completion.chunk","choices":[]}\n\n',
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_format_that_is_not_read_is_named_with_what_to_do(name):
    records = load([UNREAD[name]])
    assert records.sources[0].format == name
    assert len(records.events) == 0
    (problem,) = records.problems
    (known,) = [known for known in formats() if known.name == name]
    assert known.title in problem.reason
    assert known.advice in problem.reason


def test_unread_samples_cover_the_registry():
    assert set(UNREAD) == {known.name for known in formats() if known.read is None}


def test_text_that_is_nothing_known_says_what_was_looked_for():
    records = load([b"dear diary"])
    assert records.sources[0].format == "unknown"
    assert "looked for SSE" in records.problems[0].reason


def test_one_wrapped_request_alone_is_read():
    line = b'{"kind":"request","input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"x"}]}}'
    records = load([line])
    assert (records.sources[0].format, len(records.requests), records.problems) == ("jsonl-wrapped", 1, [])
