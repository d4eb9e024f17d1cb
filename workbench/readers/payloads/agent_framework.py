"""Messages of agent-framework (Python `to_dict`, .NET JSON): contents by type, roles as text or object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.readers.payloads.history import Block, History, Turn, dict_of, objects, text

#: .NET's discriminators under the names of the Python contents
_NAMES = {
    "functioncall": "function_call",
    "functionresult": "function_result",
    "functionapprovalrequest": "function_approval_request",
    "toolapprovalrequest": "function_approval_request",
    "functionapprovalresponse": "function_approval_response",
    "toolapprovalresponse": "function_approval_response",
    "textreasoning": "text_reasoning",
    "reasoning": "text_reasoning",
    "mcpservertoolcall": "mcp_server_tool_call",
    "mcpservertoolresult": "mcp_server_tool_result",
    "mcpservertoolapprovalrequest": "function_approval_request",
    "mcpservertoolapprovalresponse": "function_approval_response",
}


def is_message(value: Any) -> bool:
    """A role and a list of contents."""
    return isinstance(value, dict) and "role" in value and isinstance(value.get("contents"), list)


def unwrapped(value: Any) -> Any:
    """A message out of the marks that a checkpoint puts around models."""
    while (
        isinstance(value, dict)
        and isinstance(value.get("value"), dict)
        and any(k.startswith("__") for k in value)
    ):
        value = value["value"]
    return value


def history(messages: list[Any], name: str = "messages") -> History:
    """A list of messages."""
    return History("agent-framework", list(turns(messages, name)))


def turns(messages: list[Any], name: str = "messages") -> Iterator[Turn]:
    """The messages of a list, one turn each."""
    for n, wrapped in enumerate(messages):
        message = unwrapped(wrapped)
        if not is_message(message):
            continue
        path = f"{name}[{n}]"
        given = message["role"]
        role = text(given.get("value") if isinstance(given, dict) else given).lower()
        own = text(message.get("message_id") or message.get("messageId"))
        turn = Turn("system" if role == "developer" else role, path, id=own, raw=message)
        turn.blocks = [_block(part, f"{path}.contents[{m}]") for m, part in objects(message["contents"])]
        yield turn


def kind_of(part: dict[str, Any]) -> str:
    """The type of a content by its Python name."""
    kind = text(part.get("type") or part.get("$type"))
    return _NAMES.get(kind.replace("_", "").lower(), kind)


def _block(part: dict[str, Any], path: str) -> Block:
    kind = kind_of(part)
    if kind == "function_call":
        return Block("call", path, kind, **_call(part), raw=part)
    if kind == "function_result":
        failed = part.get("exception") is not None
        content = part.get("result", part.get("items"))
        return Block(
            "result", path, kind, call_id=_call_id(part), content=_result(content), error=failed, raw=part
        )
    if kind in ("function_approval_request", "function_approval_response"):
        called = dict_of(part.get("function_call") or part.get("functionCall") or part.get("toolCall"))
        facts = _call(called) if called else {}
        own = text(part.get("id") or part.get("requestId"))
        approved = part.get("approved") if isinstance(part.get("approved"), bool) else None
        hosted = bool(facts.pop("hosted", False)) or _label(part) is not None
        made = Block("approval-request", path, kind, **facts, approval_id=own, approved=approved, raw=part)
        made.hosted = hosted or kind_of(called).startswith("mcp_") or (not called and own.startswith("mcpr_"))
        if kind.endswith("response"):
            made.kind = "approval-response"
        return made
    if kind in ("text", "text_reasoning"):
        said = part.get("text")
        return Block("text" if kind == "text" else "reasoning", path, kind, content=said, raw=part)
    if kind.startswith("mcp_server_tool"):
        return Block(
            "other",
            path,
            kind,
            call_id=_call_id(part),
            name=text(part.get("tool_name")),
            hosted=True,
            raw=part,
        )
    if kind in ("usage", "error", "hosted_file", "hosted_vector_store"):
        return Block("other", path, kind, content=part, raw=part)
    return Block("data", path, kind, content=part, raw=part)


def _call(part: dict[str, Any]) -> dict[str, Any]:
    return {
        "call_id": _call_id(part),
        "name": text(part.get("name") or part.get("tool_name") or part.get("toolName")),
        "arguments": part.get("arguments"),
        "hosted": _label(part) is not None,
    }


def _call_id(part: dict[str, Any]) -> str:
    return text(part.get("call_id") or part.get("callId"))


def _label(part: dict[str, Any]) -> Any:
    """The server that runs a hosted tool."""
    extra = dict_of(part.get("additional_properties") or part.get("additionalProperties"))
    return next(
        (x for x in (extra.get("server_label"), part.get("server_label"), part.get("serverName")) if x), None
    )


def _result(content: Any) -> Any:
    """A result without the contents around it."""
    parts = objects(content)
    if parts and len(parts) == len(content) and all(isinstance(p.get("text"), str) for _, p in parts):
        return "".join(p["text"] for _, p in parts)
    return content
