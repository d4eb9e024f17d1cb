"""Appends spans, log records and metrics to `Records`, counting each of them once."""

from __future__ import annotations

from typing import NamedTuple

from workbench.readers import tolerant
from workbench.readers.reading import Reading
from workbench.readers.records import NO_TIME
from workbench.readers.telemetry import mapping, values
from workbench.readers.telemetry.columns import FORM_CODES, KINDS, STATUSES, Rows
from workbench.readers.telemetry.rows import LogRow, SpanRow

_KIND_CODES = {word: code for code, word in enumerate(KINDS)}
_STATUS_CODES = {"": -1, **{word: code for code, word in enumerate(STATUSES)}}
#: Longest id, name or word that is kept in a column
MAX_WORD = 10_000


class Place(NamedTuple):
    """Where a record stands; `kept` are bytes to decode where those at `offset` are not the record."""

    line: int
    offset: int
    length: int
    kept: bytes | None = None


class SignalWriter:
    """Rows of one content. Spans that another row already is are counted as duplicates."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.records = reading.records
        self.seen = self.records.span_rows

    def code(self, text: str | None) -> int:
        """The number of an id, name or word; a table cannot hold lone surrogates."""
        if not text:
            return -1
        if not text.isascii():
            text = tolerant.clean_text(text)
        return self.records.pool.code(text if len(text) <= MAX_WORD else text[:MAX_WORD])

    def codes(self, texts: list[str | None]) -> list[int]:
        """The numbers of many texts."""
        get, code = self.records.pool.codes.get, self.code
        return [
            -1 if text is None else found if (found := get(text)) is not None else code(text)
            for text in texts
        ]

    def span(self, row: SpanRow, form: str, place: Place, *, shared: bool = False) -> None:
        """A span. With `shared` (Zipkin) one id may be two spans: the client's and the server's."""
        spans, pool_code = self.records.spans, self.code
        if self._is_known(row, shared=shared):
            self.reading.duplicate()
            return
        texts = {k: values.as_text(v) for k, v in row.attributes.items() if k in mapping.LIFTED}
        lifted = mapping.lift(texts, row.name)
        self._place(spans, form, place, row.trace_id, row.service)
        spans.span.append(row.span_id)
        spans.parent.append(row.parent_id)
        spans.name.append(pool_code(row.name))
        spans.kind.append(_KIND_CODES.get(row.kind, 0))
        spans.start.append(NO_TIME if row.start is None else row.start)
        spans.end.append(NO_TIME if row.end is None else row.end)
        spans.status.append(_STATUS_CODES.get(row.status, 0))
        spans.scope.append(pool_code(row.scope))
        spans.error.append(pool_code(mapping.error_of(row, lifted.error)))
        spans.operation.append(pool_code(lifted.operation))
        spans.call.append(pool_code(lifted.call_id))
        spans.tool.append(pool_code(lifted.tool))
        spans.thread.append(pool_code(lifted.thread))
        self._faults(row.faults, place)

    def _is_known(self, row: SpanRow, *, shared: bool) -> bool:
        """Whether the span is in the tables already; remembers it if not."""
        if row.span_id is None:
            return False
        key = f"{row.trace_id or ''} {row.span_id}"
        number = len(self.records.spans)
        known = self.seen.get(key)
        if known is None:
            self.seen[key] = number
            if shared:
                self.seen[f"{key} {row.kind}"] = number
            return False
        if not shared:
            return True
        # Zipkin gives both ends of a request one id: it is a further span where its kind is a new one.
        return (
            row.kind not in ("client", "server")
            or KINDS[self.records.spans.kind[known]] not in ("client", "server")
            or self.seen.setdefault(f"{key} {row.kind}", number) != number
        )

    def log(self, row: LogRow, form: str, place: Place) -> None:
        """A log record."""
        logs = self.records.logs
        self._place(logs, form, place, row.trace_id, row.service)
        logs.span.append(row.span_id)
        logs.time.append(NO_TIME if row.time is None else row.time)
        logs.observed.append(NO_TIME if row.observed is None else row.observed)
        logs.severity.append(self.code(row.severity))
        number = row.number
        logs.number.append(number if number is not None and 0 <= number <= 24 else -1)
        logs.event.append(self.code(row.event))
        logs.logger.append(self.code(row.logger))
        order = row.order
        logs.order.append(order if order is not None and 0 <= order < 2**63 else -1)
        self._faults(row.faults, place)

    def metric(self, points: int) -> None:
        """A metric with its data points: counted, for there is no table of metrics."""
        self.reading.ignore("metrics")
        self.reading.counts.points += points

    def _place(self, rows: Rows, form: str, place: Place, trace_id: str | None, service: str | None) -> None:
        reading = self.reading
        if place.kept is not None:
            rows.kept[len(rows)] = place.kept
        rows.source.append(reading.source)
        rows.member.append(reading.member)
        rows.record.append(reading.row())
        rows.line.append(place.line)
        rows.offset.append(place.offset)
        rows.length.append(place.length)
        rows.form.append(FORM_CODES[form])
        rows.trace.append(self.code(trace_id))
        rows.service.append(self.code(service))

    def _faults(self, faults: list[str], place: Place) -> None:
        for fault in faults:
            self.reading.remark(
                fault,
                record=self.reading.counts.records - 1,
                line=place.line if place.line > 0 else None,
                offset=place.offset if place.offset >= 0 else None,
            )
