"""A streamed body, taken apart while it arrives: server-sent events, protobuf frames, compression, text."""

from __future__ import annotations

import codecs
import re
import zlib
from typing import NamedTuple

import msgspec

from workbench.readers.proto_events import decode_event

#: A single event beyond this is not held while it arrives
MAX_EVENT = 32 * 1024 * 1024
_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


class Frame(NamedTuple):
    """One unit of a stream: an event's data (or the text of a comment), or bytes that are none."""

    kind: str  # event, comment, damaged
    data: bytes


class SseFrames:
    """Server-sent events by the rules of the WHATWG standard; only `data` and comments matter here."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._first = True

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events that are whole with this chunk."""
        frames: list[Frame] = []
        # Only the new bytes can hold a line end, but for a CR that stood last.
        searched = max(len(self._rest) - 1, 0)
        self._rest += chunk
        if self._first and len(self._rest) >= 3:
            self._first = False
            if self._rest.startswith(codecs.BOM_UTF8):
                del self._rest[:3]
                searched = 0
        start = 0
        for found in _END.finditer(self._rest, searched):
            self._line(bytes(self._rest[start : found.start()]), frames)
            start = found.end()
        del self._rest[:start]
        if len(self._rest) + self._size > MAX_EVENT:
            frames.append(Frame("damaged", b"an event of more than 32 MiB"))
            self._rest.clear()
            self._data.clear()
            self._size = 0
        return frames

    def end(self) -> list[Frame]:
        """What is left when the stream is over: an event without the blank line that closes it."""
        frames: list[Frame] = []
        self._line(bytes(self._rest).removesuffix(b"\r"), frames)
        self._line(b"", frames)
        self._rest.clear()
        return frames

    def _line(self, line: bytes, frames: list[Frame]) -> None:
        if not line:
            if self._data:
                frames.append(Frame("event", b"\n".join(self._data)))
            self._data = []
            self._size = 0
        elif line.startswith(b":"):
            frames.append(Frame("comment", line[1:].strip()))
        elif line == b"data" or line.startswith(b"data:"):
            data = line[5:].removeprefix(b" ")
            self._data.append(data)
            self._size += len(data)


class ProtoFrames:
    """Frames of four bytes of length and an AG-UI Event, as JSON."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._broken = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events that are whole with this chunk."""
        frames: list[Frame] = []
        self._rest += chunk
        while len(self._rest) >= 4 and not self._broken:
            size = int.from_bytes(self._rest[:4], "big")
            if size > MAX_EVENT:
                # without a length that can be believed nothing behind it can be told apart
                self._broken = True
                frames.append(Frame("damaged", b"a protobuf frame of more than 32 MiB"))
            elif len(self._rest) < 4 + size:
                break
            else:
                decoded = decode_event(bytes(self._rest[4 : 4 + size]))
                del self._rest[: 4 + size]
                if decoded.error:
                    frames.append(Frame("damaged", decoded.error.encode()))
                else:
                    frames.append(Frame("event", msgspec.json.encode(decoded.event)))
        if self._broken:
            self._rest.clear()
        return frames

    def end(self) -> list[Frame]:
        """What is left when the stream is over."""
        left = [Frame("damaged", b"a cut protobuf frame")] if self._rest else []
        self._rest.clear()
        return left


class Unpacked:
    """The body behind a `content-encoding`; bounded by what is asked for at once."""

    def __init__(self, encoding: str) -> None:
        encoding = encoding.strip().lower()
        self.readable = encoding in ("", "identity", "gzip", "x-gzip", "deflate")
        self._unpack = (
            zlib.decompressobj(zlib.MAX_WBITS | 32)
            if self.readable and encoding not in ("", "identity")
            else None
        )

    def feed(self, chunk: bytes) -> bytes:
        """The decoded bytes; nothing more after damage."""
        if not self.readable:
            return b""
        if self._unpack is None:
            return chunk
        try:
            return self._unpack.decompress(chunk, MAX_EVENT)
        except zlib.error:
            self.readable = False
            return b""


class Text:
    """Bytes as text, where a character may be spread over two chunks."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, chunk: bytes, *, final: bool = False) -> str:
        """The characters that are whole with this chunk."""
        return self._decoder.decode(chunk, final)
