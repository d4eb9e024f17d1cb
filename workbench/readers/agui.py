"""One event's JSON bytes → one row of `Records.events`.

Fast path: one decode into a Struct that is also the schema check. What fails there goes
through `workbench.readers.tolerant`, which fills what it can and says what is wrong.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from itertools import accumulate, groupby
from operator import add
from typing import Any

import msgspec

from workbench.readers import protocol, times, tolerant
from workbench.readers.records import (
    NO_TIME,
    TIME_ARRIVAL,
    TIME_EVENT,
    TIME_NONE,
    Deviation,
    Problem,
    Records,
    RequestRecord,
    fill,
)
from workbench.readers.schema import EVENT, STRUCTS

_FAILURES = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_CHUNKS = {"TEXT_MESSAGE_CHUNK": "message", "TOOL_CALL_CHUNK": "call"}
#: Types that pass between the chunks of an open message or call without closing it.
_PASSING = frozenset({"RAW", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "REASONING_ENCRYPTED_VALUE"})
#: Types whose delta releases before 1.0 did not accept empty.
_CONTENTS = frozenset({"TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_CONTENT"})
_CONTENT_CLASSES = frozenset(STRUCTS[name] for name in _CONTENTS)
_CHUNK_CLASSES = frozenset(STRUCTS[name] for name in _CHUNKS)
_PASSING_CLASSES = frozenset(STRUCTS[name] for name in _PASSING)
_NAMES: dict[type[Any], str] = {struct: name for name, struct in STRUCTS.items()}
_INPUT_CLASS = STRUCTS["RUN_STARTED"]
_RAW_CLASS = STRUCTS["RAW"]
_decoder: Any = msgspec.json.Decoder(EVENT)
_decode_all: Any = msgspec.json.Decoder(list[EVENT]).decode
#: Types that have only an id, a delta and perhaps a lane
_PLAIN_CLASSES = frozenset(STRUCTS[name] for name in (*_CONTENTS, "TOOL_CALL_ARGS")) - {
    STRUCTS["THINKING_TEXT_MESSAGE_CONTENT"]
}


class _Named(msgspec.Struct):
    """The name that a RAW event's own event may carry."""

    event: str | None = None
    type: str | None = None
    name: str | None = None


