"""The proposed line of the report: a call is new where its id is not registered in this run."""

from __future__ import annotations

from typing import Any

WHAT = "Start a call only where its id is not known in this run, instead of where it is not the last one."
WHERE = "agent_framework_ag_ui._run_common:_emit_tool_call"
WHY = "Calls that are handed back after streaming come as a, b after a, b: none of them is the last one."
EFFECTS = (
    "An id that is used again after its result in the same run gets arguments without a start, where the "
    "released code starts it again."
)


def apply(tools: Any) -> None:
    """Compile the function again with the other condition."""
    tools.rewrite(
        WHERE,
        "if content.name and tool_call_id != flow.tool_call_id:",
        "if content.name and tool_call_id not in flow.tool_calls_by_id:",
    )
