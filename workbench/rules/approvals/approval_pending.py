"""An approval that is still open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.approvals.approval_unanswerable import still_offered
from workbench.rules.approvals.waiting import ignored
from workbench.rules.calls.words import finding, named_approval, ran
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-pending", code="APR001", severity="info", needs=("approvals",))
def approval_pending(trace: Trace) -> Iterator[Finding]:
    """An approval is still open at the end of the capture.

    Why it hurts: it does not; it says where the conversation stands, and that what became of
        the call is not in the capture.
    No fault when: always: this is information. A thread that goes on without an answer is
        `approval-unanswered`.
    What to do: record the next request too, if the question is what happened after the answer.
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt",
            "interrupts": [{"id": "i1", "reason": "tool_call", "toolCallId": "c1"}]}}
    Sources: AG-UI interrupts.
    """
    for conversation in trace.conversations:
        said = {id(a) for case in ignored(conversation, trace.records) for a in case.missing}
        for approval in conversation.approvals:
            if approval.accepted or id(approval) in said or still_offered(conversation, approval) is not None:
                continue
            if approval.call is not None and any(ran(r) for r in approval.call.results):
                continue
            refused = " Its answer was refused." if approval.answers else ""
            message = f"{named_approval(approval)}: asked in {named(approval.run)}, and open at the end of the capture.{refused}"
            calls = (approval.call_id,)
            yield finding(
                trace,
                approval.run,
                message,
                *(a.at for a in approval.asks),
                calls=calls,
                approvals=(approval,),
            )
