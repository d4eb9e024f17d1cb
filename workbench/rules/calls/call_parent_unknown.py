"""A call names a message that is nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.calls.words import finding, told
from workbench.rules.registry import rule
from workbench.rules.slips import cut

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("call-parent-unknown", code="CAL017", severity="info", needs=("calls",))
def call_parent_unknown(trace: Trace) -> Iterator[Finding]:
    """The parentMessageId of a call names a message that is in no stream, snapshot or request.

    Why it hurts: clients make an empty assistant message of that id for the call; in the next
        snapshot it may be gone or have another place.
    No fault when: it is empty (.NET), or absent, or the capture is cut.
    What to do: use the id of the assistant message that the call belongs to, and send that
        message or put it into the snapshot.
    Example:
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"}
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "plan", "parentMessageId": "m9"}
    Sources: datarobot-oss/datarobot-genai#335.
    """
    for conversation in trace.conversations:
        known = {m.id for m in conversation.messages}
        known.update(str(m.get("id")) for items in conversation.lists for m in items.messages)
        for call in conversation.calls:
            start = next((s for s in call.starts if s.parent and s.parent not in known), None)
            if start is not None and call.id and not cut(start.run, conversation):
                message = f"{told(call)} belongs to message {start.parent}, which is nowhere in the capture."
                yield finding(
                    trace, start.run, message, start.event, calls=(call,), other_ids=(start.parent,)
                )
