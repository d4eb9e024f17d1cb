"""AG-UI messages (of a snapshot or request) as a history, so that any provider can judge them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.readers.payloads.history import Block, History, Turn, content_blocks, dict_of, objects, text


def history(messages: Any, name: str = "messages") -> History:
    """A list of AG-UI messages; display-only ones (activity) are left out."""
    return History("ag-ui", list(turns(messages, name)))


def turns(messages: Any, name: str = "messages") -> Iterator[Turn]:
    """The messages of a list, one turn each."""
    for n, message in objects(messages):
        role = text(message.get("role"))
        if role != "activity":
            path = f"{name}[{n}]"
            named = {"developer": "system", "reasoning": "assistant"}.get(role, role)
            yield Turn(named, path, list(_blocks(message, role, path)), text(message.get("id")), message)


def _blocks(message: dict[str, Any], role: str, path: str) -> Iterator[Block]:
    call_id = message.get("toolCallId", message.get("tool_call_id"))
    content = message.get("content")
    if role == "tool" or (call_id is not None and role != "assistant"):
        yield Block("result", path, "tool", call_id=text(call_id), content=content, error=bool(message.get("error")),
                    raw=message)  # fmt: skip
        return
    if role == "reasoning":
        yield Block("reasoning", path, "reasoning", content=content, raw=message)
        return
    yield from content_blocks(content, path)
    key = "toolCalls" if message.get("toolCalls") else "tool_calls"
    for n, call in objects(message.get(key)):
        function = dict_of(call.get("function")) or call
        yield Block("call", f"{path}.{key}[{n}]", "function", call_id=text(call.get("id")),
                    name=text(function.get("name")), arguments=function.get("arguments", function.get("args")), raw=call)  # fmt: skip
    key = "function_approvals" if message.get("function_approvals") else "functionApprovals"
    for n, given in objects(message.get(key)):
        approved = given.get("approved") if isinstance(given.get("approved"), bool) else None
        yield Block("approval-response", f"{path}.{key}[{n}]", "function_approval", call_id=text(given.get("call_id")),
                    approval_id=text(given.get("id")), approved=approved, raw=given)  # fmt: skip
