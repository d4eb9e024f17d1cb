"""From a finding back to the bytes: the records behind its evidence."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.calls.conversation import At
from workbench.findings import Evidence, Finding
from workbench.report.plain import plain
from workbench.trace import Trace

#: places of one finding that are looked up, and bytes of one record that are searched for its ids
_PLACES = 8
_SEARCHED = 1_000_000


def locate(trace: Trace, places: Iterable[Evidence]) -> dict[Evidence, At]:
    """The event or request that each evidence names; a place that no record has is left out.

    One pass over the columns, however many places are asked for.
    """
    wanted = set(places)
    if not wanted:
        return {}
    records = trace.records
    paths = {e.path for e in wanted}
    sources = {number for number, source in enumerate(records.sources) if source.path in paths}
    numbers = {e.record for e in wanted}
    found: dict[Evidence, At] = {}
    events = records.events
    for row, (source, record) in enumerate(zip(events.source, events.record, strict=True)):
        if record in numbers and source in sources:
            (place,) = trace.evidence(row)
            if place in wanted:
                found.setdefault(place, At("event", row))
    for row, request in enumerate(records.requests):
        if request.record in numbers and request.source in sources:
            (place,) = trace.evidence(At("request", row))
            if place in wanted:
                found.setdefault(place, At("request", row))
    return found


def excerpts(
    trace: Trace, findings: Iterable[Finding], limit: int = 400
) -> dict[tuple[Finding, Evidence], str]:
    """The records behind findings as text of one line, at most `limit` characters each.

    Of a longer record the part is shown that names an id of the finding. A record whose bytes
    are gone (the file was removed) is left out.
    """
    wanted = [(finding, place) for finding in findings for place in finding.evidence[:_PLACES]]
    rows = locate(trace, (place for _, place in wanted))
    told: dict[tuple[Finding, Evidence], str] = {}
    for finding, place in wanted:
        if place not in rows:
            continue
        try:
            raw = trace.raw(rows[place])
        except OSError:
            continue
        if raw:
            told[finding, place] = part(raw[:_SEARCHED].decode("utf-8", "replace"), limit, _ids(finding))
    return told


def part(text: str, limit: int, ids: Iterable[str] = ()) -> str:
    """At most about `limit` characters of a text, around the first id that it names."""
    if len(text) <= limit:
        return plain(text)
    places = [at for name in ids if name and (at := text.find(name)) >= 0]
    start = max(0, min(places, default=0) - limit // 3)
    if start < limit // 3:
        start = 0
    end = start + limit
    return ("…" if start else "") + plain(text[start:end]) + ("…" if end < len(text) else "")


def _ids(finding: Finding) -> tuple[str, ...]:
    return finding.call_ids + finding.approval_ids + finding.other_ids
