"""Our addition to the report's fixes, 2c: a decision behind its result is not carried out again."""

from __future__ import annotations

from typing import Any

WHAT = "A decision that stands behind the result of its call is not collected for execution."
WHERE = "agent_framework._tools:_collect_approval_responses"
WHY = "Like the history's filter, it only lets a result settle the decisions in front of it."
EFFECTS = (
    "Alone it leaves the decision in the list, and the connector sends it: the request is refused instead."
)


def _call_id(content: Any) -> str | None:
    return getattr(content.function_call, "call_id", None)


def apply(tools: Any) -> None:
    """Leave the late ones out; a call that is made again opens its id again."""
    from agent_framework._tools import _is_approval_placeholder_result

    def make(original: Any) -> Any:
        def collect(messages: Any) -> dict[str, Any]:
            settled: set[str] = set()
            late: set[int] = set()
            for content in (content for message in messages for content in message.contents):
                if content.type == "function_call":
                    settled.discard(content.call_id)
                elif content.type == "function_result" and not _is_approval_placeholder_result(content):
                    settled.add(content.call_id)
                elif content.type == "function_approval_response" and _call_id(content) in settled:
                    late.add(id(content))
            found: dict[str, Any] = original(messages)
            return {name: content for name, content in found.items() if id(content) not in late}

        return collect

    tools.wrap(WHERE, make, "resolved_response_ids.add(id(pending_responses.popleft()))")
