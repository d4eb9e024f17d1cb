"""snapshot-rekeyed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import listed
from workbench.rules.snapshots.compare import comparisons
from workbench.rules.snapshots.report import finding

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("snapshot-rekeyed", code="SNP006", severity="warning", needs=("snapshots",))
def snapshot_rekeyed(trace: Trace) -> Iterator[Finding]:
    """A message stands in a snapshot under another id than before.

    Why it hurts: clients merge by id: the message is mounted anew, shown twice, or loses what was
        attached to its first id (feedback, scroll position, the calls of its card).
    No fault when: the message had no id, or an empty one; it is a tool result, whose own id never
        counts.
    What to do: keep the id that was streamed for the text and its calls alike when the history
        is rebuilt from the framework's messages.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "look_up", "parentMessageId": "m1"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "a5", "role": "assistant", "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]}]}
    Sources: microsoft/agent-framework#7491; microsoft/agent-framework#7223.
    """
    for compared in comparisons(trace):
        for known, entry, calls in compared.rekeyed:
            ids = tuple(call.id for call in calls)
            how = f"known by call {listed(ids)}" if ids else "known by its text"
            message = f"Message {known.id} is {entry.id} in the snapshot ({how})."
            yield finding(
                trace, compared.items, message, known.at, call_ids=ids, other_ids=(known.id, entry.id)
            )
