"""Byte order marks, UTF-16 and gzip: what has to come off before a format can be recognised."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator

from workbench.readers.content import Content, spool
from workbench.readers.reading import Reading
from workbench.readers.registry import Format, read_content
from workbench.readers.sniff import Sniff

#: Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def wide_encoding(head: bytes) -> tuple[str, int]:
    """The UTF-16 or UTF-32 encoding of some text and the length of its mark; "" for others."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding, len(mark)
    start = head[:8]
    if len(start) == 8 and start[0] < 128 and start[1::2] == bytes(4) and all(start[::2]):
        return "utf-16-le", 0
    if len(start) == 8 and start[1] < 128 and start[::2] == bytes(4) and all(start[1::2]):
        return "utf-16-be", 0
    return "", 0


def read_wide(reading: Reading) -> None:
    """Turn UTF-16 or UTF-32 into UTF-8 and read that; offsets count in the UTF-8 text."""
    content = reading.content
    encoding, mark = wide_encoding(content.head(8))
    replaced = 0

    def pieces() -> Iterator[bytes]:
        nonlocal replaced
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        for chunk in content.view(content.start + mark).chunks():
            text = decoder.decode(chunk)
            replaced += text.count("\ufffd")
            yield text.encode("utf-8", "replace")
        rest = decoder.decode(b"", final=True)
        replaced += rest.count("\ufffd")
        yield rest.encode("utf-8", "replace")

    data, more = spool(pieces(), reading.limits.max_decompressed)
    name = encoding.upper().replace("-LE", "").replace("-BE", "")
    reading.note(f"{name}; offsets count in its UTF-8 form")
    if replaced:
        reading.remark(f"{replaced} characters that are not {name} became U+FFFD")
    if more:
        _too_much(reading, name)
    inner = Content(data)
    read_content(reading.inside(inner, reading.new_member("", inner), passes_on=False))


def read_gzip(reading: Reading) -> None:
    """Unpack and read what is inside; offsets count in the unpacked bytes."""
    content = reading.content
    broken = ""

    def pieces() -> Iterator[bytes]:
        nonlocal broken
        unpack = zlib.decompressobj(wbits=31)
        try:
            for chunk in content.chunks():
                rest = chunk
                while rest:
                    if unpack.eof:
                        if not rest.strip(b"\0"):
                            break  # padding
                        unpack = zlib.decompressobj(wbits=31)  # a further gzip member
                    yield unpack.decompress(rest, 1 << 20)
                    rest = unpack.unconsumed_tail or unpack.unused_data
            while not unpack.eof and (piece := unpack.decompress(unpack.unconsumed_tail, 1 << 20)):
                yield piece
        except zlib.error as problem:
            broken = f"gzip data is damaged: {problem}"
            return
        if not unpack.eof:
            broken = "gzip data ends early"

    data, more = spool(pieces(), reading.limits.max_decompressed)
    reading.note("gzip")
    inner = Content(data)
    member = reading.new_member("", inner)
    if more:
        _too_much(reading, "gzip")
    elif broken:
        reading.remark(broken, member=member, offset=data.size)
        reading.cut(broken)
    read_content(reading.inside(inner, member, passes_on=False))


def _too_much(reading: Reading, name: str) -> None:
    limit = f"more than {reading.limits.max_decompressed:,} bytes when decoded; the rest was left out"
    reading.remark(f"{name}: {limit}")
    reading.cut(limit)


GZIP = Format(
    name="gzip",
    title="gzip around any other format",
    recognised_by="the bytes 1f 8b",
    extensions=(".gz",),
    recognise=lambda sniff: sniff.head[:3] == b"\x1f\x8b\x08",
    read=read_gzip,
)


def _is_wide(sniff: Sniff) -> bool:
    return bool(wide_encoding(sniff.head)[0])


WIDE = Format(
    name="utf-16",
    title="UTF-16 or UTF-32 text around any other format",
    recognised_by="its byte order mark, or every second byte is zero",
    extensions=(),
    recognise=_is_wide,
    read=read_wide,
)
