"""Damage to one record leaves the rows of all others unchanged, whatever the format."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.readers import load

EVENTS = [
    {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1", "timestamp": 1790000000000},
    {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": 'He said: "[{},{}]" \\ naïve, {"type": "x"}'},
    {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "u1", "role": "user", "content": "a"}, {"id": "u2", "role": "user"}]},
    {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": [1, {"type": "text"}]}]},
    {"type": "USAGE_METADATA", "tokens": [1, 2]},
    {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1",
     "outcome": {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "tool_call"}]}},
]  # fmt: skip
TEXTS = [json.dumps(event, ensure_ascii=False).encode() for event in EVENTS]


@dataclass
class Layout:
    """A document made of pieces: what stands before, between and after the records."""

    records: list[bytes]
    before: bytes = b""
    between: bytes = b""
    after: bytes = b""

    def document(self, number: int = -1, damaged: bytes = b"") -> bytes:
        records = list(self.records)
        if number >= 0:
            records[number] = damaged
        return self.before + self.between.join(records) + self.after


def quoted(text: bytes) -> bytes:
    return json.dumps(text.decode()).encode()


def har(messages: list[bytes]) -> Layout:
    entry = {"startedDateTime": "2026-09-21T14:13:20Z", "request": {"method": "POST", "url": "http://localhost/agent"},
             "response": {"status": 200, "content": {"mimeType": "text/event-stream"}}}  # fmt: skip
    text = json.dumps({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": [entry]}})
    before = text[: text.rindex("}]}}")].encode() + b', "_eventSourceMessages": ['
    wrapped = [
        b'{"time": 1790000000.%d, "eventName": "message", "data": %s}' % (n, quoted(m))
        for n, m in enumerate(messages)
    ]
    return Layout(wrapped, before, b", ", b"]}]}}")


def log(prefix: str) -> list[bytes]:
    return [prefix.encode() + text for text in TEXTS]


def session() -> Layout:
    head = {
        "id": "s",
        "exchanges": [{"id": "x0", "kind": "run", "startedAt": 1790000000000, "frameIds": ["f0"]}],
    }
    before = json.dumps({"version": 0, "session": head})[:-2].encode() + b', "frames": ['
    frames = [
        b'{"id": "f%d", "exchangeId": "x0", "classification": "data", "data": %s, "offsetMs": %d}'
        % (n, quoted(t), n)
        for n, t in enumerate(TEXTS)
    ]
    return Layout(frames, before, b", ", b'], "findings": []}}')


DEVTOOLS = [
    b'{"kind":"event","connId":"c%d","seq":%d,"tMs":%d,"event":%s}' % (n % 2, n, n, text)
    for n, text in enumerate(TEXTS)
]
ENVELOPE = b'{"timestamp":%d,"agentId":"a","threadId":"t1","runId":"r1","%s":%s}'
LAYOUTS = {
    "aimock": Layout(TEXTS, b'{"fixtures": [{"match": {"message": "x"}, "events": [', b", ", b"]}]}"),
    "copilotkit-debug": Layout(
        [b"data: " + ENVELOPE % (1790000000000 + n, b"event", t) for n, t in enumerate(TEXTS)],
        b": connected\n\n", b"\n\n", b"\n\n",
    ),
    "copilotkit-inspector": Layout(
        [b'{"id":"e","type":"X",' + (ENVELOPE % (1790000000000 + n, b"payload", t))[1:] for n, t in enumerate(TEXTS)],
        b"[", b", ", b"]",
    ),
    "ts-debug-log": Layout(log("[VERIFY] Event: "), b"", b"\n", b"\n"),
    "af-python-log": Layout(log("2026-09-21 14:13:20,000 - x - DEBUG - [/agent] Encoded as: data: "), b"", b"\n", b"\n"),
    "python-repr": Layout([repr(event).encode() for event in EVENTS], b"", b"\n", b"\n"),
    "agui-inspector": session(),
    "sse": Layout([b"data: " + text for text in TEXTS], b"", b"\n\n", b"\n\n"),
    "sse-crlf": Layout([b"data: " + text for text in TEXTS], b"", b"\r\n\r\n", b"\r\n\r\n"),
    "sse-single-newlines": Layout([b"data: " + text for text in TEXTS], b"", b"\n", b"\n\n"),
    "jsonl": Layout(TEXTS, b"", b"\n", b"\n"),
    "wrapped": Layout(
        [b'{"ts":%d,"event":%s}' % (1790000000000 + n, t) for n, t in enumerate(TEXTS)], b"", b"\n", b"\n"
    ),
    "array": Layout(TEXTS, b"[", b", ", b"]"),
    "array-of-lines": Layout(TEXTS, b"[\n  ", b",\n  ", b"\n]\n"),
    "object": Layout(TEXTS, b'{"events": [', b", ", b"]}"),
    "har": har(TEXTS),
    "devtools": Layout(
        DEVTOOLS, b'{"kind":"header","schemaVersion":1,"capturedAt":"2026-09-21T14:13:20Z"}\n', b"\n", b"\n"
    ),
}  # fmt: skip
COLUMNS = ("type", "own_thread", "own_run", "message", "parent", "call", "name", "role")


def rows(document: bytes) -> list[tuple]:
    """Every row by what it says; its number, line and offset may move."""
    records = load([document])
    for source in records.sources:
        assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    events = records.events
    texts = [list(records.texts(getattr(events, column))) for column in COLUMNS]
    return [
        (*(column[row] for column in texts), events.time[row], events.time_source[row],
         json.dumps(records.json(row)), records.raw(row))
        for row in range(len(events))
    ]  # fmt: skip


def streams(document: bytes, kept: list[tuple]) -> list[int]:
    """Which of the kept rows arrived together: stream numbers in the order of their first row."""
    records = load([document])
    names: dict[int, int] = {}
    found = rows(document)
    order = []
    position = 0
    for row in kept:
        position = found.index(row, position)
        number = records.events.stream[position]
        order.append(names.setdefault(number, len(names)))
        position += 1
    return order


UNDAMAGED = {name: rows(layout.document()) for name, layout in LAYOUTS.items()}


def check(name: str, number: int, damaged: bytes) -> None:
    layout = LAYOUTS[name]
    whole = UNDAMAGED[name]
    assert len(whole) == len(layout.records)
    others = whole[:number] + whole[number + 1 :]
    document = layout.document(number, damaged)
    found = rows(document)
    remaining = iter(found)
    for other in others:
        assert other in remaining, f"lost: {other[0]}\nin {document!r}"
    assert len(set(streams(document, others))) == len(set(streams(layout.document(), others)))


def spans(layout: Layout) -> st.SearchStrategy:
    """Record, kind of damage, and where."""
    return st.tuples(
        st.integers(0, len(layout.records) - 1),
        st.sampled_from(["flip", "delete", "insert", "cut"]),
        st.floats(0, 1, exclude_max=True),
        st.floats(0, 1, exclude_max=True),
        st.one_of(
            st.sampled_from(
                [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\xff", b"\0", b'"}', b'{"', b"},{", b"]}"]
            ),
            st.binary(min_size=1, max_size=4),
        ),
    )


def damage(record: bytes, kind: str, where: float, until: float, new: bytes) -> bytes:
    at = int(where * len(record))
    end = at + 1 + int(until * (len(record) - at))
    if kind == "flip":
        return record[:at] + bytes([record[at] ^ (new[0] or 1)]) + record[at + 1 :]
    if kind == "delete":
        return record[:at] + record[end:]
    if kind == "insert":
        return record[:at] + new + record[at:]
    return record[:at]


@pytest.mark.parametrize("name", LAYOUTS)
def test_any_damage(name):
    @settings(max_examples=120, deadline=None)
    @given(spans(LAYOUTS[name]))
    @example((0, "cut", 0.5, 0.0, b"x"))
    @example((3, "cut", 0.9, 0.0, b"x"))
    @example((6, "cut", 0.99, 0.0, b"x"))
    def run(case):
        number, kind, where, until, new = case
        damaged = damage(LAYOUTS[name].records[number], kind, where, until, new)
        if damaged.strip():
            check(name, number, damaged)

    run()


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("number", range(len(EVENTS)))
def test_each_structural_byte_missing(name, number):
    record = LAYOUTS[name].records[number]
    for at in range(len(record)):
        if record[at : at + 1] in b'{}[]":,\\':
            check(name, number, record[:at] + record[at + 1 :])


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("number", range(len(EVENTS)))
def test_closing_brackets_missing(name, number):
    """The brackets of the document must not be taken for those of the record; one alone is missing above."""
    record = LAYOUTS[name].records[number]
    for size in range(2, 5):
        for at in range(max(len(record) - 30, 0), len(record) - size + 1):
            if set(b"]}") & set(record[at : at + size]):
                check(name, number, record[:at] + record[at + size :])


def test_two_arrays_keep_their_streams():
    document = b'{"one": [%s, %s], "two": [%s, %s]}' % (TEXTS[0], TEXTS[6][:-4], TEXTS[0], TEXTS[6])
    records = load([document])
    assert [records.pool.text(code) for code in records.events.type] == [
        "RUN_STARTED",
        "RUN_STARTED",
        "RUN_FINISHED",
    ]
    assert list(records.events.stream) == [0, 1, 1]
    assert [stream.complete for stream in records.streams] == [False, True]


def test_a_damaged_har_entry_leaves_the_other_entries():
    entry = b'{"startedDateTime":"2026-09-21T14:13:2%dZ","request":{"url":"http://localhost/a"},"response":{"content":{"mimeType":"text/event-stream","text":%s}}}'
    text = quoted(b"data: " + TEXTS[0] + b"\n\n")
    entries = [entry % (n, text) for n in range(3)]
    entries[1] = entries[1].replace(b'"response":{', b'"response":{{')
    records = load([b'{"log":{"entries":[' + b",".join(entries) + b"]}}"])
    assert [records.members[m].name for m in records.events.member] == [
        "log.entries[0].response",
        "log.entries[2].response",
    ]
    assert any("log.entries[1]" in problem.reason for problem in records.problems)
