"""OTLP in protobuf: exports of spans, log records and metrics, read with a small decoder of our own.

The three kinds of exports look alike on the wire; what an item is, is told by its own fields.
"""

from __future__ import annotations

import base64
import math
import struct
from typing import Any

from workbench.readers.proto_wire import (
    BYTES,
    FIXED64,
    MAX_DEPTH,
    VARINT,
    WireError,
    fields,
    signed,
    text,
)
from workbench.readers.telemetry import clock, ids, mapping, values
from workbench.readers.telemetry.columns import KINDS, STATUSES
from workbench.readers.telemetry.rows import LogRow, SpanRow
from workbench.readers.telemetry.writer import Place, SignalWriter

#: gauge, sum, histogram, exponential histogram, summary
_POINTS = frozenset((5, 7, 9, 10, 11))


def is_export(data: bytes, start: int, end: int) -> bool:
    """Whether a message is an export: resources, scopes, and items of a known kind inside of each other."""
    try:
        for number, kind, _, begin, stop in fields(data, start, end):
            if (number, kind) != (1, BYTES):
                return False
            for inner, wire, _, low, high in fields(data, begin, stop):
                if (inner, wire) != (2, BYTES):
                    continue
                for item, form, _, left, right in fields(data, low, high):
                    if (item, form) == (2, BYTES):
                        return bool(_signal(data, left, right))
    except WireError:
        return False
    return False


def _signal(data: bytes, start: int, end: int) -> str:
    """What an item of a scope is: span, log or metric; "" for none of them."""
    kinds: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for number, kind, _, begin, stop in fields(data, start, end):
        kinds[number], sizes[number] = kind, stop - begin
    if kinds.get(1) == FIXED64 or kinds.get(11) == FIXED64 or kinds.get(2) == VARINT:
        return "log"
    if kinds.get(7) == FIXED64 or kinds.get(8) == FIXED64 or (sizes.get(1), sizes.get(2)) == (16, 8):
        return "span"
    if kinds.get(1) == BYTES and any(kinds.get(number) == BYTES for number in _POINTS):
        return "metric"
    return ""


class ProtoReader:
    """Takes exports; a damaged item costs itself, a damaged frame around it what is left in it."""

    def __init__(self, writer: SignalWriter) -> None:
        self.writer = writer

    def take(self, data: bytes, base: int) -> None:
        """An export that stands at `base` in the member."""
        reading = self.writer.reading
        try:
            for number, kind, _, begin, stop in fields(data, 0, len(data)):
                if (number, kind) == (1, BYTES):
                    self._resource(data, begin, stop, base)
        except WireError as problem:
            reading.problem(f"damaged protobuf: {problem}", offset=base, data=data)

    def _resource(self, data: bytes, start: int, end: int, base: int) -> None:
        service = None
        scopes = []
        for number, kind, _, begin, stop in fields(data, start, end):
            if (number, kind) == (1, BYTES):
                service = values.word(_pairs(data, begin, stop, 1).get("service.name"))
            elif number in (2, 1000) and kind == BYTES:
                scopes.append((begin, stop))
        for begin, stop in scopes:
            try:
                self._scope(data, begin, stop, base, service)
            except WireError as problem:
                self._bad(f"damaged protobuf: {problem}", data, begin, stop, base)

    def _scope(self, data: bytes, start: int, end: int, base: int, service: str | None) -> None:
        name = None
        for number, kind, _, begin, stop in fields(data, start, end):
            if (number, kind) == (1, BYTES):
                for inner, wire, _, low, high in fields(data, begin, stop):
                    if (inner, wire) == (1, BYTES):
                        name = text(data, low, high)
            elif (number, kind) == (2, BYTES):
                try:
                    self._item(data, begin, stop, base, name, service)
                except WireError as problem:
                    self._bad(f"damaged protobuf: {problem}", data, begin, stop, base)

    def _item(
        self, data: bytes, start: int, end: int, base: int, scope: str | None, service: str | None
    ) -> None:
        place = Place(-1, base + start, end - start)
        item = data[start:end]
        signal = _signal(item, 0, len(item))
        if signal == "span":
            row = _span(item, mapping.LIFTED)
            row.scope, row.service = scope, service
            self.writer.span(row, "otlp-proto", place)
        elif signal == "log":
            log = _log(item)
            log.logger, log.service = scope, service
            self.writer.log(log, "otlp-proto", place)
        elif signal == "metric":
            self.writer.metric(_metric_points(item))
        else:
            self._bad("damaged: neither span, log record nor metric", data, start, end, base)

    def _bad(self, reason: str, data: bytes, start: int, end: int, base: int) -> None:
        self.writer.reading.problem(reason, offset=base + start, data=data[start:end])


def span_of(data: bytes) -> SpanRow:
    """A span with everything in it; an empty one for bytes that are none."""
    try:
        return _span(data)
    except WireError:
        return SpanRow()


def log_of(data: bytes) -> LogRow:
    """A log record; an empty one for bytes that are none."""
    try:
        return _log(data)
    except WireError:
        return LogRow()


