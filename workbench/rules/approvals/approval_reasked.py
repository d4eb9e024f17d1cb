"""The same question after it was answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Approval
from workbench.findings import Finding
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-reasked", code="APR010", severity="error", needs=("approvals",))
def approval_reasked(trace: Trace) -> Iterator[Finding]:
    """The same action is asked again in the same user turn after it was approved, rejected or answered by a placeholder.

    Why it hurts: the person clicks in a loop. Each yes is used up without effect, or each no is
        ignored until it becomes a yes.
    No fault when: the user has asked for the action again in a new message, the arguments are
        others, the answer had been refused (`approval-unanswerable`), or the person gave no
        answer (cancelled).
    What to do: look at what the model was sent after the answer. Most often the call got a
        placeholder (`result-placeholder`), or the answer was dropped and the call stands open.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1",
         "content": "Error: Tool call invocation failed."}
        {"type": "TOOL_CALL_START", "toolCallId": "c2", "toolCallName": "save_note"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r2", "outcome": {"type": "interrupt",
            "interrupts": [{"id": "i2", "reason": "tool_call", "toolCallId": "c2"}]}}
    Sources: microsoft/agent-framework#7043, #8503, #4546.
    """
    for conversation in trace.conversations:
        for approval in conversation.approvals:
            again = approval.reasked_by
            if again is None:
                continue
            why = _why(approval)
            if not why:
                continue
            if again is approval:
                first = approval.accepted[0].sequence if approval.accepted else approval.sequence
                ask = next(
                    (a for a in approval.asks if a.sequence > first and a.run is not approval.run),
                    approval.asks[-1],
                )
                run, at = ask.run, ask.at
            else:
                run, at = again.run, again.at
            message = f"{named_approval(approval)}: {why}, and {named(run)} asks for the same action again"
            message += "." if again is approval else f" as {named_approval(again)}."
            answer = approval.accepted[0].at if approval.accepted else None
            yield finding(trace, run, message, approval.at, answer, at, calls=(approval.call_id, again.call_id),
                          approvals=(approval, again))  # fmt: skip


def _why(approval: Approval) -> str:
    """What had happened to the first request; empty where asking again is no fault."""
    answer = approval.accepted[0] if approval.accepted else None
    call = approval.call
    stand_in = call is not None and any(r.cls == "placeholder" for r in call.results)
    if answer is not None and answer.decision in ("approved", "edited", "rejected"):
        return f"{answer.decision} in {named(answer.run)}"
    if stand_in:
        return "answered by a placeholder"
    if answer is not None and answer.decision == "unseen":
        return f"answered in {named(answer.run)}"
    return ""
