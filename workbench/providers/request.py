"""A request as its provider sees it: message by message, turn by turn, or item by item.

A history of another dialect is seen as a plain converter would write it: results become the
provider's results, turns of one role in a row become one, and what it has no form for is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from workbench.readers.payloads.chat import MADE_UP
from workbench.readers.payloads.history import Block, History, Turn

_CHAT = ("openai-chat", "mistral", "ollama")
#: blocks that other dialects have no form for
_OWN = ("approval-request", "approval-response", "other", "reference")


@dataclass(slots=True)
class Message:
    """A message of Chat Completions: what is said, calls, or one result."""

    role: str
    path: str
    calls: list[Block] = field(default_factory=list)
    result: Block | None = None
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Stored:
    """What the provider keeps from earlier requests. `known`: all of it is in the capture."""

    blocks: list[Block] = field(default_factory=list)
    known: bool = False


class Request:
    """A history with what is known of its journey.

    `sent`: it is a request, and not a list to which more may be added. `stored` is the provider's
    own context; None where it has none. `answered` are blocks that earlier answers in the capture gave.
    """

    def __init__(
        self,
        history: History,
        *,
        url: str = "",
        sent: bool = True,
        stored: Stored | None = None,
        answered: list[list[Block]] | None = None,
    ) -> None:
        self.history = history
        self.url = url
        self.sent = sent
        self.stored = Stored() if stored is None and history.stored else stored
        self.answered = answered or []
        #: every rule of a provider asks for them
        self._turns: dict[tuple[str, bool], list[Turn]] = {}

    @property
    def dialect(self) -> str:
        """The dialect it is written in."""
        return self.history.dialect

    @property
    def model(self) -> str:
        """The model, from the body or the address; in lower case."""
        return f"{self.history.settings.get('model') or ''} {self.url}".lower()

    @cached_property
    def messages(self) -> list[Message]:
        """As messages of Chat Completions, one for each result."""
        if self.dialect in _CHAT:
            return [
                Message(t.role, t.path, t.of("call"), next(iter(t.of("result")), None), t.raw)
                for t in self.history.turns
            ]
        made: list[Message] = []
        for turn in self.history.turns:
            made.extend(Message("tool", b.path, result=b, raw=b.raw) for b in turn.of("result"))
            rest = [b for b in turn.blocks if b.kind not in ("result", "reasoning", *_OWN)]
            if not rest:
                continue
            calls = [b for b in rest if b.kind == "call"]
            if turn.role == "assistant" and made and made[-1].role == "assistant":
                made[-1].calls.extend(calls)
            else:
                made.append(Message(turn.role, turn.path, calls, raw=turn.raw))
        return made

    def turns(self, *, own: str, merge: bool) -> list[Turn]:
        """As turns of user and assistant; `own` is the dialect that has them already.

        `merge`: the provider takes turns of one role in a row as one, so that they are one here.
        """
        if (own, merge) not in self._turns:
            self._turns[own, merge] = self._as_turns(own=own, merge=merge)
        return self._turns[own, merge]

    def _as_turns(self, *, own: str, merge: bool) -> list[Turn]:
        native = self.dialect == own
        made: list[Turn] = []
        for turn in self.history.turns:
            if turn.role == "system":
                continue
            role = "assistant" if turn.role in ("assistant", "model") else "user"
            blocks = turn.blocks if native else [b for b in turn.blocks if b.kind not in ("reasoning", *_OWN)]
            if not native and not blocks:
                continue
            if (merge or not native) and made and made[-1].role == role:
                made[-1] = Turn(role, made[-1].path, [*made[-1].blocks, *blocks], raw=made[-1].raw)
            else:
                made.append(Turn(role, turn.path, list(blocks), raw=turn.raw))
        if not native:
            for turn in made:
                turn.blocks.sort(key=lambda b: b.kind != "result")
        return made

    def last(self, position: int, count: int) -> bool:
        """Nothing follows in a list that is not sent yet: what is missing may still come."""
        return not self.sent and position == count - 1


def shown(blocks: list[Block]) -> tuple[str, ...]:
    """The ids of calls or results, without those that were made up for pairing."""
    return tuple(b.call_id for b in blocks if b.call_id and not b.call_id.startswith(MADE_UP))


def names(blocks: list[Block]) -> tuple[str, ...]:
    """The tools of calls or results."""
    return tuple(dict.fromkeys(b.name for b in blocks if b.name))


def paths(blocks: list[Block]) -> tuple[str, ...]:
    """The places of blocks."""
    return tuple(b.path for b in blocks)


def repeated(blocks: list[Block]) -> Iterator[list[Block]]:
    """Blocks that share a call id, in groups of two or more; those without an id are left out."""
    by_id: dict[str, list[Block]] = {}
    for block in blocks:
        if block.call_id:
            by_id.setdefault(block.call_id, []).append(block)
    yield from (group for group in by_id.values() if len(group) > 1)
