"""agui-inspector sessions: `{version, session: {exchanges, runs, frames}}`.

Every request stands twice, as the body of its exchange and as the input of its run, and is read
once. A frame holds one event: its text (SSE) or its bytes (protobuf, base64).
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from workbench.readers import requests, times, tolerant
from workbench.readers.agui import EventWriter
from workbench.readers.json_events import Document, tell_cut, too_large
from workbench.readers.json_split import Piece, Salvage, split_array, split_object
from workbench.readers.proto_events import decode_event
from workbench.readers.reading import Reading
from workbench.readers.records import NO_TIME
from workbench.readers.registry import Format
from workbench.readers.sniff import object_keys

_LISTS = ("exchanges", "runs", "frames")
#: lists of what the inspector concluded
_PASSED = ("findings", "derived")
#: states of an exchange that has not come to its end
_OPEN = frozenset({"created", "sending", "streaming", "reading", "transport-error", "user-stopped"})


class SessionReader:
    """One session on its way into streams: a stream for each exchange."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.document = Document(reading)
        self._writers: dict[str, EventWriter] = {}
        self._started: dict[str, int | None] = {}
        self._asked: set[tuple[str | None, str | None]] = set()

    def read(self) -> None:
        """Read exchanges first, whatever the order in the document: frames refer to them."""
        data = self.document.data
        session = dict(split_object(data) or ()).get("session")
        parts = dict(split_object(data, session.start, session.end) or ()) if session else {}
        lists = {key: split_array(data, parts[key].start, parts[key].end) for key in _LISTS if key in parts}
        if session is None or None in lists.values():
            lists = self._salvage()
        for piece in lists.get("exchanges") or ():
            self._exchange(piece)
        for piece in lists.get("runs") or ():
            self._run(piece)
        for piece in lists.get("frames") or ():
            self._frame(piece)
        if not any(lists.values()) and not self.reading.counts.records:
            self.reading.note("a session without exchanges")

    def _salvage(self) -> dict[str, list[Piece] | None]:
        data = self.document.data
        salvage = Salvage(data, lambda value: bool({"exchangeId", "requestBody", "frameIds"} & set(value)))
        found: dict[str, list[Piece]] = {}
        for piece in salvage.arrays():
            if piece.key not in _PASSED:
                kind = piece.key if piece.key in _LISTS else "frames"
                found.setdefault(kind, []).append(piece)
        if not found:
            self.reading.problem("not JSON", line=1, offset=self.document.base, data=data)
        tell_cut(self.reading, salvage, [])
        return dict(found)

    def _object(self, piece: Piece) -> dict[str, Any]:
        value = tolerant.decode(self.document.data[piece.start : piece.end]).value if piece.whole else None
        return value if isinstance(value, dict) else {}

    def _lose(self, piece: Piece, why: str, name: str = "") -> None:
        data = self.document.data[piece.start : piece.end]
        offset, line = self.document.base + piece.start, self.document.line(piece.start)
        self.reading.problem(why, line=line, offset=offset, data=data)
        writers = [self._writers[name]] if name in self._writers else self._writers.values()
        for writer in writers:
            writer.lost()

    def _exchange(self, piece: Piece) -> None:
        """One HTTP exchange: the request, and the stream of its frames."""
        value = self._object(piece)
        if not value:
            self._lose(piece, "damaged: not JSON")
            return
        name = str(value.get("id"))
        started = self._started[name] = times.guess(value.get("startedAt"))
        status = value.get("status")
        status = status if isinstance(status, int) else None
        text = value.get("requestBody")
        body = requests.decode(text.encode("utf-8", "replace")) if isinstance(text, str) else None
        request: int | None = None
        if body is not None:
            place = dict(split_object(self.document.data, piece.start, piece.end) or ()).get("requestBody")
            request = self._request(body, place or piece, started, status, str(value.get("path") or ""))
        elif text:
            self.reading.ignore("request bodies that are no RunAgentInput")
        stream = self.reading.new_stream(request=request, time=started, status=status)
        self._writers.setdefault(name, self.reading.writer(stream))
        if value.get("transport") in _OPEN:
            self.reading.records.streams[stream].complete = False
            self.reading.records.streams[stream].note = f"transport: {value['transport']}"
            self.reading.cut("an exchange had not come to its end")

    def _run(self, piece: Piece) -> None:
        """The input of a run: once more the request of its exchange, if that had one."""
        value = self._object(piece)
        body = requests.run_input(value.get("input"))
        if not value:
            self._lose(piece, "damaged: not JSON")
        elif body is None:
            self.reading.ignore("runs without input")
        elif requests.key(body) in self._asked:
            self.reading.duplicate()
        else:
            place = dict(split_object(self.document.data, piece.start, piece.end) or ()).get("input")
            number = self._request(body, place or piece, times.guess(value.get("startedAt")), None, "")
            writer = self._writers.get(str(value.get("exchangeId")))
            if writer is not None and self.reading.records.streams[writer.stream].request is None:
                self.reading.join(number, writer.stream)

    def _request(
        self, body: dict[str, Any], place: Piece, time: int | None, status: int | None, url: str
    ) -> int:
        self._asked.add(requests.key(body))
        return self.reading.request(
            body,
            line=self.document.line(place.start),
            offset=self.document.base + place.start,
            length=place.end - place.start,
            time=time,
            status=status,
            url=url,
        )

    def _frame(self, piece: Piece) -> None:
        value = self._object(piece)
        name = str(value.get("exchangeId"))
        kind = value.get("classification")
        text = value.get("data")
        if not value:
            self._lose(piece, "damaged: not JSON")
        elif kind == "control":
            self.reading.ignore("control frames")
        elif kind == "partial":
            self._lose(piece, "truncated last event", name)
            self.reading.cut("a frame is incomplete")
        elif isinstance(text, str) and text.strip().upper() in ("", "[DONE]"):
            self.reading.ignore("end marks" if text.strip() else "frames with empty data")
        else:
            why = self._event(value, name, piece)
            if why:
                self._lose(piece, why, name)
            else:
                self.reading.row()

    def _event(self, value: dict[str, Any], name: str, piece: Piece) -> str:
        """One frame with an event; "" if it became a row, else why not."""
        if name not in self._writers:
            self._writers[name] = self.reading.writer(self.reading.new_stream())
        place = dict(split_object(self.document.data, piece.start, piece.end) or ()).get("data") or piece
        if isinstance(value.get("data"), str):
            raw = value["data"].encode("utf-8", "replace")
        elif isinstance(value.get("bytes"), str):
            try:
                frame = base64.b64decode(value["bytes"], validate=True)
            except binascii.Error:
                return "damaged base64"
            decoded = decode_event(frame[4:])
            if decoded.error:
                return decoded.error
            raw = msgspec.json.encode(decoded.event)
        else:
            return "a frame without data"
        arrival = times.after(self._started.get(name), value.get("offsetMs"))
        records = self.reading.records
        line, offset = self.document.line(place.start), self.document.base + place.start
        why = self._writers[name].add(
            raw,
            self.reading.counts.records,
            line,
            offset,
            place.end - place.start,
            NO_TIME if arrival is None else arrival,
        )
        if not why:
            records.overrides.setdefault(len(records.events) - 1, raw)
        return why


def read(reading: Reading) -> None:
    """Read the session as a whole."""
    if not too_large(reading):
        SessionReader(reading).read()


FORMAT = Format(
    name="agui-inspector",
    title="agui-inspector session",
    recognised_by="an object with `session`, which has exchanges, runs or frames",
    extensions=(".json",),
    recognise=lambda sniff: (
        sniff.first == b"{"
        and sniff.keys.get("session") == "{"
        and bool({*_LISTS} & set(object_keys(sniff.text, inside="session")))
    ),
    read=read,
)
