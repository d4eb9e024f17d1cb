"""Message lists as telemetry records them, as lists of a conversation: calls and results paired inside."""

from __future__ import annotations

from typing import Any

from workbench.calls import lists
from workbench.calls.conversation import At, MessageList, Part, Run
from workbench.calls.telemetry.reading import Message


def list_of(number: int, run: Run, at: At, sequence: int, found: list[Message]) -> MessageList:
    """A message list with place `telemetry`; its messages are in the shape of AG-UI's."""
    items = MessageList(number, "telemetry", run, at, sequence, [_plain(m) for m in found])
    items.whole = at.kind == "span" and not any(m.get("cut") for m in found)
    for position, message in enumerate(found):
        items.parts.extend(
            part for p in message["parts"] if (part := _part(position, message, p)) is not None
        )
    lists.pair(items)
    return items


def _plain(message: Message) -> dict[str, Any]:
    """Role and text, which tell a user turn; approvals carried by a user message are no turn."""
    text = "".join(p.get("content") or "" for p in message["parts"] if p["type"] == "text")
    plain: dict[str, Any] = {"role": message["role"], "content": text}
    if any(p["type"].startswith("function_approval") for p in message["parts"]):
        plain["function_approvals"] = True
    elif message["role"] == "user" and any(p["type"] == "tool_call_response" for p in message["parts"]):
        plain["role"] = "tool"  # Anthropic's and Google's way
    return plain


def _part(position: int, message: Message, part: dict[str, Any]) -> Part | None:
    kind, role = part["type"], message["role"]
    hosted = bool(part.get("hosted"))
    if kind == "tool_call":
        return Part(position, "", role, "call", part.get("id") or "", part.get("name") or "",
                    part.get("arguments") or "", hosted=hosted)  # fmt: skip
    if kind == "tool_call_response":
        return Part(position, "", role, "result", part.get("id") or "", part.get("name") or "",
                    content=part.get("response") or "", hosted=hosted)  # fmt: skip
    if kind.startswith("function_approval"):
        call = part.get("function_call") or {}
        word = "approval-response" if kind.endswith("response") else "approval-request"
        said = {True: "approved", False: "rejected"}.get(part.get("approved"), "")  # type: ignore[arg-type]
        return Part(position, "", role, word, call.get("id") or "", call.get("name") or "", call.get("arguments") or "",
                    said, hosted=bool(call.get("hosted")), approval_id=part.get("id") or "")  # fmt: skip
    if kind in ("text", "reasoning"):
        return Part(position, "", role, kind, content=part.get("content") or "")
    return Part(position, "", role, "data", content=part.get("content") or "")
