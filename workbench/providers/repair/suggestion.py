"""What a repair consists of, as data: one change of one part of a message list, and what it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Action = Literal["drop", "insert", "move", "rename", "replace"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change. All positions are those of the list as it was captured, also where other changes come first.

    `at` are the places that change: elements that go (drop, move), fields that get another value (rename,
    replace). An insert and a move go to `side` (behind, before) of `target`. `was` and `becomes` are raw JSON
    values as the dialect of the list writes them; None where there is nothing.
    """

    action: Action
    #: the part that is touched, as in `messages[3].tool_calls[0]`; of an insert, its neighbour
    position: str
    at: tuple[str, ...] = ()
    target: str = ""
    side: Literal["behind", "before", ""] = ""
    was: Any = None
    becomes: Any = None
    #: it stands for something that the capture does not tell: put the true value there
    placeholder: bool = False
    why: str = ""
    call_id: str = ""
    #: how many parts it touches; more than one where a thought goes with its call
    parts: int = 1
    #: the finding that it mends: provider, rule, expected words
    provider: str = ""
    rule: str = ""
    severity: str = "error"
    error: str = ""
    #: what the list is called in its document, as in `messages` or `state.messages`
    within: str = "messages"

    @property
    def where(self) -> str:
        """`behind messages[3]`; "" for a change in place."""
        return f"{self.side} {self.target}" if self.target else ""

    def __str__(self) -> str:
        """`insert behind messages[3]`, `rename messages[3].tool_calls[0]`."""
        if self.action == "insert":
            return f"insert {self.where or self.position}"
        return f"{self.action} {self.position}" + (f" to {self.where}" if self.target else "")


@dataclass(frozen=True, slots=True)
class Unmended:
    """A refusal without an honest repair, and why there is none."""

    provider: str
    rule: str
    severity: str
    error: str
    call_ids: tuple[str, ...]
    positions: tuple[str, ...]
    why: str
