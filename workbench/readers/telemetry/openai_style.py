"""One message of any convention (GenAI parts, chat completions, Vercel, Anthropic, Google) → role and parts."""

from __future__ import annotations

from typing import Any

from workbench.readers.telemetry import values
from workbench.readers.telemetry.cut_json import loads

Message = dict[str, Any]

_CALLS = frozenset({"tool_call", "tool-call", "tool_use", "function_call", "functioncall", "toolcall"})
_RESULTS = frozenset({
    "tool_call_response", "tool-result", "tool_result", "function_result", "functionresult", "function_response",
    "tool_return", "tool-return",
})  # fmt: skip
_HOSTED_CALLS = frozenset({"server_tool_call", "server_tool_use", "mcp_call", "mcp_server_tool_call"})
_HOSTED_RESULTS = frozenset({"server_tool_call_response", "mcp_server_tool_result", "mcp_tool_result"})
_REQUESTS = ("approval_request", "approvalrequestcontent")
_RESPONSES = ("approval_response", "approvalresponsecontent")


def message(value: dict[str, Any], direction: str) -> Message | None:
    """A message in the shape of `messages`; None for an object that is none."""
    parts = value.get("parts")
    content = value.get("content", value.get("contents"))
    calls = value.get("tool_calls", value.get("toolCalls"))
    role = value.get("role") or value.get("kind")
    answered = value.get("tool_call_id", value.get("toolCallId"))
    if role is None and parts is None and calls is None and answered is None:
        return None
    role = role if isinstance(role, str) else ("assistant" if direction == "output" else "user")
    if isinstance(answered, str) and answered and role in ("tool", "function", "user"):
        result = {"type": "tool_call_response", "id": answered, "response": _said(content)}
        if isinstance(name := value.get("name"), str):
            result["name"] = name
        return {"role": "tool", "direction": direction, "parts": [result]}
    items = (parts if isinstance(parts, list) else []) or (content if isinstance(content, list) else [])
    made = [_part(item) for item in items]
    if isinstance(content, str) and content and not parts:
        made.append({"type": "text", "content": content})
    made += [_call(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    legacy = value.get("function_call")
    if isinstance(legacy, dict) and not calls:
        made.append(_call(legacy))
    return {"role": role, "direction": direction, "parts": made}


def unwrapped(value: dict[str, Any]) -> Any:
    """The messages in an object around them: a request, an answer, or one message."""
    for key in ("messages", "contents", "output", "input"):
        if isinstance(value.get(key), list):
            return value[key]
    choices = value.get("choices")
    if isinstance(choices, list):
        return [
            choice["message"]
            for choice in choices
            if isinstance(choice, dict) and isinstance(choice.get("message"), dict)
        ]
    if isinstance(value.get("content"), dict):  # ADK: an LlmResponse
        return [value["content"]]
    return [value]


def _first(value: dict[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _said(value: Any) -> str | None:
    """A result as text: text parts joined, everything else as JSON."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        texts = [_first(item, "text", "content") for item in value]
        if all(isinstance(text, str) for text in texts):
            return "".join(texts)
    return values.as_text(value)


def _known(**said: str | None) -> dict[str, str]:
    """What is not missing."""
    return {key: text for key, text in said.items() if text is not None}


def _call(value: dict[str, Any]) -> dict[str, Any]:
    """A tool call, with `function` inside or not."""
    function = value.get("function")
    inner = {**value, **function} if isinstance(function, dict) else value
    part: dict[str, Any] = {"type": "tool_call"}
    call_id = _first(inner, "call_id", "tool_call_id", "toolCallId", "callId", "id")
    name = _first(inner, "name", "toolName", "tool_name")
    arguments = _first(inner, "arguments", "args", "input", "parameters")
    part |= _known(id=values.word(call_id), name=values.word(name), arguments=values.as_text(arguments))
    if (
        value.get("hosted") is True
        or value.get("provider_executed") is True
        or value.get("providerExecuted") is True
    ):
        part["hosted"] = True
    return part


def _result(value: dict[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "tool_call_response"}
    call_id = _first(value, "call_id", "tool_call_id", "tool_use_id", "toolCallId", "callId", "id")
    name = _first(value, "name", "toolName", "tool_name")
    response = _first(value, "response", "result", "output", "content")
    if isinstance(response, dict) and response.get("type") in ("text", "json") and "value" in response:
        response = response["value"]  # Vercel's typed output
    part |= _known(id=values.word(call_id), name=values.word(name), response=_said(response))
    return part


def _part(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {"type": "text", "content": values.as_text(value)}
    for key, make in (("function_call", _call), ("functionCall", _call)):
        if isinstance(value.get(key), dict) and "type" not in value:
            return make(value[key])
    for key in ("function_response", "functionResponse"):
        if isinstance(value.get(key), dict):
            return _result(value[key])
    kind = value.get("type") or value.get("part_kind")
    if kind in (None, "function") and isinstance(value.get("function"), dict):
        return _call(value)
    kind = kind if isinstance(kind, str) else ("text" if "text" in value or "content" in value else "data")
    plain = kind.lower().rpartition(".")[2]
    inner = value.get(kind)
    inner_kind = inner.get("type") if isinstance(inner, dict) else ""
    said = f"{plain} {inner_kind}".lower().replace("-", "_")
    if any(word in said for word in _REQUESTS) or any(word in said for word in _RESPONSES):
        return _approval(value, response=any(word in said for word in _RESPONSES))
    if plain in _HOSTED_CALLS:
        return {
            **_call({**value, **(inner if isinstance(inner, dict) else {}), "id": value.get("id")}),
            "hosted": True,
        }
    if plain in _HOSTED_RESULTS:
        response = value.get("response", inner if isinstance(inner, dict) else value.get("content"))
        return {**_result({**value, "response": response}), "hosted": True}
    if plain in _CALLS:
        return _call(value)
    if plain in _RESULTS:
        return _result(value)
    content = _first(value, "content", "text", "reasoning", "thinking", "data")
    kind = {"input_text": "text", "output_text": "text", "thinking": "reasoning"}.get(plain, kind)
    return {"type": kind, "content": _said(content)}


def _approval(value: dict[str, Any], *, response: bool) -> dict[str, Any]:
    """A request for a decision or the decision, in the forms of agent-framework and Microsoft.Extensions.AI."""
    content = value.get("content")
    content = loads(content) if isinstance(content, str) else content
    inner = {
        key.lower().replace("_", ""): item
        for key, item in (content if isinstance(content, dict) else {}).items()
    }
    for key, item in value.items():
        inner.setdefault(key.lower().replace("_", ""), item)
    part: dict[str, Any] = {"type": "function_approval_response" if response else "function_approval_request"}
    approval = _first(inner, "requestid", "id", "approvalrequestid")
    if isinstance(approval, str) and approval:
        part["id"] = approval
    for key in ("functioncall", "toolcall", "servertoolcall"):
        call = inner.get(key)
        call = loads(call) if isinstance(call, str) else call
        if isinstance(call, dict):
            plain = {k[:1].lower() + k[1:]: v for k, v in call.items()}
            # the id inside of the call is that of the approval where a call id stands beside it
            part["function_call"] = {k: v for k, v in _call(plain).items() if k != "type"}
            break
    if response:
        answer = inner.get("approved", inner.get("isapproved", inner.get("approve")))
        if isinstance(answer, dict):
            answer = answer.get("approved")
        servers = inner.get("servertoolcallresponse")
        if answer is None and isinstance(servers, dict):
            answer = servers.get("approved")
        if isinstance(answer, str) and answer.lower() in ("true", "false"):
            answer = answer.lower() == "true"
        if isinstance(answer, bool):
            part["approved"] = answer
    return part


def put(target: dict[str, Any], path: list[str], value: Any) -> None:
    """Set a value in nested dicts by its dotted key; OpenInference's wrappers `message`, `tool_call` are dropped."""
    for name in path[:-1]:
        inner = target.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        target = inner
    target[path[-1]] = value


def listed(value: Any) -> Any:
    """Nested dicts whose keys are numbers as lists; single wrappers (`tool_call`, `message_content`) taken off."""
    if not isinstance(value, dict):
        return value
    if value and all(key.isdigit() for key in value):
        return [listed(value[key]) for key in sorted(value, key=lambda key: int(key[:9]))]
    if len(value) == 1 and (name := next(iter(value))) in ("tool_call", "message_content"):
        return listed(value[name])
    return {key: listed(item) for key, item in value.items()}
