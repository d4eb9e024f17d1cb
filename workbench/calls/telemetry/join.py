"""Which conversation a piece of telemetry belongs to: by call id, else by conversation id, else by time.

Telemetry names conversations in its own way or not at all (agent-framework before 1.13), so that
the ids of calls and approvals come first. What belongs to no conversation of the AG-UI side makes
conversations of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.calls.conversation import Conversation
from workbench.calls.telemetry import reading as read
from workbench.calls.telemetry.loose import Finder, named, when
from workbench.calls.telemetry.reading import Reading
from workbench.calls.telemetry.segments import Segment
from workbench.calls.telemetry.windows import SLACK, Window
from workbench.readers.records import NO_TIME, Records

#: How a segment found its conversation, surest first
BY_CALL, BY_THREAD, BY_TIME, BY_TOOL, ALONE = "call id", "conversation id", "time", "tool", ""
_SURE = (BY_CALL, BY_THREAD, BY_TIME, BY_TOOL)


@dataclass(slots=True, eq=False)
class Group:
    """The segments of one conversation, in order; `sure` says of each how it got here."""

    conversation: Conversation | None
    segments: list[Segment]
    sure: list[str]


class Ids:
    """Ids of calls and approvals by the conversation that knows them; a tool's name is no id."""

    def __init__(self, conversations: Iterable[Conversation]) -> None:
        self._owners: dict[tuple[str, str], set[int]] = {}
        for number, conversation in enumerate(conversations):
            for call in conversation.calls:
                if call.id and call.id != call.tool:
                    self._owners.setdefault(("call", call.id), set()).add(number)
            for approval in conversation.approvals:
                for name in {approval.id, *(ask.id for ask in approval.asks)} - {""}:
                    self._owners.setdefault(("approval", name), set()).add(number)
            for run in conversation.runs:
                if run.run_id:
                    self._owners.setdefault(("run", run.run_id), set()).add(number)

    def owner(self, named: Iterable[tuple[str, str]]) -> int | None:
        """The conversation that most ids point at; None where none or several do."""
        votes: Counter[int] = Counter()
        for name in named:
            owners = self._owners.get(name, ())
            if len(owners) == 1:
                votes.update(owners)
        best = votes.most_common(2)
        if not best or (len(best) == 2 and best[0][1] == best[1][1]):
            return None
        return best[0][0]


def group(
    records: Records,
    segments: list[Segment],
    conversations: list[Conversation],
    windows: list[list[Window]],
    reading: Reading,
) -> list[Group]:
    """Every segment that says anything about an agent's work, with the conversation it belongs to."""
    groups = [Group(conversation, [], []) for conversation in conversations]
    text = records.pool.text
    known = Ids(conversations)
    segments, loose = _loose(records, segments, Finder(conversations, windows), known, reading)
    by_name = {name: n for n, c in enumerate(conversations) for name in c.thread_ids if name}
    names = [
        _named(segment, reading) if conversations or segment.thread < 0 else set() for segment in segments
    ]
    clock = _Clock(windows)
    placed: dict[int, tuple[int, str]] = {}
    of_thread: dict[int, int] = {}
    for number, segment in enumerate(segments):
        if id(segment) in loose:
            placed[number] = loose[id(segment)]
            continue
        owner = known.owner(names[number])
        if owner is not None:
            placed[number] = (owner, BY_CALL)
            if segment.thread >= 0:
                of_thread.setdefault(segment.thread, owner)
    for number, segment in enumerate(segments):
        if number not in placed and segment.thread >= 0:
            owner = by_name.get(text(segment.thread) or "", of_thread.get(segment.thread))
            if owner is not None:
                placed[number] = (owner, BY_THREAD)
    shared = {name: owner for number, (owner, _) in placed.items() for name in names[number]}
    for number, segment in enumerate(segments):
        if number not in placed and segment.thread < 0:
            owners = {shared[name] for name in names[number] if name in shared}
            if len(owners) == 1:
                placed[number] = (owners.pop(), BY_CALL)
            elif (near := clock.only(segment)) is not None:
                placed[number] = (near, BY_TIME)
    for number, segment in enumerate(segments):
        if number in placed:
            owner, sure = placed[number]
            groups[owner].segments.append(segment)
            groups[owner].sure.append(sure)
    left = [number for number in range(len(segments)) if number not in placed]
    groups += _apart(segments, left, names, reading)
    return groups


