"""A text looked for in a whole capture: in the bytes of the records, and in what deltas say together.

The bytes are searched where they lie, a stretch of a member at a time, so that nothing of the
capture is held. JSON may write a text in more than one way; the usual ones are tried.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.calls.conversation import At

if TYPE_CHECKING:
    from workbench.trace import Trace

#: bytes that are looked at in one piece
_STRETCH = 8 << 20


class Search:
    """Finds texts in one trace; what it has to prepare is prepared at the first search."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def __call__(self, text: str) -> set[At]:
        """The events, requests and payloads that hold the text, in upper or lower case."""
        if not text:
            return set()
        found: set[At] = set()
        for needle in _forms(text):
            for member, places in self._members.items():
                found.update(places[n][2] for n in self._hits(member, places, needle))
        for row, held in self.trace.records.overrides.items():
            if any(needle in held.lower() for needle in _forms(text)):
                found.add(At("event", row))
        for words, ranges in self._messages:
            if text.lower() in words:
                found.update(At("event", row) for first, last in ranges for row in range(first, last + 1))
        return found

    def _hits(self, member: int, places: list[tuple[int, int, At]], needle: bytes) -> Iterator[int]:
        read = self.trace.records.members[member].read
        starts = [place[0] for place in places]
        begin, end = starts[0], max(offset + length for offset, length, _ in places)
        for stretch in range(begin, end, _STRETCH):
            try:
                held = read(stretch, min(_STRETCH + len(needle) - 1, end - stretch)).lower()
            except (OSError, ValueError):
                return  # the file is gone; what is in memory is still shown
            at = held.find(needle)
            while at >= 0:
                number = bisect_right(starts, stretch + at) - 1
                offset, length, _ = places[number]
                if stretch + at + len(needle) <= offset + length:
                    yield number
                    # one hit per record is enough
                    at = held.find(needle, max(offset + length - stretch, at + 1))
                else:
                    at = held.find(needle, at + 1)

    @cached_property
    def _members(self) -> dict[int, list[tuple[int, int, At]]]:
        """Offset, length and name of every record with bytes of its own, by member, in order of the bytes."""
        records = self.trace.records
        events = records.events
        found: dict[int, list[tuple[int, int, At]]] = defaultdict(list)
        for row, (member, offset, length) in enumerate(
            zip(events.member, events.offset, events.length, strict=True)
        ):
            if offset >= 0 and member >= 0:
                found[member].append((offset, length, At("event", row)))
        for number, request in enumerate(records.requests):
            if request.member >= 0 and request.offset is not None and request.length is not None:
                found[request.member].append((request.offset, request.length, At("request", number)))
        for number, payload in enumerate(records.payloads):
            if payload.member >= 0 and payload.offset is not None and payload.length is not None:
                found[payload.member].append((payload.offset, payload.length, At("payload", number)))
        for places in found.values():
            places.sort()
        return dict(found)

    @cached_property
    def _messages(self) -> list[tuple[str, list[tuple[int, int]]]]:
        """What every streamed message says, in lower case, with the event rows that say it."""
        return [
            (self.trace.text(message.deltas).lower(), message.deltas)
            for talk in self.trace.conversations
            for message in talk.messages
            if len(message.deltas) > 1 or any(last > first for first, last in message.deltas)
        ]


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
