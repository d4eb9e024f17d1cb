"""Streamed texts, put together from their deltas on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from workbench.readers.records import Records

#: Rows read from the member at once: about a megabyte of ordinary deltas.
_STRETCH = 4096


class _Delta(msgspec.Struct):
    delta: str = ""


_decode = msgspec.json.Decoder(_Delta).decode


def text_of(records: Records, ranges: Iterable[tuple[int, int]]) -> str:
    """The deltas of inclusive ranges of event rows, joined; a delta that is no text is left out."""
    pieces: list[str] = []
    for first, last in ranges:
        for start in range(first, last + 1, _STRETCH):
            pieces.extend(_deltas(records, start, min(start + _STRETCH - 1, last)))
    return "".join(pieces)


def _deltas(records: Records, first: int, last: int) -> Iterator[str]:
    """One read for all rows where they stand one after the other in one member."""
    events = records.events
    offset, length, member = events.offset, events.length, events.member
    base, end = offset[first], offset[last] + length[last]
    near = base >= 0 and member[first] == member[last] and base <= offset[last] <= base + _STRETCH * 4096
    data = records.members[member[first]].read(base, end - base) if near and last > first else b""
    for row in range(first, last + 1):
        at = offset[row] - base
        if data and row not in records.overrides and member[row] == member[first] and at >= 0:
            text = data[at : at + length[row]]
        else:
            text = records.json_bytes(row)
        try:
            yield _decode(text).delta
        except (msgspec.DecodeError, OSError, RecursionError):
            delta = records.json(row).get("delta")
            yield delta if isinstance(delta, str) else ""
