"""Telemetry cut into the pieces that one request to an agent left: one trace, one conversation, one agent span.

Over HTTP every request is a trace of its own. A script may run several turns inside one trace:
then each outermost agent span is a piece.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from workbench.calls.telemetry.threads import Threads
from workbench.readers.records import NO_TIME, Records

_AGENTS = ("invoke_agent", "invoke_workflow")


@dataclass(slots=True, eq=False)
class Segment:
    """Rows of `spans` and `logs` that belong together; times are UTC ns on the clock of the telemetry."""

    #: id of the trace, "" for log records without one
    trace: str
    #: pool code of the conversation that the telemetry names, -1 for none
    thread: int
    spans: list[int] = field(default_factory=list)
    logs: list[int] = field(default_factory=list)
    #: outermost agent span
    root: int | None = None
    start: int | None = None
    end: int | None = None


def segments(records: Records, threads: Threads) -> list[Segment]:
    """All telemetry in segments, in order of time; those without times come last, as read."""
    found: dict[tuple[int, int, int], Segment] = {}
    spans = records.spans
    text = records.pool.text
    tops = _Tops(records)
    for row, trace in enumerate(spans.trace):
        top = tops.of(row)
        key = (trace if trace >= 0 else -2 - spans.source[row], threads.spans[row], top)
        segment = found.get(key)
        if segment is None:
            root = None if top < 0 else top
            segment = found[key] = Segment(text(trace) or "", threads.spans[row], root=root)
        segment.spans.append(row)
    made = _without_agents_joined(records, found)
    for segment in made:
        starts = [spans.start[row] for row in segment.spans if spans.start[row] != NO_TIME]
        ends = [spans.end[row] for row in segment.spans if spans.end[row] != NO_TIME]
        segment.start, segment.end = min(starts, default=None), max(ends, default=None)
    made += _logs(records, threads, made)
    last = 2**63
    return sorted(made, key=lambda s: last if s.start is None else s.start)


class _Tops:
    """The outermost agent span above each span; -1 for none. Chains are walked once."""

    def __init__(self, records: Records) -> None:
        self._records = records
        codes = records.pool.codes
        self._agents = {codes[word] for word in _AGENTS if word in codes}
        self._known: dict[int, int] = {}

    def of(self, row: int) -> int:
        spans, rows, text = self._records.spans, self._records.span_rows, self._records.pool.text
        chain: list[int] = []
        seen: set[int] = set()
        top = -1
        here: int | None = row
        while here is not None and here not in seen:
            if here in self._known:
                top = self._known[here]
                break
            chain.append(here)
            seen.add(here)
            parent = spans.parent[here]
            here = rows.get(f"{text(spans.trace[here]) or ''} {parent}") if parent else None
        for number in reversed(chain):
            if top < 0 and spans.operation[number] in self._agents:
                top = number
            self._known[number] = top
        return top


def _without_agents_joined(records: Records, found: dict[tuple[int, int, int], Segment]) -> list[Segment]:
    """Spans under no agent span join the agent of their trace that was at work then, or began last before."""
    spans = records.spans
    by_trace: dict[tuple[int, int], list[Segment]] = {}
    for (trace, thread, top), segment in found.items():
        if top >= 0:
            by_trace.setdefault((trace, thread), []).append(segment)
            if thread >= 0:
                by_trace.setdefault((trace, -1), []).append(segment)
    made = []
    for (trace, thread, top), segment in found.items():
        agents = by_trace.get((trace, thread), []) if top < 0 else []
        if not agents:
            made.append(segment)
            continue
        agents.sort(key=lambda s: spans.start[s.root or 0])
        starts = [spans.start[s.root or 0] for s in agents]
        for row in segment.spans:
            agents[max(0, bisect_right(starts, spans.start[row]) - 1)].spans.append(row)
    for segment in made:
        segment.spans.sort()
    return made


def _logs(records: Records, threads: Threads, made: list[Segment]) -> list[Segment]:
    """Log records join the segment of their span, else of their trace; the others are segments of their own."""
    logs, text = records.logs, records.pool.text
    of_span: dict[int, Segment] = {row: segment for segment in made for row in segment.spans}
    of_trace: dict[str, list[Segment]] = {}
    for piece in made:
        of_trace.setdefault(piece.trace, []).append(piece)
    starts: dict[str, _Starts] = {}
    loose: dict[tuple[int, int], Segment] = {}
    for row, trace in enumerate(logs.trace):
        span = logs.span[row]
        number = records.span_rows.get(f"{text(trace) or ''} {span}") if span else None
        segment: Segment | None = of_span.get(number) if number is not None else None
        if segment is None and trace >= 0 and (near := of_trace.get(text(trace) or "")):
            name = text(trace) or ""
            begun = starts.get(name) or starts.setdefault(name, _Starts(near))
            segment = begun.before(logs.time[row]) or near[0]
        if segment is None:
            key = (trace if trace >= 0 else -2 - logs.source[row], threads.logs[row])
            segment = loose.get(key)
            if segment is None:
                segment = loose[key] = Segment(text(trace) or "", threads.logs[row])
            times = [t for t in (logs.time[row],) if t != NO_TIME]
            segment.start = min(
                [*times, *([segment.start] if segment.start is not None else [])], default=None
            )
            segment.end = max([*times, *([segment.end] if segment.end is not None else [])], default=None)
        segment.logs.append(row)
    return list(loose.values())


class _Starts:
    """The segments of one trace by when they began."""

    def __init__(self, near: list[Segment]) -> None:
        self._near = near
        timed = sorted((s.start, number) for number, s in enumerate(near) if s.start is not None)
        self._times = [start for start, _ in timed]
        self._last = list(accumulate((number for _, number in timed), max))

    def before(self, when: int) -> Segment | None:
        """The last of those that had begun at a time."""
        found = 0 if when == NO_TIME else bisect_right(self._times, when)
        return self._near[self._last[found - 1]] if found else None


def in_order(records: Records, segment: Segment) -> Iterator[tuple[str, int]]:
    """What happened in a segment, in order: `begin` and `end` of spans, `log`.

    Spans without times keep the order in which they were read, each begun and ended at once.
    """
    spans, logs = records.spans, records.logs
    steps: list[tuple[int, int, int, str, int]] = []
    last = 2**63
    for number, row in enumerate(segment.spans):
        start, end = spans.start[row], spans.end[row]
        if start == NO_TIME:
            steps += [(last, 1, 2 * number, "begin", row), (last, 1, 2 * number + 1, "end", row)]
            continue
        end = start if end == NO_TIME else max(start, end)
        # at one instant: what is over ends first, and what encloses begins before and ends after what is in it
        steps.append((start, 1, -end, "begin", row))
        steps.append((end, 0 if end > start else 2, -start, "end", row))
    for row in segment.logs:
        time = logs.time[row] if logs.time[row] != NO_TIME else logs.observed[row]
        order = logs.order[row] if logs.order[row] >= 0 else row
        steps.append((last if time == NO_TIME else time, 3, order, "log", row))
    steps.sort()
    for _, _, _, kind, row in steps:
        yield kind, row