class EventWriter:
    """Appends the events of one stream of one member.

    `add(data, record, line, offset, length, arrival, thread, run)` gives "" if `data` became a
    row, else why it is no event, and then changes nothing. `line` and `offset` are -1 where the
    format has none; `arrival` is `NO_TIME` or UTC ns; `thread` and `run` are codes of the pool
    that an envelope gives, used where the event has no ids of its own.
    """

    __slots__ = ("_carried", "_chunk", "add", "member", "records", "source", "stream")

    add: Callable[..., str]

    def __init__(
        self, records: Records, carried: list[RequestRecord], source: int, member: int, stream: int
    ) -> None:
        self.records = records
        #: requests found inside RUN_STARTED, kept apart until all bodies of the load are known
        self._carried = carried
        self.source = source
        self.member = member
        self.stream = stream
        #: what chunks are open: "message", "call", "" for none, None after a lost record
        self._chunk: str | None = ""
        self.add = _make_add(self)

    def add_all(self, stretch: bytes, record: int, line: int, offset: int, max_line: int) -> int:
        """Take a stretch of frames `data: {…}` with a blank line after each; the number of rows that it became.

        0 where one of them needs a closer look: then nothing is changed, and `add` has to be
        asked for each. One decoding and one write a column for all is what this is for.
        """
        if self._chunk != "":
            return 0
        texts = stretch[6:-2].split(b"\n\ndata: ")
        sizes = list(map(len, texts))
        try:
            if not stretch.isascii():
                stretch.decode()
            found = _decode_all(b"[%b]" % b",".join(texts))
        except _FAILURES:
            return 0
        if len(found) != len(texts) or max(sizes) + 6 > max_line:
            return 0
        stamps = [event.timestamp for event in found]
        timed = None not in stamps
        if timed:
            if not -times.MAX_MS <= min(stamps) <= max(stamps) <= times.MAX_MS:
                return 0
        elif any(stamp is not None for stamp in stamps) or any(event.arrival is not None for event in found):
            return 0
        kinds = _stretches([event.__class__ for event in found])
        if not _CHUNK_CLASSES.isdisjoint(kind for kind, _ in kinds):
            return 0
        events = self.records.events
        if timed:
            events.time.extend([stamp * 1_000_000 for stamp in stamps])
        else:
            events.time.extend(array("q", (NO_TIME,)) * len(found))
        events.time_source.extend(array("b", (TIME_EVENT if timed else TIME_NONE,)) * len(found))
        self._write_all(found, kinds, sizes, record, line, offset)
        self._write_rare(found, kinds, empty=b'""' in stretch)
        return len(found)

    def _write_all(
        self,
        found: list[Any],
        kinds: list[tuple[type[Any], int]],
        sizes: list[int],
        record: int,
        line: int,
        offset: int,
    ) -> None:
        """The columns that every event has."""
        events, code = self.records.events, self.records.pool.code
        count = len(found)
        _repeat(events.type, [(code(_NAMES[kind]), many) for kind, many in kinds])
        for column, ids in (
            (events.message, [event.message for event in found]),
            (events.call, [event.call for event in found]),
        ):
            _repeat(column, [(code(text), many) for text, many in _stretches(ids)])
        for column, number in (
            (events.source, self.source),
            (events.member, self.member),
            (events.stream, self.stream),
        ):
            _repeat(column, [(number, count)])
        events.record.extend(range(record, record + count))
        events.line.extend(range(line, line + 2 * count, 2))
        # each frame is six bytes before the event and two line ends after it
        ahead = range(offset + 6, offset + 6 + 8 * count, 8)
        events.offset.extend(map(add, accumulate(sizes[:-1], initial=0), ahead))
        events.length.extend(sizes)

    def _write_rare(self, found: list[Any], kinds: list[tuple[type[Any], int]], *, empty: bool) -> None:
        """What most events have nothing of, and what only some types need."""
        events = self.records.events
        base = len(events.type) - len(found)
        lanes = [event.subagent for event in found]
        if lanes.count(None) < len(lanes):
            for row, lane in enumerate(lanes, base):
                self._rare(events.subagent, row, lane)
        index = 0
        for kind, many in kinds:
            after = index + many
            if kind not in _PLAIN_CLASSES:
                for number in range(index, after):
                    self._write_other(found[number], kind, base + number)
            elif empty and kind in _CONTENT_CLASSES:
                self.records.deviations.extend(
                    Deviation(base + number, "empty", "delta")
                    for number in range(index, after)
                    if not found[number].delta
                )
            index = after

    def _write_other(self, event: Any, kind: type[Any], row: int) -> None:
        """What an event has that is not plain."""
        events = self.records.events
        label = _raw_label(bytes(event.event), event.source) if kind is _RAW_CLASS else event.label
        self._rare(events.own_thread, row, event.thread)
        self._rare(events.own_run, row, event.run)
        self._rare(events.parent, row, event.parent)
        self._rare(events.name, row, label)
        self._rare(events.role, row, event.role)
        if kind is _INPUT_CLASS and event.input is not None:
            self.carried(row, event.input)

    def _rare(self, column: array[int], row: int, text: str | None) -> None:
        if text is not None:
            fill(column, row)
            column.append(self.records.pool.code(text))

    def lost(self) -> None:
        """A record of the stream is lost: nothing can be said about what it left open."""
        self._chunk = None
        self.records.streams[self.stream].complete = False

    def chunk(self, row: int, kind: str, message: str | None, call: str | None, name: str | None) -> None:
        """Follow the implicit opening of chunks; the first one has to name what it opens."""
        opens = _CHUNKS[kind]
        if self._chunk == "" or (self._chunk is not None and self._chunk != opens):
            wanted = (
                {"messageId": message} if opens == "message" else {"toolCallId": call, "toolCallName": name}
            )
            for field, value in wanted.items():
                if value is None:
                    self.records.deviations.append(Deviation(row, "field-missing", field, "first chunk"))
        self._chunk = opens

    def close_chunks(self) -> None:
        """An event of another type ends what chunks left open."""
        self._chunk = ""

    def tolerant(
        self,
        data: bytes,
        record: int,
        line: int,
        offset: int,
        length: int,
        arrival: int = NO_TIME,
        thread: int = -1,
        run: int = -1,
    ) -> str:
        """`add` for what the schema does not accept, or what text needs a repair."""
        decoded = tolerant.decode(data)
        if decoded.error:
            return decoded.error
        event = decoded.value
        if not isinstance(event, dict):
            return "JSON, but no object"
        if not isinstance(event.get("type"), str):
            return "an object without a type" if "type" not in event else "type is not text"
        records = self.records
        events = records.events
        row = len(events)
        events.settle()
        place = (self.source, record, None if line < 0 else line, None if offset < 0 else offset)
        if decoded.repaired is not None:
            records.overrides[row] = decoded.repaired
            self._say(decoded.repair, place, data)
        event, renamed = tolerant.normalise(event)
        for name in renamed:
            records.deviations.append(Deviation(row, "snake-case", name))
        for key in tolerant.repeated_keys(decoded.repaired or data):
            records.deviations.append(Deviation(row, "duplicate-key", key))
        for kind, field, detail in tolerant.judge(event):
            records.deviations.append(Deviation(row, kind, field, detail))
        if event["type"] in _CONTENTS and event.get("delta") == "":
            records.deviations.append(Deviation(row, "empty", "delta"))
        time = NO_TIME
        source = TIME_NONE
        stamp = event.get("timestamp")
        if isinstance(stamp, int | float) and not isinstance(stamp, bool):
            exact = times.from_ms(stamp)
            if exact is None:
                self._say("timestamp is beyond what a table can hold", place, data)
            else:
                time, source = exact, TIME_EVENT
        if source == TIME_NONE:
            if arrival == NO_TIME:
                guessed = times.guess(event.get("_timestamp"))
                arrival = NO_TIME if guessed is None else guessed
            if arrival != NO_TIME:
                time, source = arrival, TIME_ARRIVAL
        code = records.pool.code
        kind = event["type"]
        texts = {column: tolerant.as_text(event.get(wire)) for column, wire in protocol.COLUMNS.items()}
        label = tolerant.as_text(event.get(protocol.LABELS.get(kind, "name")))
        if kind == "RAW":
            label = _raw_label(msgspec.json.encode(event.get("event")), event.get("source"))
        events.source.append(self.source)
        events.member.append(self.member)
        events.stream.append(self.stream)
        events.record.append(record)
        events.line.append(line)
        events.offset.append(offset)
        events.length.append(length)
        events.time.append(time)
        events.time_source.append(source)
        events.type.append(code(kind))
        events.own_thread.append(thread if texts["thread"] is None else code(texts["thread"]))
        events.own_run.append(run if texts["run"] is None else code(texts["run"]))
        for column in ("message", "parent", "call", "role", "subagent"):
            getattr(events, column).append(code(texts[column]))
        events.name.append(code(label))
        if kind in _CHUNKS:
            self.chunk(row, kind, texts["message"], texts["call"], label)
        elif kind not in _PASSING:
            self.close_chunks()
        if kind == "RUN_STARTED" and isinstance(event.get("input"), dict):
            self.carried(row, event["input"])
        return ""

    def carried(self, row: int, body: dict[str, Any]) -> None:
        """RUN_STARTED carries the request that caused it."""
        events = self.records.events
        line, offset = events.line[row], events.offset[row]
        self._carried.append(
            RequestRecord(
                self.source,
                body,
                events.record[row],
                None if line < 0 else line,
                None if offset < 0 else offset,
                events.length[row],
                self.member,
                None if events.time[row] == NO_TIME else events.time[row],
                stream=self.stream,
                event=row,
            )
        )

    def _say(self, reason: str, place: tuple[int, int, int | None, int | None], data: bytes) -> None:
        """A problem inside an event that is kept: it does not count against the records."""
        source, record, line, offset = place
        name = self.records.members[self.member].name
        self.records.problems.append(Problem(source, reason, record, line, offset, excerpt(data), name))


