"""Which attribute says what about a tool call: one table for all conventions.

`CONVENTIONS` is the table. `lift` takes the short facts out of a span when it is loaded, `facts`
takes all of them from a decoded span.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from workbench.readers.telemetry import values
from workbench.readers.telemetry.rows import SpanRow


@dataclass(frozen=True, slots=True)
class Convention:
    """Where one convention keeps each fact: attribute keys, the first that is there counts."""

    name: str
    operation: tuple[str, ...] = ()
    call_id: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    result: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    thread: tuple[str, ...] = ()


#: In order of trust: where two conventions say something about one span, the first counts.
#: An MCP session and an operating system's `thread.id` are no threads of a conversation.
CONVENTIONS = (
    # OpenTelemetry GenAI; also agent-framework, Microsoft.Extensions.AI, ADK and pydantic-ai
    Convention(
        "gen-ai",
        operation=("gen_ai.operation.name",),
        call_id=("gen_ai.tool.call.id",),
        tool=("gen_ai.tool.name",),
        arguments=("gen_ai.tool.call.arguments",),
        result=("gen_ai.tool.call.result",),
        error=("error.type",),
        thread=("gen_ai.conversation.id",),
    ),
    Convention(
        "adk",
        call_id=("gcp.vertex.agent.tool_call_id",),
        arguments=("gcp.vertex.agent.tool_call_args",),
        result=("gcp.vertex.agent.tool_response",),
        thread=("gcp.vertex.agent.session_id",),
    ),
    Convention("pydantic-ai", arguments=("tool_arguments",), result=("tool_response",)),
    Convention(
        "vercel",
        operation=("ai.operationId",),
        call_id=("ai.toolCall.id",),
        tool=("ai.toolCall.name",),
        arguments=("ai.toolCall.args", "ai.toolCall.input"),
        result=("ai.toolCall.result", "ai.toolCall.output"),
        thread=(
            "ai.telemetry.metadata.threadId",
            "ai.telemetry.metadata.sessionId",
            "ai.telemetry.metadata.conversationId",
            "ai.telemetry.metadata.chatId",
        ),
    ),
    Convention(
        "openinference",
        operation=("openinference.span.kind",),
        call_id=("tool_call.id", "tool.id"),
        tool=("tool.name", "tool_call.function.name"),
        arguments=("input.value", "tool_call.function.arguments", "tool.parameters"),
        result=("output.value",),
        thread=("session.id",),
    ),
    Convention(
        "openllmetry",
        operation=("traceloop.span.kind",),
        tool=("traceloop.entity.name",),
        arguments=("traceloop.entity.input",),
        result=("traceloop.entity.output",),
        thread=(
            "traceloop.association.properties.thread_id",
            "traceloop.association.properties.session_id",
            "traceloop.association.properties.conversation_id",
            "traceloop.association.properties.chat_id",
        ),
    ),
    Convention(
        "langfuse",
        operation=("langfuse.observation.type",),
        arguments=("langfuse.observation.input",),
        result=("langfuse.observation.output",),
        error=("langfuse.observation.status_message",),
        thread=("langfuse.session.id", "langfuse.trace.session_id"),
    ),
    Convention(
        "mlflow",
        operation=("mlflow.spanType",),
        arguments=("mlflow.spanInputs",),
        result=("mlflow.spanOutputs",),
        thread=("mlflow.trace.session",),
    ),
    Convention("mcp", operation=("mcp.method.name",)),
)

FIELDS = ("operation", "call_id", "tool", "arguments", "result", "error", "thread")


class _Rank(NamedTuple):
    field: str
    rank: int
    convention: str


def _ranks() -> dict[str, _Rank]:
    ranks: dict[str, _Rank] = {}
    for convention in CONVENTIONS:
        for field in FIELDS:
            for key in getattr(convention, field):
                ranks[key] = _Rank(field, len(ranks), convention.name)
    return ranks


RANKS: Mapping[str, _Rank] = _ranks()
#: Keys that are looked at while loading; arguments and results are left in the file.
LIFTED = frozenset(key for key, rank in RANKS.items() if rank.field not in ("arguments", "result"))
#: The others
CONTENT = frozenset(key for key, rank in RANKS.items() if rank.field in ("arguments", "result"))

#: Words of other conventions for the operations of OpenTelemetry
OPERATIONS = {
    "tool": "execute_tool",
    "tool_call": "execute_tool",
    "mcp_tool": "execute_tool",
    "tools/call": "execute_tool",
    "ai.toolcall": "execute_tool",
    "llm": "chat",
    "chat_model": "chat",
    "generation": "chat",
    "ai.generatetext": "invoke_agent",
    "ai.streamtext": "invoke_agent",
    "ai.generatetext.dogenerate": "chat",
    "ai.streamtext.dostream": "chat",
    "ai.generateobject.dogenerate": "chat",
    "ai.streamobject.dostream": "chat",
    "agent": "invoke_agent",
    "workflow": "invoke_workflow",
    "embedding": "embeddings",
    "retriever": "retrieval",
}
_NAMED = re.compile(
    r"(execute_tool|invoke_agent|invoke_workflow|create_agent|orchestrate_tools|chat|embeddings"
    r"|generate_content|text_completion)(?: |$)|(running tool|tools/call)(?:: ?| |$)|(ai\.toolCall)$"
)
#: A tool that ended like this has not run: it waits for a person or for the client.
PAUSES = re.compile(
    r"\b(?:GraphInterrupt|NodeInterrupt|GraphBubbleUp|ApprovalRequired|CallDeferred|ToolCallInterrupt"
    r"|UserInputRequired\w*|InterruptException|AgentInterrupt)\b"
)
#: What agent-framework writes for a call without an id
NO_CALL_ID = "unknown"


class Lifted(NamedTuple):
    """The short facts of a span."""

    operation: str | None
    call_id: str | None
    tool: str | None
    thread: str | None
    error: str | None


def operation_of(said: str | None, name: str, *, tool: bool = False) -> str | None:
    """The operation, from what an attribute says or else from the span's name."""
    if said:
        return OPERATIONS.get(said.lower(), said.lower() if said.isupper() else said)
    found = _NAMED.match(name)
    if found is not None:
        return found[1] or "execute_tool"
    return "execute_tool" if tool else None


