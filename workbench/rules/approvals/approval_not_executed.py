"""An approved call that nobody carried out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import producers
from workbench.calls.conversation import Answer, Approval, Conversation
from workbench.findings import Finding
from workbench.rules.calls.pairs import changed_ids
from workbench.rules.calls.words import finding, granted, named_approval, ran
from workbench.rules.payloads.controls import answers
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-not-executed", code="APR007", severity="error", needs=())
def approval_not_executed(trace: Trace) -> Iterator[Finding]:
    """A call was approved, the run or the thread goes on or ends, and no result of the call follows.

    Why it hurts: the person believes it is done. The call stays open in the history, which
        providers refuse, or the model asks for it again.
    No fault when: the run that carries the answer is cut or still running, other approvals of
        the same interrupt are still open and hold it back, the result came under another id
        (`call-id-changed`), a span shows that the tool ran, or the model provider runs the tool. A warning where that run ended in RUN_ERROR. A placeholder is no
        result.
    What to do: look at how the server joins answer and call: by the interrupt's id, the call's
        id or the confirmation call's id. With several approvals, check that all are carried
        out and not only the first.
    Example:
        {"threadId": "t1", "runId": "r2", "messages": [],
            "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"approved": true}}]}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r2"}
    Sources: microsoft/agent-framework#7569, #6910, #4546; google/adk-java#688.
    """
    for conversation in trace.conversations:
        apart = changed_ids(conversation)
        last = max((run.number for run in conversation.runs if run.seen), default=-1)
        for approval in conversation.approvals:
            answer = granted(approval)
            if answer is None or not _expects_result(approval) or approval.call_id in apart:
                continue
            run, call = answer.run, approval.call
            assert call is not None
            done = any(r.sequence >= answer.sequence or ran(r) for r in call.real_results)
            done = done or any(e.ran and e.sequence >= answer.sequence for e in call.executions)
            if done or not _over(answer, last) or _held_back(conversation, approval, answer, last):
                continue
            stand_in = next(
                (r for r in call.results if not r.decision and r.sequence >= answer.sequence), None
            )
            got = f"only {quoted(stand_in.content)} followed" if stand_in else "no result followed"
            message = f"{named_approval(approval)}: {answer.decision} in {named(run)}, but {got}."
            yield finding(trace, run, message, approval.at, answer.at, stand_in.at if stand_in else run.end,
                          calls=(call,), approvals=(approval,),
                          severity="warning" if run.outcome == "error" else "")  # fmt: skip

    for control in answers(trace):
        refused = control.part.content != "approved" or not control.followed or control.done
        wire = control.items.history is not None and control.items.history.dialect == "openai-responses"
        if refused or wire or not (control.local or control.results):
            continue
        only = control.results[0] if control.results else None
        got = f"only {quoted(only.content)} followed" if only else "no result followed"
        message = f"The approval {control.ids[-1]} at {control.part.path} in the {control.items.place} was approved, but {got}."
        yield finding(trace, control.items.run, message, control.items.at, calls=(control.part.call_id,),
                      approvals=control.ids, place=control.items.place)  # fmt: skip


def _expects_result(approval: Approval) -> bool:
    """There is a real call behind it whose result the server would send."""
    call = approval.call
    return (
        call is not None
        and call.synthetic_for is None
        and approval.channels != ["client-tool"]
        and approval.run.producer not in producers.SUPPRESSES_CALLS
        and not approval.hosted
    )


def _over(answer: Answer, last: int) -> bool:
    """The run that had to carry it out ended, or another one followed."""
    return answer.run.over or (answer.run.number < last and answer.run.complete)


def _held_back(conversation: Conversation, approval: Approval, answer: Answer, last: int) -> bool:
    """The last run ends with other approvals open: the server may wait for all of them."""
    run = answer.run
    if run.number < last or run.outcome != "interrupt":
        return False
    return any(
        other is not approval
        and not other.accepted
        and other.run is approval.run
        and other is not approval.reasked_by
        for other in conversation.approvals
    )
