"""Call occurrences as lanes over time: what the timeline draws, whatever it draws it with.

A lane is one occurrence of a call. Its segments are `asked` (arguments arrive), `waiting`
(a person is asked), `running` (as spans show it, else until the first result) and `open` (no result in view).
Positions are milliseconds since the epoch (UTC) on a time axis, else event numbers; a
request stands half an event before the first event of its run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from workbench.calls.conversation import At, Call, Conversation, Result, Run
from workbench.calls.telemetry.execution import Execution
from workbench.findings import Evidence, Finding
from workbench.readers.records import TIME_REQUEST
from workbench.trace import Trace
from workbench.views import order
from workbench.views.text import clean, short_id

SEGMENTS = ("asked", "waiting", "running", "open")
Axis = Literal["time", "events"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a lane, `start <= end`."""

    kind: str
    start: float
    end: float


@dataclass(slots=True)
class Flag:
    """A finding at a position of a lane."""

    finding: Finding
    at: float


@dataclass(slots=True, eq=False)
class Lane:
    """One call occurrence, or (`call` is None) what is about no single call."""

    label: str
    call: Call | None = None
    segments: list[Segment] = field(default_factory=list)
    #: position and class of the first result; None without one
    result: tuple[float, str] | None = None
    #: (position, decision) of every answer to its approvals
    decisions: list[tuple[float, str]] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    #: (name, value) pairs for people: ids, arguments, decision, result
    facts: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Chart:
    """Lanes from top to bottom, run boundaries, and what the axis means."""

    axis: Axis
    lanes: list[Lane]
    #: position and name of each run's begin
    runs: list[tuple[float, str]]
    start: float
    end: float


def chart(
    trace: Trace, talks: Sequence[Conversation], findings: Iterable[Finding], *, axis: Axis | None = None,
    call_id: str | None = None, run: str | None = None,
) -> Chart:  # fmt: skip
    """Lay the calls of conversations out. Without `axis` it is time where every point has one."""
    scale = _Scale(trace, talks, axis)
    lanes = [
        _lane(scale, call)
        for talk in talks
        for call in talk.calls
        if call_id in (None, call.id) and run in (None, call.run.run_id)
    ]
    _flag(trace, scale, lanes, list(findings), rest=call_id is None and run is None)
    runs = [(at, _run_name(begun)) for begun in scale.runs if (at := scale.of_run(begun)) is not None]
    return Chart(scale.axis, lanes, runs, scale.start, scale.end)


