"""The workaround of the report: what the client sends takes the place of the checkpoint's messages."""

WHAT = "Clear the messages of the checkpoint and take the client's history as it is."
WHERE = "ag_ui_agentspec.runtimes.langgraph_runner:filter_only_new_messages"
WHY = "The client sends its whole history every turn, so that there is nothing to merge."
EFFECTS = "What only the server knew is lost; a client that sends a shorter or another history changes the memory of the agent."


def apply(tools):
    """Put a removal of everything before the client's messages."""

    def make(original):
        async def replace(agent, thread_id, input_messages):
            from langchain_core.messages import RemoveMessage
            from langgraph.graph.message import REMOVE_ALL_MESSAGES

            return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *input_messages]

        return replace

    tools.wrap(WHERE, make, "existing_ids")
