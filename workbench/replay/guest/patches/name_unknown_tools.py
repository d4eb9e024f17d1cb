"""Option 3 of the report, as it is worded: tell a missing tool from a tool that failed."""

from __future__ import annotations

from typing import Any

WHAT = "Give an approved call whose tool the transport does not have a result that says so."
WHERE = "agent_framework_ag_ui._agent_run:_resolve_approval_responses"
WHY = "The placeholder reads as if the tool had been run and had failed."
EFFECTS = "The approved call is still not carried out, and the question comes again; only the words differ."

_OLD = """        approved_results.append(
            Content.from_function_result(call_id=call_id, result="Error: Tool call invocation failed.")
        )
"""
_NEW = """        name = func_call.name if func_call else None
        missing = name not in {tool.name for tool in tools or () if hasattr(tool, "name")}
        said = f'Error: Tool "{name}" was not found before the run.' if missing else "Error: Tool call invocation failed."
        approved_results.append(Content.from_function_result(call_id=call_id, result=said))
"""


def apply(tools: Any) -> None:
    """Compile the function again with another text for tools that are not there."""
    tools.rewrite(WHERE, _OLD, _NEW)
