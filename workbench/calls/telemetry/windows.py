"""Which run of a conversation a piece of telemetry was left by.

Both sides have clocks that may differ, or no times at all: ids decide where they can, the order of
things where nothing else does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from workbench.calls.conversation import At, Conversation, Run
from workbench.calls.telemetry.reading import Reading
from workbench.calls.telemetry.segments import Segment
from workbench.calls.when import time_of
from workbench.readers.records import Records

#: A stream may end a little before or after the spans of its run (ns)
SLACK = 1_000_000_000
#: Runs before and behind the start of a segment that it is compared with
_COMPARED = 128
#: Segments, and offsets between clocks, that are tried
_TRIED, _OFFSETS = 1000, 200


@dataclass(frozen=True, slots=True)
class Window:
    """When a run was at work, on the clock of the AG-UI side (UTC ns)."""

    run: Run
    start: int
    end: int

    def meets(self, start: int, end: int) -> bool:
        """Something from start to end fell into it, give or take a second."""
        return start <= self.end + SLACK and end >= self.start - SLACK

    def overlap(self, start: int, end: int) -> int:
        """Length of the time they share (ns); below 0 they are apart."""
        return min(end, self.end) - max(start, self.start)


def windows(records: Records, conversation: Conversation) -> list[Window]:
    """The runs whose times are known."""
    found = []
    for run in conversation.runs:
        places = (
            None if run.request is None else At("request", run.request),
            run.start,
            run.first,
            run.end,
            run.last,
        )
        times = [when for place in places if (when := time_of(records, place)[0]) is not None]
        if times:
            found.append(Window(run, min(times), max(times)))
    return found


class Windows:
    """Windows by their times: which of thousands is meant is found without going through all."""

    def __init__(self, found: Iterable[Window]) -> None:
        self.all: list[Window] = list(found)
        # of those that are alike the first comes first
        order = sorted(range(len(self.all)), key=lambda n: self.all[n].start)
        self._order = order
        self._starts = [self.all[n].start for n in order]
        #: the place in `_order` of the window that ends last among those up to it
        self._latest: list[int] = list(accumulate(range(len(order)), self._later))

    def _later(self, one: int, other: int) -> int:
        return other if self._end(other) > self._end(one) else one

    def _end(self, place: int) -> int:
        return self.all[self._order[place]].end

    def any_meets(self, start: int, end: int) -> bool:
        """Something from start to end fell into one of them, give or take a second."""
        begun = bisect_right(self._starts, end + SLACK)
        return begun > 0 and self._end(self._latest[begun - 1]) >= start - SLACK

    def nearest(self, start: int, end: int) -> Window | None:
        """The one that shares most time with start to end, or is least apart from it.

        Where more than hundreds overlap it, those that begin nearest to its start are compared.
        """
        if not self.all:
            return None
        at, until = bisect_right(self._starts, start), bisect_right(self._starts, end)
        places = {*range(max(0, at - _COMPARED), min(until + 1, at + _COMPARED, len(self.all)))}
        if at:
            places.add(self._latest[at - 1])
        best: int = max(sorted(self._order[n] for n in places), key=lambda n: self.all[n].overlap(start, end))
        return self.all[best]


@dataclass(slots=True)
class Placed:
    """The run of each segment (None: no run of the capture), and how far the clocks are apart.

    `offset` is what has to be added to a time of the telemetry to get one of the AG-UI side (ns);
    None where one side has no times. `compared` is the number of moments that it was told by.
    """

    runs: list[Run | None]
    offset: int | None = None
    compared: int = 0


def place(
    conversation: Conversation, segments: list[Segment], timed: list[Window], reading: Reading
) -> Placed:
    """Give every segment its run."""
    votes = _Votes(conversation)
    voted = [votes.of(segment, reading) for segment in segments]
    by_run = {id(w.run): w for w in timed}
    runs_at = Windows(timed)
    offset, compared = _offset(segments, voted, runs_at, by_run)
    found: list[Run | None] = []
    for segment, run in zip(segments, voted, strict=True):
        chosen = run
        if offset is not None and segment.start is not None and segment.end is not None:
            start, end = segment.start + offset, segment.end + offset
            near = runs_at.nearest(start, end)
            if near is not None and near.meets(start, end):
                chosen = near.run
            elif run is not None and id(run) in by_run:
                chosen = None  # its ids name a run that was over, or not begun, at that time
        found.append(chosen)
    if offset is None:
        _by_order(conversation, found)
    return Placed(found, offset, compared)


class _Votes:
    """Runs by what was seen in them: the calls that they asked for first, and the results that they sent."""

    def __init__(self, conversation: Conversation) -> None:
        self._asked: dict[str, set[int]] = {}
        self._done: dict[str, set[int]] = {}
        self._by_id: dict[str, set[int]] = {}
        self._runs = {run.number: run for run in conversation.runs}
        for run in conversation.runs:
            if run.run_id:
                self._by_id.setdefault(run.run_id, set()).add(run.number)
        for call in conversation.calls:
            if call.starts:
                self._asked.setdefault(call.id, set()).add(call.starts[0].run.number)
            for result in call.streamed:
                self._done.setdefault(call.id, set()).add(result.run.number)

    def of(self, segment: Segment, reading: Reading) -> Run | None:
        """The run that most of its facts point at; None where they point at none or at two."""
        votes: Counter[int] = Counter()
        spans, text = reading.records.spans, reading.records.pool.text
        for row in segment.spans:
            if reading.is_tool(row):
                self._vote(votes, self._done, text(spans.call[row]))
                continue
            told = reading.span(row)
            self._vote(votes, self._by_id, told.response_id, 10)
            for message in told.outputs:
                for part in message["parts"]:
                    if part["type"] == "tool_call":
                        self._vote(votes, self._asked, part.get("id"))
        best = votes.most_common(2)
        if not best or (len(best) == 2 and best[0][1] == best[1][1]):
            return None
        return self._runs[best[0][0]]

    @staticmethod
    def _vote(votes: Counter[int], known: dict[str, set[int]], name: str | None, weight: int = 1) -> None:
        runs = known.get(name or "", ())
        if len(runs) == 1:
            votes.update(dict.fromkeys(runs, weight))


def _offset(
    segments: list[Segment], voted: list[Run | None], runs_at: Windows, by_run: dict[int, Window]
) -> tuple[int | None, int]:
    """The offset under which most segments fall into a run; that of clocks which agree comes first."""
    told = [(s.start, s.end) for s in segments if s.start is not None and s.end is not None]
    if not told or not runs_at.all:
        return None, 0
    apart = [
        by_run[id(run)].start - segment.start
        for segment, run in zip(segments, voted, strict=True)
        if run is not None and id(run) in by_run and segment.start is not None
    ]

    some = told[:: 1 + len(told) // _TRIED]

    def score(offset: int) -> int:
        return sum(runs_at.any_meets(start + offset, end + offset) for start, end in some)

    best = max(dict.fromkeys([0, *apart[:_OFFSETS]]), key=score)
    if score(best) == 0:
        return None, 0
    near = [value for value in apart if abs(value - best) <= 10 * SLACK]
    return (int(median(near)) if near and abs(median(near)) > SLACK else 0 if best == 0 else best), len(near)


def _by_order(conversation: Conversation, found: list[Run | None]) -> None:
    """Without times: a segment between two of known runs is of the run between them, if there is one."""
    runs = [run for run in conversation.runs if run.replay_of is None]
    at = {id(run): n for n, run in enumerate(runs)}
    following = [len(runs)] * (len(found) + 1)
    for number in range(len(found) - 1, -1, -1):
        following[number] = at.get(id(found[number]), following[number + 1])
    last = -1
    for number, known in enumerate(found):
        run = known
        if run is None and last + 1 < following[number + 1]:
            found[number] = run = runs[last + 1]
        if run is not None:
            last = max(last, at.get(id(run), last))
