"""Anthropic Messages: every `tool_use` is unique and answered in the very next message."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..script import Answer, View
from .text import text_of

PATH = "/v1/messages"


def view(body: dict[str, Any]) -> View:
    """What the model is shown."""
    seen = View()
    for message in body["messages"]:
        blocks = _blocks(message)
        texts = [block for block in blocks if block["type"] == "text"]
        if message["role"] == "user" and texts:
            seen.users.append(text_of(texts))
        for block in blocks:
            if block["type"] == "tool_use":
                seen.calls.append(block["id"])
            elif block["type"] == "tool_result":
                seen.results[block["tool_use_id"]] = text_of(block.get("content"))
    return seen


def refusal(body: dict[str, Any]) -> str | None:
    """Why the service would answer 400; None where it would not."""
    messages = _joined(body["messages"])
    used = Counter(block["id"] for _, blocks in messages for block in blocks if block["type"] == "tool_use")
    if any(count > 1 for count in used.values()):
        return _at("messages", "`tool_use` ids must be unique")
    before: list[str] = []
    for number, (role, blocks) in enumerate(messages):
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        twice = [name for name, count in Counter(results).items() if count > 1]
        if twice:
            said = "each tool_use must have a single result. Found multiple `tool_result` blocks with id"
            return _at(f"messages.{number}", f"{said}: {twice[0]}")
        for name in results:
            if name not in before:
                said = f"unexpected `tool_use_id` found in `tool_result` blocks: {name}."
                return _at(f"messages.{number}", f"{said} Each `tool_result` block must have a corresponding "
                           "`tool_use` block in the previous message.")  # fmt: skip
        missing = [name for name in before if name not in results]
        if missing:
            said = "`tool_use` ids were found without `tool_result` blocks immediately after"
            return _at(f"messages.{number - 1}", f"{said}: {', '.join(missing)}.")
        before = (
            [block["id"] for block in blocks if block["type"] == "tool_use"] if role == "assistant" else []
        )
    if before:
        said = "`tool_use` ids were found without `tool_result` blocks immediately after"
        return _at(f"messages.{len(messages) - 1}", f"{said}: {', '.join(before)}.")
    return None


def error(reason: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": reason}}


def stream(answer: Answer, number: int) -> Iterator[str]:
    """The events of an answer."""

    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n"

    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield event("message_start", message=message)
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if answer.text:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": answer.text}))
    for call in answer.calls:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        blocks.append((block, {"type": "input_json_delta", "partial_json": call.arguments}))
    for index, (block, delta) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=block)
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    ended = {"stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=ended, usage={"output_tokens": 1})
    yield event("message_stop")


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _joined(messages: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The messages as the service sees them: consecutive ones of a role are one."""
    joined: list[tuple[str, list[dict[str, Any]]]] = []
    for message in messages:
        if joined and joined[-1][0] == message["role"]:
            joined[-1][1].extend(_blocks(message))
        else:
            joined.append((message["role"], list(_blocks(message))))
    return joined


def _at(place: str, reason: str) -> str:
    return f"{place}: {reason}"
