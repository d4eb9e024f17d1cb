"""Histories of any dialect as message lists: messages in the shape of AG-UI's, and parts with their exact places.

Rules that judge message lists read roles, calls and results; here a result is a message of role
`tool` of its own, wherever its dialect puts it, and stands before other content of the same turn.
"""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.calls import results
from workbench.calls.conversation import Part
from workbench.readers.payloads.chat import MADE_UP
from workbench.readers.payloads.history import Block, History, Turn

#: Roles in which a dialect carries results, beside `tool`
_CARRIES = {"anthropic": "user", "gemini": "user", "bedrock": "user"}


def unfold(history: History) -> tuple[list[dict[str, Any]], list[Part]]:
    """The messages of a history and its parts, whose positions count in those messages."""
    made = _Unfolding(history)
    for turn in history.turns:
        made.turn(turn)
    return made.messages, made.parts


class _Unfolding:
    def __init__(self, history: History) -> None:
        self.carrier = _CARRIES.get(history.dialect, "tool")
        self.messages: list[dict[str, Any]] = []
        self.parts: list[Part] = []

    def turn(self, turn: Turn) -> None:
        """One turn: its results first, then what else it says."""
        for block in turn.of("result"):
            role = "tool" if turn.role in (self.carrier, "tool") else turn.role
            said: dict[str, Any] = {"id": turn.id, "role": role, "content": results.text_of(block.content)}
            if _id(block):
                said["toolCallId"] = block.call_id
            self._add(said, [block])
        rest = [block for block in turn.blocks if block.kind != "result"]
        if not rest and turn.blocks:
            return
        if rest and all(block.kind == "reasoning" for block in rest):
            self._add({"id": turn.id, "role": "reasoning", "content": _text(rest)}, rest)
            return
        said = {"id": turn.id, "role": turn.role, "content": _text(rest)}
        if turn.role == "user" and not said["content"] and any(block.kind == "data" for block in rest):
            said["content"] = "[data]"
        calls = [_call(block) for block in rest if block.kind == "call"]
        if calls:
            said["toolCalls"] = calls
        approvals = [
            {"id": block.approval_id or block.call_id, "approved": block.approved}
            for block in rest
            if block.kind == "approval-response"
        ]
        if approvals:
            said["function_approvals"] = approvals
        self._add(said, rest)

    def _add(self, message: dict[str, Any], blocks: list[Block]) -> None:
        position = len(self.messages)
        self.messages.append(message)
        self.parts.extend(_part(position, message, block) for block in blocks)


def _part(position: int, message: dict[str, Any], block: Block) -> Part:
    kind = "data" if block.kind in ("reference", "other") else block.kind
    content = results.text_of(block.content)
    if block.kind == "approval-response":
        content = {True: "approved", False: "rejected"}.get(block.approved, "")  # type: ignore[arg-type]
    return Part(
        position, str(message.get("id") or ""), str(message["role"]), kind, _id(block), block.name, _json(block.arguments),
        content, hosted=block.hosted, error="error" if block.error else "", approval_id=block.approval_id,
        path=block.path,
    )  # fmt: skip


def _call(block: Block) -> dict[str, Any]:
    call: dict[str, Any] = {"function": {"name": block.name, "arguments": _json(block.arguments)}}
    if not block.call_id.startswith(MADE_UP):
        call["id"] = block.call_id
    return call


def _id(block: Block) -> str:
    return "" if block.call_id.startswith(MADE_UP) else block.call_id


def _text(blocks: list[Block]) -> str:
    return "".join(results.text_of(block.content) for block in blocks if block.kind in ("text", "reasoning"))


def _json(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)
