"""Which approvals were open when a request came, and what the request did about them."""

from __future__ import annotations

import math
from collections.abc import Iterator
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


def open_before(conversation: Conversation, run: Run) -> list[Approval]:
    """Approvals asked in earlier runs that nobody had answered when this run began."""
    return [a for a in conversation.approvals if a.run.number < run.number <= _closed(a)]


def _waiting(conversation: Conversation) -> Iterator[tuple[Run, list[Approval]]]:
    """Every run with a request, and the approvals that were open when it began."""
    waiting: list[tuple[float, Approval]] = []
    coming = sorted(conversation.approvals, key=lambda a: a.run.number, reverse=True)
    for run in conversation.runs:
        while coming and coming[-1].run.number < run.number:
            approval = coming.pop()
            waiting.append((_closed(approval), approval))
        waiting = [pair for pair in waiting if pair[0] >= run.number]
        if waiting and run.request is not None and run.replay_of is None:
            yield run, [approval for _, approval in waiting]


def ignored(conversation: Conversation, records: Records) -> Iterator[Ignored]:
    """Every request after which an approval should have been answered and was not. Each approval once."""
    said: set[int] = set()
    for run, still_open in _waiting(conversation):
        assert run.request is not None
        at = At("request", run.request)
        now = time_of(records, run, at)
        waiting = [a for a in still_open if not _run_out(a, now)]
        named = {id(a.approval) for a in run.answers if a.approval is not None}
        answered = [a for a in waiting if id(a) in named or any(x.run is run for x in a.answers)]
        done = {id(a) for a in answered}
        calls = {a.call_id for a in answered if a.call_id}
        missing = [
            a for a in waiting if id(a) not in done | said and a.call_id not in calls and not _replied(a, run)
        ]
        if not answered and not run.answers:
            missing = [a for a in missing if _goes_on(a, run, conversation)]
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


def _goes_on(approval: Approval, run: Run, conversation: Conversation) -> bool:
    """The request is more than a reconnect: the user speaks, or the run acts as if nothing waited."""
    if not any(items.run is run and items.place == "request" for items in conversation.lists):
        return False
    if run.turn > approval.run.turn or "RESUME_REQUIRED" in run.error_code:
        return True
    offered = [
        a for a in conversation.approvals if a is approval or (a.call_id and a.call_id == approval.call_id)
    ]
    if any(ask.run is run for a in offered for ask in a.asks):
        return False
    acts = any(c.run is run and c.starts for c in conversation.calls)
    return acts or any(m.run is run and m.role == "assistant" for m in conversation.messages)