def lift(texts: Mapping[str, str | None], name: str) -> Lifted:
    """The short facts from those attributes of a span whose keys are in `LIFTED`."""
    if not texts:
        operation = operation_of(None, name)
        return Lifted(operation, None, tool_in(name) if operation == "execute_tool" else None, None, None)
    best: dict[str, tuple[int, str]] = {}
    for key, text in texts.items():
        field, rank, _ = RANKS[key]
        if text and (field not in best or rank < best[field][0]):
            best[field] = (rank, text)
    get = best.get
    nothing = (0, None)
    call_id, tool = get("call_id", nothing)[1], get("tool", nothing)[1]
    operation = operation_of(get("operation", nothing)[1], name, tool=call_id is not None)
    if operation == "execute_tool":
        tool = tool or tool_in(name)
        call_id = None if call_id == NO_CALL_ID else call_id
    else:
        tool = call_id = None
    return Lifted(operation, call_id, tool, get("thread", nothing)[1], get("error", nothing)[1])


def tool_in(name: str) -> str | None:
    """The tool that the name of a tool span names: the name itself, where it is not a phrase."""
    for start in ("execute_tool ", "tools/call ", "running tool: ", "running tool "):
        if name.startswith(start):
            return name[len(start) :].strip() or None
    if name in ("execute_tool", "tools/call", "running tool", "ai.toolCall") or not name:
        return None
    return name.removesuffix(".tool")


