"""Messages of LangChain and LangGraph: as `dumps` writes them, as `messages_to_dict`, or plain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.readers.payloads.history import (
    Block,
    History,
    Turn,
    content_blocks,
    dict_of,
    objects,
    one_content,
    text,
)

_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system", "developer": "system"}
#: content blocks that repeat what `tool_calls` says
_REPEATED = ("tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta")


def plain(value: Any) -> dict[str, Any] | None:
    """The fields of a message with its `type`; None for anything else."""
    if not isinstance(value, dict):
        return None
    if value.get("lc") and isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list):
        name = (
            text(value["id"][-1] if value["id"] else "").removesuffix("Chunk").removesuffix("Message").lower()
        )
        value = {**value["kwargs"], "type": value["kwargs"].get("type") or name}
    elif isinstance(value.get("data"), dict) and value.get("type") in _ROLES:
        value = {**value["data"], "type": value["type"]}
    kind = text(value.get("type")).removesuffix("MessageChunk").lower()
    if kind not in _ROLES or "content" not in value or "role" in value:
        return None
    return {**value, "type": kind}


def history(messages: list[Any], name: str = "messages") -> History:
    """A list of messages."""
    return History("langchain", list(turns(messages, name)))


def turns(messages: list[Any], name: str = "messages") -> Iterator[Turn]:
    """The messages of a list, one turn each."""
    for n, wrapped in enumerate(messages):
        message = plain(wrapped)
        if message is None:
            continue
        path = f"{name}[{n}]"
        turn = Turn(_ROLES[message["type"]], path, id=text(message.get("id")), raw=message)
        turn.blocks.extend(_blocks(message, turn.role, path))
        yield turn


def _blocks(message: dict[str, Any], role: str, path: str) -> Iterator[Block]:
    if role == "tool":
        yield Block("result", path, "tool", call_id=text(message.get("tool_call_id")), name=text(message.get("name")),
                    content=message.get("content"), error=message.get("status") == "error", raw=message)  # fmt: skip
        return
    content = message.get("content")
    if isinstance(content, str):
        yield from content_blocks(content, path)
    for n, part in objects(content):
        if part.get("type") not in _REPEATED:
            yield from one_content(part, f"{path}.content[{n}]")
    calls = message.get("tool_calls")
    if not calls:
        extra = dict_of(message.get("additional_kwargs")).get("tool_calls")
        for n, call in objects(extra):
            function = dict_of(call.get("function"))
            yield Block("call", f"{path}.additional_kwargs.tool_calls[{n}]", "function", call_id=text(call.get("id")),
                        name=text(function.get("name")), arguments=function.get("arguments"), raw=call)  # fmt: skip
    for key in ("tool_calls", "invalid_tool_calls"):
        for n, call in objects(message.get(key)):
            yield Block("call", f"{path}.{key}[{n}]", "tool_call", call_id=text(call.get("id")),
                        name=text(call.get("name")), arguments=call.get("args"), raw=call)  # fmt: skip
