"""Calls that have a result and no span."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Call, Conversation, Result
from workbench.findings import Finding
from workbench.rules.calls.words import finding, told
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace

#: Tools that hand the conversation over to another agent, which is recorded in other ways
_HANDOFF = ("transfer_to_", "transfer_back_to_", "handoff")


@rule("span-missing", code="TEL002", severity="warning", needs=("spans", "calls"))
def span_missing(trace: Trace) -> Iterator[Finding]:
    """A call has a result, and other tools have their spans, but no span shows that this tool ran.

    Why it hurts: the result may have been made up on the way: by a cache, by a middleware that
        answers for the tool, or by a framework that gave up. Or the tool ran where nobody looks.
    No fault when: the client or the model provider runs the tool, the result is a placeholder, a
        refusal or an error, the telemetry does not cover the run, or a span without a call id
        may be its own.
    What to do: look for who wrote the result. If the tool did run, see that its function goes
        through the instrumented path.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "x2", "toolCallId": "c2", "content": "118.2"}
    Sources: GenAI conventions, execute_tool spans.
    """
    for conversation in trace.conversations:
        if any(
            e.at.kind == "span" and e.joined == "call id" for c in conversation.calls for e in c.executions
        ):
            yield from _of(trace, conversation)


def _of(trace: Trace, conversation: Conversation) -> Iterator[Finding]:
    loose = {e.tool for e in conversation.loose}
    for call in conversation.calls:
        result = _answered(call)
        if result is None or call.executions or call.tool in loose or call.tool.startswith(_HANDOFF):
            continue
        if not call.id or call.synthetic_for is not None or call.client_side or _hosted(call):
            continue
        message = f"{told(call)} has a result in {named(result.run)}, but no span shows that the tool ran."
        yield finding(trace, result.run, message, call.at, result.at, calls=(call,),
                      approvals=call.approvals, place=result.place)  # fmt: skip


def _answered(call: Call) -> Result | None:
    """A good result in a run that the telemetry covers, of a call that was asked for in the capture."""
    if not call.starts and not any(items.output for items, _ in call.told):
        return None
    return next((r for r in call.results if r.cls == "ok" and not r.decision and r.run.spans), None)


def _hosted(call: Call) -> bool:
    return any(a.hosted for a in call.approvals) or any(
        entry.part.hosted for _, entry in (*call.told, *call.listed)
    )
