"""Files of the Collector with a length before each export, and single exports in protobuf.

Each of them is protobuf or JSON, and may be packed with zstd on its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.readers.content import Content, SpooledBytes
from workbench.readers.json_events import too_large
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff
from workbench.readers.telemetry import zstd
from workbench.readers.telemetry.dispatch import Telemetry
from workbench.readers.telemetry.otlp_proto import ProtoReader, is_export
from workbench.readers.telemetry.reader import without_gc

#: A length, and what may stand behind it: protobuf, JSON, or a frame of zstd
_FRAME = re.compile(rb'\x00[\s\S]{3}(?=\x0a|\{"|' + re.escape(zstd.MAGIC) + rb")")
_MAX_FRAME = 1 << 24
#: Offers to a search for the next frame; each of them costs a look at its content
_MAX_OFFERS = 20_000


def _begins(data: bytes, at: int) -> bool:
    """Whether what stands at `at` begins like an export."""
    if data.startswith(zstd.MAGIC, at) or data.startswith(b'{"resource', at):
        return True
    return data.startswith(b"\x0a", at)


def _end(data: bytes, at: int) -> int:
    """Where the frame that begins at `at` ends; 0 where it would end behind the data, or is none."""
    size = int.from_bytes(data[at : at + 4], "big")
    end = at + 4 + size
    return end if 0 < size <= _MAX_FRAME and end <= len(data) and _begins(data, at + 4) else 0


class FramesReader:
    """Reads frame by frame; behind a damaged length the next whole frame is looked for."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.data = reading.content.whole()
        self._plain = Telemetry(reading)
        self._unpacked = SpooledBytes()
        self._inner: Telemetry | None = None

    def read(self) -> None:
        """Read all frames."""
        reading, base = self.reading, self.reading.content.start
        for at, end, whole in self._frames():
            if whole:
                self._payload(self.data[at + 4 : end], base + at + 4)
                continue
            rest = self.data[at:end]
            if end == len(self.data):
                reading.problem("truncated last export", offset=base + at, data=rest)
                reading.cut("the last export ends early")
            else:
                reading.problem("damaged: no export with its length before it", offset=base + at, data=rest)

    def _frames(self) -> Iterator[tuple[int, int, bool]]:
        """Start and end of each frame, and whether it is one."""
        data = self.data
        at = 0
        while at < len(data):
            end = _end(data, at)
            if end:
                yield at, end, True
                at = end
                continue
            following = len(data)
            for count, found in enumerate(_FRAME.finditer(data, at + 1)):
                if count > _MAX_OFFERS:
                    break
                stop = _end(data, found.start())
                if stop and (stop == len(data) or _end(data, stop)):
                    following = found.start()
                    break
            yield at, following, False
            at = following

    def _payload(self, payload: bytes, offset: int) -> None:
        telemetry = self._plain
        if payload.startswith(zstd.MAGIC):
            room = self.reading.limits.max_decompressed - self._unpacked.size
            unpacked, fault = zstd.unpack(payload, room)
            if fault:
                self.reading.problem(fault, offset=offset, data=payload)
                return
            offset = self._unpacked.size
            self._unpacked.append(unpacked)
            payload = unpacked
            telemetry = self._inside()
        if payload[:1] == b"{":
            why = telemetry.take(payload.rstrip(), -1, offset)
            if why:
                telemetry.reading.problem(why, offset=offset, data=payload)
        else:
            ProtoReader(telemetry.writer).take(payload, offset)

    def _inside(self) -> Telemetry:
        """What takes unpacked exports: their offsets count in all of them together."""
        if self._inner is None:
            content = Content(self._unpacked, 0, 0)
            member = self.reading.new_member("unpacked exports", content)
            self._inner = Telemetry(self.reading.inside(content, member, passes_on=False))
            self.reading.note("zstd in each export; offsets count in the unpacked exports")
        return self._inner


def read_frames(reading: Reading) -> None:
    """Read exports with their lengths before them."""
    if not too_large(reading):
        with without_gc():
            FramesReader(reading).read()


def read_one(reading: Reading) -> None:
    """Read one export without a length: the body of a request to a collector."""
    if not too_large(reading):
        with without_gc():
            ProtoReader(Telemetry(reading).writer).take(reading.content.whole(), reading.content.start)


def _is_framed(sniff: Sniff) -> bool:
    """The first frame, or one a little behind it, holds an export."""
    data = sniff.head
    if data[:1] != b"\0":
        return False
    for found in (_FRAME.match(data), *_FRAME.finditer(data[:4096], 1)):
        if found is None:
            continue
        at = found.start()
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        if data.startswith(zstd.MAGIC, at + 4):
            return True
        if data.startswith(b'{"resource', at + 4):
            return True
        # of a frame that is longer than the head only the front can be looked at
        if end <= len(data) and is_export(data, at + 4, end):
            return True
        if not sniff.whole and end > len(data) and _front(data, at + 4):
            return True
    return False


def _front(data: bytes, at: int) -> bool:
    """Whether a cut message begins with a resource that names its attributes as telemetry does."""
    return b"service.name" in data[at : at + 4096] or b"telemetry.sdk" in data[at : at + 4096]


def _is_one(sniff: Sniff) -> bool:
    if sniff.head[:1] != b"\x0a":
        return False
    return is_export(sniff.head, 0, len(sniff.head)) if sniff.whole else _front(sniff.head, 0)


FRAMED = Format(
    name="otlp-framed",
    title="OpenTelemetry exports with their lengths (Collector: protobuf, or zstd for each export)",
    recognised_by="four bytes of length, then an export in protobuf, JSON or zstd",
    extensions=(".proto", ".binlp", ".zst"),
    recognise=_is_framed,
    read=read_frames,
)
ONE = Format(
    name="otlp-protobuf",
    title="One OpenTelemetry export in protobuf",
    recognised_by="resources, scopes and spans, log records or metrics inside of each other",
    extensions=(".pb", ".bin"),
    recognise=_is_one,
    read=read_one,
)
