"""RunAgentInput, in the spellings that captures have."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.readers import tolerant

#: snake_case keys of hand-written clients under their wire names
_WIRE = {
    "thread_id": "threadId",
    "run_id": "runId",
    "parent_run_id": "parentRunId",
    "forwarded_props": "forwardedProps",
    "protocol_version": "protocolVersion",
}
_PROVIDER_LISTS = ("messages", "input", "contents")


def run_input(value: Any) -> dict[str, Any] | None:
    """The RunAgentInput that `value` is or directly holds, with wire names; None if there is none.

    A single-route envelope `{method: "agent/run", params, body}` holds one.
    """
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("method"), str) and isinstance(value.get("body"), dict):
        value = value["body"]
    body = {_WIRE.get(key, key): part for key, part in value.items()}
    thread, run = body.get("threadId"), body.get("runId")
    if not isinstance(thread, str | int) or isinstance(value.get("type"), str):
        return None
    if isinstance(body.get("messages"), list) or (isinstance(run, str | int) and "resume" in body):
        for key in ("threadId", "runId"):
            if key in body:
                body[key] = tolerant.as_text(body[key])
        return body
    return None


def decode(data: bytes) -> dict[str, Any] | None:
    """The RunAgentInput in some JSON text; None if it is none."""
    decoded = tolerant.decode(data)
    return run_input(decoded.value)


def is_provider_body(value: Any) -> bool:
    """Whether an object is a request to a model provider: a model and a message list."""
    if not isinstance(value, dict) or "threadId" in value or "thread_id" in value:
        return False
    named = isinstance(value.get("model") or value.get("modelId"), str)
    lists = any(isinstance(value.get(key), list | str) for key in _PROVIDER_LISTS)
    return (named and lists) or isinstance(value.get("contents"), list)


def key(body: dict[str, Any]) -> tuple[str | None, str | None]:
    """Thread and run of a request."""
    return tolerant.as_text(body.get("threadId")), tolerant.as_text(body.get("runId"))


def encoded(body: dict[str, Any]) -> bytes:
    """The request as JSON text."""
    return msgspec.json.encode(body)
