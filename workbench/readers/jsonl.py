"""JSON lines: events, with extra fields, in envelopes, or mixed with requests; AG-UI DevTools captures.

One reader for all of them, because real files mix: each line is judged by itself, so that a
damaged line costs nothing but itself.
"""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.readers import protocol, requests, times, tolerant
from workbench.readers.agui import EventWriter
from workbench.readers.connections import Connections
from workbench.readers.json_split import split_object
from workbench.readers.lines import lines
from workbench.readers.payloads import find as payload_find
from workbench.readers.payloads.formats import add as add_payload
from workbench.readers.reading import Reading
from workbench.readers.records import NO_TIME
from workbench.readers.telemetry.dispatch import Telemetry

#: Envelope keys, in the order in which they are asked
EVENT_KEYS = ("event", "data", "payload")
REQUEST_KEYS = ("input", "request", "body", "payload", "data")
TIME_KEYS = ("ts", "time", "timestamp", "receivedAt", "received_at", "at", "t")
CONNECTION_KEYS = ("connId", "connectionId", "connection_id", "streamId", "stream_id")
THREAD_KEYS = ("threadId", "thread_id")
RUN_KEYS = ("runId", "run_id")
CONNECTION_MARK = b'"connId"'
#: Kinds of lines that carry nothing, with the reason for which they are ignored
_EMPTY_KINDS = {
    "header": "header",
    "keepalive": "keepalives",
    "comment": "keepalives",
    "ping": "keepalives",
}
#: Telemetry, whatever else stands in the line
_TELEMETRY_KEYS = ("resourceSpans", "resourceLogs", "resourceMetrics", "resource_spans", "resource_logs")


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


