"""Rows decoded again from their bytes: attributes, events and bodies on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.readers import tolerant
from workbench.readers.telemetry.columns import FORMS, Rows
from workbench.readers.telemetry.rows import LogRow, SpanRow

if TYPE_CHECKING:
    from workbench.readers.records import Records


def raw(records: Records, rows: Rows, row: int) -> bytes:
    """The bytes of a row as they stand in its member; those kept of it where they do not stand there.

    Empty where the file is gone. Raises `IndexError` for a row that is not there.
    """
    offset = rows.offset[row]
    if offset < 0:
        return rows.kept.get(row, b"")
    try:
        return records.members[rows.member[row]].read(offset, rows.length[row])
    except OSError:
        return b""


def _own(records: Records, rows: Rows, row: int) -> bytes:
    kept = rows.kept.get(row)
    return raw(records, rows, row) if kept is None else kept


def _object(data: bytes) -> dict[str, Any]:
    value = tolerant.decode(data).value
    return value if isinstance(value, dict) else {}


def span(records: Records, row: int) -> SpanRow:
    """A row of `spans`, decoded whole; an empty one if its bytes are gone."""
    rows = records.spans
    data = _own(records, rows, row)
    form = FORMS[rows.form[row]]
    if form == "otlp-proto":
        from workbench.readers.telemetry import otlp_proto

        made = otlp_proto.span_of(data)
    elif form == "aspire-text":
        from workbench.readers.telemetry import aspire_text

        made = aspire_text.span_of(data)
    else:
        from workbench.readers.telemetry.catalogue import SPANS

        made = SPANS[form](_object(data))
    text = records.pool.text
    made.scope, made.service = text(rows.scope[row]), text(rows.service[row])
    return made


def log(records: Records, row: int) -> LogRow:
    """A row of `logs`, decoded whole; an empty one if its bytes are gone."""
    rows = records.logs
    data = _own(records, rows, row)
    form = FORMS[rows.form[row]]
    if form == "otlp-proto":
        from workbench.readers.telemetry import otlp_proto

        made = otlp_proto.log_of(data)
    elif form == "aspire-text":
        from workbench.readers.telemetry import aspire_text

        made = aspire_text.log_of(data)
    else:
        from workbench.readers.telemetry.catalogue import LOGS

        made = LOGS[form](_object(data))
    text = records.pool.text
    made.logger, made.service = text(rows.logger[row]), text(rows.service[row])
    return made


def content(records: Records, row: int) -> tuple[str | None, str | None]:
    """Arguments and result of a tool span, as written, without decoding the rest of it."""
    from workbench.readers.telemetry import mapping, otlp_fast

    rows = records.spans
    kept = rows.content.get(row)
    if kept is not None:
        return otlp_fast.content(kept)
    if FORMS[rows.form[row]] == "otlp":
        texts = otlp_fast.texts(_own(records, rows, row), mapping.CONTENT)
        if texts is not None:
            return mapping.content_of(texts)
    found = mapping.facts(span(records, row))
    return found.arguments, found.result
