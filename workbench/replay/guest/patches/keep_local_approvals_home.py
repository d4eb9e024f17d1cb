"""Fix 2a of the report: approvals of local tools are not sent to the provider."""

from __future__ import annotations

from typing import Any

WHAT = "Approval requests and responses of local tools are left out of what is sent."
WHERE = "agent_framework_openai._chat_client:RawOpenAIChatClient._prepare_content_for_openai"
WHY = "The service pairs approvals with MCP requests of its own; of a local tool's it knows nothing."
EFFECTS = "What was decided is told by the result alone; a second execution stays, and is no longer noticed."

#: where the framework has looked for hosted approvals itself since core 1.14
_FIXED = "agent_framework_openai._chat_client:RawOpenAIChatClient._prepare_message_for_openai"


def apply(tools: Any) -> None:
    """Let only hosted approvals through, which have a server label; where that is done already, there is nothing to mend."""

    def make(original: Any) -> Any:
        def prepare(self: Any, role: Any, content: Any, *rest: Any, **named: Any) -> Any:
            if content.type in ("function_approval_request", "function_approval_response"):
                call = content.function_call
                if call is None or not (call.additional_properties or {}).get("server_label"):
                    return {}
            return original(self, role, content, *rest, **named)

        return prepare

    tools.lacks(_FIXED, "_is_hosted_tool_approval")
    tools.wrap(WHERE, make, 'case "function_approval_response":\n                return {')
