"""The id that results had in an earlier version: that of the assistant's message."""

from __future__ import annotations

from typing import Any

WHAT = "Give the event of a tool's result the id of the assistant message that made the call."
WHERE = "ag_ui_agentspec.agentspec_tracing_exporter:AgUiSpanProcessor._gather_events_for_event"
WHY = "The checkpoint knows that id, so that the result does not count as new in the next turn."
EFFECTS = "The client has several messages with one id, which the random id was meant to prevent."


def apply(tools: Any) -> None:
    """Take the id that was remembered when the call was streamed."""
    tools.rewrite(
        WHERE,
        "tool_message_id = str(uuid.uuid4())",
        'tool_message_id = self._started_tool_calls.get(tool_call_id, {}).get("message_id") or str(uuid.uuid4())',
    )
