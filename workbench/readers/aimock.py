"""aimock recordings: `{fixtures: [{match, events, delayMs?}]}`, the answers of an agent to be replayed."""

from __future__ import annotations

import re

from workbench.readers.json_events import Document, looks_like_event, tell_cut, too_large
from workbench.readers.json_split import Piece, Salvage, split_array, split_object
from workbench.readers.reading import Reading
from workbench.readers.registry import Format

_EVENTS = re.compile(rb'"events"\s*:\s*\[')
#: where the events of a fixture end and the next fixture begins: with another key than an event has
_BETWEEN = re.compile(rb"\](?=\s*\}\s*,\s*\{\s*\"(?!type\"))")


def read(reading: Reading) -> None:
    """Every fixture's events are a stream; `match` tells which request it answers and is no request."""
    if too_large(reading):
        return
    document = Document(reading)
    found = dict(split_object(document.data) or ()).get("fixtures")
    fixtures = split_array(document.data, found.start, found.end) if found else None
    if fixtures is None:
        _salvage(reading, document)
        return
    for fixture in fixtures:
        _read_fixture(reading, document, fixture)


def _read_fixture(reading: Reading, document: Document, fixture: Piece) -> None:
    found = dict(split_object(document.data, fixture.start, fixture.end) or ()).get("events")
    events = split_array(document.data, found.start, found.end) if found else None
    if events is None:
        # aimock answers for model providers too; those fixtures hold a response and no events.
        reading.ignore("fixtures without events")
        return
    writer = reading.writer(reading.new_stream())
    for event in events:
        document.event(writer, event)


def _salvage(reading: Reading, document: Document) -> None:
    """The document does not parse: read every list of events that can be found in it."""
    data = document.data
    starts = [found.end() for found in _EVENTS.finditer(data)]
    if not starts:
        reading.problem("not JSON", line=reading.content.first_line, offset=document.base, data=data)
        reading.cut("the document ends early")
        return
    for start, following in zip(starts, [*starts[1:], len(data)], strict=True):
        ends = [] if following == len(data) else [f.end() for f in _BETWEEN.finditer(data, start, following)]
        salvage = Salvage(
            data[: ends[-1] if ends else following], looks_like_event, 4 if following == len(data) else 1
        )
        writer = reading.writer(reading.new_stream())
        for piece in salvage.pieces(start):
            document.event(writer, piece)
        if following == len(data):
            tell_cut(reading, salvage, [writer])


FORMAT = Format(
    name="aimock",
    title="aimock recording (agui-….json)",
    recognised_by="an object with a list of `fixtures`",
    extensions=(".json",),
    recognise=lambda sniff: sniff.first == b"{" and sniff.keys.get("fixtures") == "[",
    read=read,
)
