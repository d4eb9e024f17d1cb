"""time-unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.readers.records import TIME_EVENT
from workbench.rules.registry import rule
from workbench.rules.rows import at_rows

if TYPE_CHECKING:
    from workbench.trace import Trace

#: Epoch seconds of 2001 to 5138, read as milliseconds: January 1970 to March 1973. In ns.
SECONDS = (1_000_000_000 * 1_000_000, 100_000_000_000 * 1_000_000)


@rule("time-unit", code="TIM002", severity="warning", scope="capture")
def time_unit(trace: Trace) -> Iterator[Finding]:
    """Timestamps count seconds where the protocol has milliseconds.

    Why it hurts: every client shows January 1970, and durations are a thousand times too short.
    No fault when: the number is between 1e11 and 1e14: milliseconds.
    What to do: multiply by 1000 where the timestamp is made: Python's `time.time()` and most
        JWT or Unix helpers give seconds.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1", "timestamp": 1790000000}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "timestamp": 1790000002}
    Sources: AG-UI events, BaseEvent.timestamp (epoch milliseconds in all official SDKs).
    """
    events = trace.records.events
    low, high = SECONDS
    if min(events.time, default=high) >= high:
        return  # none is missing, none is small: quickly seen
    rows: dict[int, list[int]] = {}
    for row, time in enumerate(events.time):
        if low <= time < high and events.time_source[row] == TIME_EVENT:
            rows.setdefault(events.stream[row], []).append(row)
    for group in rows.values():
        value = events.time[group[0]] // 1_000_000
        count = f" of {len(group)} events" if len(group) > 1 else ""
        yield at_rows(
            trace,
            group[:5],
            f"The timestamp{'s' if count else ''}{count} count seconds, not milliseconds ({value}).",
        )
