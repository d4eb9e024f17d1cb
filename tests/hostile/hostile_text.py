"""A conversation that has a text in every place that is displayed, and faults that make it be displayed."""

from __future__ import annotations

import json


def everywhere(text: str) -> bytes:
    """AG-UI as SSE: the text is every id, name, argument, result, message, key and error."""
    run = {"threadId": text, "runId": text}
    call = {"id": text, "type": "function", "function": {"name": text, "arguments": json.dumps({text: text})}}
    asked = {
        "id": text, "reason": "tool_call", "toolCallId": text, "message": text,
        "responseSchema": {"title": text}, "metadata": {text: text},
    }  # fmt: skip
    events = [
        {"type": "RUN_STARTED", **run, "input": {**run, "messages": [
            {"id": text, "role": "user", "content": text, "name": text},
            {"id": f"{text}2", "role": "assistant", "content": text, "toolCalls": [call, call]},
            {"id": f"{text}3", "role": "tool", "toolCallId": f"{text}?", "content": text},
        ], "tools": [{"name": text, "description": text, "parameters": {}}], "context": [], "state": {text: text}}},
        {"type": "STEP_STARTED", "stepName": text},
        {"type": "TEXT_MESSAGE_START", "messageId": text, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": text, "delta": text},
        {"type": "TOOL_CALL_START", "toolCallId": text, "toolCallName": text, "parentMessageId": text},
        {"type": "TOOL_CALL_START", "toolCallId": text, "toolCallName": f"{text}!"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": text, "delta": json.dumps({text: text})},
        {"type": "TOOL_CALL_RESULT", "toolCallId": text, "messageId": text, "content": f"Error: {text}"},
        {"type": "TOOL_CALL_RESULT", "toolCallId": f"{text}#", "messageId": text, "content": text},
        {"type": "CUSTOM", "name": text, "value": {text: text}},
        {"type": "RAW", "source": text, "event": {text: text}},
        {"type": text, text: text},
        {"type": "STATE_SNAPSHOT", "snapshot": {text: text}},
        {"type": "STATE_DELTA", "delta": [{"op": "replace", "path": f"/{text}", "value": text}]},
        {"type": "RUN_FINISHED", **run, "outcome": {"type": "interrupt", "interrupts": [asked, asked]}},
        {"type": "RUN_STARTED", **run, "parentRunId": text},
        {"type": "RUN_ERROR", "message": text, "code": text},
    ]  # fmt: skip
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
