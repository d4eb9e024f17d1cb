"""What stays readable: the closed lists of words and framework texts that rules know.

Everything in here was written by a framework or a protocol, never by a person.
"""

from __future__ import annotations

import re

from workbench.calls import approvals, decisions, results
from workbench.calls.producers import CONFIRM_CALLS, CONFIRM_TOOLS
from workbench.readers import protocol
from workbench.readers.telemetry import mapping
from workbench.rules.approvals import approval_rejected, approval_unanswerable
from workbench.rules.calls import words

#: decisions, as whole texts
DECISIONS = (
    decisions._YES  # noqa: SLF001
    | decisions._NO  # noqa: SLF001
    | decisions._EDIT  # noqa: SLF001
    | decisions._CANCEL  # noqa: SLF001
    | {"cancelled", "resolved", "none"}
)

_ROLES = {
    "user",
    "assistant",
    "tool",
    "system",
    "developer",
    "model",
    "function",
    "reasoning",
    "activity",
    "ai",
    "human",
}
_PARTS = {
    "text", "input_text", "output_text", "refusal", "message", "reasoning", "thinking", "redacted_thinking", "function_call",
    "function_call_output", "function_result", "function_call_result", "function_approval_request", "function_approval_response",
    "functioncall", "functionresult", "functionapprovalrequest", "functionapprovalresponse", "text_reasoning", "tool_use",
    "tool_result", "tool_call", "tool_call_response", "tool-call", "tool-result", "server_tool_use", "mcp_tool_use",
    "mcp_tool_result", "mcp_call", "mcp_approval_request", "mcp_approval_response", "item_reference", "image", "image_url",
    "input_image", "audio", "video", "document", "file", "input_file", "binary", "data", "uri", "url", "blob", "error",
    "usage", "hosted_file", "custom", "object", "array", "string", "number", "integer", "boolean", "null", "ephemeral",
    "mastra_suspend", "constructor", "human_in_the_loop", "approval", "approval_request", "approval_response", "confirmation",
    "interrupt", "generic", "simple", "tool_choice", "auto", "required", "any",
}  # fmt: skip
_STATES = {
    "success", "error", "interrupt", "cancelled", "canceled", "pending", "paused", "interrupted", "input-required",
    "completed", "complete", "in_progress", "in-progress", "executing", "inprogress", "failed", "failure", "incomplete", "queued", "ok",
    "unset", "running", "started", "finished", "resolved", "open", "closed", "expired", "stop", "length", "tool_calls",
    "end_turn", "max_tokens", "stop_sequence", "content_filter", "enabled", "disabled", "awaiting_approval", "approval_required",
    "requires_action", "input_required", "awaiting_input", "internal", "server", "client", "producer", "consumer",
}  # fmt: skip
_REASONS = {
    "tool_call", "tool_approval", "input_required", "confirmation", "confirm_changes", "hitl", "human_feedback", "approval",
    "database_modification", "upload_required", "user_input", "request_info", "function_approval", "policy_hold",
}  # fmt: skip
_WIRE = {
    "get", "post", "put", "delete", "patch", "options", "head", "add", "remove", "replace", "move", "copy", "test", "send",
    "receive", "header", "request", "event", "keepalive", "comment", "response", "fetch", "xhr", "eventsource", "websocket",
    "sse", "base64", "agent/run", "agent/connect", "agent/stop", "info", "warning", "warn", "debug", "trace", "information",
    "critical", "fatal", "verbose", "default", "span", "log", "agent", "llm", "chain", "retriever", "embedding", "workflow",
    "task", "generation", "http", "h2", "h3", "http/1.0", "http/1.1", "http/2.0", "http/2", "http/3", "h2c", "no-cache", "no-store", "keep-alive", "chunked", "gzip", "br", "zstd", "deflate",
    "identity", "text/event-stream", "application/json", "text/plain", "application/x-ndjson", "application/octet-stream",
    "application/vnd.ag-ui.event+proto", "*/*", "text/event-stream; charset=utf-8", "application/json; charset=utf-8",
    "application/json;charset=utf-8", "text/event-stream;charset=utf-8", "text/html", "text/css", "python", "dotnet",
    "nodejs", "opentelemetry", "openai", "anthropic", "azure_openai", "azure.ai.openai", "az.ai.inference", "gcp.vertex_ai", "gemini",
    "ollama", "mistral", "mistral_ai", "aws.bedrock", "microsoft.agent_framework", "langgraph", "langchain", "done", "[done]",
}  # fmt: skip

