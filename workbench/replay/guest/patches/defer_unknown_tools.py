"""Option 2 of the report: approvals of tools that the transport does not have stay for the run."""

from __future__ import annotations

from typing import Any

WHAT = "Execute only the approvals whose tool is known, and leave the others in the messages for the run."
WHERE = "agent_framework_ag_ui._agent_run:_resolve_approval_responses"
WHY = "The run executes approval responses with the complete set of tools."
EFFECTS = (
    "The run's execution is not announced: no TOOL_CALL_RESULT, and the snapshot keeps the person's answer "
    "in place of the result. With the harness the model sees the result before its call."
)

_OLD = "    approved_function_results: list[Any] = []\n"
_NEW = (
    "    known = {tool.name for tool in tools or () if hasattr(tool, 'name')}\n"
    "    approved_responses = [\n"
    "        resp for resp in approved_responses if resp.function_call is None or resp.function_call.name in known\n"
    "    ]\n" + _OLD
)


def apply(tools: Any) -> None:
    """Compile the function again with the filter in front of the execution."""
    tools.find(WHERE, "if approved_responses and tools:")
    tools.rewrite(WHERE, _OLD, _NEW)
