"""Which dialect a request body or a message list is written in: by its shape, and by the address."""

from __future__ import annotations

import re
from typing import Any

from workbench.readers.payloads import (
    agent_framework,
    agui_list,
    anthropic,
    bedrock,
    chat,
    gemini,
    langchain,
    responses,
)
from workbench.readers.payloads.history import Dialect, History, dict_of, objects, text

_ITEMS = frozenset(
    {*responses.LOCAL_CALLS, *responses.OUTPUTS, "mcp_approval_request", "mcp_approval_response", "item_reference",
     "reasoning", "mcp_call", "mcp_list_tools", "web_search_call", "file_search_call", "message"}
)  # fmt: skip
_RESPONSES_KEYS = frozenset(
    {"previous_response_id", "instructions", "store", "max_output_tokens", "conversation", "text"}
)
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_OLLAMA_KEYS = frozenset({"options", "keep_alive", "format"})
#: an address that no message list is sent to
_OTHER = re.compile(r"/(embeddings|moderations|images|audio|rerank|files)(/|\?|$)", re.IGNORECASE)


def of_body(body: dict[str, Any], url: str = "") -> Dialect | None:
    """The dialect of a request body; None for what is no list of messages for a model."""
    if _OTHER.search(url) or "threadId" in body or "thread_id" in body:
        return None
    if _is_gemini(body) or _is_gemini(dict_of(body.get("request"))):
        return "gemini"
    if "input" in body and "messages" not in body:
        return "openai-responses" if _is_responses(body, url) else None
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        return None
    return _of_messages(body, messages, url)


def _is_gemini(body: dict[str, Any]) -> bool:
    given = body.get("contents")
    if isinstance(given, str):
        return isinstance(body.get("model"), str)
    items = [given] if isinstance(given, dict) else given
    return (
        isinstance(items, list) and bool(items) and all(isinstance(i, dict) and "parts" in i for i in items)
    )


def _is_responses(body: dict[str, Any], url: str) -> bool:
    given = body["input"]
    if isinstance(given, str):
        return bool(re.search(r"/responses(\?|$)", url)) or bool(_RESPONSES_KEYS & body.keys())
    items = objects(given)
    return bool(items) and all(
        "role" in i or text(i.get("type")) in _ITEMS or "call_id" in i for _, i in items[:8]
    )


def _of_messages(body: dict[str, Any], messages: list[dict[str, Any]], url: str) -> Dialect | None:
    blocks = [part for m in messages for _, part in objects(m.get("content"))]
    if "/converse" in url or "toolConfig" in body or "inferenceConfig" in body or any(
        "toolUse" in b or "toolResult" in b for b in blocks
    ):  # fmt: skip
        return "bedrock"
    if isinstance(body.get("modelId"), str) and not any("type" in b for b in blocks):
        return "bedrock"
    if "anthropic_version" in body or re.search(r"/messages(\?|$)", url):
        return "anthropic"
    if any(text(b.get("type")) in _ANTHROPIC_BLOCKS for b in blocks):
        return "anthropic"
    if "api.mistral.ai" in url:
        return "mistral"
    if re.search(r"/api/chat(\?|$)", url):
        return "ollama"
    calls = [dict_of(c.get("function")) for m in messages for _, c in objects(m.get("tool_calls"))]
    named = any("tool_name" in m for m in messages) or any(
        isinstance(f.get("arguments"), dict) for f in calls
    )
    if named or (_OLLAMA_KEYS & body.keys() and "max_tokens" not in body and "choices" not in body):
        return "ollama" if not any("tool_call_id" in m for m in messages) else "openai-chat"
    if isinstance(body.get("model"), str) or "/chat/completions" in url or "tools" in body:
        return "openai-chat" if all("role" in m for m in messages) else None
    return None


def read_body(body: dict[str, Any], url: str = "") -> History | None:
    """A request body as a history; None for what is none."""
    dialect = of_body(body, url)
    if dialect is None:
        return None
    if dialect == "gemini":
        return gemini.history(body)
    if dialect == "openai-responses":
        return responses.history(body)
    if dialect == "bedrock":
        return bedrock.history(body)
    if dialect == "anthropic":
        return anthropic.history(body)
    made = chat.history(body, dialect)
    if dialect == "ollama":
        chat.by_name(made.turns)
    return made


def of_list(items: list[Any]) -> Dialect | None:
    """The dialect of a bare list of messages; None for a list of anything else."""
    first = [item for item in items[:50] if isinstance(item, dict)]
    if not first or len(first) < min(len(items), 50):
        return None
    if all(agent_framework.is_message(agent_framework.unwrapped(i)) for i in first):
        return "agent-framework"
    if all(langchain.plain(i) is not None for i in first):
        return "langchain"
    if all("role" in i and isinstance(i.get("parts"), list) for i in first):
        return "gemini"
    if all(
        text(i.get("type")) in _ITEMS or (isinstance(i.get("role"), str) and "content" in i) for i in first
    ) and any(text(i.get("type")) in _ITEMS for i in first):
        return "openai-responses"
    if not all(isinstance(i.get("role"), str) for i in first):
        return None
    if any("toolCalls" in i or "toolCallId" in i for i in first):
        return "ag-ui"
    if not all("content" in i or "tool_calls" in i for i in first):
        return None
    found = _of_messages({"model": ""}, first, "")
    return found if any(_speaks(i) for i in first) else None


def _speaks(message: dict[str, Any]) -> bool:
    return message["role"] in ("user", "assistant", "tool", "system", "developer", "model")


def read_list(items: list[Any], name: str = "messages") -> History | None:
    """A bare list of messages as a history; None for a list of anything else."""
    dialect = of_list(items)
    return None if dialect is None else read_as(dialect, items, name)


def read_as(dialect: Dialect, items: list[Any], name: str = "messages") -> History:
    """A list of messages that is known to be written in a dialect."""
    turns = {
        "agent-framework": agent_framework.turns, "langchain": langchain.turns, "ag-ui": agui_list.turns,
        "gemini": gemini.turns, "openai-responses": responses.turns, "bedrock": bedrock.turns, "anthropic": anthropic.turns,
    }.get(dialect, chat.turns)  # fmt: skip
    made = History(dialect, list(turns(items, name)))
    if dialect in ("gemini", "ollama"):
        chat.by_name(made.turns)
    return made