#: words that stay as the value of a field that holds a word (`type`, `role`, `status`, …)
WORDS = frozenset(
    {w.lower() for w in (_ROLES | _PARTS | _STATES | _REASONS | _WIRE | DECISIONS)}
    | {name.lower() for name in protocol.BY_NAME}
    | {w.lower() for w in mapping.OPERATIONS}
    | {w.lower() for w in mapping.OPERATIONS.values()}
    | {
        "execute_tool",
        "invoke_agent",
        "invoke_workflow",
        "create_agent",
        "orchestrate_tools",
        "generate_content",
        "text_completion",
    }
)
#: fields that hold a word
WORD_KEYS = frozenset({
    "type", "role", "status", "kind", "outcome", "reason", "decision", "action", "answer", "response", "op", "object",
    "finish_reason", "finishreason", "stop_reason", "finish_reasons", "method", "phase", "operation", "event", "mode",
    "encoding", "mimetype", "httpversion", "_resourcetype", "resourcetype", "transport", "subtype", "state", "channel",
    "tool_choice", "decisions", "severitytext", "severity", "level", "signal", "direction", "source", "code", "detail",
})  # fmt: skip
#: names of tools that frameworks make up themselves
TOOLS = frozenset(CONFIRM_CALLS) | CONFIRM_TOOLS
#: pieces of ids that say who made them, and nothing else
ID_WORDS = frozenset({
    "af", "call", "ficc", "adk", "lc", "run", "toolu", "chatcmpl", "msg", "fc", "resp", "rs", "interrupt", "approval",
    "response", "request", "thread", "tool", "message", "mcpr", "mcp", "toolcall", "in", "span", "trace", "step",
    "result", "user", "assistant", "snapshot", "confirm", "changes", "function", "unknown", "item", "conv", "bedrock",
    "tooluse", "history", "reasoning", "text", "input",
})  # fmt: skip
#: names of custom events that frameworks write
CUSTOM = re.compile(
    r"function_approval_request|on_interrupt|mastra\w*|managed_agents\.\w+|copilotkit\w*|manually_emit\w*|predict_?state|"
    r"usage|workflow\w*|request_info|tool_approval\w*|on_\w+",
    re.IGNORECASE,
)
#: the framework's own words in ids of causes: `langgraph:interrupt`
REASON_OWNER = re.compile(r"(langgraph|crewai|copilotkit|mastra|adk|autogen|pydantic)(:)", re.IGNORECASE)
#: libraries, whose scopes and loggers may be named
LIBRARIES = re.compile(
    r"(agent_framework|microsoft\.|azure\.|experimental\.|opentelemetry|openinference|langgraph|langchain|langsmith|pydantic|"
    r"logfire|gcp\.|google\.|traceloop|crewai|agno|mastra|strands|mlflow|langfuse|copilotkit|ag[_-]ui|openai|anthropic|"
    r"ai$|fastapi|starlette|httpx|aiohttp|uvicorn|system\.net|mcp)",
    re.IGNORECASE,
)
ERROR_NAME = re.compile(
    r"(?:[A-Za-z_]+\.){0,6}[A-Za-z_]{0,60}(?:Error|Exception|Interrupt|Required|Deferred|BubbleUp|Warning)"
)

#: pattern, and how many characters of a text the rules look at with it
_TEXTS: tuple[tuple[re.Pattern[str], int, bool], ...] = (
    *((pattern, 4000, True) for pattern in results._PLACEHOLDERS),  # noqa: SLF001
    *((pattern, 4000, True) for pattern in results._REFUSALS),  # noqa: SLF001
    (results._ERROR, 4000, True),  # noqa: SLF001
    (words._WAITING, 300, False),  # noqa: SLF001
    (words._DENIAL, 300, False),  # noqa: SLF001
    (re.compile("function failed", re.IGNORECASE), 200, False),
    (approval_rejected._RECORDED, 100_000, False),  # noqa: SLF001
    (approval_unanswerable._NOT_FOUND, 100_000, False),  # noqa: SLF001
    (approvals._REFUSED, 100_000, False),  # noqa: SLF001
    (mapping.PAUSES, 100_000, False),
)
_WORD = re.compile(r"[A-Za-z]+")
#: every word that those patterns spell out; what else they match is the capture's own
FRAMEWORK = frozenset(
    word.lower() for pattern, _, _ in _TEXTS for word in _WORD.findall(re.sub(r"\\[a-zA-Z]", " ", pattern.pattern))
) | frozenset({
    "deny", "denied", "approved", "rejected", "declined", "cancelled", "canceled", "required", "needed", "requires",
    "needs", "authorised", "authorized", "failed", "didn", "wasn", "hasn", "won", "don", "isn", "doesn", "doesnt",
    "withdrawn", "withheld", "confirmation", "timed", "timeout", "invocation", "approval", "unapproved", "rejection",
    "rejecting", "declining", "cancel", "cancelling", "cancellation", "abort", "aborted", "aborting", "skip", "skipped",
    "skipping", "dismiss", "dismissed", "refuse", "refused", "refusal", "disallowed", "reject", "decline", "did", "was",
    "not", "has", "do", "does", "will",
})  # fmt: skip


def stays(text: str) -> list[tuple[int, int]]:
    """Stretches of a text that rules read and that a framework wrote: words, never what stands between."""
    bare = text.strip()
    if bare in ("None", "null", "NaN") or bare.lower().rstrip(".!") in DECISIONS:
        return [(0, len(text))]
    found: list[tuple[int, int]] = []
    # results are often a JSON string of a text
    start = len(text) - len(text.lstrip().removeprefix('"').lstrip())
    for pattern, limit, at_start in _TEXTS:
        matches = (
            [pattern.match(text, start, start + limit)] if at_start else pattern.finditer(text, 0, limit)
        )
        for match in matches:
            if match is not None:
                found += [
                    (word.start(), word.end())
                    for word in _WORD.finditer(text, match.start(), match.end())
                    if word[0].lower() in FRAMEWORK
                ]
                if error := re.search(r"(?:Error|Exception)(?=\W|$)", match[0]):
                    found.append((match.start() + error.start(), match.start() + error.end()))
    return found
