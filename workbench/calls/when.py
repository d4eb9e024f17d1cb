"""When something happened, and who says so; times are never invented."""

from __future__ import annotations

from workbench import model
from workbench.calls.conversation import At
from workbench.readers.records import NO_TIME, Records


def time_of(records: Records, at: At | int | None) -> tuple[int | None, str]:
    """UTC ns and the word of `model.TIME_SOURCES` of a row of `events`, or of what stands at a place."""
    if at is None:
        return None, "none"
    place = At("event", at) if isinstance(at, int) else at
    if place.kind == "span":
        start = records.spans.start[place.row]
        return (None, "none") if start == NO_TIME else (start, "span")
    if place.kind == "log":
        logs = records.logs
        said, seen = logs.time[place.row], logs.observed[place.row]
        when = said if said != NO_TIME else seen
        return (None, "none") if when == NO_TIME else (when, "log")
    if place.kind != "event":
        request = (records.requests if place.kind == "request" else records.payloads)[place.row]
        if request.event is not None:
            return time_of(records, request.event)
        return request.time, "none" if request.time is None else "request"
    value = records.events.time[place.row]
    if value == NO_TIME:
        return None, "none"
    return value, model.TIME_SOURCES[records.events.time_source[place.row]]
