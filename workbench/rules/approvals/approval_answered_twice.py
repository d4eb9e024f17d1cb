"""An approval that is answered again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Answer, Approval
from workbench.findings import Finding
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-answered-twice", code="APR004", severity="warning", needs=("approvals",))
def approval_answered_twice(trace: Trace) -> Iterator[Finding]:
    """An approval gets a second answer.

    Why it hurts: the server refuses it, sends the old result again, or carries the call out a
        second time.
    No fault when: the first answer was refused, the server asked again in between, or one
        request carries the same decision in two forms.
    What to do: disable the buttons with the first click, and drop the approval from the
        client's state when its answer was sent. Retry a lost request with the same runId.
    Example:
        {"threadId": "t1", "runId": "r2", "messages": [],
            "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"approved": true}}]}
        {"threadId": "t1", "runId": "r3", "messages": [],
            "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"approved": true}}]}
    Sources: agent-framework-ag-ui: refused in 1.0.0, result replayed from 1.2.2 on.
    """
    for conversation in trace.conversations:
        for approval in conversation.approvals:
            seen = [a for a in approval.answers if a.decision != "unseen" or a.form]
            first = next((a for a in seen if not a.refused), None)
            if first is None:
                continue
            later = [a for a in seen[seen.index(first) + 1 :] if _again(approval, first, a)]
            for answer in later[:1]:
                message = (
                    f"{named_approval(approval)}: answered in {named(first.run)} ({first.decision}) and again in "
                    f"{named(answer.run)} ({answer.decision})."
                )
                yield finding(trace, answer.run, message, approval.at, first.at, *(a.at for a in later[:10]),
                              calls=(approval.call_id,), approvals=(approval,), place="request")  # fmt: skip


def _again(approval: Approval, first: Answer, answer: Answer) -> bool:
    if answer.run is first.run:
        return answer.form == first.form or answer.decision != first.decision
    return not any(
        first.sequence < ask.sequence <= answer.sequence and ask.run is not approval.run
        for ask in approval.asks
    )
