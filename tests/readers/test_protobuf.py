"""The protobuf encoding: `more/every_type.aguiproto` was written by @ag-ui/proto 1.0.0 from the lines beside it."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.readers import load
from workbench.readers.proto_events import TYPES, decode_event
from workbench.readers.protobuf import frame_at

DATA = Path(__file__).resolve().parent.parent / "data" / "formats" / "more"
STREAM = (DATA / "every_type.aguiproto").read_bytes()
EVENTS = [json.loads(line) for line in (DATA / "every_type.jsonl").read_bytes().splitlines()]


def split(stream: bytes) -> list[bytes]:
    frames = []
    while stream:
        size = 4 + int.from_bytes(stream[:4], "big")
        frames.append(stream[:size])
        stream = stream[size:]
    return frames


FRAMES = split(STREAM)


def events(stream: bytes) -> list[dict]:
    records = load([stream])
    (source,) = records.sources
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    return [records.json(row) for row in range(len(records.events))]


def test_every_type_is_what_the_official_encoder_was_given():
    records = load([DATA / "every_type.aguiproto"])
    assert [records.json(row) for row in range(len(records.events))] == EVENTS
    assert {event["type"] for event in EVENTS} == set(TYPES.values())
    assert [records.raw(row) for row in range(len(records.events))] == FRAMES
    assert not records.problems


def test_missing_outcomes_and_unknown_fields():
    message = b"\x0a\x02\x08\x0c\x12\x01t\x1a\x01r" + b"\xfa\x01\x03xyz"
    records = load([FRAMES[0] + struct.pack(">IBB", len(message) + 2, 0x6A, len(message)) + message])
    assert records.json(1) == {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
    assert "1 fields that the protocol does not have" in records.sources[0].note


def test_a_type_of_a_later_release_is_said_and_costs_nothing_else():
    message = b"\x0a\x02\x08\x20\x12\x01t"
    later = struct.pack(">IBBB", len(message) + 3, 0xC2, 0x02, len(message)) + message  # field 40
    for stream in (FRAMES[0] + later + FRAMES[1], FRAMES[0] + later):
        records = load([stream])
        assert [problem.reason for problem in records.problems] == [
            "an Event of type 40, which the protocol does not have up to 1.0"
        ]
        assert records.sources[0].complete


@pytest.mark.parametrize("number", [0, 3, 20, len(FRAMES) - 1])
def test_damage_of_any_byte_leaves_the_other_frames(number):
    frame = FRAMES[number]
    for at in range(len(frame)):
        for damaged in (
            frame[:at] + frame[at + 1 :],
            frame[:at] + bytes([frame[at] ^ 0x41]) + frame[at + 1 :],
        ):
            found = events(b"".join([*FRAMES[:number], damaged, *FRAMES[number + 1 :]]))
            if at < 2 and number == 0:
                continue  # no more told from other binary files
            rest = iter(found)
            for other in EVENTS[:number] + EVENTS[number + 1 :]:
                assert other in rest, (number, at)


def test_a_cut_stream_is_cut():
    records = load([STREAM[:-3]])
    assert len(records.events) == len(EVENTS) - 1
    assert records.problems[0].reason == "truncated last event"
    assert not records.sources[0].complete
    assert not records.streams[0].complete


def test_nesting_is_bounded():
    value = b"\x08\x00"
    for _ in range(5000):
        inner = b"\x0a" + _varint(len(value)) + value
        value = b"\x32" + _varint(len(inner)) + inner
    message = b"\x0a\x02\x08\x06\x12" + _varint(len(value)) + value
    event = b"\x3a" + _varint(len(message)) + message
    records = load([FRAMES[0] + struct.pack(">I", len(event)) + event + FRAMES[1]])
    assert len(records.events) == 2
    assert "nested too deeply" in records.problems[0].reason


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80), st.sampled_from(FRAMES), st.integers(0, 60))
def test_anything_in_a_frame(data, frame, at):
    for message in (data, frame[4 : 4 + at] + data):
        decoded = decode_event(message)
        assert bool(decoded.error) != bool(decoded.event)
    assert frame_at(data, 0) in (0, len(data)) or frame_at(data, 0) < len(data)


def test_a_body_of_that_media_type_in_a_har():
    entry = {
        "startedDateTime": "2026-09-21T14:13:20Z",
        "request": {"method": "POST", "url": "http://localhost/agent"},
        "response": {
            "status": 200,
            "content": {"mimeType": "application/vnd.ag-ui.event+proto", "encoding": "base64", "text": base64.b64encode(STREAM).decode()},
        },
    }  # fmt: skip
    records = load([json.dumps({"log": {"creator": {}, "entries": [entry]}}).encode()])
    assert len(records.events) == len(EVENTS)
    assert records.raw(0) == FRAMES[0]
