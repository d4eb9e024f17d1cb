"""snapshot-call-missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Call, Conversation, MessageList
from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import listed
from workbench.rules.snapshots.compare import cleaned, comparisons
from workbench.rules.snapshots.report import finding

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("snapshot-call-missing", code="SNP002", severity="warning", needs=("snapshots", "calls"))
def snapshot_call_missing(trace: Trace) -> Iterator[Finding]:
    """A call that was streamed and finished in this run before a snapshot is not in it.

    Why it hurts: the client forgets the call: its card disappears, and a result or an approval
        that comes later has nothing to belong to.
    No fault when: the call is still open; it is a confirmation that points at another call; it
        was rejected and cleaned up; a subagent made it.
    What to do: put every finished call into the snapshot's assistant message, also those that
        wait for an approval.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "stock"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "u1", "role": "user", "content": "stock?"}]}
    Sources: AG-UI events, MessagesSnapshot.
    """
    for compared in comparisons(trace):
        items = compared.items
        lost = list(_lost(trace, compared.conversation, items))
        if lost:
            names = [f"{call.id} ({call.tool})" if call.tool else call.id for call in lost]
            message = f"Finished before the snapshot, but not in it: {listed(names)}."
            places = [call.at for call in lost[:10]]
            yield finding(trace, items, message, *places, call_ids=tuple(call.id for call in lost))


def _lost(trace: Trace, conversation: Conversation, items: MessageList) -> Iterator[Call]:
    there = {part.call_id for part in items.parts if part.kind == "call"}
    for call in conversation.calls:
        if call.id in there or not call.id or call.lane or cleaned(call):
            continue
        for start in call.starts:
            last = start.end if start.end is not None else start.deltas[-1][1] if start.chunked else None
            if start.run is items.run and last is not None and trace.sequence_of(last) < items.sequence:
                yield call
                break
