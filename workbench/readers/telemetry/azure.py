"""Application Insights and Log Analytics: rows of dependencies, requests, traces and exceptions.

As an answer of the query API (`tables` of columns and rows), as objects, or as CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import msgspec

from workbench.readers.json_events import too_large
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff
from workbench.readers.telemetry import clock, ids, values
from workbench.readers.telemetry.dispatch import Found, Keys, Shape, Telemetry
from workbench.readers.telemetry.rows import LogRow, SpanRow
from workbench.readers.telemetry.writer import Place, SignalWriter

#: Names in Application Insights and in Log Analytics, by what they say
_NAMES = {
    "trace": ("operation_Id", "OperationId"),
    "parent": ("operation_ParentId", "ParentId"),
    "span": ("id", "Id"),
    "name": ("name", "Name"),
    "time": ("timestamp", "TimeGenerated", "timestamp [UTC]"),
    "duration": ("duration", "DurationMs"),
    "success": ("success", "Success"),
    "service": ("cloud_RoleName", "AppRoleName"),
    "attributes": ("customDimensions", "Properties"),
    "message": ("message", "Message", "outerMessage", "OuterMessage"),
    "level": ("severityLevel", "SeverityLevel"),
    "kind": ("itemType", "Type"),
}
_LEVELS = ("Verbose", "Information", "Warning", "Error", "Critical")


def _said(value: dict[str, Any], what: str) -> Any:
    return next((value[name] for name in _NAMES[what] if value.get(name) not in (None, "")), None)


def _attributes(value: dict[str, Any]) -> dict[str, Any]:
    given = _said(value, "attributes")
    return values.flat(values.loads(given) if isinstance(given, str) else given)


def _time(value: Any, faults: list[str]) -> int | None:
    try:
        return clock.guess(value)
    except clock.OutOfRange as problem:
        faults.append(str(problem))
        return None


def span_row(value: dict[str, Any]) -> SpanRow:
    """A row of dependencies or requests."""
    faults: list[str] = []
    start = _time(_said(value, "time"), faults)
    length = _said(value, "duration")
    end = None
    try:
        passed = clock.scaled(length, 1_000_000)
        end = start + (passed or 0) if start is not None and length is not None else None
    except clock.OutOfRange as problem:
        faults.append(str(problem))
    name = _said(value, "name")
    success = str(_said(value, "success")).lower()
    return SpanRow(
        trace_id=ids.trace_id(_said(value, "trace")),
        span_id=ids.span_id(_said(value, "span")),
        parent_id=ids.span_id(_said(value, "parent")),
        name=name if isinstance(name, str) else "",
        kind="server" if "request" in str(_said(value, "kind")).lower() else "",
        start=start,
        end=end,
        status="error" if success == "false" else "unset",
        service=values.word(_said(value, "service")),
        attributes=_attributes(value),
        faults=faults,
    )


def log_row(value: dict[str, Any]) -> LogRow:
    """A row of traces or exceptions."""
    faults: list[str] = []
    level = _said(value, "level")
    number = int(level) if isinstance(level, int | str) and str(level).isdecimal() else None
    attributes = _attributes(value)
    return LogRow(
        time=_time(_said(value, "time"), faults),
        severity=_LEVELS[number] if number is not None and number < len(_LEVELS) else values.word(level),
        body=_said(value, "message"),
        event=values.word(attributes.get("event.name")),
        logger=values.word(attributes.get("CategoryName", attributes.get("LoggerName"))),
        service=values.word(_said(value, "service")),
        trace_id=ids.trace_id(_said(value, "trace")),
        span_id=ids.span_id(_said(value, "parent")),
        attributes=attributes,
        faults=faults,
    )


def _row(writer: SignalWriter, value: dict[str, Any], place: Place) -> None:
    """A log record where it has a message or a level and no duration, else a span."""
    if _said(value, "duration") is None and (
        _said(value, "message") is not None or _said(value, "level") is not None
    ):
        writer.log(log_row(value), "azure", place)
    else:
        writer.span(span_row(value), "azure", place)


def _is_row(keys: Keys) -> bool:
    return any(name in keys for name in _NAMES["trace"]) and any(name in keys for name in _NAMES["time"])


def _take_row(telemetry: Telemetry, found: Found) -> str:
    _row(telemetry.writer, found.node.value(), found.node.place)
    return ""


def _is_tables(keys: Keys) -> bool:
    return keys.get("tables") == "["


def _take_tables(telemetry: Telemetry, found: Found) -> str:
    for table in found.members["tables"].elements():
        inner = table.members()
        columns = inner["columns"].value() if "columns" in inner else None
        names = [str(c.get("name")) if isinstance(c, dict) else str(c) for c in columns or ()]
        for item in inner["rows"].elements() if "rows" in inner else ():
            cells = item.value()
            if isinstance(cells, list) and len(cells) == len(names):
                _keep(telemetry.writer, names, cells, item.place)
            else:
                telemetry.bad("a row that does not fit the columns", item)
    return ""


def _keep(writer: SignalWriter, names: Sequence[str], cells: Sequence[Any], place: Place) -> None:
    value = dict(zip(names, cells, strict=True))
    _row(writer, value, place._replace(kept=msgspec.json.encode(value)))


def read_csv(reading: Reading) -> None:
    """Read a table exported as CSV."""
    if too_large(reading):
        return
    content = reading.content
    data = content.whole()
    writer = SignalWriter(reading)
    text = io.StringIO(data.decode("utf-8", "replace"), newline="")
    names: list[str] = []
    offset = content.start
    line = content.first_line
    # offsets are those of whole lines, so they are found by counting them
    starts = [0]
    for found in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(found))
    rows = csv.reader(text)
    try:
        for cells in rows:
            first, line = line, content.first_line + rows.line_num
            begin, end = (
                starts[min(first - content.first_line, len(starts) - 1)],
                starts[min(rows.line_num, len(starts) - 1)],
            )
            offset = content.start + begin
            if not names:
                names = cells
            elif len(cells) == len(names):
                _keep(writer, names, cells, Place(first, offset, len(data[begin:end].rstrip(b"\r\n"))))
            elif cells:
                reading.problem(
                    "a row that does not fit the columns", line=first, offset=offset, data=data[begin:end]
                )
    except csv.Error as problem:
        reading.problem(f"no CSV: {problem}", line=line, offset=offset)
        reading.cut("could not be read to its end")


def _is_csv(sniff: Sniff) -> bool:
    if sniff.first in (b"{", b"[") or not sniff.lines:
        return False
    names = {name.strip().strip('"') for name in sniff.lines[0].decode("utf-8", "replace").split(",")}
    return bool(names & set(_NAMES["trace"]) and names & set(_NAMES["attributes"]))


SHAPES = (
    Shape("tables", "azure-monitor", _is_tables, _take_tables),
    Shape("row", "azure-monitor", _is_row, _take_row),
)

CSV = Format(
    name="azure-monitor-csv",
    title="Application Insights or Log Analytics as CSV",
    recognised_by="columns operation_Id and customDimensions",
    extensions=(".csv",),
    recognise=_is_csv,
    read=read_csv,
)
