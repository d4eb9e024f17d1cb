"""Arms on Oracle's Agent Spec: its AG-UI adapter on the LangGraph runtime, with OpenAI's real connector.

What differs from agent-framework stands here; the stage asks for an endpoint and gets one.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import json
import logging
import os
import sys
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from . import seeds, spies
from .models import BASE
from .providers import Fake
from .recorder import Recorder
from .script import Script

KIND = "agent-spec"
_CALL: contextvars.ContextVar[str | None] = contextvars.ContextVar("call", default=None)


def prepare() -> None:
    """Import what all arms need, with ids from the seed; LangChain makes its run ids with a clock otherwise."""
    os.environ.setdefault("LANGSMITH_TRACING", "false")
    os.environ.setdefault("OPENAI_API_KEY", "none")
    from langchain_core.callbacks import manager

    if hasattr(manager, "uuid7"):
        manager.uuid7 = lambda *_, **__: uuid.uuid4()
    import ag_ui_agentspec.runtimes.langgraph_runner  # noqa: F401
    import langchain_openai  # noqa: F401
    import pyagentspec.adapters.langgraph  # noqa: F401
    from langgraph.checkpoint.base import id as ids

    # checkpoints are compared by their ids, and ids of tasks are made of them
    clocked = ids.uuid6
    for module in list(sys.modules.values()):
        if vars(module).get("uuid6") is clocked:
            vars(module)["uuid6"] = seeds.uuid6


class _InTurn(ThreadPoolExecutor):
    """A thread that is waited for: tools of one answer run in the order in which they were called."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have it done, and give what came of it."""
        done = super().submit(fn, *args, **kwargs)
        wait([done])
        return done


def in_turn() -> None:
    """In the running loop, let nothing run beside something else."""
    asyncio.get_running_loop().set_default_executor(_InTurn(1))


def endpoint(spec: dict[str, Any], script: Script, recorder: Recorder) -> Any:
    """An application with the agent of the spec at `/run`; its checkpoints live as long as it does."""
    from ag_ui_agentspec.agent import AgentSpecAgent
    from ag_ui_agentspec.endpoint import add_agentspec_fastapi_endpoint
    from fastapi import FastAPI
    from pyagentspec.agent import Agent
    from pyagentspec.llms import OpenAiCompatibleConfig
    from pyagentspec.serialization import AgentSpecSerializer

    _serve(Fake("chat", script), recorder)
    server = [tool for tool in spec["tools"] if tool["origin"] == "static"]
    agent = Agent(
        name="agent",
        system_prompt="Help with trips.",
        llm_config=OpenAiCompatibleConfig(name="model", url=f"{BASE}/v1", model_id="scripted"),
        tools=[_declared(tool) for tool in spec["tools"]],
    )
    registry = {tool["name"]: _stub(tool, recorder) for tool in server}
    app = FastAPI()
    made = AgentSpecAgent(AgentSpecSerializer().to_json(agent), runtime="langgraph", tool_registry=registry)
    add_agentspec_fastapi_endpoint(app, made, path="/run")
    return app


