"""The ladder of the explorer: the steps that fit, as rows of equal height, made while they are asked for.

A page draws only the rows in sight, so a ladder may be as long as its conversation. Steps are
made in pieces of whole runs, because a thread of 100,000 events takes seconds and the first
screen must not wait for it.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.calls.conversation import At, Call, Conversation, Run
from workbench.views import marks, order, payloads, steps, telemetry
from workbench.views.explorer.choice import Choice, holds
from workbench.views.explorer.listing import Listing
from workbench.views.explorer.search import Hits
from workbench.views.ladder import offset
from workbench.views.layout import head_text
from workbench.views.participants import MAX_PARTICIPANTS, OTHER, Participant, tool
from workbench.views.steps import AGENT, CLIENT, MODEL, Step
from workbench.views.svg import ARROWS
from workbench.views.text import clean, plural

#: events of which steps are made in one go; the first piece is small, so that it is there at once
_PIECE, _FIRST = 2_000, 1_500
#: rows after which a ladder ends; nobody scrolls further, and browsers have a longest page
MAX_ROWS = 400_000

Row = dict[str, Any]
Pair = tuple[int, Run]


class Pieces:
    """The steps of one trace, piece by piece, with the marks of the findings; made once and kept."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self._events: list[list[Pair]] | None = None
        self._pieces: dict[int, list[list[Pair]]] = {}
        self._made: dict[tuple[int, int], list[Step]] = {}
        self._by_run: dict[int, dict[int, list[Call]]] = {}

    def of_talk(self, number: int, needed: Callable[[list[Pair]], bool]) -> Iterator[list[Step]]:
        """The steps of a talk in order. `needed` is asked with the events of a piece before its steps are made."""
        if self._events is None:
            self._events = order.events(self.listing.trace, self.listing.talks)
        pieces = self._pieces.get(number)
        if pieces is None:
            pieces = self._pieces[number] = list(_pieces(self._events[number]))
        for index, pairs in enumerate(pieces):
            made = self._made.get((number, index))
            if made is None:
                last = index == len(pieces) - 1
                if not last and not needed(pairs):
                    continue
                made = self._made[number, index] = self._steps(number, pairs, last=last)
            yield made

    def _steps(self, number: int, pairs: list[Pair], *, last: bool) -> list[Step]:
        trace = self.listing.trace
        talk = self._part(number, pairs, last=last)
        made = steps.of_conversation(trace, talk, pairs)
        payloads.insert(trace, talk, made)
        telemetry.insert(trace, talk, made)
        marks.place(trace, made, self.listing.of_thread[number])
        return made

    def _part(self, number: int, pairs: list[Pair], *, last: bool) -> Conversation:
        """The talk with only the runs of these events, and what happened in them."""
        talk = self.listing.talks[number]
        if len(self._pieces[number]) == 1:
            return talk
        here = {id(run) for _, run in pairs}
        # runs without any event come with the last piece
        here |= {id(run) for run in talk.runs if run.first is None} if last else set()
        by_run = self._by_run.get(number)
        if by_run is None:
            by_run = self._by_run[number] = _by_run(self.listing, talk)
        order_of = self.listing.number_of
        calls = {order_of[id(call)]: call for key in here for call in by_run.get(key, ())}
        return replace(
            talk,
            runs=[run for run in talk.runs if id(run) in here],
            calls=[calls[key] for key in sorted(calls)],
            lists=[items for items in talk.lists if id(items.run) in here],
        )


def _by_run(listing: Listing, talk: Conversation) -> dict[int, list[Call]]:
    """The calls of a talk by each run in which something happened to them."""
    found: dict[int, list[Call]] = defaultdict(list)
    for call in talk.calls:
        runs = touched(call)
        runs.update(id(listing.trace.run_of(row)) for row in call.ends)
        for key in runs:
            found[key].append(call)
    return found


def touched(call: Call) -> set[int]:
    """The runs (by identity) in which something happened to a call."""
    found = {id(call.run)}
    found.update(id(start.run) for start in call.starts)
    found.update(id(result.run) for result in call.results)
    found.update(id(execution.run) for execution in call.executions)
    for approval in call.approvals:
        found.add(id(approval.run))
        found.update(id(ask.run) for ask in approval.asks)
        found.update(id(answer.run) for answer in approval.answers)
    return found


