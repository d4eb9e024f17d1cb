"""The tables that `aspire otel logs` and `aspire otel spans` print: a clock without a date, and texts.

A message may go on over further lines. Only spans show ids, in the address of the dashboard.
"""

from __future__ import annotations

import re

from workbench.readers.lines import lines
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff
from workbench.readers.telemetry import ids
from workbench.readers.telemetry.rows import LogRow, SpanRow
from workbench.readers.telemetry.writer import Place, SignalWriter

_CLOCK = rb"\d\d:\d\d:\d\d\.\d{3} "
#: Colours of a terminal
_ANSI = re.compile(rb"\x1b\[[0-9;]*m")
_SPAN = re.compile(
    _CLOCK + rb"(OK|ERR) +(\S+) (.*?): (.*) ([0-9a-f]{7}) "
    rb"\(\S*?/traces/detail/([0-9a-fA-F]+)\?spanId=([0-9a-fA-F]+)\)\s*\Z",
    re.DOTALL,
)
_LOG = re.compile(_CLOCK + rb"(TRCE|DBUG|INFO|WARN|FAIL|CRIT|-) +(\S+) ?(.*)\Z", re.DOTALL)
_STARTS = re.compile(rb"(?:\x1b\[[0-9;]*m)*" + _CLOCK)
_LEVELS = {
    "TRCE": "Trace", "DBUG": "Debug", "INFO": "Information", "WARN": "Warning", "FAIL": "Error",
    "CRIT": "Critical", "-": "None",
}  # fmt: skip
#: Lines of one message, taken together
_LONGEST = 16 * 1024 * 1024


def span_of(data: bytes) -> SpanRow:
    """A line of the table of spans. Its clock has no date, so it is no time."""
    found = _SPAN.match(_ANSI.sub(b"", data))
    if found is None:
        return SpanRow()
    status, _, service, name, _, trace, span = (part.decode("utf-8", "replace") for part in found.groups())
    return SpanRow(
        trace_id=ids.trace_id(trace),
        span_id=ids.span_id(span),
        name=name,
        status="error" if status == "ERR" else "unset",
        service=service,
    )


def log_of(data: bytes) -> LogRow:
    """A record of the table of log records, with all its lines."""
    found = _LOG.match(_ANSI.sub(b"", data))
    if found is None:
        return LogRow()
    level, service, text = (part.decode("utf-8", "replace") for part in found.groups())
    return LogRow(severity=_LEVELS[level], service=service, body=text.replace("\r\n", "\n"))


def read(reading: Reading) -> None:
    """Read the tables; what stands before the first record is other output."""
    writer = SignalWriter(reading)
    number = reading.content.first_line - 1
    start = first = end = -1
    count = 0

    def close() -> None:
        nonlocal count
        if start < 0:
            return
        data = reading.content.data.read(start, end - start)
        place = Place(first, start, end - start)
        bare = _ANSI.sub(b"", data)
        if _SPAN.match(bare):
            writer.span(span_of(data), "aspire-text", place)
        elif _LOG.match(bare):
            row = log_of(data)
            row.order = count
            count += 1
            writer.log(row, "aspire-text", place)
        else:
            reading.problem("no line of `aspire otel`", line=first, offset=start, data=data)

    for offset, line in lines(reading.content, reading.limits, reading.progress):
        number += 1
        if line is None:
            reading.problem(
                f"a line of more than {reading.limits.max_line:,} bytes", line=number, offset=offset
            )
        elif _STARTS.match(line):
            close()
            start, first, end = offset, number, offset + len(line)
        elif start >= 0 and offset + len(line) - start < _LONGEST:
            # blank lines at the end belong to nothing
            end = offset + len(line) if line.strip() else end
        elif line.strip():
            reading.ignore("other lines")
    close()
    reading.note(
        "the clock of `aspire otel` has no date: rows have no time, their order is that of the lines"
    )


def _is_table(sniff: Sniff) -> bool:
    for line in sniff.lines[:20]:
        bare = _ANSI.sub(b"", line).rstrip()
        if _STARTS.match(bare):
            return bool(_SPAN.match(bare) or _LOG.match(bare))
    return False


FORMAT = Format(
    name="aspire-text",
    title="Text tables of `aspire otel logs` and `aspire otel spans`",
    recognised_by="lines with a clock, a level or state, and a resource",
    extensions=(".txt",),
    recognise=_is_table,
    read=read,
)
