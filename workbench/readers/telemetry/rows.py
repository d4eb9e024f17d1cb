"""One span and one log record, decoded whole: what every dialect is turned into."""

from __future__ import annotations

from typing import Any

import msgspec


class SpanRow(msgspec.Struct):
    """One span. Ids and times are normal (see `ids`, `clock`); None is what the file does not have.

    `events` are {name, time, attributes}, `links` are {trace_id, span_id}.
    """

    trace_id: str | None = None
    span_id: str | None = None
    parent_id: str | None = None
    name: str = ""
    #: a word of `columns.KINDS`
    kind: str = ""
    start: int | None = None
    end: int | None = None
    #: a word of `columns.STATUSES`; "" where the dialect has none
    status: str = "unset"
    message: str | None = None
    scope: str | None = None
    service: str | None = None
    attributes: dict[str, Any] = msgspec.field(default_factory=dict)
    events: list[dict[str, Any]] = msgspec.field(default_factory=list)
    links: list[dict[str, Any]] = msgspec.field(default_factory=list)
    #: parts of the record that could not be used, in words
    faults: list[str] = msgspec.field(default_factory=list)


class LogRow(msgspec.Struct):
    """One log record. `body` is text, or what a structured body holds."""

    time: int | None = None
    observed: int | None = None
    severity: str | None = None
    number: int | None = None
    body: Any = None
    event: str | None = None
    logger: str | None = None
    service: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    attributes: dict[str, Any] = msgspec.field(default_factory=dict)
    #: position among records that have no time (Aspire's log id)
    order: int | None = None
    faults: list[str] = msgspec.field(default_factory=list)
