"""Two requests for one call, and one id for two requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Approval, Ask
from workbench.findings import Finding
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace

#: earlier requests under one id that a request is compared with
_LATEST = 64


@rule("approval-duplicated", code="APR011", severity="warning", needs=("approvals",))
def approval_duplicated(trace: Trace) -> Iterator[Finding]:
    """Two approvals are asked for one call.

    Why it hurts: the user sees two cards for one action; a resume has to answer both, and the
        second answer may carry the call out again.
    No fault when: the two are channels of one request (CUSTOM event, confirmation call and
        outcome), or the first was answered, refused or had run out before. The same id for two
        calls is `approval-id-collision`.
    What to do: keep one pending request per call id on the server. Look for a START that is
        sent twice (`call-start-duplicated`).
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt", "interrupts": [
            {"id": "i1", "reason": "tool_call", "toolCallId": "c1"},
            {"id": "i2", "reason": "tool_call", "toolCallId": "c1"}]}}
    Sources: AG-UI interrupts.
    """
    for conversation in trace.conversations:
        by_call: dict[str, list[Approval]] = {}
        for approval in conversation.approvals:
            twice = _same_channel(approval)
            if twice:
                one, two = twice
                message = f"{named_approval(approval)}: asked twice by {one.channel} in {named(one.run)}."
                yield finding(trace, one.run, message, one.at, two.at, calls=(approval.call_id,),
                              approvals=(approval,))  # fmt: skip
            if approval.call_id:
                by_call.setdefault(approval.call_id, []).append(approval)
        for group in by_call.values():
            for number, second in enumerate(group[1:], 1):
                first_open = next(
                    (a for a in group[max(0, number - _LATEST) : number] if _waits_for(a, second)), None
                )
                if first_open is not None:
                    message = (
                        f"{named_approval(second)}: asked in {named(second.run)} although {first_open.id} of "
                        f"{named(first_open.run)} already asks for the same call."
                    )
                    yield finding(trace, second.run, message, first_open.at, second.at, calls=(second.call_id,),
                                  approvals=(first_open, second))  # fmt: skip


def _same_channel(approval: Approval) -> tuple[Ask, Ask] | None:
    """Two sightings of one request on one channel of one run."""
    seen: dict[tuple[int, str], Ask] = {}
    for ask in approval.asks:
        key = (id(ask.run), ask.channel)
        if key in seen and (ask.id or ask.call_id):
            return seen[key], ask
        seen[key] = ask
    return None


def _waits_for(first: Approval, second: Approval) -> bool:
    """The first had no answer of any kind when the second was asked, and both mean one occurrence."""
    if first.call is not None and second.call is not None and first.call is not second.call:
        return False
    answered = any(a.sequence <= second.sequence for a in first.answers)
    limit = max((ask.expires for ask in first.asks if ask.expires is not None), default=None)
    return not answered and (limit is None or first.run is second.run) and first.id != second.id


@rule("approval-id-collision", code="APR012", severity="error", needs=("approvals",))
def approval_id_collision(trace: Trace) -> Iterator[Finding]:
    """Two approvals for different calls share one id.

    Why it hurts: an answer cannot say which one it means: a person approves one action and the
        other runs.
    No fault when: the first was settled and the user has spoken since. Equal id and equal call
        is `approval-duplicated`.
    What to do: derive the interrupt's id from the call's id, or make a new one for each.
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt", "interrupts": [
            {"id": "i1", "reason": "tool_call", "toolCallId": "c1"},
            {"id": "i1", "reason": "tool_call", "toolCallId": "c2"}]}}
    Sources: AG-UI interrupts, resume contract.
    """
    for conversation in trace.conversations:
        by_id: dict[str, list[Approval]] = {}
        for approval in conversation.approvals:
            ids = {approval.id, *(ask.id for ask in approval.asks)} - {""}
            for own in sorted(ids) if approval.call_id else ():
                by_id.setdefault(own, []).append(approval)
        for shared, group in by_id.items():
            for number, second in enumerate(group[1:], 1):
                first = next((a for a in group[max(0, number - _LATEST) : number] if _clash(a, second)), None)
                if first is not None:
                    message = (
                        f"Approval id {shared} is used for {first.call_id} and for {second.call_id}"
                        f" in {named(second.run)}."
                    )
                    yield finding(trace, second.run, message, first.at, second.at,
                                  calls=(first.call_id, second.call_id), approvals=(shared,))  # fmt: skip


def _clash(first: Approval, second: Approval) -> bool:
    if first.call_id == second.call_id:
        return False
    answered = any(a.sequence <= second.sequence for a in first.accepted)
    return not answered or first.run.turn == second.run.turn
