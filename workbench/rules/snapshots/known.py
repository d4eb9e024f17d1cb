"""What is known of a thread's messages at any point: from the stream, requests and earlier snapshots.

A `Known` is one message under all ids that it was seen with. A snapshot replaces the
history, so after it exactly its messages are known, and what streams on.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from workbench.calls import decisions
from workbench.calls.conversation import At, Call, Conversation, Message, MessageList, Part, Result, Start
from workbench.calls.lists import is_user_turn

if TYPE_CHECKING:
    from workbench.trace import Trace

#: ASCII white space besides the blank, as `str.split` has it
_BREAKS = "\n\t\r\x0b\x0c\x1c\x1d\x1e\x1f"

Origin = Literal["stream", "request", "snapshot"]


@dataclass(slots=True, eq=False)
class Known:
    """One message as it is known. `ids` are all ids it was seen under, the latest first."""

    ids: list[str]
    role: str
    origin: Origin
    at: At
    text: str = ""
    #: text and media, so that its content cannot be compared as text
    mixed: bool = False
    reasoning: bool = False
    calls: list[Call] = field(default_factory=list)
    #: a tool message: the call that it answers
    answers: str = ""
    #: the streamed messages under this id, closed
    streamed: list[Message] = field(default_factory=list)
    run_number: int = -1
    lane: str = ""

    @property
    def id(self) -> str:
        """The latest id; "" where it never had one."""
        return self.ids[0] if self.ids else ""


@dataclass(slots=True, eq=False)
class Entry:
    """One message of a list."""

    position: int
    id: str
    role: str
    text: str = ""
    mixed: bool = False
    calls: list[Call] = field(default_factory=list)
    answers: str = ""
    #: a tool message that carries a decision, or a user message that only carries approvals
    decision: bool = False


@lru_cache(maxsize=1024)
def same(text: str) -> str:
    """Text as it is compared: white space is no difference."""
    # Long plain texts are compared again and again: a look for what needs splitting is much cheaper.
    if text.isascii() and "  " not in text and not any(mark in text for mark in _BREAKS):
        return text.strip(" ")
    return " ".join(text.split())


def entries(items: MessageList) -> list[Entry]:
    """The messages of a list, with their calls as occurrences."""
    occurrences: dict[int, Call | None] = {}
    for listed in items.calls:
        for part in (listed.part, *listed.copies):
            occurrences[id(part)] = listed.call
    found = [Entry(n, _text(m.get("id")), _text(m.get("role"))) for n, m in enumerate(items.messages)]
    for part in items.parts:
        _add(found[part.position], part, occurrences.get(id(part)))
    for entry, message in zip(found, items.messages, strict=True):
        entry.decision |= entry.role == "user" and not is_user_turn(message)
    return found


def _add(entry: Entry, part: Part, call: Call | None) -> None:
    if part.kind == "call":
        if call is not None:
            entry.calls.append(call)
    elif part.kind == "result":
        entry.answers = part.call_id
        entry.decision = decisions.is_decision(part.content) is not None
    else:
        entry.text = part.content
        entry.mixed = part.kind == "data"


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


@dataclass(slots=True)
class _Closed:
    """Something streamed, and the sequence at which it was complete."""

    sequence: int
    what: Message | tuple[Call, Start] | Result


class History:
    """The known messages of one conversation while its lists pass by."""

    def __init__(self, trace: Trace, conversation: Conversation) -> None:
        self.trace = trace
        self.known: list[Known] = []
        self.pending = self._streamed(conversation)
        self.next = 0
        #: calls of the conversation by id, and its snapshots by identity of their run
        self.calls: dict[str, list[Call]] = {}
        for call in conversation.calls:
            self.calls.setdefault(call.id, []).append(call)
        self.snapshots: dict[int, list[MessageList]] = {}
        for items in conversation.lists:
            if items.place == "snapshot":
                self.snapshots.setdefault(id(items.run), []).append(items)
        self._index()

    def _index(self) -> None:
        self._by_id = {i: k for k in self.known for i in k.ids if not k.answers}
        self._placed = {id(call) for k in self.known for call in k.calls}
        self._answered = {(k.answers, k.run_number) for k in self.known if k.answers}

    @property
    def ids(self) -> Container[str]:
        """All ids under which a message is known now."""
        return self._by_id.keys()

    def _streamed(self, conversation: Conversation) -> list[_Closed]:
        sequence = self.trace.sequence_of
        closed: list[_Closed] = []
        for message in conversation.messages:
            last = (
                message.end if message.end is not None else message.deltas[-1][1] if message.chunked else None
            )
            if last is not None and message.kind != "thinking":
                closed.append(_Closed(sequence(last), message))
        for call in conversation.calls:
            if call.synthetic_for is not None:
                continue
            for start in call.starts:
                last = start.end if start.end is not None else start.deltas[-1][1] if start.chunked else None
                if last is not None:
                    closed.append(_Closed(sequence(last), (call, start)))
            closed += [
                _Closed(r.sequence, r) for r in call.streamed if not r.decision and r.cls in ("ok", "error")
            ]
        return sorted(closed, key=lambda c: c.sequence)

    def advance(self, until: int) -> None:
        """Take in what was streamed and complete before this point of the conversation."""
        while self.next < len(self.pending) and self.pending[self.next].sequence < until:
            what = self.pending[self.next].what
            self.next += 1
            if isinstance(what, Message):
                self._message(what)
            elif isinstance(what, Result):
                self._result(what)
            else:
                self._call(*what)

    def _message(self, message: Message) -> None:
        known = self._by_id.get(message.id) if message.id else None
        if known is None:
            known = self._add(Known([message.id] if message.id else [], message.role, "stream",
                                    At("event", message.start or 0), reasoning=message.kind == "reasoning"))  # fmt: skip
        known.text = self.trace.text(message.deltas) or known.text
        known.streamed.append(message)
        known.run_number, known.lane = message.run.number, message.lane

    def _call(self, call: Call, start: Start) -> None:
        if id(call) in self._placed:
            return
        owner = self._by_id.get(start.parent) if start.parent else None
        if owner is None or owner.role != "assistant":
            ids = [start.parent] if start.parent and owner is None else []
            owner = self._add(Known(ids, "assistant", "stream", At("event", start.event), lane=start.lane))
        owner.calls.append(call)
        owner.run_number = start.run.number
        self._placed.add(id(call))

    def _result(self, result: Result) -> None:
        if (result.call_id, result.run.number) not in self._answered:
            events = self.trace.records.events
            lane = self.trace.records.pool.text(events.subagent[result.at.row]) or ""
            self._add(Known([result.message_id] if result.message_id else [], "tool", "stream", result.at,
                            answers=result.call_id, run_number=result.run.number, lane=lane))  # fmt: skip

    def _add(self, known: Known) -> Known:
        self.known.append(known)
        if known.answers:
            self._answered.add((known.answers, known.run_number))
        else:
            self._by_id.update(dict.fromkeys(known.ids, known))
        return known

    def request(self, items: MessageList) -> None:
        """A request: the client's view. A full history drops what it leaves out; new messages alone drop nothing."""
        taken: set[int] = set()
        new: list[Known] = []
        for entry in entries(items):
            found = self._recognise(entry, taken)
            if found is None:
                new.append(_from_list(entry, items, "request"))
                continue
            taken.add(id(found))
            if entry.id and entry.id not in found.ids:
                found.ids.append(entry.id)
        if taken:
            self.known = [k for k in self.known if id(k) in taken]
        self.known += new
        self._index()

    def _recognise(self, entry: Entry, taken: set[int]) -> Known | None:
        """The message that an entry of a request is, where it is known."""
        if not entry.answers and entry.id in self._by_id and id(self._by_id[entry.id]) not in taken:
            return self._by_id[entry.id]
        free = (k for k in self.known if id(k) not in taken)
        if entry.answers:
            return next((k for k in free if k.answers == entry.answers), None)
        if entry.calls:
            return next((k for k in free if any(call in k.calls for call in entry.calls)), None)
        text = same(entry.text)
        return next((k for k in free if text and k.role == entry.role and same(k.text) == text), None)

    def replace(self, items: MessageList, listed: list[Entry], before: dict[int, Known]) -> None:
        """A snapshot: from here on its messages are known; `before` are those known already, by position."""
        self.known = []
        for entry in listed:
            made = _from_list(entry, items, "snapshot")
            earlier = before.get(entry.position)
            if earlier is not None:
                made.ids += [i for i in earlier.ids if i not in made.ids]
                made.streamed, made.lane = earlier.streamed, earlier.lane
            self.known.append(made)
        self._index()


def _from_list(entry: Entry, items: MessageList, origin: Origin) -> Known:
    ids = [entry.id] if entry.id else []
    return Known(ids, entry.role, origin, items.at, entry.text, entry.mixed or entry.decision,
                 entry.role == "reasoning", list(entry.calls), entry.answers, run_number=items.run.number)  # fmt: skip
