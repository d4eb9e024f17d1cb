"""Which run of a conversation a piece of telemetry was left by.

Both sides have clocks that may differ, or no times at all: ids decide where they can, the order of
things where nothing else does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median

from workbench.calls.conversation import At, Conversation, Run
from workbench.calls.telemetry.reading import Reading
from workbench.calls.telemetry.segments import Segment
from workbench.calls.when import time_of
from workbench.readers.records import Records

#: A stream may end a little before or after the spans of its run (ns)
SLACK = 1_000_000_000


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
    offset, compared = _offset(segments, voted, timed, by_run)
    found: list[Run | None] = []
    for segment, run in zip(segments, voted, strict=True):
        chosen = run
        if offset is not None and segment.start is not None and segment.end is not None:
            start, end = segment.start + offset, segment.end + offset
            near = max(timed, key=lambda w: w.overlap(start, end), default=None)
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
    segments: list[Segment], voted: list[Run | None], timed: list[Window], by_run: dict[int, Window]
) -> tuple[int | None, int]:
    """The offset under which most segments fall into a run; that of clocks which agree comes first."""
    told = [(s.start, s.end) for s in segments if s.start is not None and s.end is not None]
    if not told or not timed:
        return None, 0
    apart = [
        by_run[id(run)].start - segment.start
        for segment, run in zip(segments, voted, strict=True)
        if run is not None and id(run) in by_run and segment.start is not None
    ]

    def score(offset: int) -> int:
        return sum(any(w.meets(start + offset, end + offset) for w in timed) for start, end in told)

    best = max([0, *apart[:200]], key=score)
    if score(best) == 0:
        return None, 0
    near = [value for value in apart if abs(value - best) <= 10 * SLACK]
    return (int(median(near)) if near and abs(median(near)) > SLACK else 0 if best == 0 else best), len(near)


def _by_order(conversation: Conversation, found: list[Run | None]) -> None:
    """Without times: a segment between two of known runs is of the run between them, if there is one."""
    runs = [run for run in conversation.runs if run.replay_of is None]
    at = {id(run): n for n, run in enumerate(runs)}
    last = -1
    for number, known in enumerate(found):
        run = known
        if run is None:
            later = next((at[id(r)] for r in found[number + 1 :] if r is not None and id(r) in at), len(runs))
            if last + 1 < later:
                found[number] = run = runs[last + 1]
        if run is not None:
            last = max(last, at.get(id(run), last))
