"""The order of streams: by time, else by what answers what, else as they were loaded.

agent-framework's events carry no time, and people name their files as they like. A response
that answers a question of another one cannot have come before it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator

from workbench.calls import decisions
from workbench.calls.conversation import Run
from workbench.readers.records import Records

#: Stream numbers with the rows of their events, in order.
Streams = list[tuple[int, Iterable[int]]]


def rows_by_stream(records: Records) -> tuple[Streams, bool]:
    """Event rows per stream, in order of time where all streams have one, else as loaded; and which it is."""
    column = records.events.stream
    ranges: dict[int, list[tuple[int, int]]] = {}
    start = 0
    alone = len(column) > 0 and column.count(column[0]) == len(column)
    if alone:
        ranges[column[0]] = [(0, len(column))]
    for row in () if alone else range(1, len(column) + 1):
        if row == len(column) or column[row] != column[start]:
            ranges.setdefault(column[start], []).append((start, row))
            start = row
    order = sorted(range(len(records.streams)), key=lambda n: (n not in ranges, n))
    times = [_began(records, n, ranges.get(n)) for n in order]
    timed = all(time is not None for time in times)
    if timed:
        order = [n for _, n in sorted(zip(times, order, strict=True), key=lambda pair: pair[0] or 0)]
    return [(n, _chain(ranges.get(n, []))) for n in order], timed


def _chain(ranges: list[tuple[int, int]]) -> Iterable[int]:
    if len(ranges) == 1:
        return range(*ranges[0])
    return [row for first, end in ranges for row in range(first, end)]


def _began(records: Records, stream: int, ranges: list[tuple[int, int]] | None) -> int | None:
    opened = records.streams[stream]
    if opened.time is not None:
        return opened.time
    if opened.request is not None and records.requests[opened.request].time is not None:
        return records.requests[opened.request].time
    for first, end in ranges or ():
        for row in range(first, end):
            if records.events.time_source[row] in (0, 1):
                return records.events.time[row]
    return None


def by_answers(records: Records, streams: Streams, runs: list[Run]) -> tuple[Streams, str]:
    """Put streams behind those whose interrupts and calls they answer; a note where that moved one.

    Streams that nothing relates keep their order, and so do all of them where the answers
    go in a circle.
    """
    place = {stream: n for n, (stream, rows) in enumerate(streams) if rows}
    if len(place) < 2:
        return streams, ""
    owners: dict[tuple[str, str], set[int]] = defaultdict(set)
    needs: list[tuple[tuple[str, str], int]] = []
    for run in runs:
        if run.stream in place:
            stream = place[run.stream]
            for given in _given(records, run, streams[stream][1]):
                owners[run.thread_id, given].add(stream)
            needs += [((run.thread_id, taken), stream) for taken in _taken(records, run, streams[stream][1])]
    after: dict[int, set[int]] = defaultdict(set)
    for key, stream in needs:
        if len(owners[key]) == 1 and stream not in owners[key]:
            after[stream] |= owners[key]
    if all(before < stream for stream, befores in after.items() for before in befores):
        return streams, ""
    order = _sorted(len(streams), after)
    if order is None:
        return streams, ""
    return [streams[n] for n in order], "no times: the responses were put in order by what answers what"


def _sorted(count: int, after: dict[int, set[int]]) -> list[int] | None:
    """Each behind those that it needs, else in order; None for a circle."""
    waiting = {n: len(after.get(n, ())) for n in range(count)}
    frees: dict[int, list[int]] = defaultdict(list)
    for n, befores in after.items():
        for before in befores:
            frees[before].append(n)
    ready = [n for n in range(count) if not waiting[n]]
    found: list[int] = []
    while ready:
        found.append(n := heapq.heappop(ready))
        for later in frees[n]:
            waiting[later] -= 1
            if not waiting[later]:
                heapq.heappush(ready, later)
    return found if len(found) == count else None


def _given(records: Records, run: Run, rows: Iterable[int]) -> Iterator[str]:
    """Ids of interrupts that a run offers and of calls that its stream starts."""
    for entry in run.interrupts:
        if isinstance(entry.get("id"), str):
            yield f"interrupt {entry['id']}"
    for kind, call in _call_events(records, run, rows):
        if kind == "TOOL_CALL_START":
            yield f"call {call}"


def _taken(records: Records, run: Run, rows: Iterable[int]) -> Iterator[str]:
    """Ids of interrupts that a run answers, and of calls that it has results or messages of."""
    for kind, call in _call_events(records, run, rows):
        if kind == "TOOL_CALL_RESULT":
            yield f"call {call}"
    if run.request is None:
        return
    body = records.requests[run.request].body
    yield from (f"interrupt {given.id}" for given in decisions.resume_entries(body) if given.id)
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and isinstance(message.get("toolCallId"), str):
            yield f"call {message['toolCallId']}"


def _call_events(records: Records, run: Run, rows: Iterable[int]) -> Iterator[tuple[str, str]]:
    if run.first is None or run.last is None:
        return
    values, events = records.pool.values, records.events
    for row in rows:
        if run.first <= row <= run.last and events.call[row] >= 0:
            yield values[events.type[row]], values[events.call[row]]
