"""Contents of Gemini, on Google AI and Vertex: calls and results are parts, ids are optional."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.readers.payloads.chat import by_name
from workbench.readers.payloads.history import Block, History, Turn, dict_of, objects, settings_of, text

_ROLES = {"model": "assistant", "function": "user", "": "user"}


def history(body: dict[str, Any]) -> History:
    """A request body of generateContent; Code Assist wraps it in `request`."""
    inner = body if "contents" in body else dict_of(body.get("request"))
    settings = {**settings_of(body, "contents", "request"), **settings_of(inner, "contents")}
    made = History("gemini", list(turns(inner.get("contents"))), settings)
    by_name(made.turns)
    return made


def turns(contents: Any, name: str = "contents") -> Iterator[Turn]:
    """The contents of a list, one turn each; a text or a lone object is one content."""
    if isinstance(contents, str):
        contents = [{"role": "user", "parts": [{"text": contents}]}]
    for n, content in objects([contents] if isinstance(contents, dict) else contents):
        path = f"{name}[{n}]"
        role = text(content.get("role"))
        turn = Turn(_ROLES.get(role, role), path, raw=content)
        for m, part in objects(content.get("parts")):
            turn.blocks.append(_block(part, f"{path}.parts[{m}]"))
        yield turn


def _block(part: dict[str, Any], path: str) -> Block:
    call = part.get("functionCall", part.get("function_call"))
    answer = part.get("functionResponse", part.get("function_response"))
    if isinstance(call, dict):
        return Block("call", path, "functionCall", call_id=text(call.get("id")), name=text(call.get("name")),
                     arguments=call.get("args"), raw=part)  # fmt: skip
    if isinstance(answer, dict):
        return Block("result", path, "functionResponse", call_id=text(answer.get("id")), name=text(answer.get("name")),
                     content=answer.get("response"), raw=part)  # fmt: skip
    if part.get("thought") is True:
        return Block("reasoning", path, "thought", content=part.get("text"), raw=part)
    if isinstance(part.get("text"), str):
        return Block("text", path, "text", content=part["text"], raw=part)
    return Block("data", path, next(iter(part), ""), content=part, raw=part)


def signature(block: Block) -> Any:
    """The thought signature of a part."""
    return block.raw.get("thoughtSignature", block.raw.get("thought_signature"))
