"""message-id-reused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.calls.conversation import At, Conversation, Message, MessageList, Run, Slip
from workbench.calls.results import text_of
from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("message-id-reused", code="MSG004", severity="warning")
def message_id_reused(trace: Trace) -> Iterator[Finding]:
    """A message id is used again for another message, or for the result of another call.

    Why it hurts: clients keep messages by id: the second one overwrites the first, is appended
        to it, or never appears.
    No fault when: the same message is shown again, with equal text or in a later list; a result
        has the id of its own call (.NET); ids are missing or empty.
    What to do: make a new id for every message, and for every tool result.
    Example:
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "One."}
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"}
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "Two."}
    Sources: AG-UI serialization, messages are merged by id; @ag-ui/client, its default reducer.
    """
    for conversation in trace.conversations:
        yield from _streamed(trace, conversation)
        owners: dict[str, _Owner] = {}
        for message in conversation.messages:
            if message.id and message.kind != "thinking":
                at = At("event", message.start if message.start is not None else 0)
                owners.setdefault(message.id, _Owner(message.role, "", at, message.run))
        yield from _results(trace, conversation, owners)
        for items in conversation.lists:
            yield from _inside(trace, items)
            yield from _across(trace, items, owners)


@dataclass(frozen=True, slots=True)
class _Owner:
    """What an id stood for when it was first seen."""

    role: str
    #: the call whose result it is
    call_id: str
    at: At
    run: Run

    @property
    def said(self) -> str:
        return (
            f"the result of call {self.call_id}"
            if self.call_id
            else f"a message of role {self.role or 'unknown'}"
        )


def _finding(trace: Trace, run: Run, message: str, message_id: str, places: tuple[At, ...], place: str = "stream",
             calls: tuple[str, ...] = ()) -> Finding:  # fmt: skip
    evidence = trace.evidence(*dict.fromkeys(places))
    return Finding(message, place, run.thread_id, run.run_id, calls, (), (message_id,), evidence)


def _streamed(trace: Trace, conversation: Conversation) -> Iterator[Finding]:
    """START after END: a fault only if the text is another one."""
    slips: list[Slip] = [slip for slip in conversation.slips if slip.rule == "message-id-reused"]
    if not slips:
        return
    by_start: dict[int, Message] = {m.start: m for m in conversation.messages if m.start is not None}
    for slip in slips:
        again, first = by_start.get(slip.at.row), by_start.get(slip.other.row) if slip.other else None
        if again is None or first is None or trace.text(again.deltas) == trace.text(first.deltas):
            continue
        where = "" if again.run is first.run else f" of {named(first.run)}"
        message = f"Message id {again.id}{where} is used again for another text: {quoted(trace.text(again.deltas))}."
        yield _finding(trace, slip.run, message, again.id, (slip.at, first_at(slip)))


def first_at(slip: Slip) -> At:
    """The earlier of the two places of a slip."""
    return slip.other or slip.at


def _results(trace: Trace, conversation: Conversation, owners: dict[str, _Owner]) -> Iterator[Finding]:
    """Results of the stream whose message id is that of a message, or of another call's result."""
    streamed = [r for call in conversation.calls for r in call.streamed] + conversation.orphans
    for result in sorted(streamed, key=lambda r: r.sequence):
        if not result.message_id or result.message_id == result.call_id:
            continue
        new = _Owner("tool", result.call_id, result.at, result.run)
        known = owners.setdefault(result.message_id, new)
        if (known.role, known.call_id) != ("tool", result.call_id):
            calls = tuple(i for i in (known.call_id, result.call_id) if i)
            message = f"The result of call {result.call_id} has message id {result.message_id}, which is {known.said}."
            yield _finding(trace, result.run, message, result.message_id, (result.at, known.at), calls=calls)


def _inside(trace: Trace, items: MessageList) -> Iterator[Finding]:
    """Two messages of one list with one id."""
    first: dict[str, dict[str, Any]] = {}
    reported: set[str] = set()
    for message in items.messages:
        message_id = message.get("id")
        if not isinstance(message_id, str) or not message_id:
            continue
        known = first.setdefault(message_id, message)
        if known is not message and message_id not in reported and _content(known) != _content(message):
            reported.add(message_id)
            said = f"Two different messages of one list have the id {message_id}."
            yield _finding(trace, items.run, said, message_id, (items.at,), items.place)


def _content(message: dict[str, Any]) -> tuple[Any, ...]:
    calls = message.get("toolCalls") or message.get("tool_calls") or None
    call_id = message.get("toolCallId", message.get("tool_call_id"))
    return message.get("role"), call_id, text_of(message.get("content")), str(calls)


def _across(trace: Trace, items: MessageList, owners: dict[str, _Owner]) -> Iterator[Finding]:
    """An id that stood for a message of another role, or for another call's result, before this list.

    The same role with another text is no reuse: lists may carry edited messages, and
    `snapshot-text-differs` compares them with the stream.
    """
    for message in items.messages:
        message_id, role = message.get("id"), message.get("role")
        if not isinstance(message_id, str) or not message_id or not isinstance(role, str):
            continue
        call_id = message.get("toolCallId", message.get("tool_call_id"))
        new = _Owner(
            role, call_id if isinstance(call_id, str) and role == "tool" else "", items.at, items.run
        )
        known = owners.setdefault(message_id, new)
        other_call = known.call_id != new.call_id and known.call_id and new.call_id
        if (known.role != new.role and known.role and not _alike(known.role, new.role)) or other_call:
            calls = tuple(i for i in (known.call_id, new.call_id) if i)
            said = f"Message id {message_id} was {known.said} and is now {new.said}."
            yield _finding(trace, items.run, said, message_id, (items.at, known.at), items.place, calls)


def _alike(one: str, other: str) -> bool:
    """Roles that stand for the same: a streamed role is often left out, and then read as assistant."""
    return {one, other} <= {"system", "developer"} or {one, other} <= {"assistant", "reasoning"}
