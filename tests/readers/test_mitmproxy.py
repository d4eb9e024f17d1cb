"""mitmproxy's flow files; those in `more` were written by mitmproxy 11.0.2, the second body with gzip."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from workbench.readers import Limits, load

DATA = Path(__file__).resolve().parent.parent / "data" / "formats"
FLOWS = (DATA / "more" / "mitmproxy.flow").read_bytes()
FIRST = int(FLOWS.partition(b":")[0]) + len(b"2585:}")


def counts(records):
    (source,) = records.sources
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    return source


def netstring(value) -> bytes:
    """Typed netstrings by an encoder of our own, for flows that mitmproxy would not write."""
    kind = b"~"
    raw = b""
    if isinstance(value, bytes):
        kind, raw = b",", value
    elif isinstance(value, str):
        kind, raw = b";", value.encode()
    elif isinstance(value, bool):
        kind, raw = b"!", str(value).lower().encode()
    elif isinstance(value, int | float):
        kind, raw = (b"#" if isinstance(value, int) else b"^"), str(value).encode()
    elif isinstance(value, dict):
        kind, raw = b"}", b"".join(netstring(k) + netstring(v) for k, v in value.items())
    elif isinstance(value, list):
        kind, raw = b"]", b"".join(map(netstring, value))
    return str(len(raw)).encode() + b":" + raw + kind


def flow(body: bytes, *headers: tuple[bytes, bytes]) -> bytes:
    request = {"method": b"POST", "path": b"/agent", "content": b"{}", "timestamp_start": 1790000000.5}
    pairs = [[b"content-type", b"text/event-stream"], *map(list, headers)]
    response = {"status_code": 200, "headers": pairs, "content": body}
    return netstring({"type": "http", "request": request, "response": response, "version": 21})


def test_exchanges_as_in_a_har():
    wanted, records = load([DATA / "04e_mitmproxy.har"]), load([FLOWS])
    assert [records.json(row) for row in range(12)] == [wanted.json(row) for row in range(12)]
    assert [request.body for request in records.requests] == [request.body for request in wanted.requests]
    assert [request.stream for request in records.requests] == [0, 1]
    assert records.requests[0].url == "http://localhost:8000/agent"
    assert records.streams[1].time == 1790000005_000_000_000
    assert records.members[records.events.member[6]].name == "flow[1].response"
    assert records.raw(6).startswith(b'{"type":"RUN_STARTED"')
    assert counts(records).complete


def test_websocket_messages():
    records = load([DATA / "more" / "mitmproxy-ws.flow"])
    assert (len(records.events), len(records.requests)) == (6, 1)
    assert records.requests[0].stream == 0


@pytest.mark.parametrize("at", [0, 3, 4, 40, 200, 1500, FIRST - 2])
def test_a_damaged_flow_leaves_the_other(at):
    damaged = FLOWS[:at] + b"@@" + FLOWS[at + 2 :]
    records = load([FLOWS + damaged + FLOWS])
    counts(records)
    assert len(records.events) >= 36 - 6


def test_a_cut_file_is_cut():
    records = load([FLOWS[:-50]])
    assert len(records.events) == 6
    assert not counts(records).complete


def test_other_flows_are_ignored_by_kind():
    records = load([netstring({"type": "tcp", "messages": []}) + FLOWS])
    assert counts(records).ignored == {"tcp flows": 1}


def test_packed_bodies_are_bounded_and_unknown_packing_is_said():
    events = b'data: {"type":"STEP_STARTED","stepName":"s"}\n\n'
    bomb = flow(gzip.compress(events + b": x\n\n" * 2_000_000), (b"Content-Encoding", b"gzip"))
    records = load([bomb], limits=Limits(max_json_document=1_000_000))
    assert any("unpacks to more than 1,000,000" in problem.reason for problem in records.problems)
    assert len(records.events) == 1
    records = load([flow(b"xyz", (b"content-encoding", b"br"))])
    assert "hardump" in records.problems[0].reason
    assert not counts(records).complete


def test_nesting_is_bounded():
    value: object = b"x"
    for _ in range(200):
        value = [value]
    records = load([netstring({"type": "http", "request": value}) + FLOWS])
    assert len(records.events) == 12
    assert "nested too deeply" in records.problems[0].reason
