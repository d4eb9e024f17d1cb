"""JSON documents of events: an array, `{events: […]}`, `{name: […], name: […]}`, or one event.

Every array is a stream. A RunAgentInput beside the events is their request.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Any

from workbench.readers import protocol, requests, tolerant
from workbench.readers.agui import EventWriter
from workbench.readers.json_split import Piece, Salvage, split_array, split_object
from workbench.readers.reading import Reading
from workbench.readers.records import NO_TIME
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff
from workbench.readers.sse import Writer

_UPPER = re.compile(r"[A-Z][A-Z0-9_]+\Z")


def looks_like_event(value: dict[str, Any]) -> bool:
    """Whether an object has a type as AG-UI events have; for telling elements from what is in them."""
    kind = value.get("type")
    return isinstance(kind, str) and (_UPPER.match(kind) is not None or protocol.known_type(kind))


class Document:
    """A JSON document that is held whole, with line numbers of its offsets."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.data = reading.content.whole()
        self.base = reading.content.start
        self._ends: list[int] | None = None

    def line(self, at: int) -> int:
        """The line of a position in the document, from 1."""
        if self._ends is None:
            data = self.data
            end = rb"\n" if b"\n" in data else rb"\r"
            self._ends = [found.end() for found in re.finditer(end, data)]
        return self.reading.content.first_line + bisect.bisect_right(self._ends, at)

    def event(self, writer: EventWriter, piece: Piece, thread: int = -1, run: int = -1) -> None:
        """One element: an event, or a problem."""
        data = self.data[piece.start : piece.end]
        offset = self.base + piece.start
        line = self.line(piece.start)
        why = "damaged: not JSON"
        if piece.whole:
            record = self.reading.counts.records
            why = writer.add(data, record, line, offset, len(data), NO_TIME, thread, run)
            if not why:
                self.reading.row()
                return
        self.reading.problem(why, line=line, offset=offset, data=data)
        writer.lost()

    def request(self, piece: Piece) -> int | None:
        """One value that is a RunAgentInput: the number of the request; None for any other value."""
        data = self.data[piece.start : piece.end]
        body = requests.decode(data) if data[:1] == b"{" else None
        if body is None:
            return None
        return self.reading.request(
            body, line=self.line(piece.start), offset=self.base + piece.start, length=len(data)
        )


def too_large(reading: Reading) -> bool:
    """Refuse a document that cannot be held, as one problem."""
    limit = reading.limits.max_json_document
    if reading.content.size <= limit:
        return False
    reading.problem(
        f"a document of more than {limit:,} bytes; convert it to JSON lines (jq -c '.[]')",
        line=reading.content.first_line,
        offset=reading.content.start,
    )
    reading.cut("too large to be read")
    return True


def read_array(reading: Reading) -> None:
    """Read an array of events as one stream."""
    if too_large(reading):
        return
    read_elements(reading, reading.writer(reading.new_stream()))


def read_elements(reading: Reading, writer: EventWriter) -> None:
    """Read an array of events onto a stream; the array is the whole content and not too large."""
    document = Document(reading)
    pieces = split_array(document.data)
    if pieces is not None:
        for piece in pieces:
            document.event(writer, piece)
        return
    salvage = Salvage(document.data, looks_like_event)
    for piece in salvage.pieces(document.data.find(b"[") + 1):
        document.event(writer, piece)
    tell_cut(reading, salvage, [writer])


