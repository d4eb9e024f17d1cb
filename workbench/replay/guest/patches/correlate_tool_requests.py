"""What the report proposes: find the recorded request of every tool execution."""

from __future__ import annotations

from typing import Any

WHAT = "Look for the request of a tool execution by the id that it was recorded with."
WHERE = "pyagentspec.adapters.langgraph.tracing:AgentSpecToolCallbackHandler.on_tool_end_async"
WHY = "The request is recorded with the run's id, and the response of an async tool is looked for by the call's id."
EFFECTS = "The warning is gone. The events are the same, because the fallback was the right id, and so is the next turn."


def apply(tools: Any) -> None:
    """Give the response the id of its request."""
    tools.rewrite(WHERE, 'request_id=getattr(output, "tool_call_id", run_id_str)', "request_id=run_id_str")
