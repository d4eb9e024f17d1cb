"""How much of a hostile capture is held, followed or unpacked."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one load. What goes beyond them becomes a problem; the rest is still read."""

    #: longest line (SSE, JSON lines), bytes; a longer one is skipped without being held
    max_line: int = 64 * MIB
    #: what gzip, UTF-16 or a stream without a file may grow to, bytes
    max_decompressed: int = 1024 * MIB
    #: largest document that has to be held as a whole (JSON, HAR, pasted text), bytes
    max_json_document: int = 512 * MIB
    #: wrappers inside each other (gzip in a HTTP dump in gzip …)
    max_depth: int = 4
    #: what is looked at to recognise a format, bytes
    max_sniff: int = 256 * KIB
    #: members of a zip archive
    max_members: int = 10_000
