"""The workaround of the report: what the client sends takes the place of the checkpoint's messages."""

from __future__ import annotations

from typing import Any

WHAT = "Clear the messages of the checkpoint and take the client's history as it is."
WHERE = "ag_ui_agentspec.runtimes.langgraph_runner:filter_only_new_messages"
WHY = "The client sends its whole history every turn, so that there is nothing to merge."
EFFECTS = "What only the server knew is lost; a client that sends a shorter or another history changes the memory of the agent."


def apply(tools: Any) -> None:
    """Put a removal of everything before the client's messages."""

    def make(original: Any) -> Any:
        async def replace(agent: Any, thread_id: str, input_messages: list[Any]) -> list[Any]:
            from langchain_core.messages import RemoveMessage
            from langgraph.graph.message import REMOVE_ALL_MESSAGES

            return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *input_messages]

        return replace

    tools.wrap(WHERE, make, "existing_ids")