def _loose(
    records: Records, segments: list[Segment], finder: Finder, known: Ids, reading: Reading
) -> tuple[list[Segment], dict[int, tuple[int, str]]]:
    """Segments of log records alone, cut by conversation: the new list, and the owners of those that were placed."""
    kept: list[Segment] = []
    owners: dict[int, tuple[int, str]] = {}
    for segment in segments:
        if segment.spans or segment.thread >= 0 or not finder.knows:
            kept.append(segment)
            continue
        told = {row: _owner(records, row, finder, known, reading) for row in segment.logs}
        homes = {home for home in told.values() if home is not None}
        numbers = {number for number, _ in homes}
        pieces: dict[int, Segment] = {}
        for row in segment.logs:
            home = told[row]
            number = -1 if home is None else home[0]
            if number < 0 and len(numbers) == 1 and (segment.trace or when(records, row) is None):
                number = next(iter(numbers))
            pieces.setdefault(number, Segment(segment.trace, segment.thread)).logs.append(row)
        for number, piece in pieces.items():
            times = [time for row in piece.logs if (time := when(records, row)) is not None]
            piece.start, piece.end = min(times, default=None), max(times, default=None)
            if number >= 0:
                owners[id(piece)] = (number, min((sure for n, sure in homes if n == number), key=_SURE.index))
            kept.append(piece)
    return kept, owners


def _owner(
    records: Records, row: int, finder: Finder, known: Ids, reading: Reading
) -> tuple[int, str] | None:
    """The conversation of a log record, and how that is known."""
    owner = known.owner(named(reading, row))
    if owner is not None:
        return owner, BY_CALL
    time = when(records, row)
    if time is not None and (owner := finder.by_time(time)) is not None:
        return owner, BY_TIME
    fact, _ = reading.log(row)
    if fact is None or not fact.tool:
        return None
    owner = finder.by_tool(fact.tool, timed=time is not None)
    return None if owner is None else (owner, BY_TOOL)


def _named(segment: Segment, reading: Reading) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    spans = reading.records.spans
    text = reading.records.pool.text
    for row in segment.spans:
        if reading.is_tool(row):
            call = text(spans.call[row])
            if call and spans.call[row] != spans.tool[row]:
                found.add(("call", call))
            continue
        told = reading.span(row)
        found.update(read.ids(told.inputs))
        found.update(read.ids(told.outputs))
        if told.response_id:
            found.add(("run", told.response_id))
    for row in segment.logs:
        found.update(read.ids(reading.log(row)[1]))
    return found


class _Clock:
    """All runs of all conversations by their times."""

    def __init__(self, windows: list[list[Window]]) -> None:
        timed = sorted((w.start, w.end, number) for number, runs in enumerate(windows) for w in runs)
        self._starts = [start for start, _, _ in timed]
        #: up to each of them, the last end with its conversation, and the last end of any other conversation
        self._ends: list[tuple[int, int, int]] = []
        first, whose, second = NO_TIME, -1, NO_TIME
        for _, end, number in timed:
            if number == whose:
                first = max(first, end)
            elif end > first:
                first, whose, second = end, number, first
            else:
                second = max(second, end)
            self._ends.append((first, whose, second))

    def only(self, segment: Segment) -> int | None:
        """The only conversation that had a run at that time; clocks are taken at their word here."""
        if segment.start is None or segment.end is None:
            return None
        begun = bisect_right(self._starts, segment.end + SLACK)
        if not begun:
            return None
        first, whose, second = self._ends[begun - 1]
        return whose if second < segment.start - SLACK <= first else None


def _apart(
    segments: list[Segment], left: list[int], named: list[set[tuple[str, str]]], reading: Reading
) -> list[Group]:
    """Conversations of telemetry alone: one per conversation id; without one, segments that share an id."""
    groups: list[Group] = []
    of_thread: dict[int, Group] = {}
    of_name: dict[tuple[str, str], Group] = {}
    for number in left:
        segment = segments[number]
        if segment.thread >= 0:
            home = of_thread.get(segment.thread)
        else:
            home = next((of_name[name] for name in sorted(named[number]) if name in of_name), None)
            if home is None and not named[number] and not _speaks(segment, reading):
                continue
        if home is None:
            home = Group(None, [], [])
            groups.append(home)
            if segment.thread >= 0:
                of_thread[segment.thread] = home
        for name in named[number]:
            of_name.setdefault(name, home)
        home.segments.append(segment)
        home.sure.append(ALONE)
    return groups


def _speaks(segment: Segment, reading: Reading) -> bool:
    """Something in it is about agents, models or tools."""
    spans = reading.records.spans
    return any(spans.operation[row] >= 0 for row in segment.spans) or any(
        reading.log(row)[0] is not None for row in segment.logs
    )
