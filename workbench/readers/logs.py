"""Logs with an event on some of their lines: those of the TypeScript client and of agent-framework."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from workbench.readers import protocol, times
from workbench.readers.agui import EventWriter
from workbench.readers.lines import lines
from workbench.readers.reading import Reading
from workbench.readers.records import NO_TIME
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

#: How the TypeScript client (@ag-ui/client) marks an event on its way: up to 0.0.5x, and from 1.0
_CLIENT = re.compile(rb"\[(VERIFY|TRANSFORM|APPLY|HTTP)\](?: Event(?: [a-z]+)?)?: *(?=\{)")
_CLIENT_LINE = re.compile(rb'(?:\A|[\r\n])[^\r\n{"]{0,512}' + _CLIENT.pattern)
#: The mark that is taken if several are there: as near to the agent as there is
_NEAREST = (b"HTTP", b"VERIFY", b"TRANSFORM", b"APPLY")
_ENCODED = re.compile(rb"(?:\[([^\]\r\n]{0,200})\] )?Encoded as: data: ?")
_CLOCK = re.compile(rb"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?(Z|[+-]\d\d:?\d\d)?")
_TYPE = re.compile(rb'"type"\s*:\s*"([A-Z_]{3,60})"')
#: What stands before a mark: times, levels, names
_BEFORE = 512


def log_lines(reading: Reading) -> Iterator[tuple[int, int, bytes | None]]:
    """Lines that are not blank, as number, offset and text; None for one that is too long."""
    number = reading.content.first_line - 1
    for offset, line in lines(reading.content, reading.limits, reading.progress):
        number += 1
        if line is None:
            reading.problem(
                f"a line of more than {reading.limits.max_line:,} bytes", line=number, offset=offset
            )
            yield number, offset, None
        elif line.strip():
            yield number, offset, line


def holds_event(line: bytes) -> bool:
    """Whether a line that no mark was found in has the type of an event all the same."""
    return any(found.decode() in protocol.BY_NAME for found in _TYPE.findall(line))


def read_client(reading: Reading) -> None:
    """Read one mark of the client's log; the same events under other marks are duplicates."""
    taken = _nearest(reading)
    writer = reading.writer(reading.new_stream())
    number = cut = -1
    for number, offset, line in log_lines(reading):
        if line is None:
            writer.lost()
            continue
        mark = _CLIENT.search(line, 0, _BEFORE)
        if mark is None:
            if holds_event(line):
                reading.problem("an event without a mark", line=number, offset=offset, data=line)
                writer.lost()
            else:
                reading.ignore("other log lines")
            continue
        if mark[1] != taken:
            reading.duplicate()
            continue
        data = line[mark.end() :].rstrip()
        place = offset + mark.end()
        why = writer.add(data, reading.counts.records, number, place, len(data))
        if why:
            reading.problem(why, line=number, offset=place, data=data)
            writer.lost()
            cut = number if data[-1:] != b"}" else cut
        else:
            reading.row()
    if number >= 0 and cut == number:
        reading.cut("the last line ends inside its JSON")
    if reading.counts.duplicates:
        reading.note(f"events are logged several times: those marked [{taken.decode()}] are read")


def _nearest(reading: Reading) -> bytes:
    """Which mark to take, told by the head: the first that has about as many lines as any other."""
    head = reading.content.head(reading.limits.max_sniff)
    counts = Counter(found[1] for found in _CLIENT.finditer(head))
    most = max(counts.values(), default=0)
    return next(mark for mark in _NEAREST if counts[mark] * 2 >= most)


def read_server(reading: Reading) -> None:
    """Read the log of agent_framework_ag_ui, a stream for each endpoint; it is cut line by line."""
    writers: dict[bytes, EventWriter] = {}
    for number, offset, line in log_lines(reading):
        mark = _ENCODED.search(line, 0, _BEFORE) if line is not None else None
        if mark is None:
            if line is not None and not holds_event(line):
                reading.ignore("other log lines")
                continue
            if line is not None:
                reading.problem("an event without a mark", line=number, offset=offset, data=line)
            for writer in writers.values():
                writer.lost()
            continue
        assert line is not None
        endpoint = mark[1] or b""
        if endpoint not in writers:
            writers[endpoint] = reading.writer(reading.new_stream())
        data = line[mark.end() :].rstrip()
        place = offset + mark.end()
        arrival = _time(reading, line[: mark.start()])
        why = writers[endpoint].add(data, reading.counts.records, number, place, len(data), arrival)
        if not why:
            reading.row()
            continue
        if data[:1] == b"{" and data[-1:] != b"}":
            why = "cut by the logger, which writes the first 200 characters"
            reading.cut("the logger cuts events at 200 characters")
        reading.problem(why, line=number, offset=place, data=data)
        writers[endpoint].lost()


def _time(reading: Reading, before: bytes) -> int:
    """The clock of a log line; one without a zone counts as UTC, which is said."""
    found = _CLOCK.search(before)
    if found is None:
        return NO_TIME
    text = found[1].decode()
    if found[2]:
        text += f".{found[2].decode().ljust(6, '0')}"
    if found[3]:
        text += found[3].decode()
    else:
        reading.note("the log's clock names no zone and is read as UTC")
    time = times.from_iso(text)
    return NO_TIME if time is None else time


def _is_client(sniff: Sniff) -> bool:
    # A mark inside of JSON, in what somebody said about logs, makes no log.
    return _CLIENT_LINE.search(sniff.head) is not None and not sniff.has_data_lines


CLIENT = Format(
    name="ts-debug-log",
    title="Debug log of the TypeScript client (@ag-ui/client)",
    recognised_by="lines with [VERIFY], [TRANSFORM], [HTTP] or [APPLY] before an event",
    extensions=(".log", ".txt"),
    recognise=_is_client,
    read=read_client,
)

SERVER = Format(
    name="af-python-log",
    title="Debug log of agent_framework_ag_ui",
    recognised_by="lines with `Encoded as: data:` before an event",
    extensions=(".log", ".txt"),
    recognise=lambda sniff: b"Encoded as: data:" in sniff.head and not sniff.has_data_lines,
    read=read_server,
)
