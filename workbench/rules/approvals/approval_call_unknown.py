"""An approval for a call that nobody saw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import producers
from workbench.findings import Finding
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import cut, named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-call-unknown", code="APR015", severity="warning", needs=("approvals",))
def approval_call_unknown(trace: Trace) -> Iterator[Finding]:
    """The call that an approval names stands in no stream, snapshot or request.

    Why it hurts: the client cannot show what is to be approved, and has no message to which
        the result could belong.
    No fault when: the interrupt names no call (a question to the user). It is information for
        Mastra, which holds the call back until it is answered, and where the capture begins
        late or is cut.
    What to do: stream the call before the interrupt, or put it into a snapshot. Check that the
        interrupt's toolCallId is the call's id and not the approval's.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt",
            "interrupts": [{"id": "i1", "reason": "tool_call", "toolCallId": "c9"}]}}
    Sources: microsoft/agent-framework#7570; google/adk-go#551.
    """
    for conversation in trace.conversations:
        known = {call.id for call in conversation.calls}
        for approval in conversation.approvals:
            if not approval.call_id or approval.call_id in known:
                continue
            run = approval.run
            mild = (
                run.producer in producers.SUPPRESSES_CALLS or conversation.starts_late or cut(run, conversation)
                or run.start is None
            )  # fmt: skip
            message = f"{named_approval(approval)}: asked in {named(run)}, but the call is in no stream, snapshot or request."
            yield finding(trace, run, message, approval.at, calls=(approval.call_id,), approvals=(approval,),
                          severity="info" if mild else "")  # fmt: skip
