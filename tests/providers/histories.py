"""Generated histories: a conversation that keeps all rules, written in one of nine dialects, then broken in a few places."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

#: dialect, and the address it is sent to; lists of frameworks and clients are sent nowhere yet
DIALECTS = {
    "openai-chat": "https://api.openai.com/v1/chat/completions",
    "openai-responses": "https://api.openai.com/v1/responses",
    "anthropic": "https://api.anthropic.com/v1/messages",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
    "bedrock": "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse",
    "mistral": "https://api.mistral.ai/v1/chat/completions",
    "ag-ui": "", "agent-framework": "", "langchain": "",
}  # fmt: skip
TOOLS = ("find", "book")
IDS = ("Call00000", "Call00001", "a:1", "", "call_" + "9" * 60)


def _write(
    dialect: str, role: str, text: str, calls: list[tuple[str, str]], results: list[tuple[str, str]]
) -> list[Any]:
    """One step of a conversation: words, calls (id, tool), or results (id, content)."""
    if dialect == "openai-responses":
        said = [{"type": "message", "role": role, "content": text}] if text else []
        made = [{"type": "function_call", "call_id": i, "name": t, "arguments": "{}"} for i, t in calls]
        return [
            *said,
            *made,
            *({"type": "function_call_output", "call_id": i, "output": c} for i, c in results),
        ]
    if dialect in ("anthropic", "bedrock", "gemini", "agent-framework"):
        key = {"gemini": "parts", "agent-framework": "contents"}.get(dialect, "content")
        blocks = [
            *([_text(dialect, text)] if text else []),
            *(_call(dialect, *c) for c in calls),
            *(_result(dialect, *r) for r in results),
        ]
        named = {"assistant": "model"}.get(role, role) if dialect == "gemini" else role
        return [{"role": "tool" if results and dialect == "agent-framework" else named, key: blocks}]
    if dialect == "langchain":
        if results:
            return [{"type": "tool", "content": c, "tool_call_id": i} for i, c in results]
        made = [{"name": t, "args": {}, "id": i, "type": "tool_call"} for i, t in calls]
        return [
            {
                "type": "human" if role == "user" else "ai",
                "content": text,
                **({"tool_calls": made} if made else {}),
            }
        ]
    key, of = ("toolCalls", "toolCallId") if dialect == "ag-ui" else ("tool_calls", "tool_call_id")
    if results:
        return [{"role": "tool", of: i, "content": c} for i, c in results]
    listed = [{"id": i, "type": "function", "function": {"name": t, "arguments": "{}"}} for i, t in calls]
    return [{"role": role, "content": text, **({key: listed} if listed else {})}]


def _text(dialect: str, text: str) -> dict[str, Any]:
    return {"type": "text", "text": text} if dialect in ("anthropic", "agent-framework") else {"text": text}


def _call(dialect: str, own: str, tool: str) -> dict[str, Any]:
    return {
        "anthropic": {"type": "tool_use", "id": own, "name": tool, "input": {}},
        "bedrock": {"toolUse": {"toolUseId": own, "name": tool, "input": {}}},
        "gemini": {"functionCall": {"id": own, "name": tool, "args": {}}},
        "agent-framework": {"type": "function_call", "call_id": own, "name": tool, "arguments": "{}"},
    }[dialect]


def _result(dialect: str, own: str, content: str) -> dict[str, Any]:
    return {
        "anthropic": {"type": "tool_result", "tool_use_id": own, "content": content},
        "bedrock": {"toolResult": {"toolUseId": own, "content": [{"text": content}]}},
        "gemini": {"functionResponse": {"id": own, "name": "find", "response": {"output": content}}},
        "agent-framework": {"type": "function_result", "call_id": own, "result": content},
    }[dialect]


@st.composite
def whole(draw: st.DrawFn, dialect: str) -> list[Any]:
    """A conversation without a fault."""
    made: list[Any] = []
    number = 0
    for turn in range(draw(st.integers(1, 3))):
        made += _write(dialect, "user", f"go on {turn}", [], [])
        for _ in range(draw(st.integers(0, 2))):
            calls = [
                (f"Call{number + n:05d}", draw(st.sampled_from(TOOLS)))
                for n in range(draw(st.integers(1, 3)))
            ]
            number += len(calls)
            made += _write(dialect, "assistant", "", calls, [])
            made += _write(
                dialect, "user", "", [], [(own, draw(st.sampled_from(("9", "8")))) for own, _ in calls]
            )
        made += _write(dialect, "assistant", f"done {turn}", [], [])
    return [*made, *_write(dialect, "user", "and now?", [], [])]


def _holders(items: list[Any]) -> list[tuple[list[Any], int]]:
    """Every element that can be taken out: messages that are not the user's words, and blocks in them."""
    found: list[tuple[list[Any], int]] = []
    for n, message in enumerate(items):
        blocks = [
            message[k]
            for k in ("content", "parts", "contents", "tool_calls", "toolCalls")
            if isinstance(message.get(k), list)
        ]
        if not _spoken(message):
            found.append((items, n))
        for block in blocks:
            found += [(block, k) for k, b in enumerate(block) if "text" not in b]
    return found


def _spoken(message: dict[str, Any]) -> bool:
    content = next((message[k] for k in ("content", "parts", "contents") if message.get(k)), "")
    text = content if isinstance(content, str) else "".join(b.get("text", "") for b in content)
    return bool(text) and (message.get("role") == "user" or message.get("type") == "human")


_ID_KEYS = ("call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId")


def _rename(value: dict[str, Any], new: str) -> None:
    """Another id for a call or result, wherever it stands in the element."""
    for key, inner in value.items():
        if isinstance(inner, dict) and key in ("toolUse", "toolResult", "functionCall", "functionResponse"):
            _rename(inner, new)
        elif key in _ID_KEYS or (key == "id" and isinstance(inner, str)):
            value[key] = new


@st.composite
def broken(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A dialect and a list in it with one to three faults: lost, twice, elsewhere, another id."""
    dialect = draw(st.sampled_from(sorted(DIALECTS)))
    items = draw(whole(dialect))
    for _ in range(draw(st.integers(1, 3))):
        holders = _holders(items)
        if not holders:
            break
        holder, at = draw(st.sampled_from(holders))
        how = draw(st.sampled_from(("lose", "double", "move", "rename")))
        if how == "lose":
            del holder[at]
        elif how == "double":
            holder.insert(at, deepcopy(holder[at]))
        elif how == "move" and holder is items:
            items.insert(draw(st.integers(0, len(items) - 1)), items.pop(at))
        elif how == "rename":
            _rename(holder[at], draw(st.sampled_from(IDS)))
        # a message whose last block is lost is no message
        items[:] = [m for m in items if not any(m.get(k) == [] for k in ("content", "parts", "contents"))]
        for message in items:
            for key in ("tool_calls", "toolCalls"):
                if message.get(key) == []:
                    del message[key]
        items[:] = [
            m
            for m in items
            if m.get("content") != ""
            or m.get("tool_calls")
            or m.get("toolCalls")
            or "tool_call_id" in m
            or "toolCallId" in m
        ]
    return dialect, items
