"""Message lists: the messages of a snapshot or request as parts, with calls and results paired inside.

A list is judged by itself (rules.md, "Lists and threads"): a call is answered there only by
a result that stands in it. Ids may repeat across user turns, so pairing is by occurrence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from workbench.calls import results
from workbench.calls.arguments import differs
from workbench.calls.conversation import ListCall, MessageList, Part


def fill(items: MessageList) -> None:
    """Flatten `items.messages` to parts and pair calls with results."""
    for position, message in enumerate(items.messages):
        items.parts.extend(_parts(position, message))
    pair(items)


def _parts(position: int, message: dict[str, Any]) -> Iterator[Part]:
    role = _text(message.get("role"))
    message_id = _text(message.get("id"))
    content = message.get("content")
    call_id = _first(message, "toolCallId", "tool_call_id")
    path = f"messages[{position}]"
    if role == "tool" or (call_id and role not in ("assistant", "activity")):
        error = message.get("error")
        yield Part(position, message_id, role, "result", call_id, content=results.text_of(content),
                   error=results.text_of(error) if error else "", path=path)  # fmt: skip
        return
    if role in ("reasoning", "activity"):
        yield Part(position, message_id, role, role, content=results.text_of(content), path=path)
        return
    if content not in (None, "", []):
        kind = "text" if isinstance(content, str) or _only_text(content) else "data"
        yield Part(position, message_id, role, kind, content=results.text_of(content), path=path)
    key = "toolCalls" if message.get("toolCalls") else "tool_calls"
    calls = message.get(key)
    for number, call in enumerate(calls if isinstance(calls, list) else ()):
        if not isinstance(call, dict):
            continue
        function = call.get("function")
        function = function if isinstance(function, dict) else call
        arguments = function.get("arguments", function.get("args"))
        yield Part(position, message_id, role, "call", _text(call.get("id")), _text(function.get("name")),
                   arguments if isinstance(arguments, str) else _json(arguments),
                   path=f"{path}.{key}[{number}]")  # fmt: skip


def _only_text(content: Any) -> bool:
    return isinstance(content, list) and all(
        isinstance(p, dict) and isinstance(p.get("text"), str) for p in content
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _first(message: dict[str, Any], *keys: str) -> str:
    return next((_text(message[key]) for key in keys if message.get(key) is not None), "")


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


def is_user_turn(message: dict[str, Any]) -> bool:
    """A user message that says something: not one that only carries approvals."""
    if message.get("role") != "user":
        return False
    carries = message.get("function_approvals") or message.get("functionApprovals")
    return not carries or bool(message.get("content"))


def _again(first: Part, second: Part, opener: dict[str, Any], other: dict[str, Any]) -> bool:
    """The same assistant message after the same user message: no new turn has ids and text of an old one.

    An id that both have names neither: some clients give one to all.
    """
    return (
        bool(first.message_id and opener.get("id"))
        and first.message_id != opener["id"]
        and first.message_id == second.message_id
        and opener["id"] == other.get("id")
        and opener.get("content") == other.get("content")
    )


def pair(items: MessageList) -> None:
    """Pair results with calls: a result belongs to the latest occurrence of its id that lacks one.

    A second copy of an id opens a new occurrence only if a user message stands between and the
    first is answered or says something else (a rejected call has no result); else it is a copy.
    So it is where the whole turn stands there again. Results that stand before their call are
    joined in a second pass.
    """
    turns: list[int] = []
    openers: list[dict[str, Any]] = []
    for message in items.messages:
        if is_user_turn(message):
            openers.append(message)
        turns.append(max(len(openers) - 1, 0))
    latest: dict[str, ListCall] = {}
    early: list[Part] = []
    for part in items.parts:
        if part.kind == "call":
            known = latest.get(part.call_id)
            first = known.part if known is not None else part
            other = differs(first.name, first.arguments, part.name, part.arguments)
            opens = known is None or (known.turn < turns[part.position] and (bool(known.results) or other))
            if known is None or (
                opens
                and (other or not _again(first, part, openers[known.turn], openers[turns[part.position]]))
            ):
                latest[part.call_id] = ListCall(part, turn=turns[part.position])
                items.calls.append(latest[part.call_id])
            else:
                known.copies.append(part)
        elif part.kind == "result":
            known = latest.get(part.call_id)
            if known is None:
                early.append(part)
            else:
                known.results.append(part)
    called: dict[str, ListCall] = {}
    for entry in items.calls if early else ():
        called.setdefault(entry.part.call_id, entry)
    for part in early:
        later = called.get(part.call_id)
        if later is None:
            items.orphans.append(part)
        else:
            later.results.append(part)