def read_object(reading: Reading) -> None:
    """Read an object that is an event or holds arrays of events."""
    if too_large(reading):
        return
    document = Document(reading)
    members = split_object(document.data)
    if members is None:
        _salvage_object(reading, document)
        return
    if any(key == "type" for key, _ in members):
        start = document.data.index(b"{")
        writer = reading.writer(reading.new_stream())
        document.event(writer, Piece(start, start + len(document.data[start:].rstrip())))
        return
    texts = {key: document.data[piece.start : piece.end] for key, piece in members}
    code = reading.records.pool.code
    thread = code(_text(texts.get("threadId") or texts.get("thread_id")))
    run = code(_text(texts.get("runId") or texts.get("run_id")))
    request: int | None = None
    for key, piece in members:
        elements = split_array(document.data, piece.start, piece.end) if texts[key][:1] == b"[" else None
        if elements and _is_event_list(document.data, elements):
            stream = reading.new_stream()
            if request is not None:
                reading.join(request, stream)
                request = None
            writer = reading.writer(stream)
            for element in elements:
                document.event(writer, element, thread, run)
            continue
        found = document.request(piece)
        if found is not None:
            request = found
        elif key not in ("threadId", "thread_id", "runId", "run_id"):
            reading.note(f"key not read: {tolerant.clean_text(key)[:40]}")
    if request is not None and reading.records.streams and reading.records.requests[request].stream is None:
        last = len(reading.records.streams) - 1
        if (
            reading.records.streams[last].source == reading.source
            and reading.records.streams[last].request is None
        ):
            reading.join(request, last)


def _salvage_object(reading: Reading, document: Document) -> None:
    salvage = Salvage(document.data, looks_like_event)
    writers: dict[str, EventWriter] = {}
    for piece in salvage.arrays():
        if piece.key not in writers:
            writers[piece.key] = reading.writer(reading.new_stream())
        document.event(writers[piece.key], piece)
    if not writers:
        reading.problem("not JSON", line=reading.content.first_line, offset=document.base, data=document.data)
    tell_cut(reading, salvage, list(writers.values()))


def tell_cut(reading: Reading, salvage: Salvage, writers: Sequence[Writer]) -> None:
    """Say what became of a document that does not parse; the last writer's stream is cut."""
    if salvage.closed:
        reading.note("the document as a whole is not JSON and was read element by element")
        return
    reading.cut("the document ends early")
    if writers:
        writers[-1].lost()


def _is_event_list(data: bytes, elements: list[Piece]) -> bool:
    """Whether most of the first elements have the type of an event."""
    first = [tolerant.decode(data[piece.start : piece.end]).value for piece in elements[:8]]
    return sum(isinstance(value, dict) and looks_like_event(value) for value in first) * 2 >= len(first)


def _text(data: bytes | None) -> str | None:
    return None if data is None else tolerant.as_text(tolerant.decode(data).value)


def _is_array(sniff: Sniff) -> bool:
    if sniff.first != b"[" or not sniff.has_types or sniff.is_lines or sniff.has_data_lines:
        return False
    # Logs begin with brackets too; an array whose first element is damaged still ends as one.
    begins = sniff.text[1:].lstrip()[:1] == b"{"
    return begins or (sniff.whole and sniff.text.rstrip().endswith((b"}]", b"}\n]", b"}\r\n]")))


def _is_object(sniff: Sniff) -> bool:
    if sniff.first != b"{" or not sniff.has_types or sniff.is_lines:
        return False
    return "type" in sniff.keys or "[" in sniff.keys.values()


def _is_one_line_object(sniff: Sniff) -> bool:
    """The same on one line: told from a JSON line by its keys."""
    if sniff.first != b"{" or not sniff.has_types or len(sniff.lines) > 1:
        return False
    # The first keys decide: damage further on may close the object early and make keys of what is inside.
    for key, first in sniff.keys.items():
        if key in ("type", "event", "kind", "messages"):
            return False
        if first == "[":
            return True
    return False


ARRAY = Format(
    name="json-array",
    title="JSON array of events",
    recognised_by='an array with `{"type": "RUN_STARTED" …}`',
    extensions=(".json",),
    recognise=_is_array,
    read=read_array,
)

OBJECT = Format(
    name="json-object",
    title="JSON object of events: {events: […]}, {name: […]}, or one event",
    recognised_by="an object with arrays of events, or with a `type` of AG-UI",
    extensions=(".json",),
    recognise=lambda sniff: _is_object(sniff) or _is_one_line_object(sniff),
    read=read_object,
)
