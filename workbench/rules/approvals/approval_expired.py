"""An answer that came too late."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.approvals.waiting import expires, time_of
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-expired", code="APR016", severity="warning", needs=("approvals",))
def approval_expired(trace: Trace) -> Iterator[Finding]:
    """An approval was answered after its expiresAt.

    Why it hurts: the server refuses the answer, or carries out an action whose premises may no
        longer hold.
    No fault when: nothing in the capture says when the answer was given.
    What to do: show the remaining time on the card and close it when it is over; on the server,
        refuse late answers and offer the action anew.
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt", "interrupts": [
            {"id": "i1", "reason": "tool_call", "toolCallId": "c1", "expiresAt": "2026-11-30T10:00:00Z"}]}}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2", "timestamp": 1796040000000, "input":
            {"threadId": "t1", "runId": "r2", "messages": [], "resume": [{"interruptId": "i1", "status": "resolved"}]}}
    Sources: AG-UI interrupts; @ag-ui/client tests it before it sends.
    """
    for conversation in trace.conversations:
        for approval in conversation.approvals:
            limit = expires(approval)
            if limit is None:
                continue
            for answer in approval.answers:
                when = time_of(trace.records, answer.run, answer.at) if answer.form else None
                if when is not None and when > limit:
                    message = (
                        f"{named_approval(approval)}: ran out at {_clock(limit)} and was answered at {_clock(when)}, "
                        f"in {named(answer.run)}."
                    )
                    yield finding(trace, answer.run, message, approval.at, answer.at, calls=(approval.call_id,),
                                  approvals=(approval,), place="request")  # fmt: skip
                    break


def _clock(ns: int) -> str:
    moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=ns // 1000)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
