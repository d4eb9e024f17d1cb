"""Approvals inside one payload or history: requests and answers, with the calls and results they are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.calls import lists, results
from workbench.calls.conversation import Conversation, ListCall, MessageList, Part

if TYPE_CHECKING:
    from workbench.trace import Trace


@dataclass(slots=True)
class Control:
    """An answer to an approval in a message list. `results` are those of its call there, in order."""

    conversation: Conversation
    items: MessageList
    part: Part
    request: Part | None = None
    call: ListCall | None = None
    results: list[Part] = field(default_factory=list)
    #: the agent runs the call itself: told by the request, the call or its result
    local: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its call and of the approval."""
        return tuple(dict.fromkeys(i for i in (self.part.call_id, self.part.approval_id) if i))

    @property
    def done(self) -> list[Part]:
        """Results that are outcomes."""
        return [p for p in self.results if results.classify(p.content, p.error) in ("ok", "error")]

    @property
    def followed(self) -> bool:
        """Something stands behind the answer: the list is of a later step."""
        return any(
            p.position > self.part.position and p.kind != "approval-response" for p in self.items.parts
        )

    @property
    def new_turn(self) -> bool:
        """The user has spoken since."""
        return any(lists.is_user_turn(m) for m in self.items.messages[self.part.position + 1 :])


def answers(trace: Trace) -> Iterator[Control]:
    """Every answer to an approval in payloads and histories."""
    for conversation in trace.conversations:
        known = {call.id for call in conversation.calls if call.starts and call.id}
        for items in conversation.lists:
            if items.place in ("payload", "history"):
                for part in items.parts:
                    if part.kind == "approval-response":
                        yield _control(conversation, items, part, known)


def _control(conversation: Conversation, items: MessageList, part: Part, known: set[str]) -> Control:
    names = {i for i in (part.call_id, part.approval_id) if i}
    made = Control(conversation, items, part)
    made.request = next((p for p in items.parts if p.kind == "approval-request"
                         and (p.approval_id in names or (p.call_id and p.call_id in names))), None)  # fmt: skip
    made.call = next((c for c in items.calls if c.part.call_id in names), None)
    made.results = [p for p in items.parts if p.kind == "result" and p.call_id in names]
    wire = items.history is not None and items.history.dialect == "openai-responses"
    if wire:
        # a request with a server's label is hosted, whatever its id looks like and whoever has streamed it
        hosted = made.request is not None and made.request.hosted
        made.local = bool(
            made.call
            or made.results
            or (
                not hosted
                and (names & known or made.request or part.approval_id.startswith(("call_", "af-")))
            )
        )
    else:
        made.local = not part.hosted and (made.request is None or not made.request.hosted)
    return made
