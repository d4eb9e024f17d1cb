"""An answer to something that nobody asked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Answer, Approval
from workbench.findings import Finding
from workbench.rules.approvals.waiting import open_before
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import listed, named

if TYPE_CHECKING:
    from workbench.trace import Trace

#: open approvals whose ids are compared with that of the answer
_COMPARED = 100


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
        # the runs before the answer have to be there, and whole
        gap = next((r.number for r in conversation.runs if not r.complete or r.end is None), math.inf)
        strays = [a for a in conversation.strays if a.id and 0 < a.run.number <= gap]
        by_run: dict[int, list[Answer]] = {}
        for answer in strays:
            by_run.setdefault(id(answer.run), []).append(answer)
        for run, waiting in open_before(conversation, set(by_run)):
            answered = {id(a.approval) for a in run.answers}
            left = [a for a in waiting if id(a) not in answered]
            for answer in by_run[id(run)]:
                yield _unknown(trace, answer, _meant(answer, left), waiting)


def _unknown(trace: Trace, answer: Answer, meant: Approval | None, waiting: list[Approval]) -> Finding:
    hint = f" Probably meant: {named_approval(meant)}." if meant else ""
    if not meant:
        hint = f" Open: {listed([a.id for a in waiting])}." if waiting else " No approval was open."
    message = (
        f"The request of {named(answer.run)} answers approval {answer.id}, which was never offered.{hint}"
    )
    return finding(trace, answer.run, message, answer.at, meant.at if meant else None,
                  calls=(meant.call_id,) if meant else (), approvals=(meant,) if meant else (),
                  other_ids=(answer.id,), place="request")  # fmt: skip


def _meant(answer: Answer, waiting: list[Approval]) -> Approval | None:
    """The open approval whose ids resemble the answer's; else the only open one; else the first."""
    for approval in waiting[:_COMPARED]:
        ids = [i for i in (approval.id, approval.call_id, *(ask.id for ask in approval.asks)) if i]
        if any(i in answer.id or answer.id in i for i in ids):
            return approval
    return waiting[0] if waiting else None
