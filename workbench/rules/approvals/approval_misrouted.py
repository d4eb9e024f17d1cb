"""An approval that went the wrong way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import results
from workbench.calls.conversation import Approval, At, Conversation, Run
from workbench.findings import Finding
from workbench.rules.calls.words import finding, granted, named_approval
from workbench.rules.payloads.controls import answers
from workbench.rules.registry import rule
from workbench.rules.slips import listed, named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-misrouted", code="APR022", severity="error", needs=())
def approval_misrouted(trace: Trace) -> Iterator[Finding]:
    r"""The approval of a tool that the model provider runs was carried out as if the tool were local.

    Why it hurts: the framework looks for a function of that name, does not find it, and puts its
        error text where the answer to the provider should stand. The approved call never runs.
    No fault when: the answer goes to the provider (`mcp_approval_response`), which runs the tool.
    What to do: look at how hosted and local approvals are told apart: by the server label of the
        request, not by the shape of the answer.
    Example:
        {"type": "function_approval_response", "id": "mcpr_1", "approved": true, "function_call":
            {"call_id": "mcpr_1", "name": "empty_bin", "additional_properties": {"server_label": "stock"}}}
        {"type": "tool_call_response", "id": "mcpr_1",
            "response": "Error: Requested function \"empty_bin\" not found."}
    Sources: agent-framework, approvals of MCP tools.
    """
    for conversation in trace.conversations:
        for approval in conversation.approvals:
            answer = granted(approval)
            local = (
                _carried_out_here(conversation, approval) if approval.hosted and answer is not None else None
            )
            if local is None or answer is None:
                continue
            run, at, text = local
            message = (
                f"{named_approval(approval)}: the model provider runs this tool, but {named(run)} carried it out as a "
                f"local one: {quoted(text)}."
            )
            yield finding(trace, run, message, approval.at, answer.at, at, calls=(approval.call_id,),
                          approvals=(approval,), place="telemetry" if at.kind in ("span", "log") else "stream")  # fmt: skip

    for control in answers(trace):
        wire = control.items.history is not None and control.items.history.dialect == "openai-responses"
        if wire and control.local:
            what = "is sent to the provider as if the provider ran its tool, but the agent runs it"
        elif not wire and not control.local and control.results:
            what = f"is of a tool that the provider runs, but it was carried out as a local one: {quoted(control.results[0].content)}"
        else:
            continue
        message = (
            f"The approval {listed(control.ids)} at {control.part.path} in the {control.items.place} {what}."
        )
        yield finding(trace, control.items.run, message, control.items.at, calls=(control.part.call_id,),
                      approvals=control.ids, place=control.items.place)  # fmt: skip


def _carried_out_here(conversation: Conversation, approval: Approval) -> tuple[Run, At, str] | None:
    call = approval.call
    if call is None:
        for items in conversation.told:
            for part in items.orphans:
                if part.call_id == approval.call_id and results.classify(part.content, "") == "placeholder":
                    return items.run, items.at, part.content
        return None
    for execution in call.executions:
        if execution.ran:
            return execution.run, execution.at, execution.result or execution.error or "a span of the tool"
    result = next((r for r in call.results if r.cls == "placeholder"), None)
    return None if result is None else (result.run, result.at, result.content)
