"""An agent-framework app with a model that answers from a script: what the tests record."""

from __future__ import annotations

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    tool,
)
from agent_framework.observability import ChatTelemetryLayer
from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
from fastapi import FastAPI


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):
    """A turn is a list of contents: each call of the model takes the next one, in two pieces."""

    OTEL_PROVIDER_NAME = "scripted"

    def __init__(self, turns):
        super().__init__()
        self.turns = list(turns)

    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        if stream:
            return self._build_response_stream(self._pieces())

        async def whole():
            return ChatResponse.from_updates([piece async for piece in self._pieces()])

        return whole()

    async def _pieces(self):
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        for content in turn:
            yield ChatResponseUpdate(role="assistant", contents=[content], message_id="m1", response_id="r1")


def text(words):
    return Content.from_text(words)


def call(call_id, name, **arguments):
    return Content.from_function_call(call_id=call_id, name=name, arguments=arguments)


@tool(approval_mode="always_require")
def deploy(target: str) -> str:
    """Deploy to a target."""
    if target == "nowhere":
        raise RuntimeError("no such target")
    return f"deployed to {target}"


@tool(approval_mode="never_require")
def look(target: str) -> str:
    """Look at a target."""
    return f"{target} is idle"


def agent(turns, **more):
    return Agent(
        client=Scripted(turns), name="operator", instructions="Be brief.", tools=[deploy, look], **more
    )


def app(made):
    api = FastAPI()
    add_agent_framework_fastapi_endpoint(api, made, "/agent", single_user=True, keepalive_seconds=None)
    return api


def run_input(thread="t1", run="run1", text="Deploy to prod", **more):
    message = {"id": f"u-{run}", "role": "user", "content": text}
    return {"threadId": thread, "runId": run, "state": {}, "messages": [message], "tools": [], "context": [],
            "forwardedProps": {}, **more}  # fmt: skip
