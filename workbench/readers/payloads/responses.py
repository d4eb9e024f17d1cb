"""Items of an OpenAI Responses input: each is a turn of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.readers.payloads.chat import ROLES
from workbench.readers.payloads.history import (
    Block,
    History,
    Turn,
    content_blocks,
    objects,
    settings_of,
    text,
)

#: items that the agent carries out and answers with `<type>_output`
LOCAL_CALLS = (
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "computer_call",
    "shell_call",
    "apply_patch_call",
)
OUTPUTS = tuple(f"{kind}_output" for kind in LOCAL_CALLS)


def history(body: dict[str, Any]) -> History:
    """A request body with `input`; a text is one user message."""
    given = body.get("input")
    if isinstance(given, str):
        spoken = Turn("user", "input", [Block("text", "input", "input_text", content=given)])
        return History("openai-responses", [spoken], settings_of(body, "input"))
    return History("openai-responses", list(turns(given)), settings_of(body, "input"))


def turns(items: Any, name: str = "input") -> Iterator[Turn]:
    """The items of an input or output, one turn each."""
    for n, item in objects(items):
        yield _turn(item, f"{name}[{n}]")


def _turn(item: dict[str, Any], path: str) -> Turn:
    kind = text(item.get("type")) or (
        "message" if "role" in item else "item_reference" if "id" in item else ""
    )
    own, call_id = text(item.get("id")), text(item.get("call_id"))
    if kind == "message":
        role = text(item.get("role"))
        turn = Turn(ROLES.get(role, role), path, list(content_blocks(item.get("content"), path)), own, item)
        for block in turn.blocks:
            block.id = own
        return turn
    block = Block("other", path, kind, own, raw=item)
    role = "assistant"
    if kind in LOCAL_CALLS:
        block.kind, block.call_id, block.name = "call", call_id, text(item.get("name"))
        block.arguments = item.get("arguments", item.get("input", item.get("action")))
    elif kind in OUTPUTS:
        role = "tool"
        block.kind, block.call_id, block.content = "result", call_id, item.get("output")
    elif kind == "reasoning":
        block.kind, block.content = "reasoning", item.get("summary")
    elif kind == "mcp_approval_request":
        block.kind, block.approval_id, block.name = "approval-request", own, text(item.get("name"))
        block.arguments, block.hosted = item.get("arguments"), isinstance(item.get("server_label"), str)
    elif kind == "mcp_approval_response":
        role = "user"
        block.kind, block.approval_id = "approval-response", text(item.get("approval_request_id"))
        block.approved = item.get("approve") if isinstance(item.get("approve"), bool) else None
        block.hosted = True
    elif kind == "item_reference":
        block.kind = "reference"
    elif kind.endswith("_call"):
        block.name, block.hosted = text(item.get("name")), True
    return Turn(role, path, [block], own, item)
