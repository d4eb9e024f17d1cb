"""Streams taken apart while they arrive: however they are cut, the same comes out."""

from __future__ import annotations

import gzip
import zlib
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.record.framing import Frame, ProtoFrames, SseFrames, Text, Unpacked

STREAM = (
    '\ufeff: hello\n\ndata: {"a":1}\n\ndata:{\ndata: "b":2}\r\n\r\nid: 7\revent: x\rdata: 3\r\r:\n'
    "data\n\nretry: 5\ndata: ünd\n\ndata: last"
).encode()  # fmt: skip
FRAMES = [
    Frame("comment", b"hello"), Frame("event", b'{"a":1}'), Frame("event", b'{\n"b":2}'), Frame("event", b"3"),
    Frame("comment", b""), Frame("event", b""), Frame("event", "ünd".encode()), Frame("event", b"last"),
]  # fmt: skip


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_sse_is_the_same_however_it_is_cut(cuts):
    places = [0, *sorted(cuts), len(STREAM)]
    frames = SseFrames()
    found = [f for a, b in pairwise(places) for f in frames.feed(STREAM[a:b])]
    assert found + frames.end() == FRAMES


def test_an_event_without_end_is_not_held(monkeypatch):
    monkeypatch.setattr("workbench.record.framing.MAX_EVENT", 1000)
    frames = SseFrames()
    found = [f for _ in range(50) for f in frames.feed(b"data: " + b"x" * 100)]
    assert {f.kind for f in found} == {"damaged"}
    assert len(frames._rest) <= 1000
    frames = SseFrames()
    assert [f.kind for _ in range(20) for f in frames.feed(b"data: " + b"x" * 100 + b"\n")] == ["damaged"]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_protobuf_frames_become_json(root, size):
    data = (root / "tests/data/formats/more/every_type.aguiproto").read_bytes()
    frames = ProtoFrames()
    found = [f for at in range(0, len(data), size) for f in frames.feed(data[at : at + size])]
    assert not frames.end()
    expected = Path(root / "tests/data/formats/more/every_type.jsonl").read_text().splitlines()
    types = [msgspec.json.decode(f.data)["type"] for f in found if f.kind == "event"]
    assert {f.kind for f in found} == {"event"}
    assert types == [
        msgspec.json.decode(line)["type"] for line in expected if msgspec.json.decode(line)["type"] in types
    ]


def test_a_protobuf_length_that_cannot_be_ends_the_reading():
    frames = ProtoFrames()
    (found,) = frames.feed(b"\xff\xff\xff\xff" + b"x" * 100)
    assert found.kind == "damaged"
    assert frames.feed(b"\0\0\0\1x") == []


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("", bytes)])
def test_encodings(name, pack):
    unpack = Unpacked(name)
    packed = pack(b"data: 1\n\n" * 100)
    assert (
        b"".join(unpack.feed(packed[at : at + 10]) for at in range(0, len(packed), 10))
        == b"data: 1\n\n" * 100
    )
    assert not Unpacked("br").readable
    damaged = Unpacked("gzip")
    assert damaged.feed(b"no gzip at all") == b""
    assert not damaged.readable


def test_characters_spread_over_chunks():
    text = Text()
    assert "".join(text.feed(bytes([byte])) for byte in "für €".encode()) == "für €"
