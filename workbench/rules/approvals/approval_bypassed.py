"""A call that ran before anybody decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Approval, Call, Result
from workbench.calls.telemetry.execution import Execution
from workbench.findings import Finding
from workbench.rules.calls.words import finding, ran, undone, waiting
from workbench.rules.calls.words import told as told_call
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-bypassed", code="APR009", severity="error", needs=("approvals",))
def approval_bypassed(trace: Trace) -> Iterator[Finding]:
    """A call for which an approval was asked ran before, or without, a decision.

    Why it hurts: the question is asked for show: whatever the person answers, it is done.
    No fault when: the answer is in a request that is not in the capture (then a result in a
        later run means: answered), the text only says that the call waits or was not carried
        out, its span only records the pause, or the call asks the user on the client.
    What to do: look for two executors: one that gates the call and one that runs every call of
        the response, for example a second middleware, or the provider itself.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "deployed"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "interrupt",
            "interrupts": [{"id": "i1", "reason": "tool_call", "toolCallId": "c1"}]}}
    Sources: AG-UI interrupts.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            if not call.approvals or call.synthetic_for is not None:
                continue
            early = [r for r in call.streamed if ran(r) and not _decided(call, r)]
            if early and not all(a.channels == ["client-tool"] for a in call.approvals):
                approval = call.approvals[0]
                when = (
                    "before the approval was asked"
                    if early[0].sequence < approval.sequence
                    else "without a decision"
                )
                message = (
                    f"{told_call(call)} ran {when}, in {named(early[0].run)}: {quoted(early[0].content)}."
                )
                yield finding(trace, early[0].run, message, call.at, early[0].at, approval.at,
                              calls=(call,), approvals=call.approvals)  # fmt: skip
            elif (told := _at_work(call)) is not None:
                execution, approval = told
                shown = "its span" if execution.at.kind == "span" else "the log"
                message = (
                    f"{told_call(call)} ran in {named(execution.run)}, before the decision, as {shown} shows."
                )
                yield finding(trace, execution.run, message, approval.at, execution.at, *(a.at for a in approval.answers),
                              calls=(call,), approvals=call.approvals, place="telemetry")  # fmt: skip


def _at_work(call: Call) -> tuple[Execution, Approval] | None:
    """A span of the tool in the run that asks: the answer can only come with a later one."""
    for execution in call.executions:
        done = execution.ran and execution.cls == "ok" and execution.located
        if not done or (
            execution.result is not None and (undone(execution.result) or waiting(execution.result))
        ):
            continue
        asked = [a for a in call.approvals if a.channels != ["client-tool"]]
        before = [a for a in asked if execution.run.number <= a.run.number]
        decided = any(x.run.number <= execution.run.number for a in call.approvals for x in a.accepted)
        if asked and len(before) == len(asked) and not decided:
            return execution, before[0]
    return None


def _decided(call: Call, result: Result) -> bool:
    return any(a.sequence <= result.sequence for p in call.approvals for a in p.accepted)
