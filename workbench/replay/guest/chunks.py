"""What a client makes of a stream without snapshots: messages from chunks, as the official clients do.

A chunk that names a new message or call opens it; a result becomes a tool message with the id that it brings.
"""

from __future__ import annotations

from typing import Any

CHUNKS = ("TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK")


def fold(history: list[dict[str, Any]], events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The history after a run; as it was where the run brought no chunks."""
    if not any(event["type"] in CHUNKS for event in events):
        return history
    made: list[dict[str, Any]] = []
    open_text = open_call = ""
    for event in events:
        kind = event["type"]
        if kind == "TEXT_MESSAGE_CHUNK":
            open_text = event.get("messageId") or open_text
            message = _assistant(made, open_text)
            message["content"] = message.get("content", "") + event.get("delta", "")
        elif kind == "TOOL_CALL_CHUNK":
            open_call = event.get("toolCallId") or open_call
            message = _assistant(made, event.get("parentMessageId") or open_call)
            calls = message.setdefault("toolCalls", [])
            call = next((known for known in calls if known["id"] == open_call), None)
            if call is None:
                function = {"name": event["toolCallName"], "arguments": ""}
                call = {"id": open_call, "type": "function", "function": function}
                calls.append(call)
            call["function"]["arguments"] += event.get("delta") or ""
        elif kind == "TOOL_CALL_RESULT":
            made.append(
                {"id": event["messageId"], "role": "tool", "toolCallId": event["toolCallId"], "content": event["content"]}
            )  # fmt: skip
    return [*history, *made]


def asked(history: list[dict[str, Any]]) -> dict[str, str]:
    """All calls of a history, whether or not the stream brought results for them: tools by call id."""
    return {
        call["id"]: call["function"]["name"] for message in history for call in message.get("toolCalls") or ()
    }


def _assistant(made: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for message in made:
        if message["id"] == name and message["role"] == "assistant":
            return message
    made.append({"id": name, "role": "assistant"})
    return made[-1]
