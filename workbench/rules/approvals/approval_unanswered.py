"""Requests that leave open approvals without an answer: all of them, or some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.approvals.waiting import ignored
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import listed, named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-unanswered", code="APR002", severity="error", needs=("approvals", "requests"))
def approval_unanswered(trace: Trace) -> Iterator[Finding]:
    """The next request of the thread answers none of the open approvals.

    Why it hurts: servers refuse such a request, or run on with a call that stays open for ever
        and breaks the history for the provider.
    No fault when: the request is not in the capture, it only reconnects, it answers in a form
        of its own (a tool message on the call), or the approval had run out. A request that
        answers some of several is `approval-partial`.
    What to do: in the client, keep the input closed while an approval is open, or send a
        `cancelled` answer with the new message.
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt",
            "interrupts": [{"id": "i1", "reason": "tool_call", "toolCallId": "c1"}]}}
        {"threadId": "t1", "runId": "r2", "messages": [
            {"id": "u1", "role": "user", "content": "hi"}, {"id": "u2", "role": "user", "content": "well?"}]}
    Sources: AG-UI interrupts, resume contract; agent-framework APPROVAL_RESUME_REQUIRED.
    """
    for conversation in trace.conversations:
        for case in ignored(conversation, trace.records):
            if case.answered:
                continue
            names = listed([named_approval(a) for a in case.missing])
            message = f"The request of {named(case.run)} answers none of the open approvals: {names}."
            places = [a.at for a in case.missing]
            calls = [a.call_id for a in case.missing]
            stray = [a.id for a in case.run.answers if a.approval is None]
            yield finding(trace, case.run, message, *places[:10], case.at, calls=calls, approvals=case.missing,
                          other_ids=stray, place="request")  # fmt: skip


@rule("approval-partial", code="APR003", severity="error", needs=("approvals", "requests"))
def approval_partial(trace: Trace) -> Iterator[Finding]:
    """A resume answers only some of the open approvals.

    Why it hurts: one resume has to cover every open interrupt: servers refuse it as a whole,
        or carry out the answered calls and lose the others.
    No fault when: the others were answered before, had run out, or ask for the same call.
    What to do: collect the answers in the client and send one `resume` with all of them;
        those without an answer as `cancelled`.
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt",
            "interrupts": [{"id": "i1", "toolCallId": "c1"}, {"id": "i2", "toolCallId": "c2"}]}}
        {"threadId": "t1", "runId": "r2", "messages": [],
            "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"approved": true}}]}
    Sources: AG-UI interrupts, resume contract; umbraco/Umbraco.AI#211; agent-framework
        APPROVAL_RESUME_MISSING_INTERRUPT.
    """
    for conversation in trace.conversations:
        for case in ignored(conversation, trace.records):
            if not case.answered:
                continue
            total = len(case.answered) + len(case.missing)
            names = listed([named_approval(a) for a in case.missing])
            message = (
                f"The resume of {named(case.run)} answers {len(case.answered)} of {total} open approvals; "
                f"no answer for {names}."
            )
            places = [a.at for a in case.missing]
            calls = [a.call_id for a in case.missing]
            yield finding(trace, case.run, message, *places[:10], case.at, calls=calls, approvals=case.missing,
                          other_ids=[a.id for a in case.answered], place="request")  # fmt: skip
