"""Server-sent events: `data:` lines, one AG-UI event per frame.

More is accepted than WHATWG allows, because captures are cut, pasted and hand-written: any line
end, no blank line between events, an unterminated last frame if it is whole JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from workbench.readers import times
from workbench.readers.lines import blocks, split
from workbench.readers.reading import Reading
from workbench.readers.records import NO_TIME, TIME_ARRIVAL, TIME_NONE
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

#: `id: TYPE_epochms`, as one Go server writes it
_TIMED_ID = re.compile(rb"[A-Z_]+_(\d{12,14})\Z")
_KEEPALIVE = re.compile(rb"^\W*(keep-?_?alive|ping|pong|heartbeat)", re.IGNORECASE)
_KEEPALIVE_EVENTS = frozenset({b"ping", b"keepalive", b"keep-alive", b"heartbeat"})
_FIELDS = frozenset({b"data", b"event", b"id", b"retry"})
#: Frames of one whole line each, and where such a stretch may begin
_PLAIN = re.compile(rb"(?:data: \{[^\r\n]*\}\n\n)+")
_FRAME = b"data: {"
_BLANK = b"\n\n"
#: Lines of one frame after which is asked whether it is one
MANY = 4096
#: What pasting puts before a line
_INDENT = b" \t>\xef\xbb\xbf"


def _plain_until(block: bytes, position: int) -> int:
    """Where the plain frames that begin at `position` end; 0 where there is none."""
    end = block.rfind(_BLANK, position) + len(_BLANK)
    # Counting is much faster than matching, and a whole block is plain more often than not.
    if (
        block.startswith(_FRAME, position)
        and b"\r" not in block
        and block.count(b"\n", position, end) == 2 * block.count(_BLANK + _FRAME, position, end) + 2
        and block.startswith(b"}", end - 3)
    ):
        return end
    found = _PLAIN.match(block, position)
    return found.end() if found else 0


class Writer(Protocol):
    """What takes the data of frames: an `EventWriter`, or what unwraps an envelope before it."""

    add: Callable[..., str]

    def lost(self) -> None:
        """A frame is lost."""


class SseReader:
    """Frames that go to one writer.

    `arrivals` are arrival times (UTC ns) of the frames in order, where the capture has them
    beside the bytes.
    """

    def __init__(self, reading: Reading, writer: Writer, arrivals: Sequence[int | None] = ()) -> None:
        self.reading = reading
        self.counts = reading.counts
        self.arrivals = arrivals
        self.writer = writer
        self.noise = 0
        self._frame = 0
        #: data lines of the open frame that are no event by themselves: line, offset, data, why
        self._pending: list[tuple[int, int, bytes, str]] = []

    def _lines(self) -> Iterator[tuple[int, int, bytes | None]]:
        """Lines with number and offset; stretches of plain frames go to the writer at once and are not given.

        Plain is one `data: {…}` line and a blank line, which is nearly all of most captures.
        """
        reading, counts, limits = self.reading, self.counts, self.reading.limits
        take = None if self.arrivals else getattr(self.writer, "add_all", None)
        number = reading.content.first_line - 1
        fresh = True  # at the beginning of a frame
        for offset, block in blocks(reading.content, limits, reading.progress):
            if block is None:
                number, fresh = number + 1, False
                yield number, offset, None
                continue
            position, size = 0, len(block)
            while position < size:
                stop = size
                end = _plain_until(block, position) if take is not None and fresh else 0
                if end and take is not None:
                    stop = end
                    taken = take(
                        block[position:stop], counts.records, number + 1, offset + position, limits.max_line
                    )
                    if taken:
                        counts.records += taken
                        counts.rows += taken
                        self._frame += taken
                        number += 2 * taken
                        position = stop
                        continue
                elif take is not None:
                    ahead = block.find(_BLANK + _FRAME, position)
                    stop = size if ahead < 0 else ahead + 2
                for at, line in split(offset + position, block[position:stop], limits):
                    number += 1
                    fresh = line == b""
                    yield number, at, line
                position = stop

    def read(self) -> None:
        """Read the whole content."""
        reading, counts = self.reading, self.counts
        add = self.writer.add
        pending = self._pending
        arrivals = self.arrivals
        events = reading.records.events
        kinds = events.type
        arrival = NO_TIME
        event_name = b""
        row = -1  # of an event that the open frame already gave
        had_data = had_fields = False
        for number, offset, line in self._lines():
            if not line:
                if line is None:
                    reading.problem(self._too_long(), line=number, offset=offset)
                    self.writer.lost()
                    continue
                if pending:
                    self._end_frame(event_name, arrival)
                elif had_fields and not had_data:
                    reading.ignore("frames without data")
                if had_data:
                    self._frame += 1
                arrival, event_name, row = NO_TIME, b"", -1
                had_data = had_fields = False
                continue
            if line[:5] != b"data:":
                name, _, value = line.partition(b":")
                if not name:
                    is_alive = _KEEPALIVE.match(value) is not None
                    reading.ignore("keepalive comments" if is_alive else "comments")
                    continue
                if name not in _FIELDS:
                    bare = line.lstrip(_INDENT)
                    if bare[:5] != b"data:":
                        self._stray(number, offset, line)
                        continue
                    offset += len(line) - len(bare)  # noqa: PLW2901 - the line without its indent
                    line = bare  # noqa: PLW2901 - same
                else:
                    value = value.strip()
                    had_fields = True
                    if name == b"event":
                        event_name = value
                    elif name == b"id" and (timed := _TIMED_ID.match(value)):
                        arrival = times.from_ms(int(timed[1])) or NO_TIME
                        if row >= 0 and events.time_source[row] == TIME_NONE:
                            events.time[row], events.time_source[row] = arrival, TIME_ARRIVAL
                    elif name == b"data":
                        had_data = True
                        pending.append((number, offset, b"", ""))
                    continue
            begin = 6 if line[5:6] == b" " else 5
            data = line[begin:]
            had_data = True
            if pending or data[-1:] != b"}" or event_name in _KEEPALIVE_EVENTS:
                pending.append((number, offset + begin, data, ""))
                if len(pending) % MANY == 0 and self._is_one_per_line():
                    self._end_frame(event_name, arrival)  # no blank line may ever come
                continue
            if self._frame < len(arrivals):
                arrival = arrivals[self._frame] or NO_TIME
            why = add(data, counts.records, number, offset + begin, len(data), arrival)
            if why:
                pending.append((number, offset + begin, data, why))
            else:
                counts.records += 1
                counts.rows += 1
                row = len(kinds) - 1
        if pending:
            self._end_frame(event_name, arrival, at_end=True)
        elif had_data:
            reading.note("last frame is unterminated (no blank line after it) and was kept")

    def _too_long(self) -> str:
        return f"a line of more than {self.reading.limits.max_line:,} bytes"

    def _end_frame(self, event_name: bytes, arrival: int, *, at_end: bool = False) -> None:
        """Make what can be made of the data lines that are no event by themselves."""
        pending = self._pending
        reading = self.reading
        if self._frame < len(self.arrivals):
            arrival = self.arrivals[self._frame] or NO_TIME
        if len(pending) > 1:
            # Blank lines at either end belong to no event.
            kept = [index for index, line in enumerate(pending) if line[2].strip()]
            if kept and len(kept) < len(pending):
                low, high = kept[0], kept[-1] + 1
                reading.ignore("empty data lines", len(pending) - (high - low))
                pending[:] = pending[low:high]
        number, offset, first, why = pending[0]
        joined = b"\n".join(data for _, _, data, _ in pending)
        bare = joined.strip()
        if not bare:
            reading.ignore("frames with empty data")
        elif bare.upper() == b"[DONE]":
            reading.ignore("end marks")
        elif event_name in _KEEPALIVE_EVENTS:
            reading.ignore("keepalive events")
        elif len(pending) == 1:
            self._add_or_lose(number, offset, first, why, arrival, at_end)
        else:
            whole = pending[-1][1] + len(pending[-1][2]) - offset
            why = self.writer.add(joined, self.counts.records, number, offset, whole, arrival)
            if not why:
                reading.row()
                reading.records.overrides.setdefault(len(reading.records.events) - 1, joined)
            elif self._is_one_per_line():
                # By the rules it is one event of several lines, but each line is an event.
                for number, offset, data, _ in pending:
                    if data.strip():
                        self._add_or_lose(number, offset, data, "", arrival, at_end)
            else:
                self._lose(number, offset, joined, why, at_end)
        pending.clear()
        if at_end and self.counts.complete:
            reading.note("last frame is unterminated (no blank line after it)")

    def _is_one_per_line(self) -> bool:
        """Whether the pending lines are an event each, as far as they are not damaged."""
        whole = sum(data[:1] == b"{" and data.rstrip()[-1:] == b"}" for _, _, data, _ in self._pending)
        return whole * 2 >= len(self._pending)

    def _add_or_lose(self, line: int, offset: int, data: bytes, why: str, arrival: int, at_end: bool) -> None:  # noqa: FBT001 - passed on as it came
        """One data line: an event, or a problem."""
        why = why or self.writer.add(data, self.counts.records, line, offset, len(data), arrival)
        if why:
            self._lose(line, offset, data, why, at_end)
        else:
            self.reading.row()

    def _lose(self, line: int, offset: int, data: bytes, why: str, at_end: bool) -> None:  # noqa: FBT001 - same
        reading = self.reading
        bare = data.strip()
        if at_end and bare[:1] in (b"{", b"[") and why.startswith("not JSON"):
            why = "truncated last event"
            reading.cut("the last frame ends inside its JSON")
        reading.problem(why, line=line, offset=offset, data=data)
        self.writer.lost()

    def _stray(self, number: int, offset: int, line: bytes) -> None:
        """A line that is no field: an event without `data:`, a damaged one, or noise around a paste."""
        bare = line.strip()
        if not bare:
            return
        if bare[:1] == b"{" and bare[-1:] == b"}":
            at = offset + line.find(bare)
            if not self.writer.add(bare, self.counts.records, number, at, len(bare)):
                self.reading.row()
                return
        if b'"' in bare and (b":" in bare or b"}" in bare):
            self.reading.problem("neither an SSE field nor a comment", line=number, offset=offset, data=line)
            self.writer.lost()
            return
        self.noise += 1
        self.reading.ignore("noise lines")


def read(reading: Reading) -> None:
    """Read the content as one stream."""
    SseReader(reading, reading.writer(reading.new_stream())).read()


def recognise(sniff: Sniff) -> bool:
    """A line begins with `data:`."""
    return sniff.has_data_lines


FORMAT = Format(
    name="sse",
    title="Server-sent events",
    recognised_by="a line begins with `data:`",
    extensions=(".sse", ".txt", ".log"),
    recognise=recognise,
    read=read,
)
