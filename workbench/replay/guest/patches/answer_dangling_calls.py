"""The second half of the workaround: a call that nobody answered is answered as not completed."""

from __future__ import annotations

from typing import Any

WHAT = "Add a made-up result right after an assistant message for each of its calls that no later message answers."
WHERE = "ag_ui_agentspec.runtimes.langgraph_runner:filter_only_new_messages"
WHY = "A person may write something else instead of answering a call, and the provider refuses a call without a result."
EFFECTS = (
    "A call is reported as not completed although it may still be. An answer that comes late, at the end, counts as "
    "an answer here, but stands in the wrong place for the provider. The checkpoint is written anew every turn."
)


def _calls(message: Any) -> list[str]:
    calls = message.get("tool_calls") if isinstance(message, dict) else getattr(message, "tool_calls", None)
    return [call["id"] for call in calls or ()]


def _answer(message: Any) -> Any:
    return (
        message.get("tool_call_id") if isinstance(message, dict) else getattr(message, "tool_call_id", None)
    )


def apply(tools: Any) -> None:
    """Repair what the function returns, together with what the checkpoint holds."""

    def make(original: Any) -> Any:
        async def repaired(agent: Any, thread_id: str, input_messages: list[Any]) -> list[Any]:
            from langchain_core.messages import RemoveMessage, ToolMessage
            from langgraph.graph.message import REMOVE_ALL_MESSAGES

            added = await original(agent, thread_id, input_messages)
            if added and isinstance(added[0], RemoveMessage):
                history = added[1:]
            else:
                state = await agent.aget_state({"configurable": {"thread_id": thread_id}})
                history = [*state.values.get("messages", []), *added]
            answered = {_answer(message) for message in history}
            whole = []
            for message in history:
                whole.append(message)
                whole += [
                    ToolMessage(content="The call was not completed.", tool_call_id=call)
                    for call in _calls(message)
                    if call not in answered
                ]
            return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *whole]

        return repaired

    tools.wrap(WHERE, make)
