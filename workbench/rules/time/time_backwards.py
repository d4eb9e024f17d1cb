"""time-backwards."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.readers.records import TIME_EVENT
from workbench.rules.registry import rule
from workbench.rules.rows import at_rows
from workbench.rules.time.time_unit import SECONDS

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("time-backwards", code="TIM001", severity="warning", scope="capture")
def time_backwards(trace: Trace) -> Iterator[Finding]:
    """An event carries an earlier timestamp than an event before it in the same stream.

    Why it hurts: durations become negative, and a tool that sorts by time tells another story
        than the one that happened.
    No fault when: the times are equal; the stream repeats an earlier run (a reconnect); or a new
        run begins in a file to which several runs were appended.
    What to do: take the timestamp when the event is put on the stream, from one clock; do not
        carry over those of the provider's events.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1", "timestamp": 1790000005000}
        {"type": "STEP_STARTED", "stepName": "plan", "timestamp": 1790000001000}
    Sources: AG-UI events, BaseEvent.timestamp.
    """
    records = trace.records
    events, values = records.events, records.pool.values
    if not any(map(operator.gt, events.time, islice(events.time, 1, None))):
        return  # in order as a whole, which is the rule and quickly seen
    latest: dict[tuple[int, int], tuple[int, int]] = {}
    steps: dict[int, list[tuple[int, int]]] = {}
    for row, time in enumerate(events.time):
        stream = events.stream[row]
        lane = (stream, events.subagent[row])
        if values[events.type[row]] == "RUN_STARTED":
            for key in [key for key in latest if key[0] == stream]:
                del latest[key]
        if events.time_source[row] != TIME_EVENT or SECONDS[0] <= time < SECONDS[1]:
            continue
        before = latest.get(lane)
        if before is not None and time < before[0]:
            steps.setdefault(stream, []).append((before[1], row))
            continue
        latest[lane] = (time, row)
    for pairs in steps.values():
        worst = max(pairs, key=lambda pair: events.time[pair[0]] - events.time[pair[1]])
        by = (events.time[worst[0]] - events.time[worst[1]]) / 1_000_000
        count = f" at {len(pairs)} events" if len(pairs) > 1 else ""
        rows = [*worst, *(row for _, row in pairs if row != worst[1])]
        yield at_rows(trace, rows, f"Time runs backwards{count}, by up to {by:g} ms.")
