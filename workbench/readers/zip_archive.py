"""Zip archives: Playwright's HAR with its bodies in files beside it, or captures packed together.

Nothing is written to disk under a name from the archive, and what all members together may
unpack to is bounded.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator

from workbench.readers import har
from workbench.readers.content import Content, ContentFile, spool
from workbench.readers.json_events import too_large
from workbench.readers.reading import Reading
from workbench.readers.registry import Format, read_content, recognise
from workbench.readers.sniff import Sniff

_FAILURES = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, KeyError, OverflowError,
    RuntimeError, NotImplementedError,
)  # fmt: skip
#: Both can be unpacked piece by piece; the memory that others need is the archive's choice.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_END = b"PK\5\6"


class ZipReader:
    """One archive; `load` is how a HAR gets the bodies that it names."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.left = reading.limits.max_decompressed
        self.named: set[str] = set()
        self._archive: zipfile.ZipFile | None = None
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._said: set[str] = set()

    def read(self) -> None:
        """Read HAR members first, then what none of them names."""
        reading = self.reading
        if too_large(reading):
            return
        why = self._open()
        if why:
            reading.problem(why, offset=reading.content.start, data=reading.content.head(80))
            reading.cut("the zip archive could not be opened")
            return
        names = sorted(self._members, key=lambda name: (not name.lower().endswith(".har"), name))
        read = 0
        for name in names:
            if name not in self.named and not name.endswith("/"):
                read += self._member(name)
        if not read:
            reading.note("no capture in the zip archive")

    def _open(self) -> str:
        """Open the archive; "" or why it cannot be."""
        content = self.reading.content
        tail = content.data.read(max(content.end - 66_000, content.start), min(content.size, 66_000))
        at = tail.rfind(_END)
        if at < 0 or len(tail) < at + 22:
            return "a zip archive without its directory, which stands at the end: it is cut"
        count, size = struct.unpack_from("<HI", tail, at + 10)
        limit = self.reading.limits.max_members
        if count > limit or size > limit * 1024:
            return f"a zip archive of more than {limit:,} members"
        try:
            self._archive = zipfile.ZipFile(ContentFile(content))
            infos = self._archive.infolist()
        except _FAILURES as problem:
            return f"a damaged zip archive: {str(problem)[:100]}"
        for info in infos[:limit]:
            if info.filename in self._members:
                self.reading.ignore("members whose name comes again")
            self._members[info.filename] = info
        return ""

    def load(self, name: str, limit: int | None = None) -> bytes | None:
        """The bytes of a member for a HAR that names it (see `har_entry.Attached`)."""
        self.named.add(name)
        if name not in self._members:
            if limit is None:
                self._say(name, "is named by the HAR and not in the archive")
            return None
        if limit == 0:
            return b""
        pieces: list[bytes] = []
        faults: list[str] = []
        room = self.reading.limits.max_json_document if limit is None else limit
        for piece in self._pieces(name, faults):
            pieces.append(piece[:room])
            room -= len(piece)
            if room <= 0:
                if limit is None:
                    faults.append("is too large")
                break
        for fault in faults if limit is None else ():
            self._say(name, fault)
        return b"".join(pieces)

    def _say(self, name: str, fault: str) -> None:
        text = f"{name[:80]} {fault}"
        if text not in self._said:
            self._said.add(text)
            self.reading.remark(text)
            self.reading.cut("a member of the archive is not whole")

    def _pieces(self, name: str, faults: list[str]) -> Iterator[bytes]:
        """The unpacked bytes of a member, as far as there are any and as far as the bound allows."""
        info = self._members[name]
        if info.flag_bits & 1:
            faults.append("is encrypted")
            return
        if info.compress_type not in _METHODS:
            faults.append(f"is packed with method {info.compress_type}, which is not unpacked")
            return
        assert self._archive is not None
        try:
            with self._archive.open(info) as file:
                while self.left > 0 and (piece := file.read(min(1 << 20, self.left))):
                    self.left -= len(piece)
                    yield piece
        except _FAILURES as problem:
            faults.append(f"is damaged: {str(problem)[:100]}")
            return
        if self.left <= 0:
            limit = self.reading.limits.max_decompressed
            faults.append(f"is left out: the archive unpacks to more than {limit:,} bytes")

    def _member(self, name: str) -> bool:
        """Read one member as what it is; false where it is no capture."""
        reading = self.reading
        faults: list[str] = []
        data, _ = spool(self._pieces(name, faults), reading.limits.max_decompressed)
        for fault in faults:
            self._say(name, fault)
        content = Content(data)
        known = recognise(Sniff(content, reading.limits))
        if known is None or known.read is None:
            kind = "files that are no capture" if known is None else f"files with {known.title}"
            if not faults or data.size:
                reading.ignore(kind)
            return False
        inner = reading.inside(content, reading.new_member(name, content), passes_on=False)
        if known is har.FORMAT:
            if reading.depth > reading.limits.max_depth:
                return False
            har.read(inner, self)
        else:
            read_content(inner)
        reading.counts.format = FORMAT.name
        return True


def read(reading: Reading) -> None:
    """Read the archive."""
    ZipReader(reading).read()


FORMAT = Format(
    name="zip",
    title="Zip archive: Playwright's HAR with its bodies (.har.zip), or captures packed together",
    recognised_by="the bytes PK 03 04",
    extensions=(".har.zip", ".zip"),
    recognise=lambda sniff: sniff.head.startswith(b"PK\3\4"),
    read=read,
)
