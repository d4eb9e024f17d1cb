"""How each dialect writes a call and a result, and where their ids and names stand."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.readers.payloads.chat import MADE_UP
from workbench.readers.payloads.history import Block, Turn, dict_of

#: dialects in which results are content blocks, with the key of the list and the role of the message that holds them
BLOCKS = {
    "anthropic": ("content", "user"), "bedrock": ("content", "user"), "gemini": ("parts", "user"),
    "agent-framework": ("contents", "tool"),
}  # fmt: skip
#: block dialects in which results stand beside what the user says
BESIDE = ("anthropic", "bedrock")


def real_id(block: Block) -> str:
    """Its call id; "" where the dialect has none and one was made up for pairing."""
    return "" if block.call_id.startswith(MADE_UP) else block.call_id


def result(dialect: str, call: Block, content: str) -> dict[str, Any]:
    """A result of a call, as the element that its dialect puts into a list: a message, an item or a block."""
    own = real_id(call)
    if dialect == "openai-responses":
        return {"type": f"{call.type or 'function_call'}_output", "call_id": own, "output": content}
    if dialect == "anthropic":
        return {"type": "tool_result", "tool_use_id": own, "content": content}
    if dialect == "bedrock":
        return {"toolResult": {"toolUseId": own, "content": [{"text": content}]}}
    if dialect == "gemini":
        named = {"id": own, "name": call.name} if own else {"name": call.name}
        return {"functionResponse": {**named, "response": {"output": content}}}
    if dialect == "agent-framework":
        net = "$type" in call.raw or "callId" in call.raw
        if net:
            return {"$type": "functionResult", "callId": own, "result": content}
        return {"type": "function_result", "call_id": own, "result": content}
    if dialect == "langchain":
        return {"type": "tool", "content": content, "tool_call_id": own, "name": call.name}
    if dialect == "ag-ui":
        key = "tool_call_id" if ".tool_calls[" in call.path else "toolCallId"
        return {"id": f"result-{own}", "role": "tool", key: own, "content": content}
    if dialect == "ollama":
        named = {"tool_call_id": own} if own else {}
        return {"role": "tool", "tool_name": call.name, **named, "content": content}
    named = {"name": call.name} if dialect == "mistral" else {}
    return {"role": "tool", "tool_call_id": own, **named, "content": content}


def call(dialect: str, answer: Block, name: str, arguments: str) -> dict[str, Any]:
    """A message (or item) with the call that a result answers. `arguments` is JSON text."""
    own = real_id(answer)
    given = _decoded(arguments)
    if dialect == "openai-responses":
        return {"type": "function_call", "call_id": own, "name": name, "arguments": arguments or "{}"}
    if dialect == "anthropic":
        return {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": own, "name": name, "input": given}],
        }
    if dialect == "bedrock":
        return {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": own, "name": name, "input": given}}],
        }
    if dialect == "gemini":
        named = {"id": own, "name": name} if own else {"name": name}
        return {"role": "model", "parts": [{"functionCall": {**named, "args": given}}]}
    if dialect == "agent-framework":
        if "$type" in answer.raw or "callId" in answer.raw:
            made = {"$type": "functionCall", "callId": own, "name": name, "arguments": given}
        else:
            made = {"type": "function_call", "call_id": own, "name": name, "arguments": arguments or "{}"}
        return {"role": "assistant", "contents": [made]}
    if dialect == "langchain":
        listed = [{"name": name, "args": given, "id": own, "type": "tool_call"}]
        return {"type": "ai", "content": "", "tool_calls": listed}
    function: dict[str, Any] = {"name": name, "arguments": arguments or "{}"}
    if dialect == "ollama":
        return {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": name, "arguments": given}}],
        }
    if dialect == "ag-ui":
        key = "tool_calls" if "tool_call_id" in answer.raw else "toolCalls"
        return {
            "id": f"call-{own}",
            "role": "assistant",
            key: [{"id": own, "type": "function", "function": function}],
        }
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": own, "type": "function", "function": function}],
    }


def message(dialect: str, blocks: list[dict[str, Any]], like: Turn) -> dict[str, Any]:
    """A message of its own for result blocks, in the manner of the message with their calls."""
    key, role = BLOCKS[dialect]
    given = like.raw.get("role")
    if dialect == "agent-framework" and isinstance(given, dict):
        return {"role": {**given, "value": role}, key: blocks}
    return {"role": role, key: blocks}


def dressed(made: dict[str, Any], dialect: str, neighbour: Any) -> dict[str, Any]:
    """A new LangChain message in the form that its neighbour is stored in."""
    if dialect != "langchain" or not isinstance(neighbour, dict):
        return made
    kind = made["type"]
    if isinstance(neighbour.get("kwargs"), dict):
        home = ["langchain", "schema", "messages", {"tool": "ToolMessage", "ai": "AIMessage"}[kind]]
        return {"lc": 1, "type": "constructor", "id": home, "kwargs": made}
    if isinstance(neighbour.get("data"), dict):
        return {"type": kind, "data": made}
    return made


def id_fields(dialect: str, block: Block) -> list[str]:
    """The fields that hold the call id of a block, as positions; none where it has no such field."""
    raw, path = block.raw, block.path
    if block.kind in ("approval-request", "approval-response"):
        return _approval_fields(dialect, block)
    if dialect in ("openai-responses", "agent-framework"):
        return [f"{path}.{key}" for key in ("call_id", "callId") if key in raw]
    if dialect == "bedrock":
        return [f"{path}.{'toolUse' if block.kind == 'call' else 'toolResult'}.toolUseId"]
    if dialect == "gemini":
        key = next((k for k in ("functionCall", "function_call", "functionResponse", "function_response")
                    if isinstance(raw.get(k), dict)), "")  # fmt: skip
        return [f"{path}.{key}.id"] if key else []
    if block.kind == "call":
        return [f"{path}.id"]
    if dialect == "anthropic":
        return [f"{path}.tool_use_id"]
    return [f"{path}.{key}" for key in ("toolCallId", "tool_call_id") if key in raw] or [
        f"{path}.tool_call_id"
    ]


def _approval_fields(dialect: str, block: Block) -> list[str]:
    """An approval names its call, and may have the id of the call for its own."""
    raw = block.raw
    fields = [f"{block.path}.{key}" for key in ("call_id",) if raw.get(key) == block.call_id]
    if dialect == "agent-framework":
        for key in ("function_call", "functionCall", "toolCall"):
            inner = dict_of(raw.get(key))
            fields += [f"{block.path}.{key}.{k}" for k in ("call_id", "callId") if k in inner]
    fields += [f"{block.path}.{key}" for key in ("id", "requestId") if raw.get(key) == block.call_id]
    return fields


def name_field(dialect: str, block: Block) -> str:
    """The field that holds the tool's name of a call or result."""
    raw, path = block.raw, block.path
    if dialect == "bedrock":
        return f"{path}.toolUse.name"
    if dialect == "gemini":
        key = next(k for k in ("functionCall", "function_call", "functionResponse", "function_response")
                   if isinstance(raw.get(k), dict))  # fmt: skip
        return f"{path}.{key}.name"
    return f"{path}.function.name" if isinstance(raw.get("function"), dict) else f"{path}.name"


def repeats(dialect: str, turn: Turn, block: Block) -> list[str]:
    """Where a LangChain message says the same call once more: blocks of its content, `additional_kwargs`."""
    if dialect != "langchain" or block.kind != "call":
        return []
    content, extra = turn.raw.get("content"), dict_of(turn.raw.get("additional_kwargs")).get("tool_calls")
    found = [
        f"{turn.path}.{key}[{n}]"
        for key, listed in (("content", content), ("additional_kwargs.tool_calls", extra))
        for n, part in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(part, dict) and part.get("id") == block.call_id and part.get("type") != "text"
    ]
    return [path for path in found if path != block.path]


def _decoded(arguments: str) -> Any:
    try:
        return msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {}