def _fixed(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _time(data: bytes, at: int, faults: list[str]) -> int | None:
    try:
        return clock.nanos(_fixed(data, at))
    except clock.OutOfRange as problem:
        faults.append(str(problem))
        return None


def _span(data: bytes, keys: frozenset[str] | None = None) -> SpanRow:
    """A span; with `keys` only those attributes, and events only where it failed."""
    row = SpanRow()
    events: list[tuple[int, int]] = []
    for number, kind, value, begin, stop in fields(data, 0, len(data)):
        if kind == BYTES:
            if number == 1:
                row.trace_id = ids.trace_id(data[begin:stop])
            elif number == 2:
                row.span_id = ids.span_id(data[begin:stop])
            elif number == 4:
                row.parent_id = ids.span_id(data[begin:stop])
            elif number == 5:
                row.name = text(data, begin, stop)
            elif number == 9:
                _pair(data, begin, stop, row.attributes, 0, keys)
            elif number == 11:
                events.append((begin, stop))
            elif number == 13:
                row.links.append(_link(data, begin, stop))
            elif number == 15:
                _status(data, begin, stop, row)
        elif number == 6 and kind == VARINT:
            row.kind = KINDS[value] if 0 <= value < len(KINDS) else ""
        elif number == 7 and kind == FIXED64:
            row.start = _time(data, begin, row.faults)
        elif number == 8 and kind == FIXED64:
            row.end = _time(data, begin, row.faults)
    if keys is None or row.status == "error":
        row.events = [_event(data, begin, stop) for begin, stop in events]
    return row


def _status(data: bytes, start: int, end: int, row: SpanRow) -> None:
    for number, kind, value, begin, stop in fields(data, start, end):
        if (number, kind) == (2, BYTES):
            row.message = text(data, begin, stop) or None
        elif (number, kind) == (3, VARINT):
            row.status = STATUSES[value] if 0 <= value < len(STATUSES) else "unset"


def _event(data: bytes, start: int, end: int) -> dict[str, Any]:
    event: dict[str, Any] = {"name": "", "time": None, "attributes": {}}
    for number, kind, _, begin, stop in fields(data, start, end):
        if (number, kind) == (1, FIXED64):
            event["time"] = _time(data, begin, [])
        elif (number, kind) == (2, BYTES):
            event["name"] = text(data, begin, stop)
        elif (number, kind) == (3, BYTES):
            _pair(data, begin, stop, event["attributes"])
    return event


def _link(data: bytes, start: int, end: int) -> dict[str, Any]:
    link: dict[str, Any] = {"trace_id": None, "span_id": None}
    for number, kind, _, begin, stop in fields(data, start, end):
        if (number, kind) == (1, BYTES):
            link["trace_id"] = ids.trace_id(data[begin:stop])
        elif (number, kind) == (2, BYTES):
            link["span_id"] = ids.span_id(data[begin:stop])
    return link


def _log(data: bytes) -> LogRow:
    row = LogRow()
    for number, kind, value, begin, stop in fields(data, 0, len(data)):
        if kind == BYTES:
            if number == 3:
                row.severity = text(data, begin, stop) or None
            elif number == 5:
                row.body = _any(data, begin, stop, 0)
            elif number == 6:
                _pair(data, begin, stop, row.attributes)
            elif number == 9:
                row.trace_id = ids.trace_id(data[begin:stop])
            elif number == 10:
                row.span_id = ids.span_id(data[begin:stop])
            elif number == 12:
                row.event = text(data, begin, stop) or None
        elif kind == FIXED64 and number == 1:
            row.time = _time(data, begin, row.faults)
        elif kind == FIXED64 and number == 11:
            row.observed = _time(data, begin, row.faults)
        elif number == 2 and kind == VARINT:
            row.number = value if 0 <= value <= 24 else None
    if row.event is None:
        row.event = values.word(row.attributes.get("event.name"))
    return row


def _metric_points(data: bytes) -> int:
    return sum(
        (inner, wire) == (1, BYTES)
        for number, kind, _, begin, stop in fields(data, 0, len(data))
        if number in _POINTS and kind == BYTES
        for inner, wire, _, _, _ in fields(data, begin, stop)
    )


def _pairs(data: bytes, start: int, end: int, field: int, depth: int = 0) -> dict[str, Any]:
    """The KeyValues that stand under one field number."""
    found: dict[str, Any] = {}
    for number, kind, _, begin, stop in fields(data, start, end):
        if (number, kind) == (field, BYTES):
            _pair(data, begin, stop, found, depth)
    return found


def _pair(
    data: bytes,
    start: int,
    end: int,
    found: dict[str, Any],
    depth: int = 0,
    keys: frozenset[str] | None = None,
) -> None:
    key, place = "", (0, 0)
    for number, kind, _, begin, stop in fields(data, start, end):
        if (number, kind) == (1, BYTES):
            key = text(data, begin, stop)
        elif (number, kind) == (2, BYTES):
            place = (begin, stop)
    if keys is None or key in keys:
        found[key] = _any(data, *place, depth)


def _any(data: bytes, start: int, end: int, depth: int) -> Any:
    """An AnyValue; bytes as base64, as OTLP's JSON has them."""
    if depth > MAX_DEPTH:
        raise WireError("nested too deeply")
    result: Any = None
    for number, kind, value, begin, stop in fields(data, start, end):
        if number == 1 and kind == BYTES:
            result = data[begin:stop].decode("utf-8", "replace")
        elif number == 2 and kind == VARINT:
            result = bool(value)
        elif number == 3 and kind == VARINT:
            result = signed(value)
        elif number == 4 and kind == FIXED64:
            double = struct.unpack_from("<d", data, begin)[0]
            result = double if math.isfinite(double) else str(double)
        elif number == 5 and kind == BYTES:
            result = [
                _any(data, low, high, depth + 1)
                for inner, wire, _, low, high in fields(data, begin, stop)
                if (inner, wire) == (1, BYTES)
            ]
        elif number == 6 and kind == BYTES:
            result = _pairs(data, begin, stop, 1, depth + 1)
        elif number == 7 and kind == BYTES:
            result = base64.b64encode(data[begin:stop]).decode()
    return result
