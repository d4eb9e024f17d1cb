"""Messages of agent-framework (as `Message.to_dict` gives them) in the forms that the other readers know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

_CALL, _RESULT = "function_call", "function_result"
_ASKED, _ANSWERED = "function_approval_request", "function_approval_response"


def agui(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages as AG-UI has them: a message for each result, decisions as `function_approvals`."""
    made: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        made += _agui(message, str(message.get("message_id") or f"message-{number}"))
    return made


def chat(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages as Chat Completions has them; approvals are no part of what a model is sent."""
    made: list[dict[str, Any]] = []
    for message in messages:
        text, calls, results, _ = _sorted(message, asked=False)
        made += [{"role": "tool", "tool_call_id": i, "content": words} for i, words in results]
        if calls:
            made.append({"role": "assistant", "content": text or None, "tool_calls": calls})
        elif text or not results:
            made.append({"role": str(message.get("role") or "user"), "content": text})
    return made


def _agui(message: dict[str, Any], message_id: str) -> list[dict[str, Any]]:
    role = str(message.get("role") or "user")
    text, calls, results, decisions = _sorted(message, asked=True)
    made: list[dict[str, Any]] = []
    if calls:
        made.append({"id": message_id, "role": "assistant", "content": text, "toolCalls": calls})
    elif text or not (results or decisions):
        made.append({"id": message_id, "role": role if role != "tool" else "user", "content": text})
    for number, (call_id, words) in enumerate(results):
        own = message_id if not made and not number else f"{message_id}-{number}"
        made.append({"id": own, "role": "tool", "toolCallId": call_id, "content": words})
    if decisions:
        made.append(
            {"id": f"{message_id}-decisions", "role": "user", "content": "", "function_approvals": decisions}
        )
    return made


def _sorted(
    message: dict[str, Any], *, asked: bool
) -> tuple[str, list[dict[str, Any]], list[tuple[str, str]], list[dict[str, Any]]]:
    """Text, calls, results and decisions of a message; with `asked` also calls that only a request names."""
    texts: list[str] = []
    calls: dict[str, dict[str, Any]] = {}
    results: list[tuple[str, str]] = []
    decisions: list[dict[str, Any]] = []
    contents = message.get("contents")
    for content in contents if isinstance(contents, list | tuple) else ():
        if not isinstance(content, dict):
            continue
        kind = content.get("type")
        function = content.get("function_call")
        function = function if isinstance(function, dict) else {}
        if kind == "text":
            texts.append(str(content.get("text") or ""))
        elif kind == _CALL:
            _add(calls, content)
        elif kind == _ASKED and asked:
            _add(calls, function)
        elif kind == _RESULT:
            results.append((str(content.get("call_id") or ""), _words(content)))
        elif kind == _ANSWERED:
            decisions.append(
                {
                    "id": content.get("id"),
                    "call_id": function.get("call_id"),
                    "name": function.get("name"),
                    "arguments": function.get("arguments"),
                    "approved": content.get("approved"),
                }
            )
    return "".join(texts), list(calls.values()), results, decisions


def _add(calls: dict[str, dict[str, Any]], content: dict[str, Any]) -> None:
    """A call. Pieces of a streamed one have the same id, and a name only in the first."""
    call_id = str(content.get("call_id") or "")
    given = content.get("arguments")
    arguments = (
        given if isinstance(given, str) else "{}" if given is None else msgspec.json.encode(given).decode()
    )
    known = calls.get(call_id)
    if known is None:
        calls[call_id] = {
            "id": call_id,
            "type": "function",
            "function": {"name": str(content.get("name") or ""), "arguments": arguments},
        }
    elif not content.get("name") and isinstance(given, str):
        known["function"]["arguments"] += arguments


def _words(content: dict[str, Any]) -> str:
    """What a result says, or what went wrong instead."""
    result = content.get("result")
    if result is None and content.get("exception"):
        return str(content["exception"])
    if result is None and isinstance(content.get("items"), list):
        result = "".join(str(i.get("text") or "") for i in content["items"] if isinstance(i, dict))
    if isinstance(result, str):
        return result
    return "" if result is None else msgspec.json.encode(result).decode()
