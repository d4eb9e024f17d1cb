"""What became of rejected calls: executed all the same, or recorded as a success."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import decisions
from workbench.calls.conversation import Answer, Approval, At, Call, Conversation, Run
from workbench.calls.telemetry.execution import Execution
from workbench.findings import Finding
from workbench.rules.calls.words import GRANTED, denied, finding, named_approval, ran, undone
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace

_RECORDED = re.compile(r"\b(approved|accepted|confirmed)\b", re.IGNORECASE)


@rule("approval-rejected-but-executed", code="APR008", severity="error", needs=("approvals",))
def approval_rejected_but_executed(trace: Trace) -> Iterator[Finding]:
    """A person rejected or cancelled a call, and it was carried out.

    Why it hurts: the worst fault of an approval flow: the action happened against the decision.
    No fault when: what follows is a refusal text ("… rejected by user", or other words for
        it), the person approved it later, or only a message of the history speaks of an
        approval (`rejection-hidden`).
    What to do: stop using the flow until it is clear. Look at how the payload is read
        (`approved: false` in a resolved entry is a denial; a mere presence test reads it as
        consent), and at rules that approve on their own.
    Example:
        {"threadId": "t1", "runId": "r2", "messages": [],
            "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"approved": false}}]}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "deployed to prod"}
    Sources: AG-UI interrupts, resume contract.
    """
    for conversation in trace.conversations:
        for approval in conversation.approvals:
            answer, call = denied(approval), approval.call
            if answer is None or call is None or _allowed_elsewhere(approval):
                continue
            done = [
                r for r in call.real_results
                if r.sequence >= answer.sequence and ran(r)
                and (r.place == "stream" or (r.place == "snapshot" and not _RECORDED.search(r.content)))
            ]  # fmt: skip
            if done:
                message = (
                    f"{named_approval(approval)}: {answer.decision} in {named(answer.run)}, "
                    f"and carried out in {named(done[0].run)}: {quoted(done[0].content)}."
                )
                yield finding(trace, done[0].run, message, approval.at, answer.at, *(r.at for r in done[:10]),
                              calls=(call,), approvals=(approval,), place=done[0].place)  # fmt: skip
            elif (execution := _at_work(call, answer)) is not None:
                gave = f": {quoted(execution.result)}" if execution.result else ""
                message = (
                    f"{named_approval(approval)}: {answer.decision} in {named(answer.run)}, but a span shows that it "
                    f"was carried out in {named(execution.run)}{gave}."
                )
                yield finding(trace, execution.run, message, approval.at, answer.at, execution.at,
                              calls=(call,), approvals=(approval,), place="telemetry")  # fmt: skip


def _at_work(call: Call, answer: Answer) -> Execution | None:
    """A span of the tool after the rejection. What the tool itself says of a refusal is believed."""
    silent = any(e.pause for e in call.executions) or any(
        r.cls == "refusal" or undone(r.content) for r in call.results if not r.decision
    )
    for execution in call.executions:
        later = execution.run.number >= answer.run.number and execution.sequence >= answer.sequence
        if not (execution.ran and execution.cls == "ok" and later):
            continue
        if (silent and not execution.result) or (execution.result and undone(execution.result)):
            continue
        return execution
    return None


def _allowed_elsewhere(approval: Approval) -> bool:
    """Another approval of the same call let it run."""
    call = approval.call
    return call is not None and any(a.decision in GRANTED for p in call.approvals for a in p.accepted)


@rule("rejection-hidden", code="APR023", severity="warning", needs=("approvals",))
def rejection_hidden(trace: Trace) -> Iterator[Finding]:
    """A rejection is recorded as a success: the server's own messages say that the call was approved.

    Why it hurts: the model tells the user that the action happened, later turns build on it,
        and an audit of the history finds a consent that nobody gave.
    No fault when: the message says that the call was rejected, or was not approved.
    What to do: find the place that writes the tool message of a settled approval: it writes
        one text for both decisions.
    Example:
        {"threadId": "t1", "runId": "r2", "messages": [],
            "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"approved": false}}]}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2"}
        {"type": "MESSAGES_SNAPSHOT", "messages": [
            {"id": "a1", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "sell", "arguments": "{}"}}]},
            {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "Tool call was approved and completed."}]}
    Sources: agent-framework-ag-ui, tool messages `approval-response-…` of snapshots.
    """
    for conversation in trace.conversations:
        for approval in conversation.approvals:
            answer = denied(approval)
            if answer is None or _allowed_elsewhere(approval):
                continue
            for run, at, text in _records(conversation, approval, answer):
                message = (
                    f"{named_approval(approval)}: {answer.decision} in {named(answer.run)}, but the snapshot of "
                    f"{named(run)} records {quoted(text)}."
                )
                yield finding(trace, run, message, approval.at, answer.at, at, calls=(approval.call_id,),
                              approvals=(approval,), place="snapshot")  # fmt: skip
                break
            for other in approval.witnessed:
                if other.decision in GRANTED and other.run.number >= answer.run.number:
                    message = (
                        f"{named_approval(approval)}: {answer.decision} in {named(answer.run)}, but the agent's own "
                        f"messages of {named(other.run)} hold the answer as {other.decision}."
                    )
                    yield finding(trace, other.run, message, approval.at, answer.at, other.at,
                                  calls=(approval.call_id,), approvals=(approval,), place="telemetry")  # fmt: skip
                    break


def _records(conversation: Conversation, approval: Approval, answer: Answer) -> Iterator[tuple[Run, At, str]]:
    """What snapshots after the answer say in favour of the call."""
    call = approval.call
    for result in call.results if call else ():
        if result.place != "snapshot" or result.sequence < answer.sequence:
            continue
        consent = result.decision in GRANTED or (
            result.cls == "ok" and ran(result) and _RECORDED.search(result.content)
        )
        if consent:
            yield result.run, result.at, result.content
    ids = {approval.id, approval.call_id, *(ask.id for ask in approval.asks)} - {""}
    for items in conversation.lists:
        if items.place != "snapshot" or items.sequence < answer.sequence:
            continue
        for message in items.messages:
            for given in decisions.message_approvals(message):
                if given.id in ids and given.decision in GRANTED:
                    yield items.run, items.at, f"function_approvals: {given.decision}"