@dataclass(slots=True)
class Facts:
    """What a span says about a tool call.

    `arguments` and `result` are as written (JSON text where they were structured). `doubt` says why
    the call id may not be one: `unknown`, or `tool-name` where it equals the tool's name. `paused`
    names the pause that a tool span recorded instead of an execution.
    """

    operation: str | None = None
    call_id: str | None = None
    tool: str | None = None
    arguments: str | None = None
    result: str | None = None
    error: str | None = None
    thread: str | None = None
    doubt: str = ""
    paused: str = ""
    convention: str = ""


def exception_of(row: SpanRow) -> str | None:
    """The exception that a span recorded, as `type: message`."""
    for event in row.events:
        if event.get("name") != "exception":
            continue
        said = event.get("attributes")
        attributes = said if isinstance(said, dict) else {}
        kind = values.word(attributes.get("exception.type"))
        message = values.as_text(attributes.get("exception.message"))
        text = ": ".join(part for part in (kind, message) if part)
        if text:
            return text
    return None


def error_of(row: SpanRow, said: str | None = None) -> str | None:
    """What went wrong: status message, else the exception, else error.type; None where it succeeded."""
    exception = exception_of(row)
    if row.status != "error" and not (row.status == "" and (exception or said)):
        return None
    return row.message or exception or said or "error"


def facts(row: SpanRow) -> Facts:
    """Everything that a span says about a tool call; of other spans operation, error and thread."""
    best: dict[str, tuple[int, Any, str]] = {}
    for key, value in row.attributes.items():
        rank = RANKS.get(key)
        if rank is None or value is None or value == "":
            continue
        if rank.field not in best or rank.rank < best[rank.field][0]:
            best[rank.field] = (rank.rank, value, rank.convention)

    def text(field: str) -> str | None:
        return values.as_text(best[field][1]) if field in best else None

    call_id, tool = text("call_id"), text("tool")
    found = Facts(
        operation=operation_of(text("operation"), row.name, tool=call_id is not None),
        error=error_of(row, text("error")),
        thread=text("thread"),
        convention=best["operation"][2] if "operation" in best else "",
    )
    if found.operation != "execute_tool":
        return found
    found.tool = tool or tool_in(row.name)
    if call_id == NO_CALL_ID:
        found.doubt = "unknown"
    else:
        found.call_id = call_id
        if call_id is not None and call_id == found.tool:
            found.doubt = "tool-name"
    found.arguments, found.result = written(text("arguments")), text("result")
    found.paused = _pause(row, found)
    return found


def content_of(texts: Mapping[str, str | None]) -> tuple[str | None, str | None]:
    """Arguments and result from those attributes of a tool span whose keys are in `CONTENT`."""
    best: dict[str, tuple[int, str]] = {}
    for key, text in texts.items():
        field, rank, _ = RANKS[key]
        if text and (field not in best or rank < best[field][0]):
            best[field] = (rank, text)
    nothing = (0, None)
    return written(best.get("arguments", nothing)[1]), best.get("result", nothing)[1]


def written(arguments: str | None) -> str | None:
    """Arguments as written; agent-framework before 1.13 writes None for a call without any."""
    return None if arguments == "None" else arguments


def _pause(row: SpanRow, found: Facts) -> str:
    for said in (exception_of(row), row.message):
        if said and (name := PAUSES.search(said[:4000])):
            return name[0]
    for key in ("approval.state", "tool.state", "tool.status", "gen_ai.tool.status", "langgraph.status"):
        state = row.attributes.get(key)
        if isinstance(state, str) and state.lower() in ("pending", "paused", "interrupted", "input-required"):
            return state.lower()
    result = found.result or ""
    if len(result) < 2000 and '"pending"' in result:
        try:
            value = json.loads(result)
        except (ValueError, RecursionError):
            return ""
        if isinstance(value, dict) and "pending" in (value.get("status"), value.get("state")):
            return "pending"
    return ""
