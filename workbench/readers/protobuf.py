"""Streams of AG-UI events in protobuf: 4 bytes of length, then one Event, again and again."""

from __future__ import annotations

import msgspec

from workbench.readers.agui import EventWriter
from workbench.readers.json_events import too_large
from workbench.readers.proto_events import TYPES, decode_event, header
from workbench.readers.proto_wire import WireError, varint
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

MEDIA_TYPE = "ag-ui.event+proto"
#: As large as a frame may be for the official decoders
MAX_FRAME = 10 * 1024 * 1024

CUT = "truncated last event"


def frame_at(data: bytes, at: int) -> int:
    """Where the frame that begins at `at` ends; 0 where none of a known type begins there.

    A frame is told by three sizes that have to agree: that of the frame, of the message in it,
    and of the base that every message begins with.
    """
    end = at + 4 + int.from_bytes(data[at : at + 4], "big")
    if at + 6 > end or end > len(data) or end - at > MAX_FRAME:
        return 0
    number, start = header(data, at + 4, end)
    if number not in TYPES or data[start : start + 1] != b"\x0a":
        return 0
    try:
        size, begin = varint(data, start + 1, end)
    except WireError:
        return 0
    return end if begin + size <= end else 0


def read_frames(reading: Reading, writer: EventWriter) -> None:
    """Read all frames onto a stream; behind a damaged length the next whole frame is looked for."""
    content = reading.content
    data = content.whole()
    at = unknown = 0
    while at < len(data):
        end = _sound(data, at)
        if not end:
            end = _skip(data, at)
            why = _why(data, at, end)
            reading.problem(why, offset=content.start + at, data=data[at:end])
            writer.lost()
            if why == CUT:
                reading.cut("the last frame ends early")
            at = end
            continue
        decoded = decode_event(data[at + 4 : end])
        why = decoded.error
        unknown += decoded.unknown
        if not why:
            raw = msgspec.json.encode(decoded.event)
            why = writer.add(raw, reading.counts.records, -1, content.start + at, end - at)
            if not why:
                reading.row()
                reading.records.overrides.setdefault(len(reading.records.events) - 1, raw)
        if why:
            reading.problem(why, offset=content.start + at, data=data[at:end])
            writer.lost()
        at = end
    if unknown:
        reading.note(f"{unknown} fields that the protocol does not have up to 1.0 were left out")


def _sound(data: bytes, at: int) -> int:
    """Where the frame at `at` ends; 0 where there is none, or where it reaches into another one.

    A frame that lost a byte takes one from its successor, and its sizes agree all the same.
    """
    end = frame_at(data, at)
    if end and end < len(data) and not frame_at(data, end) and _search(data, at + 1) < end:
        return 0
    return end


def _skip(data: bytes, at: int) -> int:
    """The start of the next frame behind something that is none; the end where no more comes."""
    said = at + 4 + int.from_bytes(data[at : at + 4], "big")
    if said == len(data) or (at + 4 < said < len(data) and frame_at(data, said)):
        return said  # only what is inside is damaged
    return _search(data, at + 1)


def _search(data: bytes, at: int) -> int:
    """The first place from `at` where a frame begins; the end if there is none."""
    following = data.find(b"\0", at)
    while following >= 0:
        # Frames are below 16 MiB: the first byte of a length is zero.
        if frame_at(data, following):
            return following
        following = data.find(b"\0", following + 1)
    return len(data)


def _why(data: bytes, at: int, end: int) -> str:
    said = at + 4 + int.from_bytes(data[at : at + 4], "big")
    if end == len(data) < max(said, at + 5):
        return CUT
    number, _ = header(data, at + 4, min(said, end))
    if number and number not in TYPES:
        return f"an Event of type {number}, which the protocol does not have up to 1.0"
    return "damaged: no Event message of AG-UI"


def read(reading: Reading) -> None:
    """Read the content as one stream."""
    if not too_large(reading):
        read_frames(reading, reading.writer(reading.new_stream()))


def recognise(sniff: Sniff) -> bool:
    """A frame stands at the start, or two in a row a little behind it."""
    data = sniff.head
    if data[:1] != b"\0":
        return False
    if frame_at(data, 0):
        return True
    at = _skip(data, 0) if len(data) < 4096 else _skip(data[:4096], 0)
    end = frame_at(data, at)
    return bool(end and (end == len(data) or frame_at(data, end)))


FORMAT = Format(
    name="agui-protobuf",
    title="AG-UI protobuf (application/vnd.ag-ui.event+proto)",
    recognised_by="four bytes of length, then an Event message that fills them",
    extensions=(".aguiproto", ".bin"),
    recognise=recognise,
    read=read,
)
