"""Calls, results, asks and answers of one conversation, joined from wherever they are seen.

Lists repeat what streams said, requests repeat it again: here each sighting finds the call
occurrence and the approval that it belongs to.
"""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.calls import approvals, decisions, histories, lists, producers, results
from workbench.calls.approvals import Desk
from workbench.calls.conversation import (
    Ask,
    At,
    Call,
    Conversation,
    ListCall,
    MessageList,
    Result,
    Run,
    Slip,
)
from workbench.calls.decisions import Given
from workbench.readers.payloads.history import History
from workbench.readers.records import Records

#: Texts of at least this length are worth looking for an equal one.
_LONG = 100


class Sightings:
    """What is known of one conversation so far: calls by id, approvals, and what was answered."""

    def __init__(self, records: Records, conversation: Conversation) -> None:
        self.records = records
        self.conversation = conversation
        self.desk = Desk(conversation)
        self.by_id: dict[str, list[Call]] = {}
        #: number of the event in the conversation that is being walked
        self.sequence = 0
        #: late events: read on, but no slip is noted for them
        self.quiet = False
        self.orphans: dict[str, list[Result]] = {}
        #: long texts of message lists, each kept once: histories are sent again and again
        self._texts: dict[str, str] = {}
        self._answers_seen: set[tuple[str, str, str]] = set()
        #: slips that a late END may take back, by rule, run and id
        self._unclosed: dict[tuple[str, int, str], Slip] = {}
        self._withdrawn: set[int] = set()

    def slip(self, rule: str, run: Run, row: int, **facts: Any) -> Slip:
        """Note a step against the protocol; not for late events, which `event-after-run-end` names."""
        slip = Slip(rule, run, At("event", row), **facts)
        if not self.quiet:
            self.conversation.slips.append(slip)
            if rule in ("call-not-closed", "message-not-closed"):
                name = slip.call_id if slip.call_id is not None else slip.ids[0]
                self._unclosed.setdefault((rule, id(run), name), slip)
        return slip

    def late_end(
        self, rule: str, run: Run, *, call_id: str | None = None, message_id: str | None = None
    ) -> bool:
        """An END after the end of its run: `event-after-run-end` names it, so "never closed" is taken back."""
        name = call_id if call_id is not None else message_id or ""
        slip = self._unclosed.pop((rule, id(run), name), None) if self.quiet else None
        if slip is None:
            return False
        self._withdrawn.add(id(slip))
        return True

    def settle(self, last: int) -> None:
        """The conversation is over; `last` is the number of its last run."""
        slips = self.conversation.slips
        slips[:] = [slip for slip in slips if id(slip) not in self._withdrawn]
        self.desk.settle(last)

    def text(self, column: Any, row: int) -> str | None:
        """The text of a column of `events`."""
        return self.records.pool.text(column[row])

    def list_of(
        self, place: Any, run: Run, at: At, messages: Any, history: History | None = None
    ) -> MessageList:
        """A message list as it stands, with its calls and results paired inside.

        With `history` (of another dialect than AG-UI's) the parts are those of its blocks.
        """
        kept = [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
        items = MessageList(
            len(self.conversation.lists), place, run, at, self.sequence, kept, history=history
        )
        if history is None:
            self.share(items)
            lists.fill(items)
        else:
            items.messages, items.parts = histories.unfold(history)
            items.whole = history.whole
            self.share(items)
            lists.pair(items)
        # an empty snapshot empties the history; an empty request says nothing
        if items.messages or (place == "snapshot" and isinstance(messages, list)):
            self.conversation.lists.append(items)
        return items

    def share(self, items: MessageList) -> None:
        """Keep every long text once, however many lists repeat it."""
        for message in items.messages:
            content = message.get("content")
            if isinstance(content, str) and len(content) > _LONG:
                message["content"] = self._texts.setdefault(content, content)
        for part in items.parts:
            for name in ("content", "arguments"):
                text = getattr(part, name)
                if len(text) > _LONG:
                    setattr(part, name, self._texts.setdefault(text, text))

    def payload(self, run: Run, number: int, sequence: int) -> None:
        """A request to the model provider, seen beside the run that caused it."""
        self.sequence = sequence
        record = self.records.payloads[number]
        self.join(self.list_of(record.place, run, At("payload", number), None, record.history))

    def answers(self, run: Run, items: MessageList) -> None:
        """Answers to approvals that the request of a run carries beside its tool messages."""
        assert run.request is not None
        at, sequence = At("request", run.request), self.sequence
        for given in decisions.resume_entries(self.records.requests[run.request].body):
            self.desk.answer(given, run, at, sequence)
        last_reply = max(
            (n for n, m in enumerate(items.messages) if m.get("role") == "assistant"), default=-1
        )
        for position, message in enumerate(items.messages):
            for given in decisions.message_approvals(message):
                key = (given.id, str(message.get("id")), given.decision)
                if key not in self._answers_seen:
                    self._answers_seen.add(key)
                    if position > last_reply or self.desk.asked.waits(given.id):
                        self.desk.answer(given, run, at, sequence)
        # A tool message may name the approval instead of the call.
        for part in items.orphans:
            decision = decisions.is_decision(part.content) if self.desk.asked.offers(part.call_id) else None
            key = (part.call_id, part.message_id, part.content)
            if decision is not None and key not in self._answers_seen:
                self._answers_seen.add(key)
                given = Given(part.call_id, decision, "tool-message", _decoded(part.content))
                self.desk.answer(given, run, at, sequence)

    def _tool_message_answer(self, call: Call, items: MessageList, result: Result, position: int) -> None:
        """A tool message in a request that carries a decision on a waiting or client-side call."""
        confirms = call.synthetic_for is not None or call.tool in producers.CONFIRM_TOOLS
        decision = decisions.decide(result.content) if confirms else decisions.is_decision(result.content)
        waiting = self.desk.of_call(call)
        if decision is None and not confirms:
            return
        if decision is None:
            decision = "unseen"
        if not waiting and items.place == "request" and not call.streamed and call.synthetic_for is None:
            ask = Ask("client-tool", call.id, call.id, call.run, call.at, call.sequence, tool=call.tool,
                      arguments=call.arguments, reason="client tool")  # fmt: skip
            waiting = [self.desk.ask(ask, call)]
        if not waiting:
            return
        result.decision = decision
        key = (call.id, result.message_id, result.content)
        if items.place != "request" or key in self._answers_seen:
            return
        self._answers_seen.add(key)
        tail = all(m.get("role") == "tool" for m in items.messages[position:])
        if tail or any(not a.accepted for a in waiting):
            form = "tool-message"
            for approval in waiting:
                given = Given(approval.id, decision, form, _decoded(result.content))
                self.desk.answer(given, items.run, items.at, items.sequence)

    def join(self, items: MessageList) -> None:
        """Join the calls of a list with the occurrences known so far, or make them known."""
        listed: dict[str, list[ListCall]] = {}
        for entry in items.calls:
            listed.setdefault(entry.part.call_id, []).append(entry)
        last_turn = max((entry.turn for entry in items.calls), default=0)
        users = sum(lists.is_user_turn(m) for m in items.messages)
        for call_id, entries in listed.items():
            known = self.by_id.setdefault(call_id, [])
            offset = max(0, len(known) - len(entries))
            for number, entry in enumerate(entries):
                if offset + number < len(known):
                    call = known[offset + number]
                else:
                    back = max(users - 1, last_turn) - entry.turn
                    turn = items.run.turn - back  # below 0: a turn from before the capture
                    call = self.new_call(call_id, items.run, items.at, turn)
                self._list_call(items, entry, call)

    def _list_call(self, items: MessageList, entry: ListCall, call: Call) -> None:
        entry.call = call
        call.listed.append((items, entry))
        call.tool = call.tool or entry.part.name
        call.parent = call.parent or entry.part.message_id
        if call.tool in producers.CONFIRM_CALLS and call.synthetic_for is None:
            self.confirmation(call, entry.part.arguments, items.at)
        for part in entry.results:
            cls = results.classify(part.content, part.error)
            result = Result(call.id, part.content, cls, items.place, items.run, items.at, items.sequence,
                            part.message_id, part.role)  # fmt: skip
            self._tool_message_answer(call, items, result, part.position)
            if not any(
                r.content == part.content and bool(r.decision) == bool(result.decision) for r in call.results
            ):
                call.results.append(result)
                if items.place == "snapshot" and cls == "refusal":
                    self.desk.unseen(call, result)

    def new_call(self, call_id: str, run: Run, at: At, turn: int) -> Call:
        """Open a new occurrence of an id; results that came before it are its own."""
        known = self.by_id.setdefault(call_id, [])
        call = Call(self.conversation.thread_id, call_id, len(known), turn, run, at, self.sequence)
        known.append(call)
        self.conversation.calls.append(call)
        for result in self.orphans.pop(call_id, ()):
            self.conversation.orphans.remove(result)
            call.results.append(result)
        return call

    def confirmation(self, call: Call, arguments: str, at: At) -> None:
        """A confirmation call with its arguments: it asks for the call that it points at."""
        ask = approvals.from_confirmation(call, arguments, at, self.sequence)
        target = self.by_id.get(ask.call_id, [])
        if not ask.arguments and not ask.call_id and call.tool == "request_info" and not arguments.strip():
            return
        self.desk.ask(ask, target[-1] if target else None)

    def ask(self, ask: Ask) -> None:
        """A request for a decision, seen on one channel."""
        known = self.by_id.get(ask.call_id) if ask.call_id else None
        if known and known[-1].synthetic_for is not None:
            # The interrupt names the confirmation call (ADK); what waits is the call it points at.
            ask.call_id = known[-1].synthetic_for
            known = self.by_id.get(ask.call_id)
        self.desk.ask(ask, known[-1] if known else None)


def _decoded(content: str) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return content