class LinesReader:
    """Lines of one content; a stream for each connection or thread that the envelopes name."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._streams: dict[str, EventWriter] = {}
        #: stream of each request by thread and run, for lines that name no connection
        self._by_run: dict[tuple[str | None, str | None], str] = {}
        self._current = ""
        self._requests = 0
        #: requests whose stream has not begun
        self._asked: dict[str, int] = {}
        #: capturedAt of an AG-UI DevTools header, to which tMs is added
        self._captured: int | None = None
        self._url = ""
        self._telemetry = Telemetry(reading)
        self._connections = Connections(reading)
        #: request and stream of each connection that is named
        self._requested: dict[str, int] = {}
        self._begun: dict[str, int] = {}

    def read(self) -> None:
        """Read all lines."""
        reading, counts = self.reading, self.reading.counts
        content = reading.content
        number = content.first_line - 1
        last_fault = -1
        for offset, line in lines(content, reading.limits, reading.progress):
            number += 1
            if line is None:
                reading.problem(
                    f"a line of more than {reading.limits.max_line:,} bytes", line=number, offset=offset
                )
                self._lost()
                continue
            data = line.strip(b" \t\xef\xbb\xbf")
            if not data:
                continue
            at = offset if data is line else offset + line.find(data)
            # A plain event needs no look at its keys; most files have nothing else.
            if data.startswith(b'{"type"') and not self._by_run and self._plain(data, number, at):
                counts.records += 1
                counts.rows += 1
                continue
            why = self._line(data, number, at)
            if why:
                last_fault = number
                self.reading.problem(why, line=number, offset=at, data=data)
                self._lost()
        if (
            last_fault == number
            and number >= content.first_line
            and not _is_closed(content.data, content.end)
        ):
            reading.cut("the last line ends inside its JSON")
        self._connections.settle(self._requested, self._begun)

    def _plain(self, data: bytes, line: int, at: int) -> bool:
        """Take an event on its own; its type has to be known, for envelopes have types too."""
        kind = data[7:80].partition(b'"')[2].partition(b'"')[0]
        if kind.decode("latin-1") not in protocol.BY_NAME or CONNECTION_MARK in data:
            return False
        writer = self._streams.get("") or self._writer("")
        return not writer.add(data, self.reading.counts.records, line, at, len(data))

    def _lost(self) -> None:
        """A line is lost: it may have belonged to any stream that is open."""
        for writer in self._streams.values():
            writer.lost()

    def _line(self, data: bytes, line: int, at: int) -> str:
        """Any line: "" when it was used or ignored, else why it could not be."""
        decoded = tolerant.decode(data)
        if decoded.error:
            return decoded.error
        value = decoded.value
        if not isinstance(value, dict):
            return "JSON, but no object"
        if any(key in value for key in _TELEMETRY_KEYS):
            return self._telemetry.take(data, line, at)
        inner = next((key for key in EVENT_KEYS if _event_in(value.get(key)) is not None), "")
        if inner:
            return self._wrapped(value, inner, data, line, at)
        for key in ("", *REQUEST_KEYS):
            body = requests.run_input(value if not key else _object(value.get(key)))
            if body is not None:
                self._request(value, key, body, data, line, at)
                return ""
        kind = value.get("kind") or value.get("type")
        if isinstance(kind, str) and kind in _EMPTY_KINDS:
            if kind == "header":
                captured = value.get("capturedAt")
                self._captured = times.guess(captured)
                self._url = str(value.get("url") or "")
                self._connections.header(value)
            self.reading.ignore(_EMPTY_KINDS[kind])
            return ""
        if kind in ("send", "receive") and "opcode" in value:
            self.reading.ignore("WebSocket messages without an event")
            return ""
        connection = tolerant.as_text(_first(value, CONNECTION_KEYS))
        if isinstance(kind, str) and connection is not None:
            said = self._connections.take(kind, f"connection {connection}", value)
            if said is not None:
                return said
        if "kind" in value or ("direction" in value and "type" not in value):
            self.reading.ignore("records of other kinds")
            return ""
        found = payload_find.request(value)
        if found is not None:
            add_payload(self.reading, found, line=line, offset=at, length=len(data))
            return ""
        writer = self._route(value, value)
        arrival = self._arrival(value) if not isinstance(value.get("timestamp"), int) else NO_TIME
        why = writer.add(data, self.reading.counts.records, line, at, len(data), arrival)
        if not why:
            self.reading.row()
        return why

    def _wrapped(self, value: dict[str, Any], key: str, data: bytes, line: int, at: int) -> str:
        """An envelope around an event. Its ids and its time stand for those that the event lacks."""
        event = _event_in(value[key])
        assert event is not None
        writer = self._route(value, event)
        code = self.reading.records.pool.code
        thread = code(tolerant.as_text(_first(value, THREAD_KEYS)))
        run = code(tolerant.as_text(_first(value, RUN_KEYS)))
        place = next((piece for name, piece in split_object(data) or () if name == key), None)
        record = self.reading.counts.records
        arrival = self._arrival(value)
        if place is None or isinstance(value[key], str):
            raw = value[key].encode() if isinstance(value[key], str) else msgspec.json.encode(event)
            start, size = (at + place.start, place.end - place.start) if place else (at, len(data))
            why = writer.add(raw, record, line, start, size, arrival, thread, run)
            if not why:
                self.reading.records.overrides.setdefault(len(self.reading.records.events) - 1, raw)
        else:
            raw = data[place.start : place.end]
            why = writer.add(raw, record, line, at + place.start, len(raw), arrival, thread, run)
        if not why:
            self.reading.row()
        return why

    def _request(
        self, value: dict[str, Any], key: str, body: dict[str, Any], data: bytes, line: int, at: int
    ) -> None:
        """A request begins a stream: that of its connection, or the one of the lines that follow."""
        arrival = self._arrival(value)
        place = (
            next((piece for name, piece in split_object(data) or () if name == key), None) if key else None
        )
        start, size = (place.start, place.end - place.start) if place else (0, len(data))
        number = self.reading.request(
            body,
            line=line,
            offset=at + start,
            length=size,
            time=None if arrival == NO_TIME else arrival,
            url=str(value.get("url") or self._url),
        )
        connection = tolerant.as_text(_first(value, CONNECTION_KEYS))
        name = f"connection {connection}" if connection is not None else f"request {self._requests}"
        self._requests += 1
        if connection is None:
            self._current = name
            self._by_run[requests.key(body)] = name
        else:
            self._requested.setdefault(name, number)
        self._asked.setdefault(name, number)

    def _route(self, envelope: dict[str, Any], event: dict[str, Any]) -> EventWriter:
        """The stream that an event belongs to."""
        connection = tolerant.as_text(_first(envelope, CONNECTION_KEYS))
        if connection is not None:
            return self._writer(f"connection {connection}")
        if self._by_run:
            if event.get("type") == "RUN_STARTED":
                normal, _ = tolerant.normalise(event)
                self._current = self._by_run.get(requests.key(normal), self._current)
            return self._writer(self._current)
        thread = tolerant.as_text(_first(envelope, THREAD_KEYS)) if envelope is not event else None
        return self._writer("" if thread is None else f"thread {thread}")

    def _writer(self, name: str) -> EventWriter:
        """The writer of a stream, which begins with its first event."""
        writer = self._streams.get(name)
        if writer is None:
            request = self._asked.pop(name, None)
            time = None if request is None else self.reading.records.requests[request].time
            stream = self.reading.new_stream(request=request, time=time)
            if name.startswith("connection "):
                self._begun[name] = stream
            writer = self._streams[name] = self.reading.writer(stream)
        return writer

    def _arrival(self, value: dict[str, Any]) -> int:
        """When the line says it arrived."""
        found = times.after(self._captured, value.get("tMs"))
        if found is None:
            found = times.guess(_first(value, TIME_KEYS))
        return NO_TIME if found is None else found


def _object(value: Any) -> Any:
    """A value, or the object that it holds as JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        return tolerant.decode(value.encode("utf-8", "replace")).value
    return value


def _event_in(value: Any) -> dict[str, Any] | None:
    """The event that an envelope's value is or holds as JSON text."""
    value = _object(value)
    if isinstance(value, dict) and isinstance(value.get("type"), str) and "payload" not in value:
        return value
    return None


def _is_closed(data: Any, end: int) -> bool:
    """Whether the content ends with a closing brace or a line end."""
    tail: bytes = data.read(max(end - 1, 0), 1)
    return tail in (b"}", b"\n", b"\r", b"\0")


def read(reading: Reading) -> None:
    """Read JSON lines of any kind."""
    LinesReader(reading).read()
