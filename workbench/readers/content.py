"""Decoded bytes that offsets count in: from memory, from a file again, or spooled to a temporary file."""

from __future__ import annotations

import io
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from workbench.readers.limits import MIB

#: Read-ahead of `FileBytes`: rows are mostly asked for in order, so one block answers many.
BLOCK = 64 * 1024
CHUNK = MIB
#: Decoded bytes beyond this go to a temporary file instead of memory.
IN_MEMORY = 32 * MIB


class Bytes(Protocol):
    """Bytes by position."""

    size: int

    def read(self, offset: int, length: int) -> bytes:
        """A stretch of them; shorter at the end."""


class MemoryBytes:
    """Bytes that are held."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    def read(self, offset: int, length: int) -> bytes:
        """See `Bytes`."""
        return self.data[offset : offset + length]


class FileBytes:
    """Bytes of a file, opened for each block, so that no handle stays behind.

    Raises `OSError` where the file is gone.
    """

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.size = size
        self._block = b""
        self._start = 0

    def read(self, offset: int, length: int) -> bytes:
        """See `Bytes`."""
        inside = offset - self._start
        if inside < 0 or inside + length > len(self._block):
            with self.path.open("rb") as file:
                file.seek(offset)
                block = file.read(max(length, BLOCK))
            if length > BLOCK:
                return block
            self._block, self._start, inside = block, offset, 0
        return self._block[inside : inside + length]


class SpooledBytes:
    """Bytes that were decoded from something else: held while few, else in a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed by the finalizer
        weakref.finalize(self, self._file.close)
        self.size = 0

    def append(self, data: bytes) -> None:
        """Add decoded bytes at the end."""
        self._file.seek(0, os.SEEK_END)
        self._file.write(data)
        self.size += len(data)

    def read(self, offset: int, length: int) -> bytes:
        """See `Bytes`."""
        self._file.seek(offset)
        return self._file.read(length)


class Window:
    """A stretch of other bytes as bytes of their own, counted from 0."""

    def __init__(self, data: Bytes, start: int, size: int) -> None:
        self.data = data
        self.start = start
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """See `Bytes`."""
        return self.data.read(self.start + offset, max(min(length, self.size - offset), 0))


class Content:
    """The stretch `start…end` of a member that one reader is asked to read.

    Offsets are those of the member, lines count from `first_line`.
    """

    def __init__(self, data: Bytes, start: int = 0, end: int | None = None, first_line: int = 1) -> None:
        self.data = data
        self.start = start
        self.end = data.size if end is None else end
        self.first_line = first_line

    @property
    def size(self) -> int:
        """How many bytes there are, without reading them."""
        return self.end - self.start

    def head(self, length: int) -> bytes:
        """The first bytes."""
        return self.data.read(self.start, min(length, self.size))

    def whole(self) -> bytes:
        """All of it, held."""
        return self.data.read(self.start, self.size)

    def view(self, start: int, end: int | None = None, first_line: int | None = None) -> Content:
        """A narrower stretch of the same member."""
        line = self.first_line if first_line is None else first_line
        return Content(self.data, start, self.end if end is None else end, line)

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """The bytes in order, a piece at a time."""
        if isinstance(self.data, FileBytes):
            left = self.size
            with self.data.path.open("rb") as file:
                file.seek(self.start)
                while left > 0 and (chunk := file.read(min(size, left))):
                    left -= len(chunk)
                    yield chunk
            return
        offset = self.start
        while offset < self.end and (chunk := self.data.read(offset, min(size, self.end - offset))):
            offset += len(chunk)
            yield chunk


class ContentFile(io.RawIOBase):
    """A content as the file object that a decoder of the standard library asks for."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._at = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The position, from the start of the content."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a position; raises `ValueError` for one before the start."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._content.size}[whence]
        if base + offset < 0:
            raise ValueError("position before the start")
        self._at = base + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes from the position; all that are left without a size."""
        left = max(self._content.size - self._at, 0)
        length = left if size < 0 else min(size, left)
        data = self._content.data.read(self._content.start + self._at, length) if length else b""
        self._at += len(data)
        return data


def spool(pieces: Iterable[bytes], limit: int) -> tuple[SpooledBytes, bool]:
    """Gather decoded pieces, at most `limit` bytes; the second value tells whether more were left."""
    data = SpooledBytes()
    for piece in pieces:
        room = limit - data.size
        if len(piece) > room:
            data.append(piece[:room])
            return data, True
        data.append(piece)
    return data, False
