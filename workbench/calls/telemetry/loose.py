"""Log records outside of any span: which conversation each belongs to, and which of its runs.

A framework's debug lines often stand in no trace (agent-framework 1.10), and Aspire's command line
lists them without times. Ids decide where they can, then times; where one side has no times, the
tool that a line names does, and within a conversation the order of asking and doing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate

from workbench.calls.conversation import Conversation, Run
from workbench.calls.telemetry import reading as read
from workbench.calls.telemetry.reading import Reading
from workbench.calls.telemetry.segments import Segment
from workbench.calls.telemetry.windows import SLACK, Window
from workbench.readers.records import NO_TIME, Records

_ASKS = frozenset({"checking", "approval-needed"})
_WORKS = frozenset({"invoking", "succeeded", "failed"})


def when(records: Records, row: int) -> int | None:
    """UTC ns of a log record: its own time, else when it was seen."""
    logs = records.logs
    time = logs.time[row] if logs.time[row] != NO_TIME else logs.observed[row]
    return None if time == NO_TIME else time


def named(reading: Reading, row: int) -> Iterator[tuple[str, str]]:
    """Ids of calls and approvals in a log record."""
    fact, found = reading.log(row)
    if fact is not None and fact.call_id:
        yield "call", fact.call_id
    yield from read.ids(found)


class Finder:
    """Finds the conversation of a log record."""

    def __init__(self, conversations: list[Conversation], windows: list[list[Window]]) -> None:
        self._timed = [bool(runs) for runs in windows]
        self._windows = sorted(
            (w.start - SLACK, w.end + SLACK, n) for n, runs in enumerate(windows) for w in runs
        )
        self._starts = [start for start, _, _ in self._windows]
        self._until = list(accumulate((end for _, end, _ in self._windows), max))
        self._tools: dict[str, set[int]] = {}
        for number, conversation in enumerate(conversations):
            for call in conversation.calls:
                if call.tool:
                    self._tools.setdefault(call.tool, set()).add(number)

    @property
    def knows(self) -> bool:
        """There are conversations to choose from."""
        return bool(self._timed)

    def by_time(self, time: int) -> int | None:
        """The only conversation that had a run at that time."""
        found: set[int] = set()
        number = bisect_right(self._starts, time) - 1
        while number >= 0 and self._until[number] >= time:
            if self._windows[number][1] >= time:
                found.add(self._windows[number][2])
            number -= 1
        return found.pop() if len(found) == 1 else None

    def by_tool(self, tool: str, *, timed: bool) -> int | None:
        """The only conversation with calls of a tool, where times cannot be compared."""
        owners = self._tools.get(tool, set())
        owner = next(iter(owners), None)
        if len(owners) != 1 or owner is None or (timed and self._timed[owner]):
            return None
        return owner


def in_runs(
    segment: Segment, conversation: Conversation, timed: list[Window], offset: int | None, reading: Reading
) -> list[tuple[Segment, Run]]:
    """Records without a trace, cut into the pieces that each run left."""
    records = reading.records
    rows = sorted(segment.logs, key=lambda row: _order(records, row))
    if offset is not None and timed and all(when(records, row) is not None for row in rows):
        begun = sorted(timed, key=lambda w: w.start)
        starts = [w.start - SLACK for w in begun]
        chosen = [
            begun[max(0, bisect_right(starts, (when(records, row) or 0) + offset) - 1)].run for row in rows
        ]
    else:
        chosen = _aligned(rows, conversation, reading)
    pieces: dict[int, tuple[Segment, Run]] = {}
    for row, run in zip(rows, chosen, strict=True):
        piece, _ = pieces.setdefault(id(run), (Segment(segment.trace, segment.thread), run))
        piece.logs.append(row)
        time = when(records, row)
        if time is not None:
            piece.start = time if piece.start is None else min(piece.start, time)
            piece.end = time if piece.end is None else max(piece.end, time)
    return list(pieces.values())


def _order(records: Records, row: int) -> tuple[int, int]:
    time, order = when(records, row), records.logs.order[row]
    return (2**63 if time is None else time, order if order >= 0 else row)


def _aligned(rows: list[int], conversation: Conversation, reading: Reading) -> list[Run]:
    """Without times to compare: a line about asking belongs to a run that asks, one about working to one that works."""
    runs = [run for run in conversation.runs if run.replay_of is None]
    numbers = {run.number: run for run in runs}
    asked: dict[str, list[int]] = {}
    works: dict[str, list[int]] = {}
    for call in conversation.calls:
        allowed = [a.run.number for p in call.approvals for a in p.accepted]
        asked.setdefault(call.tool, []).extend(p.run.number for p in call.approvals)
        works.setdefault(call.tool, []).extend(allowed if call.approvals else [call.run.number])
    for places in works.values():
        places.sort()
    here = runs[0].number
    chosen: list[Run] = []
    seen: dict[str, int] = {}
    #: runs in which the calls that were asked about are allowed, by tool
    allowing: dict[str, list[int]] = {}
    answered = {
        (p.call.tool, p.run.number): p.accepted[0].run.number
        for call in conversation.calls
        for p in call.approvals
        if p.call is not None and p.accepted
    }
    for row in rows:
        fact, _ = reading.log(row)
        goal: int | None = None
        if fact is not None and fact.tool and fact.kind in _ASKS:
            places = asked.get(fact.tool, [])
            nth = seen.get(fact.tool, 0)
            goal = places[nth] if nth < len(places) else None
            if fact.kind == "approval-needed":
                seen[fact.tool] = nth + 1
                if (later := answered.get((fact.tool, goal if goal is not None else -1))) is not None:
                    allowing.setdefault(fact.tool, []).append(later)
            elif nth:
                goal = None  # it is checked again when the approved call is carried out
        elif fact is not None and fact.tool and fact.kind in _WORKS:
            places = works.get(fact.tool, [])
            coming = bisect_left(places, here)
            goal = places[coming] if coming < len(places) else None
            if waiting := allowing.get(fact.tool):
                goal = waiting[0] if fact.kind == "invoking" else waiting.pop(0)
        if goal is not None and goal in numbers:
            here = max(here, goal)
        chosen.append(numbers[here])
    return chosen
