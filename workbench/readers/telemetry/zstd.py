"""zstd around any other format, and around single exports; what it may unpack to is bounded."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.readers.content import Content, spool
from workbench.readers.limits import MIB
from workbench.readers.reading import Reading
from workbench.readers.registry import Format, read_content

MAGIC = b"\x28\xb5\x2f\xfd"
#: Memory that a frame may ask for: as much as zstd itself allows without being told otherwise
_WINDOW = 128 * MIB
_PIECE = MIB
#: Packed bytes that are unpacked at once: they become 128 MiB at most
_SIP = 4096


def unpack(data: bytes, room: int) -> tuple[bytes, str]:
    """The content of one frame, and why it could not be had."""
    import zstandard

    pieces: list[bytes] = []
    size = 0
    try:
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(data) as stream:
            while piece := stream.read(_PIECE):
                size += len(piece)
                if size > room:
                    return b"", f"an export that unpacks to more than is left of {room:,} bytes"
                pieces.append(piece)
    except zstandard.ZstdError as problem:
        return b"", f"zstd data is damaged: {problem}"
    return b"".join(pieces), ""


def read(reading: Reading) -> None:
    """Unpack and read what is inside; offsets count in the unpacked bytes."""
    import zstandard

    broken = ""

    def pieces() -> Iterator[bytes]:
        nonlocal broken
        unpack = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        try:
            for chunk in reading.content.chunks(_SIP):
                rest = chunk
                while rest:
                    if unpack.eof:
                        unpack = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
                    yield unpack.decompress(rest)
                    rest = unpack.unused_data if unpack.eof else b""
        except zstandard.ZstdError as problem:
            broken = f"zstd data is damaged: {problem}"
            return
        if not unpack.eof:
            broken = "zstd data ends early"

    data, more = spool(pieces(), reading.limits.max_decompressed)
    reading.note("zstd")
    inner = Content(data)
    member = reading.new_member("", inner)
    if more:
        limit = f"more than {reading.limits.max_decompressed:,} bytes when decoded; the rest was left out"
        reading.remark(f"zstd: {limit}")
        reading.cut(limit)
    elif broken:
        reading.remark(broken, member=member, offset=data.size)
        reading.cut(broken)
    read_content(reading.inside(inner, member, passes_on=False))


FORMAT = Format(
    name="zstd",
    title="zstd around any other format",
    recognised_by="the bytes 28 b5 2f fd",
    extensions=(".zst",),
    recognise=lambda sniff: sniff.head.startswith(MAGIC),
    read=read,
)
