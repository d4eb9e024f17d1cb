"""A framework's stand-in where a result should be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.calls.words import finding, told
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("result-placeholder", code="RES006", severity="error", needs=("calls",))
def result_placeholder(trace: Trace) -> Iterator[Finding]:
    """The result is the framework's placeholder: the tool was not carried out, or its outcome is not known.

    Why it hurts: the model reads it as an answer and tries again, gives up, or tells the user
        that the work is done. A person's approval is used up by it.
    No fault when: it is a real tool failure (`result-error`), or the refusal text after a
        rejection. The literals are those of agent-framework ("Error: Tool call invocation
        failed.", "Requested function … not found", "Tool execution skipped - …"), CopilotKit
        ("Forwarded to client", "… executed successfully with no return value."), ADK ("error:
        confirmation needed"), and an error text or "None" for a call that waits for an answer.
    What to do: find out why the tool was not found or not run: most often it is registered
        only after approvals are carried out, or it belongs to the client.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1",
         "content": "Error: Tool call invocation failed."}
    Sources: microsoft/agent-framework#7043, #6910; CopilotKit/CopilotKit#3442.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            stand_ins = [r for r in call.results if r.cls == "placeholder" and not r.decision]
            if not call.id or not stand_ins:
                continue
            first = stand_ins[0]
            where = "" if first.place == "stream" else f" in the {first.place}"
            message = f"{told(call)} got the placeholder {quoted(first.content)} instead of a result{where}, in {named(first.run)}."
            yield finding(trace, first.run, message, call.at, *(r.at for r in stand_ins[:10]), calls=(call,),
                          approvals=call.approvals, place=first.place)  # fmt: skip
