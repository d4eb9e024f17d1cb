"""The workaround of the report: a known call is made the current one before the original decides."""

from __future__ import annotations

from typing import Any

WHAT = "Before a content is emitted, its call becomes the current call where its id is known already."
WHERE = "agent_framework_ag_ui._run_common:_emit_tool_call"
WHY = "The original compares with the current call alone, so that a known one looks new."
EFFECTS = "The same as those of the proposed line, and a private function of the framework is wrapped."


def apply(tools: Any) -> None:
    """Wrap the function."""

    def make(original: Any) -> Any:
        def emit(content: Any, flow: Any, *rest: Any, **named: Any) -> Any:
            if content.call_id in flow.tool_calls_by_id:
                flow.tool_call_id = content.call_id
            return original(content, flow, *rest, **named)

        return emit

    tools.wrap(WHERE, make, "if content.name and tool_call_id != flow.tool_call_id:")
