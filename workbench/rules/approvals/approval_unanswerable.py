"""An approval that is offered but cannot be answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.calls.conversation import Answer, Approval, At, Conversation, Run
from workbench.findings import Finding
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace

_NOT_FOUND = re.compile(
    r"not[ _-]?found|unknown (interrupt|approval|request)|no (such|pending|open) (interrupt|approval)",
    re.IGNORECASE,
)


class Offer(NamedTuple):
    """Where an approval stands although an answer to it was refused as not found."""

    answer: Answer
    run: Run
    at: At
    where: str


@rule("approval-unanswerable", code="APR018", severity="error", needs=("approvals",))
def approval_unanswerable(trace: Trace) -> Iterator[Finding]:
    """The endpoint refuses an answer as not found, and still offers the approval.

    Why it hurts: the user is asked, answers, gets an error, and is asked again: the thread can
        go neither forward nor back.
    No fault when: a later answer is accepted, or the approval is gone after the refusal.
    What to do: the list of pending approvals and the stored thread disagree, most often after
        a restart or with several workers. Keep both in one store, or drop the interrupt from
        the thread when it is not known any more.
    Example:
        {"type": "RUN_ERROR", "message": "unknown interrupt", "code": "APPROVAL_RESUME_NOT_FOUND"}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r3"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r3", "outcome": {"type": "interrupt",
            "interrupts": [{"id": "i1", "reason": "tool_call", "toolCallId": "c1"}]}}
    Sources: microsoft/agent-framework#7570.
    """
    for conversation in trace.conversations:
        for approval in conversation.approvals:
            offer = still_offered(conversation, approval)
            if offer is not None:
                message = (
                    f"{named_approval(approval)}: the answer in {named(offer.answer.run)} was refused as not found, "
                    f"but {offer.where} of {named(offer.run)} still offers it."
                )
                yield finding(trace, offer.run, message, approval.at, offer.answer.at, offer.answer.run.end, offer.at,
                              calls=(approval.call_id,), approvals=(approval,))  # fmt: skip


def still_offered(conversation: Conversation, approval: Approval) -> Offer | None:
    """The first offer of an approval after its answer was refused as not found; None if there is none."""
    refused = next((a for a in approval.answers if a.refused and _not_found(a.run)), None)
    if refused is None or approval.accepted:
        return None
    for ask in approval.asks:
        if ask.sequence > refused.sequence and ask.run is not approval.run:
            return Offer(refused, ask.run, ask.at, "the end" if ask.channel == "outcome" else "an event")
    ids = {approval.id, *(ask.id for ask in approval.asks)} - {"", approval.call_id}
    for items in conversation.lists:
        if items.place == "snapshot" and items.sequence > refused.sequence:
            for message in items.messages:
                if any(_names(value, ids) for key, value in message.items() if key not in ("id", "content")):
                    return Offer(refused, items.run, items.at, "the snapshot")
    return None


def _not_found(run: Run) -> bool:
    return bool(_NOT_FOUND.search(run.error_code) or _NOT_FOUND.search(run.error))


def _names(value: Any, ids: set[str], depth: int = 6) -> bool:
    """An id stands as a value somewhere in a decoded message."""
    if isinstance(value, str):
        return value in ids
    if depth and isinstance(value, dict):
        return any(_names(v, ids, depth - 1) for v in value.values())
    if depth and isinstance(value, list):
        return any(_names(v, ids, depth - 1) for v in value)
    return False
