"""Fix 2b of the report: a history drops settled approvals, in whatever order they stand."""

from __future__ import annotations

from typing import Any

WHAT = "Collect all final results first, then keep the approvals whose call has none."
WHERE = "agent_framework._sessions:_approval_controls_to_keep"
WHY = "A decision that stands behind its result is taken for one that is still to be carried out."
EFFECTS = "A call id that is used again after its result loses its new decision, where the release keeps it."


def apply(tools: Any) -> None:
    """Take the settled ones away from what the function keeps."""
    from agent_framework._tools import _is_approval_placeholder_result

    def make(original: Any) -> Any:
        def keep(messages: Any) -> set[int]:
            contents = [content for message in messages for content in message.contents]
            settled = {
                content.call_id
                for content in contents
                if content.type == "function_result" and not _is_approval_placeholder_result(content)
            }
            late = {
                id(content)
                for content in contents
                if content.type == "function_approval_response"
                and content.function_call is not None
                and not (content.function_call.additional_properties or {}).get("server_label")
                and content.function_call.call_id in settled
            }
            kept: set[int] = original(messages)
            return kept - late

        return keep

    tools.wrap(WHERE, make, "if response_ids := local_response_ids_by_call_id.get(content.call_id):")
