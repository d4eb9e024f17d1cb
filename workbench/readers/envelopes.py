"""Events in envelopes that say whose they are: `{timestamp, agentId, threadId, runId, event}`.

CopilotKit writes two of them: the stream of its debug endpoint, and the copy of its inspector,
where the key is `payload` and the envelope repeats the event's type.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from workbench.readers import times, tolerant
from workbench.readers.agui import EventWriter
from workbench.readers.json_events import Document, tell_cut, too_large
from workbench.readers.json_split import Piece, Salvage, split_array, split_object
from workbench.readers.reading import Reading
from workbench.readers.records import NO_TIME
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff
from workbench.readers.sse import SseReader

#: tells a copy whose first element is damaged
_COPIED = re.compile(rb'"agentId"\s*:\s*"[^"]*"[^{}\[\]]{0,300}"payload"\s*:\s*\{\s*"type"')
_SAID = ("timestamp", "agentId", "threadId", "runId")


class EnvelopeWriter:
    """Takes envelopes where an `EventWriter` takes events; each agent and thread has a stream."""

    def __init__(self, reading: Reading, key: str) -> None:
        self.reading = reading
        self.key = key
        self._writers: dict[tuple[str | None, str | None], EventWriter] = {}
        self.add = self._add

    def lost(self) -> None:
        """An envelope is lost: it may have belonged to any stream."""
        for writer in self._writers.values():
            writer.lost()

    def _add(
        self, data: bytes, record: int, line: int, offset: int, length: int, arrival: int = NO_TIME
    ) -> str:
        """As `EventWriter.add`; the place becomes that of the event inside, where it has one."""
        decoded = tolerant.decode(data)
        if decoded.error:
            return decoded.error
        value = decoded.value
        inner = value.get(self.key) if isinstance(value, dict) else None
        if isinstance(inner, str):
            text: bytes | None = inner.encode()
        elif isinstance(inner, dict):
            text = None
        else:
            return f"an envelope without `{self.key}`"
        said = {key: value.get(key) for key in _SAID}
        writer = self._writer(tolerant.as_text(said["agentId"]), tolerant.as_text(said["threadId"]))
        when = times.guess(said["timestamp"])
        code = self.reading.records.pool.code
        ids = (code(tolerant.as_text(said["threadId"])), code(tolerant.as_text(said["runId"])))
        arrival = arrival if when is None else when
        place = dict(split_object(data) or ()).get(self.key) if length == len(data) else None
        if place is not None and text is None:
            raw = data[place.start : place.end]
            return writer.add(raw, record, line, offset + place.start, len(raw), arrival, *ids)
        raw = msgspec.json.encode(inner) if text is None else text
        if place is not None:
            offset, length = offset + place.start, place.end - place.start
        why = writer.add(raw, record, line, offset, length, arrival, *ids)
        if not why:
            self.reading.records.overrides.setdefault(len(self.reading.records.events) - 1, raw)
            if decoded.repair:
                self.reading.remark(decoded.repair, record=record, line=line, offset=offset, data=data)
        return why

    def _writer(self, agent: str | None, thread: str | None) -> EventWriter:
        writer = self._writers.get((agent, thread))
        if writer is None:
            writer = self.reading.writer(self.reading.new_stream())
            self._writers[agent, thread] = writer
        return writer


def read_debug(reading: Reading) -> None:
    """Server-sent events whose data are envelopes."""
    SseReader(reading, EnvelopeWriter(reading, "event")).read()


def read_copy(reading: Reading) -> None:
    """One envelope, or an array of them."""
    if too_large(reading):
        return
    document = Document(reading)
    writer = EnvelopeWriter(reading, "payload")
    data = document.data
    if data.lstrip()[:1] == b"{":
        start = len(data) - len(data.lstrip())
        _envelope(document, writer, Piece(start, len(data.rstrip())))
        return
    pieces = split_array(data)
    if pieces is not None:
        for piece in pieces:
            _envelope(document, writer, piece)
        return
    salvage = Salvage(data, lambda value: "payload" in value and "agentId" in value)
    for piece in salvage.pieces(data.find(b"[") + 1):
        _envelope(document, writer, piece)
    tell_cut(reading, salvage, [writer])


def _envelope(document: Document, writer: EnvelopeWriter, piece: Piece) -> None:
    reading = document.reading
    data = document.data[piece.start : piece.end]
    offset, line = document.base + piece.start, document.line(piece.start)
    why = "damaged: not JSON"
    if piece.whole:
        why = writer.add(data, reading.counts.records, line, offset, len(data))
    if why:
        reading.problem(why, line=line, offset=offset, data=data)
        writer.lost()
    else:
        reading.row()


def _is_copy(sniff: Sniff) -> bool:
    keys: dict[str, Any] = sniff.keys
    if sniff.first == b"[" and len(_COPIED.findall(sniff.head)) > 1:
        return True
    return (
        sniff.first in (b"{", b"[")
        and keys.get("payload") in ("{", '"')
        and {"type", "agentId"} <= set(keys)
        and not (sniff.first == b"{" and len(sniff.line_keys) > 1)
    )


def _is_debug(sniff: Sniff) -> bool:
    pattern = rb'(?:\A|[\r\n])data: ?\{(?:"[a-zA-Z]+":(?:"[^"]*"|\d+), ?)*"event": ?\{"type"'
    return sniff.has_data_lines and re.search(pattern, sniff.head) is not None


COPY = Format(
    name="copilotkit-inspector",
    title="CopilotKit inspector copy",
    recognised_by="objects with id, agentId, type, timestamp and `payload`; `payload` is the event",
    extensions=(".json",),
    recognise=_is_copy,
    read=read_copy,
)

DEBUG = Format(
    name="copilotkit-debug",
    title="CopilotKit debug events (GET …/cpk-debug-events)",
    recognised_by="SSE whose data are objects with timestamp, agentId, threadId, runId and `event`",
    extensions=(".sse", ".txt"),
    recognise=_is_debug,
    read=read_debug,
)
