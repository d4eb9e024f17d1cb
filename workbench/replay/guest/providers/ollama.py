"""Ollama: takes any list of messages, and knows no ids of calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..script import Answer, View

PATH = "/api/chat"
MIME = "application/x-ndjson"


def view(body: dict[str, Any]) -> View:
    """What the model is shown."""
    seen = View()
    for message in body["messages"]:
        if message["role"] == "user":
            seen.users.append(message.get("content", ""))
        seen.calls += [call["function"]["name"] for call in message.get("tool_calls") or ()]
    return seen


def refusal(body: dict[str, Any]) -> None:
    """The service refuses none of the lists that connectors send."""
    del body


def error(reason: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": reason}


def stream(answer: Answer, number: int) -> Iterator[str]:
    """The lines of an answer."""
    del number
    head = {"model": "scripted", "created_at": "2026-01-01T00:00:00Z"}
    calls = [
        {"function": {"name": call.name, "arguments": json.loads(call.arguments)}} for call in answer.calls
    ]
    message = {"role": "assistant", "content": answer.text, **({"tool_calls": calls} if calls else {})}
    yield json.dumps({**head, "message": message, "done": False}, ensure_ascii=False) + "\n"
    end = {**head, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    yield json.dumps(end) + "\n"
