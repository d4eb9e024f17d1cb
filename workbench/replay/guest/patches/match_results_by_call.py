"""A repair where the fault is made: results are known by their call, not by the id of their message."""

from __future__ import annotations

from typing import Any

WHAT = "Leave out a result whose call already has one in the checkpoint, and put one that comes late after its call."
WHERE = "ag_ui_agentspec.runtimes.langgraph_runner:filter_only_new_messages"
WHY = "Adapter and LangGraph give the same result two message ids; the id of the call is the same on both sides."
EFFECTS = "The first result of a call stays; a result that the client has changed later is not taken over."


def apply(tools: Any) -> None:
    """Compare results by call id, and put late ones in their place."""

    def make(original: Any) -> Any:
        async def matched(agent: Any, thread_id: str, input_messages: list[Any]) -> list[Any]:
            from langchain_core.messages import RemoveMessage, ToolMessage
            from langgraph.graph.message import REMOVE_ALL_MESSAGES

            added = await original(agent, thread_id, input_messages)
            state = await agent.aget_state({"configurable": {"thread_id": thread_id}})
            kept = list(state.values.get("messages", []))
            answered = {getattr(message, "tool_call_id", None) for message in kept}
            added = [m for m in added if m["role"] != "tool" or m["tool_call_id"] not in answered]
            asked = {call["id"]: at for at, m in enumerate(kept) for call in getattr(m, "tool_calls", ())}
            late = [
                m
                for m in added
                if m["role"] == "tool" and asked.get(m["tool_call_id"], len(kept)) < len(kept) - 1
            ]
            if not late:
                return added
            for message in sorted(late, key=lambda m: -asked[m["tool_call_id"]]):
                call = message["tool_call_id"]
                result = ToolMessage(content=message["content"], tool_call_id=call, id=message["id"])
                kept.insert(asked[call] + 1, result)
            return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *kept, *(m for m in added if m not in late)]

        return matched

    tools.wrap(WHERE, make, "existing_ids")
