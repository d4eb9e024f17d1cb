"""A text looked for in a whole capture: in the bytes of the records, and in what deltas say together.

The bytes are searched where they lie, a stretch of a member at a time, so that nothing of the
capture is held. JSON may write a text in more than one way; the usual ones are tried.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from workbench.calls.conversation import Message
    from workbench.trace import Trace

#: bytes that are looked at in one piece
_STRETCH = 8 << 20

_Place = tuple[int, int, Literal["event", "request", "payload"], int]


@dataclass(slots=True)
class Hits:
    """Rows of events, requests and payloads that hold a text."""

    event: set[int] = field(default_factory=set)
    request: set[int] = field(default_factory=set)
    payload: set[int] = field(default_factory=set)


class Search:
    """Finds texts in one trace; what it has to prepare is prepared at the first search, or by `warm` before."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._told: list[tuple[str, list[tuple[int, int]]]] = []
        self._untold: Iterator[Message] | None = None
        self._warm = False

    def __call__(self, text: str) -> Hits:
        """The events, requests and payloads that hold the text, in upper or lower case."""
        hits = Hits()
        if not text:
            return hits
        rows = {"event": hits.event, "request": hits.request, "payload": hits.payload}
        for needle in _forms(text):
            for member, places in self._members.items():
                for number in self._hits(member, places, needle):
                    rows[places[number][2]].add(places[number][3])
            for row, held in self.trace.records.overrides.items():
                if needle in held.lower():
                    hits.event.add(row)
        self.warm(None)
        for words, ranges in self._told:
            if text.lower() in words:
                for first, last in ranges:
                    hits.event.update(range(first, last + 1))
        return hits

    def warm(self, seconds: float | None) -> bool:
        """Join the deltas of messages for so many seconds, or to the end; whether all of them are joined."""
        if self._untold is None:
            talks = self.trace.conversations
            self._untold = iter([message for talk in talks for message in talk.messages if _several(message)])
        until = None if seconds is None else time.monotonic() + seconds
        while not self._warm and (until is None or time.monotonic() < until):
            message = next(self._untold, None)
            if message is None:
                self._warm = True
            else:
                self._told.append((self.trace.text(message.deltas).lower(), message.deltas))
        return self._warm

    def _hits(self, member: int, places: list[_Place], needle: bytes) -> Iterator[int]:
        read = self.trace.records.members[member].read
        starts = [place[0] for place in places]
        begin, end = starts[0], max(offset + length for offset, length, _, _ in places)
        for stretch in range(begin, end, _STRETCH):
            try:
                held = read(stretch, min(_STRETCH + len(needle) - 1, end - stretch)).lower()
            except (OSError, ValueError):
                return  # the file is gone; what is in memory is still shown
            at = held.find(needle)
            while at >= 0:
                number = bisect_right(starts, stretch + at) - 1
                offset, length, _, _ = places[number]
                if stretch + at + len(needle) <= offset + length:
                    yield number
                    # one hit per record is enough
                    at = held.find(needle, max(offset + length - stretch, at + 1))
                else:
                    at = held.find(needle, at + 1)

    @cached_property
    def _members(self) -> dict[int, list[_Place]]:
        """Offset, length, kind and row of every record with bytes of its own, by member, in order of the bytes."""
        records = self.trace.records
        events = records.events
        found: dict[int, list[_Place]] = defaultdict(list)
        for row, (member, offset, length) in enumerate(
            zip(events.member, events.offset, events.length, strict=True)
        ):
            if offset >= 0 and member >= 0:
                found[member].append((offset, length, "event", row))
        for number, request in enumerate(records.requests):
            if request.member >= 0 and request.offset is not None and request.length is not None:
                found[request.member].append((request.offset, request.length, "request", number))
        for number, payload in enumerate(records.payloads):
            if payload.member >= 0 and payload.offset is not None and payload.length is not None:
                found[payload.member].append((payload.offset, payload.length, "payload", number))
        for places in found.values():
            places.sort()
        return dict(found)


def _several(message: Message) -> bool:
    """Whether a message came in more than one delta; a single one is found in its own bytes."""
    return len(message.deltas) > 1 or any(last > first for first, last in message.deltas)


def _forms(text: str) -> list[bytes]:
    """A text as bytes, as it may stand in JSON, in lower case where bytes have one."""
    spellings: list[bytes] = []
    for word in (text, text.lower()):
        spellings.append(word.encode("utf-8", "replace"))
        spellings += [
            json.dumps(word, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "replace")
            for ascii_only in (False, True)
        ]
    return list(dict.fromkeys(spelling.lower() for spelling in spellings))