def _pieces(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """The events in stretches that no run crosses."""
    last = {id(run): at for at, (_, run) in enumerate(pairs)}
    begin, size, crossed = 0, _FIRST, 0
    for at, (_, run) in enumerate(pairs):
        if at - begin >= size and crossed < at:
            yield pairs[begin:at]
            begin, size = at, _PIECE
        crossed = max(crossed, last[id(run)])
    yield pairs[begin:]


class Flow:
    """The rows of one ladder: `grow` makes more of them, `rows[n]` are for the page."""

    def __init__(
        self,
        pieces: Pieces,
        talks: Sequence[int],
        choice: Choice,
        *,
        calls: Sequence[Call] | None = None,
        hits: Hits | None = None,
    ) -> None:
        self.pieces = pieces
        self.choice = choice
        self.rows: list[Row] = []
        self.steps: list[Step] = []
        self.complete = False
        self.talks = list(talks)
        self._calls = None if calls is None else _Belongs(calls)
        self._hits = hits
        self._findings = pieces.listing.finding_number
        self._row_of: dict[int, int] = {}
        self.people = _People(pieces.listing, talks, calls)
        self._source = self._walk()

    def grow(self, rows: int, seconds: float = 0.08) -> None:
        """Make rows until there are so many, or the time is over, or there are no more."""
        until = time.monotonic() + seconds
        while len(self.rows) < rows and not self.complete and time.monotonic() < until:
            made = next(self._source, None)
            if made is None or len(self.rows) > MAX_ROWS:
                self.complete = True
            else:
                self.rows.extend(made)

    def row_of(self, finding: int) -> int | None:
        """The row at which a finding is written out; makes all rows on the way there."""
        while finding not in self._row_of and not self.complete:
            self.grow(len(self.rows) + 1, seconds=60)
        return self._row_of.get(finding)

    def _walk(self) -> Iterator[list[Row]]:
        """The rows, piece by piece."""
        several = len(self.talks) > 1
        for number in self.talks:
            name = clean(self.pieces.listing.talks[number].thread_id, 80) or "without id"
            thread = f"thread {name} · " if several else ""
            run: Run | None = None
            band, skipped = "", 0
            for piece in self.pieces.of_talk(number, self._needed):
                rows: list[Row] = []
                for step in piece:
                    band = step.band or band
                    if not self._fits(step):
                        skipped += step.events
                        continue
                    if skipped and step.run is run:
                        rows.append({"k": "gap", "text": f"⋯ {plural(skipped, 'event')} not shown"})
                    skipped = 0
                    if band and (step.run is not run or step.band):
                        rows.append({"k": "band", "text": clean(thread + band, 300)})
                    run = step.run
                    rows.append(self._step(step))
                    rows += self._marks(step, len(self.rows) + len(rows))
                yield rows

    def _marks(self, step: Step, row: int) -> Iterator[Row]:
        """The findings of a step, each as a row of its own, the first of them at `row`."""
        for mark in step.marks:
            finding = self._findings.get(id(mark.finding), -1)
            if mark.main:
                self._row_of.setdefault(finding, row)
            yield {
                "k": "mark",
                "severity": mark.finding.severity,
                "rule": mark.finding.rule,
                "text": clean(mark.finding.message, 400) if mark.main else "also here",
                "n": finding,
                "step": len(self.steps) - 1,
            }
            row += 1

    def _step(self, step: Step) -> Row:
        self.steps.append(step)
        look = f"bad-{step.kind}" if step.bad and f"bad-{step.kind}" in ARROWS else step.kind
        first = self.pieces.listing.first
        return {
            "k": "step",
            "step": len(self.steps) - 1,
            "look": look if look in ARROWS else "other",
            "from": self.people.column(step.source),
            "to": self.people.column(step.target),
            "head": head_text(step),
            "label": clean(step.label, 300),
            "number": "" if step.first is None else f"#{step.first}" if step.last == step.first else f"#{step.first}–{step.last}",
            "time": "" if step.time is None or first is None else offset(step.time - first),
            "quiet": step.quiet,
            "call": self.pieces.listing.number_of.get(id(step.call), -1),
        }  # fmt: skip

    def _needed(self, pairs: list[Pair]) -> bool:
        """Whether a piece can hold a step that fits, told without making its steps."""
        if self._calls is not None and not any(id(run) in self._calls.runs for _, run in pairs):
            return False
        if self.choice.run:
            return any(self.choice.run in run.run_id.lower() for run in {id(r): r for _, r in pairs}.values())
        return True

    def _fits(self, step: Step) -> bool:
        choice = self.choice
        return (
            (self._calls is None or self._calls(step))
            and (not choice.run or choice.run in step.run.run_id.lower())
            and (not choice.call or holds(choice.call, (step.call_id, step.approval_id)))
            and (not choice.tool or (step.call is not None and choice.tool in step.call.tool.lower()))
            and (not choice.signal or choice.signal == signal(step))
            and choice.in_time(step.time)
            and (not choice.severity or self._flagged(step))
            and (self._hits is None or self._hit(step))
        )

    def _flagged(self, step: Step) -> bool:
        if any(mark.finding.severity in self.choice.severities for mark in step.marks):
            return True
        listing = self.pieces.listing
        number = listing.number_of.get(id(step.call))
        return number is not None and listing.worst[number] in self.choice.severities

    def _hit(self, step: Step) -> bool:
        assert self._hits is not None
        if step.rows:
            return not self._hits.event.isdisjoint(step.rows)
        if step.payload is not None:
            return step.payload in self._hits.payload
        if step.request is not None:
            # a request may hold a whole history: what it carries is an arrow of its own
            return holds(self.choice.text, (step.label,)) or (
                step.kind == "request" and step.request in self._hits.request
            )
        return holds(self.choice.text, (step.label,))


class _Belongs:
    """A test for the steps of some calls: events, approvals, confirmation calls and answers."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls = {id(call) for call in calls}
        self.approvals = {approval.id for call in calls for approval in call.approvals}
        self.asked = {call.id for call in calls}
        self.runs: set[int] = set()
        for call in calls:
            self.runs |= touched(call)

    def __call__(self, step: Step) -> bool:
        if step.call is not None:
            if id(step.call) in self.calls:
                return True
            if step.call.synthetic_for is not None:
                return step.call.synthetic_for in self.asked
        return bool(step.approval_id) and step.approval_id in self.approvals


class _People:
    """The lifelines of a ladder. Tools are known from the calls; the most used ones have a column of their own."""

    def __init__(self, listing: Listing, talks: Sequence[int], calls: Sequence[Call] | None) -> None:
        chosen = calls
        if chosen is None:
            chosen = [call for number in talks for call in listing.talks[number].calls]
        models = any(items.at.kind == "payload" for n in talks for items in listing.talks[n].lists)
        used = Counter(_key(call) for call in chosen if call.synthetic_for is None)
        room = MAX_PARTICIPANTS - 2 - models - 1
        tools = [key for key, _ in used.most_common(room)]
        self.keys = [key for key in tools if key.startswith("client-tool:")]
        self.keys += [CLIENT, AGENT, *([MODEL] if models else [])]
        self.keys += [key for key in tools if not key.startswith("client-tool:")]
        self._columns = {key: number for number, key in enumerate(self.keys)}

    def column(self, key: str) -> int:
        """The number of the column of a lifeline, given out at its first use."""
        if key not in self._columns:
            if len(self.keys) >= MAX_PARTICIPANTS - 1:
                self._columns.setdefault(OTHER, len(self.keys))
                if OTHER not in self.keys:
                    self.keys.append(OTHER)
                self._columns[key] = self._columns[OTHER]
            else:
                self._columns[key] = len(self.keys)
                self.keys.append(key)
        return self._columns[key]

    def rows(self) -> list[Row]:
        """The lifelines as the page shows them, from left to right."""
        fixed = {CLIENT: "client", AGENT: "agent", MODEL: "model", OTHER: "other tools"}
        made = [Participant(key, fixed[key], key) if key in fixed else tool(key) for key in self.keys]
        return [{"name": person.name, "role": person.role} for person in made]


def _key(call: Call) -> str:
    if not call.tool:
        return "tool:"
    return f"client-tool:{call.tool}" if call.client_side else f"tool:{call.tool}"


def places(step: Step) -> list[At]:
    """Where a step stands in the input."""
    found = [At("event", row) for row in step.rows]
    if step.request is not None:
        found.append(At("request", step.request))
    if step.payload is not None:
        found.append(At("payload", step.payload))
    if step.at is not None:
        found.append(step.at)
    return found


def signal(step: Step) -> str:
    """What kind of record shows a step: a word of `model.PLACES`."""
    if step.rows:
        return "snapshot" if step.type.upper() == "MESSAGES_SNAPSHOT" else "stream"
    if step.payload is not None:
        return "payload"
    return "request" if step.request is not None else "telemetry"
