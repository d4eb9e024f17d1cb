"""Results for calls that were never made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Conversation, MessageList, Result
from workbench.findings import Finding
from workbench.readers.payloads.history import History
from workbench.rules.calls.pairs import changed_ids
from workbench.rules.calls.words import finding
from workbench.rules.registry import rule
from workbench.rules.slips import capital, cut, named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("result-orphaned", code="RES001", severity="error", needs=())
def result_orphaned(trace: Trace) -> Iterator[Finding]:
    """A result names a call that was never made: not in the stream, a snapshot, a request or an earlier run.

    Why it hurts: clients drop it, so the user never sees the outcome; model providers refuse a
        history in which a tool message follows no call.
    No fault when: the call stands in an earlier run (a resumed run sends only the result), or
        only an approval request shows it. It is information when the capture begins at a later
        turn. A lone unanswered call beside it is `call-id-changed`.
    What to do: look for a START that was suppressed (a filter that stays on after an approval),
        or for a result that is sent under a request id instead of the call's.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "find"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "run_55", "content": "3 trips"}
    Sources: ag-ui-protocol/ag-ui#1275; oracle-devrel/oracle-ai-developer-hub, Agent Spec adapter.
    """
    for conversation in trace.conversations:
        called = {call.id for call in conversation.calls}
        # Calls that only an approval shows, and approvals that a tool message answers by their own id.
        shown = {i for a in conversation.approvals for i in (a.call_id, a.id, *(ask.id for ask in a.asks))}
        apart = changed_ids(conversation)
        for result in conversation.orphans:
            if not result.call_id or result.call_id in shown or result.call_id in apart:
                continue
            unsure = _begins_later(conversation, result)
            why = " The capture seems to begin after its call." if unsure else ""
            message = f"{capital(named(result.run))} has a result {quoted(result.content)} for {result.call_id}, which was never called.{why}"
            yield finding(trace, result.run, message, result.at, calls=(result.call_id,),
                          severity="info" if unsure else "")  # fmt: skip
        made = {c.id for c in conversation.calls if c.starts or c.listed or c.told or c.executions}
        for items in conversation.histories:
            unsure = _begins_inside(items)
            if items.history is not None and _kept_elsewhere(items.history):
                continue
            for part in items.orphans:
                alone = items.alone
                # the provider may keep the history, so that telemetry shows only the end of it
                if items.place == "telemetry" and part.call_id in made | shown:
                    continue
                if (
                    not part.call_id
                    or part.call_id in apart
                    or (not alone and part.call_id in called | shown)
                ):
                    continue
                message = (
                    f"Message {part.position + 1} in the {items.place} of {named(items.run)} is a result for "
                    f"{part.call_id}, which was never called{' there' if alone else ''}."
                )
                yield finding(trace, items.run, message, items.at, calls=(part.call_id,), place=items.place,
                              severity="info" if unsure else "")  # fmt: skip


def _kept_elsewhere(history: History) -> bool:
    """The provider keeps earlier turns, or items are only named, or pieces of the list are left out."""
    return history.stored or not history.whole or any(True for _ in history.blocks("reference"))


def _begins_later(conversation: Conversation, result: Result) -> bool:
    """The capture begins at a later turn, is cut, or its first run opens with this result as a resumed run does."""
    run = result.run
    if conversation.starts_late or cut(run, conversation):
        return True
    if run.number or run.request is not None:
        return False
    before = [c for c in conversation.calls if c.starts and c.starts[0].event < result.at.row]
    spoken = [m for m in conversation.messages if m.start is not None and m.start < result.at.row]
    return not before and not spoken


def _begins_inside(items: MessageList) -> bool:
    """The list is a later part of a history: it does not begin with what a user or an author says."""
    first = next((m.get("role") for m in items.messages), None)
    return first in ("assistant", "tool")
