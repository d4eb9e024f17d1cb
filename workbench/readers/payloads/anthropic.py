"""Messages of Anthropic: calls and results are content blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.readers.payloads.history import (
    Block,
    History,
    Turn,
    objects,
    one_content,
    settings_of,
    text,
)


def history(body: dict[str, Any]) -> History:
    """A request body of /v1/messages, also as sent to Bedrock or Vertex."""
    return History("anthropic", list(turns(body.get("messages"))), settings_of(body, "messages"))


def turns(messages: Any, name: str = "messages") -> Iterator[Turn]:
    """The messages of a list, one turn each."""
    for n, message in objects(messages):
        path = f"{name}[{n}]"
        content = message.get("content")
        turn = Turn(text(message.get("role")), path, id=text(message.get("id")), raw=message)
        if isinstance(content, str) and content:
            turn.blocks.append(Block("text", f"{path}.content", "text", content=content))
        for m, part in objects(content):
            turn.blocks.extend(_block(part, f"{path}.content[{m}]"))
        yield turn


def _block(part: dict[str, Any], path: str) -> Iterator[Block]:
    kind = text(part.get("type"))
    if kind == "tool_use":
        yield Block("call", path, kind, call_id=text(part.get("id")), name=text(part.get("name")),
                    arguments=part.get("input"), raw=part)  # fmt: skip
    elif kind == "tool_result":
        yield Block("result", path, kind, call_id=text(part.get("tool_use_id")), content=part.get("content"),
                    error=part.get("is_error") is True, raw=part)  # fmt: skip
    elif kind in ("thinking", "redacted_thinking"):
        yield Block("reasoning", path, kind, content=part.get("thinking"), raw=part)
    elif kind.endswith(("_tool_use", "_tool_result")):
        yield Block("other", path, kind, name=text(part.get("name")), hosted=True, raw=part)
    else:
        yield from one_content(part, path)
