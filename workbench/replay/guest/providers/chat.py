"""OpenAI Chat Completions: order of tool messages, and one answer per call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..script import Answer, View
from .text import text_of

PATH = "/v1/chat/completions"


def view(body: dict[str, Any]) -> View:
    """What the model is shown."""
    seen = View()
    for message in body["messages"]:
        if message["role"] == "user":
            seen.users.append(text_of(message.get("content")))
        elif message["role"] == "tool":
            seen.results[message["tool_call_id"]] = text_of(message.get("content"))
        seen.calls += [call["id"] for call in message.get("tool_calls") or ()]
    return seen


def refusal(body: dict[str, Any]) -> str | None:
    """Why the service would answer 400; None where it would not."""
    open_calls: list[str] = []
    answered: dict[str, int] = {}
    # whether the results still follow the calls: one that stands elsewhere is an orphan, known or not
    in_block = False
    for number, message in enumerate(body["messages"]):
        role = message["role"]
        if role == "tool":
            call = message["tool_call_id"]
            if call in answered and in_block:
                return (
                    f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call}', "
                    f"in messages[{answered[call]}] and messages[{number}]."
                )
            if call not in open_calls:
                return (
                    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                )
            open_calls.remove(call)
            answered[call] = number
            continue
        in_block = bool(message.get("tool_calls"))
        if open_calls:
            break
        calls = [call["id"] for call in message.get("tool_calls") or ()]
        repeated = next((call for call in calls if calls.count(call) > 1 or call in answered), None)
        if repeated is not None:
            return f"Invalid parameter: Duplicate value for 'tool_call_id' of '{repeated}' in message with 'tool_calls'."
        open_calls = calls
    if open_calls:
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(open_calls)
        )
    return None


def error(reason: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"message": reason, "type": "invalid_request_error", "param": "messages", "code": None}}


def stream(answer: Answer, number: int) -> Iterator[str]:
    """The chunks of an answer."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        told = {
            "id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
            "choices": [choice],
        }  # fmt: skip
        return f"data: {json.dumps(told, ensure_ascii=False)}\n\n"

    yield chunk({"role": "assistant", "content": answer.text})
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": call.arguments}
        yield chunk(
            {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
        )
    yield chunk({}, "tool_calls" if answer.calls else "stop")
    yield "data: [DONE]\n\n"