class _Scale:
    """From places in the capture to positions on the axis."""

    def __init__(self, trace: Trace, talks: Sequence[Conversation], axis: Axis | None) -> None:
        self.records = trace.records
        self.runs: list[Run] = [run for talk in talks for run in talk.runs]
        self.run_of_request = {run.request: run for run in reversed(self.runs) if run.request is not None}
        self.run_of_payload = {
            items.at.row: items.run for talk in talks for items in talk.lists if items.at.kind == "payload"
        }
        #: what brings times of the telemetry to the clock of the events (ns), where that is not nothing
        self.offset = {
            (kind, row): talk.clock_offset
            for talk in talks
            if talk.clock_offset
            for run in talk.runs
            for kind, rows in (("span", run.spans), ("log", run.logs))
            for row in rows
        }
        self.told = any(run.told_from is not None for run in self.runs)
        self.number: dict[int, int] = {}
        for pairs in order.events(trace, talks):
            for row, _ in pairs:
                self.number[row] = len(self.number)
        self.axis: Axis = axis or ("time" if self._timed(talks) else "events")
        positions = [at for row in self.number if (at := self(At("event", row))) is not None]
        positions += [at for row in self.run_of_request if (at := self(At("request", row))) is not None]
        positions += [at for row in self.run_of_payload if (at := self(At("payload", row))) is not None]
        positions += [at for run in self.runs for at in self._told(run)]
        self.start = min(positions, default=0.0)
        self.end = max(positions, default=1.0)
        if self.end <= self.start:
            self.end = self.start + 1

    def _timed(self, talks: Sequence[Conversation]) -> bool:
        """Whether every event has a time of its own: one that was copied from its request says nothing.

        Where there are no events, the times of the telemetry count.
        """
        if not self.number and not self.run_of_request:
            return self.told
        sources, events = self.records.events.time_source, self.records.events
        own = all(
            order.time_of(self.records, row) is not None and sources[row] != TIME_REQUEST
            for row in self.number
        )
        distinct = {events.time[row] for row in self.number}
        answers = (answer for talk in talks for approval in talk.approvals for answer in approval.answers)
        return (
            own and len(distinct) > 1 and all(order.time_at(self.records, a.at) is not None for a in answers)
        )

    def __call__(self, at: At) -> float | None:
        if self.axis == "time":
            time = order.time_at(self.records, at)
            return None if time is None else (time + self.offset.get((at.kind, at.row), 0)) / 1e6
        if at.kind == "event":
            return self.number.get(at.row)
        if at.kind not in ("request", "payload"):
            return None  # a span or log record has no number among the events
        run = (self.run_of_request if at.kind == "request" else self.run_of_payload).get(at.row)
        return self.of_run(run) if run is not None else None

    def work(self, done: Execution) -> tuple[float, float] | None:
        """From where to where a tool was at work; None on an axis of event numbers."""
        start = self(done.at)
        if start is None or self.axis != "time":
            return None
        length = 0 if done.end is None or done.start is None else (done.end - done.start) / 1e6
        return start, start + max(length, 0)

    def _told(self, run: Run) -> list[float]:
        """Begin and end of the telemetry of a run."""
        if self.axis != "time" or run.told_from is None or run.told_until is None:
            return []
        offset = next((self.offset.get(("span", row), 0) for row in run.spans), 0)
        return [(run.told_from + offset) / 1e6, (run.told_until + offset) / 1e6]

    def of_run(self, run: Run) -> float | None:
        """Where a run begins."""
        if run.request is None and run.first is None:
            return next(iter(self._told(run)), None)
        if self.axis == "time":
            at = At("request", run.request) if run.request is not None else At("event", run.first or 0)
            first = None if run.first is None else self(At("event", run.first))
            known = self(at) if run.request is not None or run.first is not None else None
            return first if known is None else known
        number = None if run.first is None else self.number.get(run.first)
        return None if number is None else number - 0.5


def _lane(scale: _Scale, call: Call) -> Lane:
    again = f" ({call.occurrence + 1})" if call.occurrence else ""
    lane = Lane(f"{clean(call.tool, 60) or 'unnamed'} · {short_id(call.id)}{again}", call)
    asked = scale(call.at)
    ended = next((at for row in call.ends if (at := scale(At("event", row))) is not None), None)
    result = next((r for r in call.results if not r.decision), None)
    answered = scale(result.at) if result is not None else None
    work = [(span, e) for e in call.executions if e.nested is None and (span := scale.work(e)) is not None]
    if result is not None and result.at.kind == "span" and work:
        answered = max(end for (_, end), _ in work)
    if result is not None and answered is not None:
        lane.result = (answered, result.cls)
    now = asked
    if asked is not None and ended is not None:
        lane.segments.append(Segment("asked", asked, max(ended, asked)))
        now = max(ended, asked)
    open_ask = False
    for approval in call.approvals:
        begin = next((at for ask in approval.asks if (at := scale(ask.at)) is not None), None)
        if begin is None:
            continue
        accepted = approval.accepted
        end = scale(accepted[0].at) if accepted else None
        open_ask = open_ask or end is None
        lane.segments.append(Segment("waiting", begin, max(scale.end if end is None else end, begin)))
        if end is not None:
            lane.decisions.append((end, approval.decision))
        now = end if end is not None else now
    if work:
        lane.segments += [
            Segment("running" if done.ran else "waiting", start, end) for (start, end), done in work
        ]
    elif now is not None and answered is not None and answered >= now:
        lane.segments.append(Segment("running", now, answered))
    elif now is not None and answered is None and not open_ask and not _settled(call):
        lane.segments.append(Segment("open", now, max(scale.end, now)))
    lane.facts = _facts(call, result)
    return lane


