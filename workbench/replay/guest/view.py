"""What a client knows after a run: the messages of the conversation, as front ends keep them.

Used on both sides of the wire: to read in a capture what a client had before its next request, and to
build that request again.
"""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]


def after(messages: list[Message], events: list[dict[str, Any]]) -> list[Message]:
    """The messages after a run: those of its last MESSAGES_SNAPSHOT, else the sent ones and what was streamed."""
    for event in reversed(events):
        if event.get("type") == "MESSAGES_SNAPSHOT":
            held = event.get("messages")
            return list(held) if isinstance(held, list) else []
    return [*messages, *_streamed(events)]


def _streamed(events: list[dict[str, Any]]) -> list[Message]:
    made: list[Message] = []
    by_id: dict[str, Message] = {}
    functions: dict[str, dict[str, str]] = {}

    def assistant(identity: str) -> Message:
        if identity not in by_id:
            by_id[identity] = {"id": identity, "role": "assistant"}
            made.append(by_id[identity])
        return by_id[identity]

    for event in events:
        kind = event.get("type")
        if kind == "TEXT_MESSAGE_CONTENT":
            message = assistant(str(event.get("messageId")))
            message["content"] = message.get("content", "") + str(event.get("delta", ""))
        elif kind == "TOOL_CALL_START" and event.get("toolCallId") not in functions:
            call = str(event.get("toolCallId"))
            functions[call] = {"name": str(event.get("toolCallName")), "arguments": ""}
            message = assistant(str(event.get("parentMessageId") or call))
            message.setdefault("toolCalls", []).append(
                {"id": call, "type": "function", "function": functions[call]}
            )
        elif kind == "TOOL_CALL_ARGS" and event.get("toolCallId") in functions:
            functions[event["toolCallId"]]["arguments"] += str(event.get("delta", ""))
        elif kind == "TOOL_CALL_RESULT":
            made.append(
                {
                    "id": event.get("messageId"), "role": "tool", "toolCallId": event.get("toolCallId"),
                    "content": event.get("content"),
                }
            )  # fmt: skip
    return made
