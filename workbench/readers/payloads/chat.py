"""Messages of Chat Completions, and of Mistral and Ollama, which differ in details."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.readers.payloads.history import (
    Block,
    Dialect,
    History,
    Turn,
    content_blocks,
    dict_of,
    objects,
    settings_of,
    text,
)

ROLES = {"developer": "system", "function": "tool", "model": "assistant"}


def history(body: dict[str, Any], dialect: Dialect) -> History:
    """A request body with `messages`."""
    return History(dialect, list(turns(body.get("messages"))), settings_of(body, "messages"))


def turns(messages: Any, name: str = "messages") -> Iterator[Turn]:
    """The messages of a list, one turn each."""
    for n, message in objects(messages):
        path = f"{name}[{n}]"
        role = text(message.get("role"))
        turn = Turn(ROLES.get(role, role), path, id=text(message.get("id")), raw=message)
        turn.blocks.extend(_blocks(message, turn.role, path))
        yield turn


def _blocks(message: dict[str, Any], role: str, path: str) -> Iterator[Block]:
    call_id = message.get("tool_call_id")
    if role == "tool" or (call_id is not None and role != "assistant"):
        # Ollama names the tool instead of the call; the call is found by it.
        name = text(message.get("tool_name") or message.get("name"))
        yield Block(
            "result",
            path,
            "tool",
            call_id=text(call_id),
            name=name,
            content=message.get("content"),
            raw=message,
        )
        return
    thought = message.get("reasoning_content") or message.get("thinking") or message.get("reasoning")
    if isinstance(thought, str) and thought:
        yield Block("reasoning", path, "reasoning", content=thought)
    yield from content_blocks(message.get("content"), path)
    for n in range(len(message["images"]) if isinstance(message.get("images"), list) else 0):
        yield Block("data", f"{path}.images[{n}]", "image")
    for n, call in objects(message.get("tool_calls")):
        function = dict_of(call.get("function") or call.get("custom"))
        arguments = function.get("arguments", function.get("input"))
        yield Block("call", f"{path}.tool_calls[{n}]", "function", call_id=text(call.get("id")),
                    name=text(function.get("name")), arguments=arguments, raw=call)  # fmt: skip


def by_name(turns: list[Turn]) -> None:
    """Give calls and results without ids (Ollama, Gemini) one each, by tool and order; in place.

    A result answers the first call of its name that has no answer. The ids are made up for
    pairing and never shown as if they were in the capture: they begin with a control mark.
    """
    waiting: list[Block] = []
    number = 0
    for turn in turns:
        for block in turn.blocks:
            if block.kind == "call" and not block.call_id:
                number += 1
                block.call_id = f"{MADE_UP}{number}"
                waiting.append(block)
            elif block.kind == "result" and not block.call_id and waiting:
                same = [b for b in waiting if b.name == block.name or not block.name]
                if same:
                    block.call_id = same[0].call_id
                    waiting.remove(same[0])


#: begins the ids that `by_name` makes up
MADE_UP = "\x00"