def _stretches(values: list[Any]) -> list[tuple[Any, int]]:
    """Values with how often each stands there in a row: streamed events are alike for long."""
    return [(value, len(list(same))) for value, same in groupby(values)]


def _repeat(column: array[int], stretches: Iterable[tuple[int, int]]) -> None:
    """Append numbers, each so many times; a list of them would be converted item by item."""
    for number, many in stretches:
        column.extend(array(column.typecode, (number,)) * many)


def excerpt(data: bytes) -> str:
    """The start of some bytes, as text."""
    return data[:80].decode("utf-8", "replace")


def _raw_label(event: bytes, source: Any) -> str | None:
    try:
        named = msgspec.json.decode(event, type=_Named)
        label = named.event or named.type or named.name
    except _FAILURES:
        label = None
    return label or (source if isinstance(source, str) else None)


def _make_add(writer: EventWriter) -> Callable[..., str]:
    """The fast path, with everything it needs in local names."""
    records = writer.records
    events = records.events
    pool = records.pool
    code = pool.code
    known = pool.codes.get
    decode = _decoder.decode
    source, member, stream = writer.source, writer.member, writer.stream
    slow = writer.tolerant
    type_codes: dict[type[Any], int] = {}
    add_source, add_member, add_stream = events.source.append, events.member.append, events.stream.append
    add_record, add_line = events.record.append, events.line.append
    add_offset, add_length = events.offset.append, events.length.append
    add_time, add_time_source, add_type = events.time.append, events.time_source.append, events.type.append
    add_message, add_call = events.message.append, events.call.append
    threads, runs, parents = events.own_thread, events.own_run, events.parent
    names, roles, subagents = events.name, events.role, events.subagent
    types = events.type
    max_ms = times.MAX_MS

    def add(
        data: bytes,
        record: int,
        line: int,
        offset: int,
        length: int,
        arrival: int = NO_TIME,
        thread: int = -1,
        run: int = -1,
    ) -> str:
        try:
            event = decode(data)
            if not data.isascii():
                data.decode()  # the decoder does not look into strings that it skips
        except _FAILURES:
            return slow(data, record, line, offset, length, arrival, thread, run)
        time = event.timestamp
        if time is not None:
            if not -max_ms <= time <= max_ms:
                return slow(data, record, line, offset, length, arrival, thread, run)
            add_time(time * 1_000_000)
            add_time_source(TIME_EVENT)
        else:
            if arrival == NO_TIME and event.arrival is not None:
                guessed = times.guess(event.arrival)
                arrival = NO_TIME if guessed is None else guessed
            add_time(arrival)
            add_time_source(TIME_NONE if arrival == NO_TIME else TIME_ARRIVAL)
        struct = event.__class__
        if struct not in type_codes:
            type_codes[struct] = code(_NAMES[struct])
        message, call, name = event.message, event.call, event.label
        add_source(source)
        add_member(member)
        add_stream(stream)
        add_record(record)
        add_line(line)
        add_offset(offset)
        add_length(length)
        add_type(type_codes[struct])
        # an id that was met before is looked up without a call, which is most of them
        if message is None:
            add_message(-1)
        else:
            number = known(message)
            add_message(code(message) if number is None else number)
        if call is None:
            add_call(-1)
        else:
            number = known(call)
            add_call(code(call) if number is None else number)
        if struct is _RAW_CLASS:
            name = _raw_label(bytes(event.event), event.source)
        # these are rare: their columns are filled up only where there is something to write
        row = len(types) - 1
        if event.thread is not None or thread >= 0:
            fill(threads, row)
            threads.append(thread if event.thread is None else code(event.thread))
        if event.run is not None or run >= 0:
            fill(runs, row)
            runs.append(run if event.run is None else code(event.run))
        if event.parent is not None:
            fill(parents, row)
            parents.append(code(event.parent))
        if name is not None:
            fill(names, row)
            names.append(code(name))
        if event.role is not None:
            fill(roles, row)
            roles.append(code(event.role))
        if event.subagent is not None:
            fill(subagents, row)
            subagents.append(code(event.subagent))
        # looking for the two quotation marks costs less than looking at the type of every event
        if b'""' in data and struct in _CONTENT_CLASSES and not event.delta:
            records.deviations.append(Deviation(row, "empty", "delta"))
        if struct in _CHUNK_CLASSES:
            writer.chunk(row, _NAMES[struct], message, call, name)
        elif writer._chunk != "" and struct not in _PASSING_CLASSES:  # noqa: SLF001 - this is its method
            writer.close_chunks()
        if struct is _INPUT_CLASS and event.input is not None:
            writer.carried(row, event.input)
        return ""

    return add
