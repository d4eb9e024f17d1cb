"""Whatever becomes of a recording, reading it accounts for every line and never raises."""

from __future__ import annotations

import json
import random

import pytest

import workbench as wb

AGUI = [
    {"kind": "header", "schemaVersion": 1, "tool": "agui-workbench@0.1.0", "recording": "agui", "capturedAt": "2026-12-01T00:00:00Z"},
    {"kind": "request", "connId": "c1", "tMs": 1.5, "method": "POST", "url": "http://h/", "input": {"threadId": "t", "runId": "r", "messages": []}},
    {"kind": "response", "connId": "c1", "tMs": 2.5, "status": 200, "mime": "text/event-stream"},
    {"kind": "event", "connId": "c1", "tMs": 3.5, "seq": 0, "event": {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}},
    {"kind": "damaged", "connId": "c1", "tMs": 4, "text": "{oops"},
    {"kind": "keepalive", "connId": "c1", "tMs": 4.5, "comment": ""},
    {"kind": "event", "connId": "c1", "tMs": 5.5, "seq": 1, "event": {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}},
    {"kind": "end", "connId": "c1", "tMs": 6, "complete": True, "why": ""},
]  # fmt: skip
PROVIDER = [
    {"kind": "header", "recording": "provider"},
    {"kind": "request", "exchange": "p1", "time": 1_790_000_000_000_000_000, "method": "POST", "url": "http://h/v1/chat/completions", "body": {"model": "m", "messages": [{"role": "user", "content": "x"}]}},
    {"kind": "response", "exchange": "p1", "status": 200, "mime": "application/json"},
    {"kind": "chunk", "exchange": "p1", "text": "{}"},
    {"kind": "end", "exchange": "p1", "complete": True, "why": ""},
]  # fmt: skip
AGENT = [
    {"kind": "header", "recording": "agent"},
    {"kind": "versions", "id": "v1", "packages": {}},
    {"kind": "tools", "id": "t1", "tools": [{"name": "look", "parameters": {}}]},
    {"kind": "model-call", "id": "m1", "time": 1_790_000_000_000_000_000, "toolset": "t1", "options": {"instructions": "Be brief."}, "messages": [{"role": "user", "contents": [{"type": "text", "text": "x"}]}]},
    {"kind": "execution", "id": "x1", "callId": "c1"},
]  # fmt: skip
FILES = {"agui-devtools": AGUI, "provider-recording": PROVIDER, "agent-recording": AGENT}


def encoded(lines):
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def counted(trace):
    (s,) = trace.summary()["sources"]
    assert s["records"] == s["rows"] + s["duplicates"] + s["ignored"] + s["problems"]
    return s


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_accounted_for(name):
    trace = wb.load(encoded(FILES[name]))
    source = counted(trace)
    assert (source["format"], source["records"]) == (name, len(FILES[name]))
    assert source["complete"]
    assert source["problems"] == (name == "agui-devtools")  # the damaged event


@pytest.mark.parametrize("name", FILES)
def test_a_cut_anywhere_keeps_the_lines_before_it(name):
    data = encoded(FILES[name])
    whole = wb.load(data)
    for at in range(len(data) // 3, len(data), 7):
        trace = wb.load(data[:at])
        counted(trace)
        assert len(trace.events) <= len(whole.events)
        lines = data[:at].count(b"\n")
        assert counted(trace)["records"] in (lines, lines + 1)


def test_a_stream_without_its_end_counts_as_cut():
    trace = wb.load(encoded(AGUI[:-1]))
    assert not counted(trace)["complete"]
    assert "the recording ended while the stream was open" in counted(trace)["note"]
    assert not wb.load(encoded(PROVIDER[:-1])).sources.complete[0]


STRANGE = [None, True, -1, 2**70, 1e300, "", "c2", [], {}, [{}], {"type": 1}, "\ud800"]


@pytest.mark.parametrize("name", FILES)
def test_strange_values_never_raise(name):
    chance = random.Random(7)
    for _ in range(100):
        lines = [dict(line) for line in FILES[name]]
        for _ in range(3):
            line = chance.choice(lines[1:])
            line[chance.choice(list(line))] = chance.choice(STRANGE)
        trace = wb.load(encoded(lines))
        counted(trace)
        wb.check(trace)
        assert set(trace.requests.status.dropna()) <= set(range(1000))
        assert len(trace.parts) <= 10
