"""Which approvals were open when a request came, and what the request did about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.calls.conversation import Approval, At, Conversation, Run
from workbench.readers.records import NO_TIME, Records
from workbench.rules.calls.words import ran


@dataclass(frozen=True, slots=True)
class Ignored:
    """A request that leaves open approvals without an answer; `answered` are those it does answer."""

    run: Run
    at: At
    missing: list[Approval]
    answered: list[Approval]


def time_of(records: Records, run: Run, at: At) -> int | None:
    """When an answer was given, UTC ns: the time of its request, else of the events next to it."""
    if at.kind == "request":
        request = records.requests[at.row]
        if request.time is not None:
            return request.time
        at = At("event", request.event if request.event is not None else -1)
    for row in (at.row, run.start, run.first):
        if row is not None and row >= 0 and records.events.time[row] != NO_TIME:
            return records.events.time[row]
    return None


def expires(approval: Approval) -> int | None:
    """The latest time at which any request for it runs out, UTC ns."""
    return max((ask.expires for ask in approval.asks if ask.expires is not None), default=None)


def _closed(approval: Approval) -> float:
    """Number of the run in which the approval was answered, or its call ran; infinity while it is open."""
    numbers = [answer.run.number for answer in approval.accepted]
    if approval.call is not None:
        numbers += [result.run.number for result in approval.call.results if ran(result)]
    return min(numbers, default=math.inf)


def open_before(conversation: Conversation, runs: set[int]) -> Iterator[tuple[Run, list[Approval]]]:
    """The runs of these identities, with the approvals of earlier runs that nobody had answered when they began."""
    return ((run, list(waiting)) for run, waiting in _sweep(conversation) if id(run) in runs)


def _waiting(conversation: Conversation) -> Iterator[tuple[Run, list[Approval]]]:
    """Every run with a request, and the approvals that were open when it began."""
    for run, waiting in _sweep(conversation):
        if run.request is not None and run.replay_of is None and (still_open := list(waiting)):
            yield run, still_open


def _sweep(conversation: Conversation) -> Iterator[tuple[Run, Iterable[Approval]]]:
    """Every run, and the approvals that were open when it began, in order of their runs."""
    waiting: list[tuple[float, Approval]] = []
    coming = sorted(conversation.approvals, key=lambda a: a.run.number)[::-1]
    soonest = math.inf
    for run in conversation.runs:
        while coming and coming[-1].run.number < run.number:
            approval = coming.pop()
            closed = _closed(approval)
            soonest = min(soonest, closed)
            waiting.append((closed, approval))
        if soonest < run.number:
            waiting = [pair for pair in waiting if pair[0] >= run.number]
            soonest = min((closed for closed, _ in waiting), default=math.inf)
        yield run, (approval for _, approval in waiting)


def ignored(conversation: Conversation, records: Records) -> Iterator[Ignored]:
    """Every request after which an approval should have been answered and was not. Each approval once."""
    said: set[int] = set()
    acts = _Acts(conversation)
    for run, still_open in _waiting(conversation):
        assert run.request is not None
        at = At("request", run.request)
        now = time_of(records, run, at)
        answers = acts.answers.get(id(run), set())
        waiting = [a for a in still_open if (id(a) not in said or id(a) in answers) and not _run_out(a, now)]
        answered = [a for a in waiting if id(a) in answers]
        calls = {a.call_id for a in answered if a.call_id}
        missing = [
            a for a in waiting
            if id(a) not in said and id(a) not in answers and a.call_id not in calls and not _replied(a, run)
        ]  # fmt: skip
        if not answered and not run.answers:
            missing = [a for a in missing if acts.goes_on(a, run)]
        if missing:
            said.update(id(a) for a in missing)
            yield Ignored(run, at, missing, answered)


def _run_out(approval: Approval, now: int | None) -> bool:
    limit = expires(approval)
    return limit is not None and now is not None and now > limit


def _replied(approval: Approval, run: Run) -> bool:
    """The request holds a tool message for the call: an answer in words that are not known here."""
    call = approval.call
    return call is not None and any(r.place == "request" and r.run is run for r in call.results)


class _Acts:
    """What the runs of a conversation do, by identity of the run."""

    def __init__(self, conversation: Conversation) -> None:
        #: approvals that are answered there
        self.answers: dict[int, set[int]] = {}
        self._asks: set[tuple[int | str, int]] = set()
        for approval in conversation.approvals:
            for answer in approval.answers:
                self.answers.setdefault(id(answer.run), set()).add(id(approval))
            for ask in approval.asks:
                self._asks |= {(id(approval), id(ask.run)), (approval.call_id or id(approval), id(ask.run))}
        for run in conversation.runs:
            named = {id(a.approval) for a in run.answers if a.approval is not None}
            if named:
                self.answers.setdefault(id(run), set()).update(named)
        self._with_messages = {id(items.run) for items in conversation.lists if items.place == "request"}
        self._busy = {id(call.run) for call in conversation.calls if call.starts}
        self._busy |= {id(m.run) for m in conversation.messages if m.role == "assistant"}

    def goes_on(self, approval: Approval, run: Run) -> bool:
        """The request is more than a reconnect: the user speaks, or the run acts as if nothing waited."""
        if id(run) not in self._with_messages:
            return False
        if run.turn > approval.run.turn or "RESUME_REQUIRED" in run.error_code:
            return True
        names = (id(approval), approval.call_id or id(approval))
        return id(run) in self._busy and not any((name, id(run)) in self._asks for name in names)
