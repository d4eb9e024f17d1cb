"""What loading gathers: sources, problems, events, requests and telemetry, column by column.

Readers only append to a `Records`; everything derived from it (runs, parts, calls,
approvals) is made later by `workbench.calls`. Events are kept as columns of small
integers, and long texts stay where they are: `Records.json(row)` decodes them on demand.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from workbench.readers.payloads.answers import Answer
from workbench.readers.payloads.history import History
from workbench.readers.telemetry.columns import Logs, Spans
from workbench.readers.telemetry.rows import LogRow, SpanRow

NO_TIME = -(2**63)
#: `Events.time_source` codes, in the order of `model.TIME_SOURCES`.
TIME_EVENT, TIME_ARRIVAL, TIME_REQUEST, TIME_SPAN, TIME_LOG, TIME_NONE = range(6)


class Pool:
    """Texts by number: each distinct id, name or type is kept once. `-1` is no text."""

    __slots__ = ("codes", "values")

    def __init__(self) -> None:
        self.values: list[str] = []
        self.codes: dict[str, int] = {}

    def code(self, text: str | None) -> int:
        """The number of a text, given out at its first use."""
        if text is None:
            return -1
        code = self.codes.get(text)
        if code is None:
            code = self.codes[text] = len(self.values)
            self.values.append(text)
        return code

    def text(self, code: int) -> str | None:
        """The text of a number."""
        return None if code < 0 else self.values[code]


class Member:
    """Decoded bytes in which the offsets of a source count.

    `read(offset, length)` gives a stretch of them: from memory, or from the file again,
    so that a large capture is not held.
    """

    __slots__ = ("name", "read", "source")

    def __init__(self, source: int, name: str, read: Callable[[int, int], bytes]) -> None:
        self.source = source
        self.name = name
        self.read = read


@dataclass(slots=True)
class Source:
    """One file, archive member or stream. Counting: records = rows + duplicates + ignored + problems."""

    path: str
    member: str = ""
    format: str = "unknown"
    bytes: int = 0
    records: int = 0
    rows: int = 0
    duplicates: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    problems: int = 0
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    #: data points of the metrics that were counted and left out
    points: int = 0

    @property
    def note(self) -> str:
        """All notes and the ignored records by reason, in one line."""
        parts = [*self.notes, *(f"{n} {reason} ignored" for reason, n in sorted(self.ignored.items()))]
        if self.points:
            parts.append(f"{self.points} data points of metrics")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Problem:
    """Input that could not be used; `line` and `offset` are None where the format has none."""

    source: int
    reason: str
    record: int | None = None
    line: int | None = None
    offset: int | None = None
    excerpt: str = ""
    member: str = ""


@dataclass(slots=True)
class Stream:
    """One response, connection or file of events, in order of arrival."""

    source: int
    #: number of the request that opened it, in `Records.requests`; None where the capture has none
    request: int | None = None
    #: when it began, UTC ns; None where nothing says so
    time: int | None = None
    #: False where it visibly ends too early or pieces are lost (reading rule 15)
    complete: bool = True
    note: str = ""
    #: HTTP status of the response
    status: int | None = None


@dataclass(slots=True)
class RequestRecord:
    """One RunAgentInput. `body` is the decoded object, kept because it is needed whole."""

    source: int
    body: dict[str, Any]
    record: int
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    member: int = -1
    time: int | None = None
    status: int | None = None
    url: str = ""
    #: number of the stream that answered it; None where none is in the capture
    stream: int | None = None
    #: row of the RUN_STARTED event that carried it as `input`; None for a body of its own
    event: int | None = None


@dataclass(slots=True)
class PayloadRecord(RequestRecord):
    """A request to a model provider, or (`place` history) a message list that a framework keeps.

    `body` is the decoded object; `history` the same as turns; `stream` and `event` are unused.
    """

    history: History = field(default_factory=lambda: History("openai-chat", []))
    place: Literal["payload", "history"] = "payload"
    #: what the provider answered; None where the capture does not hold it
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Deviation:
    """A departure of one event from the protocol schema, noticed while decoding.

    kind: `unknown-type`, `field-missing`, `field-invalid`, `snake-case`, `duplicate-key`,
    `empty` (the delta of a message).
    """

    event: int
    kind: str
    field: str
    detail: str = ""


def fill(column: array[int], rows: int) -> None:
    """Lengthen a column of pool codes by "none" to so many rows."""
    missing = rows - len(column)
    if missing > 0:
        column.frombytes(b"\xff" * (column.itemsize * missing))


class Events:
    """AG-UI events, column by column; a row number is the identity of an event."""

    __slots__ = (
        "call", "length", "line", "member", "message", "name", "offset", "own_run", "own_thread",
        "parent", "record", "role", "source", "stream", "subagent", "time", "time_source", "type",
    )  # fmt: skip

    def __init__(self) -> None:
        self.source = array("i")
        self.member = array("i")  # number in Records.members
        self.stream = array("i")  # number in Records.streams
        self.record = array("i")
        self.line = array("i")  # -1: none
        self.offset = array("q")  # -1: none
        self.length = array("i")
        self.time = array("q")  # NO_TIME: none
        self.time_source = array("b")
        self.type = array("i")  # this and the following: codes in Records.pool, -1 none
        self.own_thread = array("i")  # as the event or its envelope says, not inferred
        self.own_run = array("i")
        self.message = array("i")
        self.parent = array("i")
        self.call = array("i")
        self.name = array("i")
        self.role = array("i")
        self.subagent = array("i")

    def __len__(self) -> int:
        return len(self.type)

    def settle(self) -> None:
        """Fill the columns that most events have nothing for up to the last row.

        Readers may leave them short and fill them before they write at a row, because
        writing "nothing" a million times is a good part of the time that loading takes.
        """
        for column in (self.own_thread, self.own_run, self.parent, self.name, self.role, self.subagent):
            fill(column, len(self.type))


_decode = msgspec.json.decode


class Records:
    """Everything that one `load` gathered."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.sources: list[Source] = []
        self.members: list[Member] = []
        self.streams: list[Stream] = []
        self.problems: list[Problem] = []
        self.events = Events()
        self.requests: list[RequestRecord] = []
        #: requests to a model provider, and message lists that frameworks keep
        self.payloads: list[PayloadRecord] = []
        #: telemetry; `span_rows` finds a span again by its ids
        self.spans = Spans()
        self.logs = Logs()
        self.span_rows: dict[str, int] = {}
        self.deviations: list[Deviation] = []
        #: JSON of events whose bytes in the member are not one JSON text (several `data:`
        #: lines, Python literals, an envelope around the event)
        self.overrides: dict[int, bytes] = {}

    def json_bytes(self, row: int) -> bytes:
        """The event as JSON text."""
        override = self.overrides.get(row)
        if override is not None:
            return override
        return self.raw(row)

    def json(self, row: int) -> dict[str, Any]:
        """The event, decoded; `{}` if its bytes are gone or no longer JSON (the file changed)."""
        try:
            text = self.json_bytes(row)
            try:
                value = _decode(text)
            except msgspec.DecodeError:
                # Numbers that no float holds (1e999) stop msgspec, not the standard library.
                value = json.loads(text)
        except (ValueError, OSError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def raw(self, row: int) -> bytes:
        """The bytes of the event as they stand in its member; empty where the format keeps none."""
        events = self.events
        offset = events.offset[row]
        if offset < 0:
            return self.overrides.get(row, b"")
        return self.members[events.member[row]].read(offset, events.length[row])

    def request_raw(self, row: int) -> bytes:
        """The bytes of a request as they stand in its member; empty where the format keeps none."""
        request = self.requests[row]
        return self.raw(request.event) if request.event is not None else self.body_raw(request)

    def span(self, row: int) -> SpanRow:
        """A span decoded whole, with attributes and events; an empty one if its bytes are gone."""
        from workbench.readers.telemetry import detail

        return detail.span(self, row)

    def log(self, row: int) -> LogRow:
        """A log record decoded whole, with body and attributes; an empty one if its bytes are gone."""
        from workbench.readers.telemetry import detail

        return detail.log(self, row)

    def signal_raw(self, signal: Literal["span", "log"], row: int) -> bytes:
        """The bytes of a span or log record as they stand in its member; empty if they are gone."""
        from workbench.readers.telemetry import detail

        return detail.raw(self, self.spans if signal == "span" else self.logs, row)

    def body_raw(self, request: RequestRecord) -> bytes:
        """The bytes of a request or payload in its member; empty where the format keeps none."""
        if request.offset is None or request.length is None or request.member < 0:
            return b""
        return self.members[request.member].read(request.offset, request.length)

    def subset(
        self, rows: Sequence[int], requests: Sequence[int], spans: Sequence[int], logs: Sequence[int]
    ) -> Records:
        """Records with only these rows and requests; sources, streams and members are shared.

        A request that an event carries goes with its event.
        """
        new = Records()
        new.pool, new.sources, new.members, new.problems = (
            self.pool,
            self.sources,
            self.members,
            self.problems,
        )
        new.payloads = self.payloads
        new.spans, new.logs = self.spans.subset(spans), self.logs.subset(logs)
        numbered = {row: number for number, row in enumerate(spans)}
        new.span_rows = {ids: numbered[row] for ids, row in self.span_rows.items() if row in numbered}
        for name in Events.__slots__:
            column: array[int] = getattr(self.events, name)
            setattr(new.events, name, array(column.typecode, (column[row] for row in rows)))
        moved = {row: number for number, row in enumerate(rows)}
        kept = [n for n in requests if (event := self.requests[n].event) is None or event in moved]
        numbers = {old: number for number, old in enumerate(kept)}
        for old in kept:
            event = self.requests[old].event
            new.requests.append(replace(self.requests[old], event=None if event is None else moved[event]))
        new.streams = [
            replace(s, request=None if s.request is None else numbers.get(s.request)) for s in self.streams
        ]
        new.deviations = [replace(d, event=moved[d.event]) for d in self.deviations if d.event in moved]
        new.overrides = {moved[row]: text for row, text in self.overrides.items() if row in moved}
        return new

    def texts(self, column: array[int]) -> Iterator[str | None]:
        """The texts of a column of pool codes."""
        values = self.pool.values
        return (values[code] if code >= 0 else None for code in column)
