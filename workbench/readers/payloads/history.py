"""A message list of any dialect as turns of blocks, each with its exact place in the list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

Kind = Literal[
    "text",
    "data",
    "reasoning",
    "call",
    "result",
    "approval-request",
    "approval-response",
    "reference",
    "other",
]
Dialect = Literal[
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "mistral",
    "ollama",
    "agent-framework",
    "langchain",
    "ag-ui",
]


@dataclass(slots=True)
class Block:
    """One part of a turn. `path` is its place in the list as written, as in `messages[3].tool_calls[0]`.

    `arguments` and `content` are as decoded; a text stays a text. `id` is the item's own id
    (Responses), `call_id` that of the call it is or belongs to.
    """

    kind: Kind
    path: str
    type: str = ""
    id: str = ""
    call_id: str = ""
    name: str = ""
    arguments: Any = None
    content: Any = None
    error: bool = False
    #: of approvals
    approval_id: str = ""
    approved: bool | None = None
    #: run by the provider or another server, not by the agent
    hosted: bool = False
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Turn:
    """One message (or one item of a Responses input). `role` is system, user, assistant or tool."""

    role: str
    path: str
    blocks: list[Block] = field(default_factory=list)
    id: str = ""
    raw: dict[str, Any] = field(default_factory=dict)

    def of(self, *kinds: str) -> list[Block]:
        """The blocks of these kinds, in order."""
        return [block for block in self.blocks if block.kind in kinds]


@dataclass(slots=True)
class History:
    """A message list and what was sent beside it. `whole` is false where pieces are known to be left out."""

    dialect: Dialect
    turns: list[Turn]
    #: the request without its list: model, thinking, toolConfig, previous_response_id, …
    settings: dict[str, Any] = field(default_factory=dict)
    whole: bool = True
    #: the list as handed to a chat client: what is in it is on its way to the model
    sent: bool = False

    @property
    def stored(self) -> bool:
        """The provider adds turns of its own from storage (Responses)."""
        return bool(self.settings.get("previous_response_id") or self.settings.get("conversation"))

    def blocks(self, *kinds: str) -> Iterator[Block]:
        """All blocks of these kinds, in order."""
        for turn in self.turns:
            yield from (block for block in turn.blocks if block.kind in kinds)


def text(value: Any) -> str:
    """A value as an id or name: a string as it is, nothing as ""."""
    return value if isinstance(value, str) else "" if value is None else _json(value)


def objects(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a list with their indexes; nothing for what is no list."""
    return (
        [(n, item) for n, item in enumerate(value) if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def dict_of(value: Any) -> dict[str, Any]:
    """A value that should be an object; {} for any other."""
    return value if isinstance(value, dict) else {}


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def settings_of(body: dict[str, Any], *lists: str) -> dict[str, Any]:
    """A request without its list of messages."""
    return {key: value for key, value in body.items() if key not in lists}


def content_blocks(content: Any, path: str) -> Iterator[Block]:
    """Text and data of `content` in the forms of Chat Completions: a text, or a list of parts."""
    if isinstance(content, str):
        if content:
            yield Block("text", f"{path}.content", "text", content=content)
        return
    for n, part in objects(content):
        yield from one_content(part, f"{path}.content[{n}]")


def one_content(part: dict[str, Any], path: str) -> Iterator[Block]:
    """One content part that is text, an image, a file, audio, or a thought."""
    kind = text(part.get("type"))
    said = part.get("text", part.get("refusal"))
    if kind in ("thinking", "reasoning"):
        yield Block("reasoning", path, kind, content=part.get("thinking", said), raw=part)
    elif isinstance(said, str):
        yield Block("text", path, kind, content=said, raw=part)
    else:
        yield Block("data", path, kind, content=part, raw=part)