def watch_calls() -> None:
    """Know the id of the call that a tool runs for, which the framework does not hand to its function."""
    from langchain_core.tools import BaseTool

    def named(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def invoke(self: Any, given: Any, *rest: Any, **options: Any) -> Any:
            if isinstance(given, dict) and given.get("type") == "tool_call":
                _CALL.set(given["id"])
            return original(self, given, *rest, **options)

        return invoke

    for kind in (BaseTool, *BaseTool.__subclasses__()):
        for name in ("invoke", "ainvoke"):
            if name in vars(kind):
                setattr(kind, name, named(getattr(kind, name)))


class Warnings(logging.Handler):
    """What the adapter warns about stands among what the watched functions saw, where it happened."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(logging.WARNING)
        self._recorder = recorder

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        if record.levelno == logging.WARNING:
            file = record.pathname.replace("\\", "/").rpartition("site-packages/")[2]
            self._recorder.seen.append(
                {"function": "warning", "by": record.name, "place": f"{file}:{record.lineno}", "said": record.getMessage()}
            )  # fmt: skip


def instrument() -> None:
    """Spans of LangChain in the words of OpenInference, where the instrumentation is installed."""
    try:
        from openinference.instrumentation.langchain import LangChainInstrumentor
    except ImportError:
        return
    LangChainInstrumentor().instrument()


def tell_merge(arguments: dict[str, Any], result: Any) -> dict[str, Any]:
    """The messages of a request beside those of the checkpoint: which ids match, and what is added."""
    told: dict[str, Any] = {}
    if "agent" in arguments:
        config = {"configurable": {"thread_id": arguments["thread_id"]}}
        kept = arguments["agent"].get_state(config).values.get("messages", [])
        told["checkpoint"] = [_message(message.type, message) for message in kept]
        told["request"] = [_message(given["role"], given) for given in arguments["input_messages"]]
    if result is not None:
        told["added"] = [
            _message(m["role"], m) if isinstance(m, dict) else _message(m.type, m) for m in result
        ]
    return told


def tell_correlation(arguments: dict[str, Any], result: Any) -> dict[str, Any]:
    """The tracing events of a tool's execution: by which id the adapter looks for its call."""
    del result
    event, span = arguments.get("event"), arguments.get("span")
    kind = type(event).__name__
    if event is None or span is None:
        return {}
    if kind not in ("ToolExecutionRequest", "ToolExecutionResponse"):
        return {"quiet": True}
    return {"event": kind, "id": event.request_id, "call": str(span.description or "").removeprefix("tcid__")}


def _message(kind: str, message: Any) -> dict[str, Any]:
    def get(name: str) -> Any:
        return message.get(name) if isinstance(message, dict) else getattr(message, name, None)

    calls = [call["id"] for call in get("tool_calls") or ()]
    role = {"human": "user", "ai": "assistant"}.get(kind, kind)
    told = {"role": role, "id": get("id")}
    if role == "tool":
        told["call"] = get("tool_call_id")
    return {**told, **({"calls": calls} if calls else {})}


def _declared(tool: dict[str, Any]) -> Any:
    from pyagentspec.property import Property
    from pyagentspec.tools import ClientTool, ServerTool

    inputs = [
        Property(title=name, json_schema={"title": name, **schema})
        for name, schema in tool.get("parameters", {}).get("properties", {}).items()
    ]
    kind = ClientTool if tool["origin"] == "client" else ServerTool
    described: dict[str, Any] = {"name": tool["name"], "description": tool.get("description", "")}
    if tool.get("gated"):
        described["requires_confirmation"] = True
    output = Property(title="answer", json_schema={"title": "answer", "type": "string"})
    if tool.get("gated"):
        # older releases insist on it: the result may be that of the tool, or word of a refusal
        output = Property(title=tool["name"], json_schema={})
    return kind(inputs=inputs, outputs=[output], **described)


def _stub(tool: dict[str, Any], recorder: Recorder) -> Any:
    def run(**arguments: Any) -> str:
        told = {"tool": tool["name"], "call": _CALL.get(), "arguments": arguments}
        recorder.executions.append(told)
        if "error" in tool:
            told["error"] = f"RuntimeError: {tool['error']}"
            raise RuntimeError(tool["error"])
        told["result"] = tool["result"]
        return str(tool["result"])

    async def arun(**arguments: Any) -> str:
        await asyncio.sleep(0)
        return run(**arguments)

    return arun if tool.get("async") else run


def _serve(fake: Fake, recorder: Recorder) -> None:
    """Answer what goes to the model's address, in place of the transport: no request leaves the process."""
    from openai import _base_client

    sdk: Any = _base_client
    httpx = getattr(sdk, "httpx2", None) or sdk.httpx

    async def handle(self: Any, request: Any) -> Any:
        del self
        body = (await request.aread()).decode()
        entry = recorder.begin(str(request.url), body)
        if not str(request.url).startswith(BASE):
            raise httpx.ConnectError(f"{request.url} is not the model of this arm")
        status, mime, text = fake.answer(json.loads(body))
        recorder.end(entry, status, mime, text)
        return httpx.Response(status, headers={"content-type": mime}, text=text, request=request)

    httpx.AsyncHTTPTransport.handle_async_request = handle


spies.TELLERS.update({"merge": tell_merge, "correlation": tell_correlation})
