"""An answer to something that nobody asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Answer, Approval, Conversation
from workbench.findings import Finding
from workbench.rules.approvals.waiting import open_before
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import listed, named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-unknown", code="APR005", severity="error", needs=("approvals",))
def approval_unknown(trace: Trace) -> Iterator[Finding]:
    """A request answers an approval that was never offered.

    Why it hurts: the server refuses the request, or ignores the answer and the call waits on.
    No fault when: the runs that could have offered it are not in the capture, or cut.
    What to do: compare the id with those offered; the finding names the approval that was
        probably meant. Clients often send the call id where the interrupt id is asked for, or
        an id of another thread.
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt",
            "interrupts": [{"id": "i1", "reason": "tool_call", "toolCallId": "c1"}]}}
        {"threadId": "t1", "runId": "r2", "messages": [],
            "resume": [{"interruptId": "i-1", "status": "resolved", "payload": {"approved": true}}]}
    Sources: AG-UI interrupts, resume contract; agent-framework APPROVAL_RESUME_NOT_FOUND.
    """
    for conversation in trace.conversations:
        if conversation.starts_late:
            continue
        for answer in conversation.strays:
            before = [run for run in conversation.runs if run.number < answer.run.number]
            if not answer.id or not before or not all(run.complete and run.end is not None for run in before):
                continue
            meant = _meant(conversation, answer)
            waiting = open_before(conversation, answer.run)
            hint = f" Probably meant: {named_approval(meant)}." if meant else ""
            if not meant:
                hint = f" Open: {listed([a.id for a in waiting])}." if waiting else " No approval was open."
            message = f"The request of {named(answer.run)} answers approval {answer.id}, which was never offered.{hint}"
            yield finding(trace, answer.run, message, answer.at, meant.at if meant else None,
                          calls=(meant.call_id,) if meant else (), approvals=(meant,) if meant else (),
                          other_ids=(answer.id,), place="request")  # fmt: skip


def _meant(conversation: Conversation, answer: Answer) -> Approval | None:
    """The open approval whose ids resemble the answer's; else the only open one; else the first."""
    waiting = open_before(conversation, answer.run)
    answered = {id(a.approval) for a in answer.run.answers}
    waiting = [a for a in waiting if id(a) not in answered]
    for approval in waiting:
        ids = [i for i in (approval.id, approval.call_id, *(ask.id for ask in approval.asks)) if i]
        if any(i in answer.id or answer.id in i for i in ids):
            return approval
    return waiting[0] if waiting else None
