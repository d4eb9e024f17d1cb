"""Streamed texts, put together from their deltas on demand."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from workbench.readers.records import Records

#: Rows read from the member at once: about a megabyte of ordinary deltas.
_STRETCH = 4096


class _Delta(msgspec.Struct):
    delta: str = ""


#: What stands between the events of two plain SSE frames; no JSON text has a bare line end in a string
_BETWEEN = b"\n\ndata: "
_decode = msgspec.json.Decoder(_Delta).decode
_decode_all = msgspec.json.Decoder(list[_Delta]).decode


def text_of(records: Records, ranges: Iterable[tuple[int, int]]) -> str:
    """The deltas of inclusive ranges of event rows, joined; a delta that is no text is left out."""
    pieces: list[str] = []
    for first, last in ranges:
        for start in range(first, last + 1, _STRETCH):
            pieces.extend(_deltas(records, start, min(start + _STRETCH - 1, last)))
    return "".join(pieces)


def _deltas(records: Records, first: int, last: int) -> list[str]:
    """One read and one decoding for all rows where they stand one after the other in one member."""
    events = records.events
    base, end = events.offset[first], events.offset[last] + events.length[last]
    near = base >= 0 and 0 < end - base <= _STRETCH * 4096 and last > first
    if near and events.member[first] == events.member[last] and not records.overrides:
        try:
            data = records.members[events.member[first]].read(base, end - base)
            if end - base != sum(events.length[first : last + 1]) + len(_BETWEEN) * (last - first):
                places = zip(events.offset[first : last + 1], events.length[first : last + 1], strict=True)
                data = _BETWEEN.join(data[at - base : at - base + n] for at, n in places)
            found = _decode_all(b"[%b]" % data.replace(_BETWEEN, b","))
            if len(found) == last - first + 1:
                return [event.delta for event in found]
        except (msgspec.DecodeError, OSError, RecursionError):
            pass  # row by row, so that one of another shape does not cost the others
    return [_delta(records, row) for row in range(first, last + 1)]


def _delta(records: Records, row: int) -> str:
    try:
        return _decode(records.json_bytes(row)).delta
    except (msgspec.DecodeError, OSError, RecursionError):
        delta = records.json(row).get("delta")
        return delta if isinstance(delta, str) else ""
