"""Messages of Bedrock Converse: content blocks are told by their key, not by a type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.readers.payloads.history import Block, History, Turn, dict_of, objects, settings_of, text


def history(body: dict[str, Any]) -> History:
    """A request body of Converse or ConverseStream, or the keyword arguments of `client.converse`."""
    return History("bedrock", list(turns(body.get("messages"))), settings_of(body, "messages"))


def turns(messages: Any, name: str = "messages") -> Iterator[Turn]:
    """The messages of a list, one turn each."""
    for n, message in objects(messages):
        path = f"{name}[{n}]"
        turn = Turn(text(message.get("role")), path, raw=message)
        turn.blocks = [_block(part, f"{path}.content[{m}]") for m, part in objects(message.get("content"))]
        yield turn


def _block(part: dict[str, Any], path: str) -> Block:
    use, result = part.get("toolUse"), part.get("toolResult")
    if isinstance(use, dict):
        return Block("call", path, "toolUse", call_id=text(use.get("toolUseId")), name=text(use.get("name")),
                     arguments=use.get("input"), raw=part)  # fmt: skip
    if isinstance(result, dict):
        return Block("result", path, "toolResult", call_id=text(result.get("toolUseId")),
                     content=_plain(result.get("content")), error=result.get("status") == "error", raw=part)  # fmt: skip
    if "reasoningContent" in part:
        thought = dict_of(dict_of(part["reasoningContent"]).get("reasoningText"))
        return Block("reasoning", path, "reasoningContent", content=thought.get("text"), raw=part)
    if isinstance(part.get("text"), str):
        return Block("text", path, "text", content=part["text"], raw=part)
    return Block("data", path, next(iter(part), ""), content=part, raw=part)


def _plain(content: Any) -> Any:
    """What a tool returned, without the block around it: a lone `json` or `text` block is its value."""
    parts = objects(content)
    if len(parts) == 1 and "json" in parts[0][1]:
        return parts[0][1]["json"]
    return content