def _settled(call: Call) -> bool:
    """No result is to be expected: refused, or a confirmation that never gets one."""
    refused = any(approval.decision in ("rejected", "cancelled") for approval in call.approvals)
    return refused or call.synthetic_for is not None or any(r.decision for r in call.results)


def _facts(call: Call, result: Result | None) -> list[tuple[str, str]]:
    facts = [
        ("call", clean(call.id, 120)),
        ("tool", clean(call.tool, 120)),
        ("run", clean(call.run.run_id, 120)),
    ]
    if call.synthetic_for is not None:
        facts.append(("confirms", clean(call.synthetic_for, 120)))
    facts.append(("arguments", clean(call.arguments or "", 240)))
    if call.executions:
        ran, sure = sum(e.ran for e in call.executions), call.executions[0].joined
        facts.append(("telemetry", f"{ran} execution{'' if ran == 1 else 's'}, joined by {sure}"))
    facts += [("approval", f"{clean(a.id, 120)}: {a.decision}, {a.state}") for a in call.approvals]
    facts.append(
        ("result", f"{result.cls}: {clean(result.content, 240)}" if result is not None else "none in view")
    )
    return [(name, value) for name, value in facts if value]


def _flag(trace: Trace, scale: _Scale, lanes: list[Lane], findings: list[Finding], *, rest: bool) -> None:
    """Put each finding on the lanes of its calls, at its evidence; what is about no call gets a lane of its own."""
    where = _places(trace, scale, {item for finding in findings for item in finding.evidence})
    by_id: dict[str, list[Lane]] = {}
    for lane in lanes:
        if lane.call is not None:
            for name in {lane.call.id, *(approval.id for approval in lane.call.approvals)}:
                by_id.setdefault(name, []).append(lane)
    other = Lane("runs, messages, state")
    for finding in findings:
        points = [at for item in finding.evidence if (at := where.get(item)) is not None]
        named = (lane for name in (*finding.call_ids, *finding.approval_ids) for lane in by_id.get(name, ()))
        mine = [
            lane for lane in dict.fromkeys(named) if lane.call is not None and _in_thread(finding, lane.call)
        ]
        for lane in mine:
            begin = min((segment.start for segment in lane.segments), default=scale.start)
            # A finding about two calls has evidence of both: the earlier one is not of this lane.
            lane.flags.append(Flag(finding, next((at for at in sorted(points) if at >= begin), begin)))
        if not mine and rest:
            other.flags.append(Flag(finding, points[0] if points else scale.start))
    if other.flags:
        lanes.append(other)


def _in_thread(finding: Finding, call: Call) -> bool:
    return finding.thread_id in ("", call.thread_id, call.run.thread_id)


def _places(trace: Trace, scale: _Scale, wanted: set[Evidence]) -> dict[Evidence, float]:
    places = [At("event", row) for row in scale.number]
    places += [At("request", row) for row in scale.run_of_request]
    places += [At("payload", row) for row in scale.run_of_payload]
    places += [At("span", row) for run in scale.runs for row in run.spans]
    places += [At("log", row) for run in scale.runs for row in run.logs]
    found: dict[Evidence, float] = {}
    for at in places if wanted else ():
        position = scale(at)
        for item in trace.evidence(at):
            if item in wanted and position is not None:
                found.setdefault(item, position)
    return found


def _run_name(run: Run) -> str:
    return f"run {short_id(run.run_id)}" if run.run_id else f"run {run.number + 1}"
