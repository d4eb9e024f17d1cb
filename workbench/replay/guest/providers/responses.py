"""OpenAI Responses: outputs belong to calls, approvals to MCP requests, items are unique."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..script import Answer, View
from .text import text_of

PATH = "/v1/responses"


def view(body: dict[str, Any]) -> View:
    """What the model is shown."""
    seen = View()
    for item in _items(body):
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") == "user":
            seen.users.append(text_of(item.get("content")))
        elif kind == "function_call":
            seen.calls.append(item["call_id"])
        elif kind == "function_call_output":
            seen.results[item["call_id"]] = text_of(item.get("output"))
    return seen


def continued(body: dict[str, Any], stored: dict[str, list[Any]]) -> dict[str, Any] | str:
    """A request with the items it continues in front; the refusal where the service does not know them."""
    before = body.get("previous_response_id")
    if before is not None and before not in stored:
        return f"Previous response with id '{before}' not found."
    return {**body, "input": [*stored.get(before or "", ()), *_items(body)]}


def items(answer: Answer) -> list[dict[str, Any]]:
    """An answer as the items of a request that repeats it."""
    said = [{"type": "message", "role": "assistant", "content": answer.text}] if answer.text else []
    called = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in answer.calls
    ]
    return [*said, *called]


def name(number: int) -> str:
    """The id of the response of that number."""
    return f"resp_{number}"


def refusal(body: dict[str, Any]) -> str | None:
    """Why the service would answer 400; None where it would not."""
    items = _items(body)
    ids = Counter(item["id"] for item in items if item.get("id"))
    calls = Counter(item["call_id"] for item in items if item.get("type") == "function_call")
    outputs = Counter(item["call_id"] for item in items if item.get("type") == "function_call_output")
    asked = {item["id"] for item in items if item.get("type") == "mcp_approval_request"}
    answered = {item["approval_request_id"] for item in items if item.get("type") == "mcp_approval_response"}
    twice = [name for name, count in (ids + calls).items() if count > 1]
    if twice:
        return (
            f"Duplicate item found with id {twice[0]}. Remove duplicate items from your input and try again."
        )
    if answered - asked:
        return (
            "The following MCP approval requests have approval responses but weren't passed as input: "
            + ", ".join(sorted(answered - asked))
        )
    for call in outputs:
        if call not in calls:
            return f"No tool call found for function call output with call_id {call}."
        if outputs[call] > 1:
            return (
                f"Duplicate function_call_output for call_id '{call}'. "
                "Each function_call must have exactly one matching function_call_output."
            )
    missing = [call for call in calls if call not in outputs]
    return f"No tool output found for function call {missing[0]}." if missing else None


def error(reason: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"message": reason, "type": "invalid_request_error", "param": "input", "code": None}}


def stream(answer: Answer, number: int) -> Iterator[str]:
    """The events of an answer."""
    identity, sequence = name(number), iter(range(1000))
    output: list[dict[str, Any]] = []

    def event(kind: str, **fields: Any) -> str:
        told = {"type": kind, "sequence_number": next(sequence), **fields}
        return f"event: {kind}\ndata: {json.dumps(told, ensure_ascii=False)}\n\n"

    yield event("response.created", response=_response(identity, "in_progress", []))
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        item = {
            "type": "message",
            "id": f"msg_{number}",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
        where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        yield event(
            "response.output_item.added",
            output_index=0,
            item={**item, "content": [], "status": "in_progress"},
        )
        yield event("response.content_part.added", **where, part={**part, "text": ""})
        yield event("response.output_text.delta", **where, delta=answer.text, logprobs=[])
        yield event("response.output_text.done", **where, text=answer.text, logprobs=[])
        yield event("response.content_part.done", **where, part=part)
        yield event("response.output_item.done", output_index=0, item=item)
        output.append(item)
    for call in answer.calls:
        index = len(output)
        item = {
            "type": "function_call", "id": f"fc_{number}_{index}", "call_id": call.id, "name": call.name,
            "arguments": call.arguments, "status": "completed",
        }  # fmt: skip
        where = {"item_id": item["id"], "output_index": index}
        added = {**item, "arguments": "", "status": "in_progress"}
        yield event("response.output_item.added", output_index=index, item=added)
        yield event("response.function_call_arguments.delta", **where, delta=call.arguments)
        yield event(
            "response.function_call_arguments.done", **where, arguments=call.arguments, name=call.name
        )
        yield event("response.output_item.done", output_index=index, item=item)
        output.append(item)
    yield event("response.completed", response=_response(identity, "completed", output))


def _items(body: dict[str, Any]) -> list[dict[str, Any]]:
    given = body.get("input", [])
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _response(name: str, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": name, "object": "response", "created_at": 0, "status": status, "model": "scripted", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
    }  # fmt: skip
