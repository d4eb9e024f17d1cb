"""Second pass: one conversation, event by event, into calls, messages, lists and approvals.

The walk keeps what is open in each run (calls, messages, steps) and notes every step against
the protocol as a slip. Deltas are not decoded: runs of them are kept as ranges of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from workbench.calls import approvals, decisions, lists, producers, results
from workbench.calls.approvals import Desk
from workbench.calls.conversation import (
    Ask,
    At,
    Call,
    Conversation,
    ListCall,
    Message,
    MessageList,
    Result,
    Run,
    Slip,
    Start,
)  # fmt: skip
from workbench.calls.decisions import Given
from workbench.calls.texts import text_of
from workbench.calls.turns import Turns
from workbench.readers.records import Records

_KINDS = {"TEXT": "text", "REASONING": "reasoning", "THINKING": "thinking"}
#: THINKING events carry no message id: one nameless message may be open at a time.
_NAMELESS = ""


@dataclass(slots=True)
class _Open:
    """What is open in one run."""

    calls: dict[str, list[Start]] = field(default_factory=dict)
    #: ENDs still due for calls that were started again while open
    due: dict[str, int] = field(default_factory=dict)
    messages: dict[tuple[str, str], Message] = field(default_factory=dict)
    chunked_call: str | None = None
    chunked_message: dict[str, str] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    #: last message that got content, by lane, and those already reported as interleaved
    content: dict[str, Message] = field(default_factory=dict)
    interleaved: set[tuple[str, str]] = field(default_factory=set)
    #: slips that only count if the call is ended after all: else `call-not-closed` says enough
    pending: list[tuple[Slip, Start]] = field(default_factory=list)


class Walk:
    """The state of one conversation while its events pass by."""

    def __init__(self, records: Records, conversation: Conversation) -> None:
        self.records = records
        self.conversation = conversation
        self.desk = Desk(conversation)
        self.turns = Turns(conversation)
        self.by_id: dict[str, list[Call]] = {}
        self.message_ids: dict[str, Message] = {}
        self.open: dict[int, _Open] = {}
        self.sequence = 0
        self.begun = 0
        self.quiet = False
        self.answers_seen: set[tuple[str, str, str]] = set()
        self.orphans: dict[str, list[Result]] = {}

    # -- runs ---------------------------------------------------------------------------

    def begin_until(self, run: Run | None) -> None:
        """Begin all runs up to this one, in order; None: all that are left."""
        runs = self.conversation.runs
        while self.begun < len(runs):
            here = runs[self.begun]
            self.begun += 1
            self._begin(here)
            if here is run:
                return

    def _begin(self, run: Run) -> None:
        self.open[id(run)] = _Open()
        items = None
        if run.request is not None:
            items = self._request(run, run.request)
        run.turn = self.turns.begin(run, items, self.by_id, self.records)
        if items is not None:
            self._answers(run, items)
            self._join(items)
        if run.replay_of is None:
            self.desk.refuse(run, self._status(run))

    def _status(self, run: Run) -> int | None:
        if run.request is not None and self.records.requests[run.request].status is not None:
            return self.records.requests[run.request].status
        return None if run.stream is None else self.records.streams[run.stream].status

    def _request(self, run: Run, number: int) -> MessageList:
        body = self.records.requests[number].body
        tools = body.get("tools")
        run.client_tools = frozenset(
            str(t["name"])
            for t in (tools if isinstance(tools, list) else ())
            if isinstance(t, dict) and "name" in t
        )
        run.parent_run_id = str(body.get("parentRunId") or body.get("parent_run_id") or "")
        return self._list("request", run, At("request", number), body.get("messages"))

    def _list(self, place: Any, run: Run, at: At, messages: Any) -> MessageList:
        kept = [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
        items = MessageList(len(self.conversation.lists), place, run, at, self.sequence, kept)
        lists.fill(items)
        # an empty snapshot empties the history; an empty request says nothing
        if kept or (place == "snapshot" and isinstance(messages, list)):
            self.conversation.lists.append(items)
        return items

    def payload(self, run: Run, number: int, sequence: int) -> None:
        """A request to the model provider, seen beside the run that caused it."""
        self.sequence = sequence
        body = self.records.payloads[number].body
        self._join(self._list("payload", run, At("payload", number), body.get("messages")))

    # -- answers ------------------------------------------------------------------------

    def _answers(self, run: Run, items: MessageList) -> None:
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
                if key not in self.answers_seen:
                    self.answers_seen.add(key)
                    if position > last_reply or any(a.id == given.id for a in self.desk.open()):
                        self.desk.answer(given, run, at, sequence)
        # A tool message may name the approval instead of the call.
        offered = {a.id for a in self.desk.approvals}
        for part in items.orphans:
            decision = decisions.is_decision(part.content) if part.call_id in offered else None
            key = (part.call_id, part.message_id, part.content)
            if decision is not None and key not in self.answers_seen:
                self.answers_seen.add(key)
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
        if items.place != "request" or key in self.answers_seen:
            return
        self.answers_seen.add(key)
        tail = all(m.get("role") == "tool" for m in items.messages[position:])
        if tail or any(not a.accepted for a in waiting):
            form = "tool-message"
            for approval in waiting:
                given = Given(approval.id, decision, form, _decoded(result.content))
                self.desk.answer(given, items.run, items.at, items.sequence)

    # -- lists --------------------------------------------------------------------------

    def _join(self, items: MessageList) -> None:
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
                    turn = max(0, items.run.turn - back)
                    call = self._new_call(call_id, items.run, items.at, turn)
                self._list_call(items, entry, call)

    def _list_call(self, items: MessageList, entry: ListCall, call: Call) -> None:
        entry.call = call
        call.listed.append((items, entry))
        call.tool = call.tool or entry.part.name
        call.parent = call.parent or entry.part.message_id
        if call.tool in producers.CONFIRM_CALLS and call.synthetic_for is None:
            self._confirmation(call, entry.part.arguments, items.at)
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

    def _new_call(self, call_id: str, run: Run, at: At, turn: int) -> Call:
        known = self.by_id.setdefault(call_id, [])
        call = Call(self.conversation.thread_id, call_id, len(known), turn, run, at, self.sequence)
        known.append(call)
        self.conversation.calls.append(call)
        for result in self.orphans.pop(call_id, ()):
            self.conversation.orphans.remove(result)
            call.results.append(result)
        return call

    def _confirmation(self, call: Call, arguments: str, at: At) -> None:
        ask = approvals.from_confirmation(call, arguments, at, self.sequence)
        target = self.by_id.get(ask.call_id, [])
        if not ask.arguments and not ask.call_id and call.tool == "request_info" and not arguments.strip():
            return
        self.desk.ask(ask, target[-1] if target else None)

    # -- events -------------------------------------------------------------------------

    def event(self, row: int, kind: str, run: Run, *, late: bool) -> None:
        """One event that is not a delta of the message or call that got the delta before it."""
        self.quiet = late
        head, _, tail = kind.rpartition("_")
        if head == "TOOL_CALL":
            self._call_event(row, tail, run)
        elif head in ("TEXT_MESSAGE", "REASONING_MESSAGE", "THINKING_TEXT_MESSAGE"):
            self._message_event(row, _KINDS[kind.partition("_")[0]], tail, run)
        elif kind == "MESSAGES_SNAPSHOT":
            items = self._list("snapshot", run, At("event", row), self.records.json(row).get("messages"))
            self.turns.saw(items)
            self._join(items)
        elif kind == "CUSTOM":
            self._custom(row, run)
        elif kind in ("RUN_FINISHED", "RUN_ERROR"):
            self._end(row, run)
        elif kind == "RUN_STARTED":
            run.parent_run_id = str(self.records.json(row).get("parentRunId") or run.parent_run_id)
        elif kind in ("STEP_STARTED", "STEP_FINISHED"):
            self._step(row, kind, run)
        elif kind == "RAW":
            self.conversation.raws.append((run, row))
            producers.by_raw(run, self.records.json(row).get("event"))
        elif kind.startswith(("STATE_", "ACTIVITY_")):
            self.conversation.states.append((run, row))

    def slip(self, rule: str, run: Run, row: int, **facts: Any) -> Slip:
        """Note a step against the protocol; not for late events, which `event-after-run-end` names."""
        slip = Slip(rule, run, At("event", row), **facts)
        if not self.quiet:
            self.conversation.slips.append(slip)
        return slip

    def _late_end(
        self, rule: str, run: Run, *, call_id: str | None = None, message_id: str | None = None
    ) -> bool:
        """An END after the end of its run: `event-after-run-end` names it, so "never closed" is taken back."""
        slips = self.conversation.slips
        for slip in slips if self.quiet else ():
            same = slip.call_id == call_id if call_id is not None else slip.ids == (message_id,)
            if slip.rule == rule and slip.run is run and same:
                slips.remove(slip)
                return True
        return False

    def _text(self, column: Any, row: int) -> str | None:
        return self.records.pool.text(column[row])

    def deltas_of(self, row: int, kind: str, run: Run) -> list[tuple[int, int]] | None:
        """Where the delta just taken went, so that those which follow it can be added without a look."""
        state = self.open[id(run)]
        if kind == "TOOL_CALL_ARGS":
            starts = state.calls.get(self._text(self.records.events.call, row) or "")
            return starts[-1].deltas if starts else None
        name = _NAMELESS if kind.startswith("THINKING") else self._text(self.records.events.message, row)
        message = state.messages.get((_KINDS[kind.partition("_")[0]], name or ""))
        return message.deltas if message else None

    # -- calls --------------------------------------------------------------------------

    def _call_event(self, row: int, tail: str, run: Run) -> None:
        events, state = self.records.events, self.open[id(run)]
        call_id = self._text(events.call, row)
        if tail == "CHUNK":
            self._call_chunk(row, run, state, call_id)
            return
        state.chunked_call = None
        if call_id is None:
            return  # the schema rules report the missing key
        if tail == "START":
            self._start(row, run, state, call_id)
        elif tail == "ARGS":
            starts = state.calls.get(call_id)
            if starts:
                _extend(starts[-1].deltas, row)
            else:
                self._not_open(row, run, call_id, "ARGS")
        elif tail == "END":
            self._call_end(row, run, state, call_id)
        elif tail == "RESULT":
            self._result(row, run, state, call_id)

    def _start(self, row: int, run: Run, state: _Open, call_id: str, *, chunked: bool = False) -> None:
        events = self.records.events
        tool = self._text(events.name, row) or ""
        parent = self._text(events.parent, row) or ""
        start = Start(row, run, self.sequence, tool, parent, self._text(events.subagent, row) or "", chunked)
        known = self.by_id.get(call_id)
        call = known[-1] if known else None
        if call is not None and call.settled and call.turn < run.turn and not state.calls.get(call_id):
            call = None
        if call is None:
            call = self._new_call(call_id, run, At("event", row), run.turn)
        elif call.starts:
            self._again(row, run, state, call, start)
        call.tool = call.tool or tool
        call.parent = call.parent or parent
        call.lane = call.lane or start.lane
        call.starts.append(start)
        state.calls.setdefault(call_id, []).append(start)
        producers.by_call(run, call_id, tool)
        if tool in producers.CONFIRM_CALLS and call.synthetic_for is None:
            call.synthetic_for = ""

    def _again(self, row: int, run: Run, state: _Open, call: Call, start: Start) -> None:
        before = call.starts[-1]
        other = At("event", before.event)
        if state.calls.get(call.id):
            state.due[call.id] = state.due.get(call.id, 0) + 1
            if before.tool and start.tool and before.tool != start.tool:
                detail = f"{before.tool} → {start.tool}"
                self.slip("call-name-changed", run, row, call_id=call.id, detail=detail, other=other)
                return
            variant = "open"
        else:
            variant = "ended" if before.run is run else "later-run"
        self.slip("call-start-duplicated", run, row, call_id=call.id, variant=variant, other=other)

    def _call_chunk(self, row: int, run: Run, state: _Open, call_id: str | None) -> None:
        target = call_id if call_id is not None else state.chunked_call
        if target is None:
            return
        starts = state.calls.get(target)
        if not starts:
            known = self.by_id.get(target)
            mine = [s for s in known[-1].starts if s.run is run and s.chunked] if known else []
            if mine:
                state.calls[target] = starts = [mine[-1]]
            else:
                self._start(row, run, state, target, chunked=True)
                starts = state.calls[target]
        state.chunked_call = target
        _extend(starts[-1].deltas, row)

    def _not_open(self, row: int, run: Run, call_id: str, what: str) -> None:
        known = self.by_id.get(call_id)
        variant = "never"
        if known and known[-1].starts:
            variant = "ended" if known[-1].starts[-1].run is run else "earlier-run"
        other = At("event", known[-1].ends[-1]) if known and known[-1].ends else None
        self.slip("call-not-open", run, row, call_id=call_id, variant=variant, detail=what, other=other)

    def _call_end(self, row: int, run: Run, state: _Open, call_id: str) -> None:
        starts = state.calls.pop(call_id, None)
        if starts is None:
            if state.due.get(call_id):
                state.due[call_id] -= 1
                self.by_id[call_id][-1].ends.append(row)
            elif not self._late_end("call-not-closed", run, call_id=call_id):
                self._not_open(row, run, call_id, "END")
            return
        for start in starts:
            start.end = row
        call = self.by_id[call_id][-1]
        call.ends.append(row)
        if call.tool in producers.CONFIRM_CALLS:
            self._confirmation(call, text_of(self.records, starts[-1].deltas), At("event", starts[0].event))
        elif call.tool in producers.CONFIRM_TOOLS and not call.approvals:
            ask = Ask("client-tool", call.id, call.id, run, call.at, call.sequence, tool=call.tool,
                      arguments=text_of(self.records, starts[-1].deltas) or None, reason="client tool")  # fmt: skip
            self.desk.ask(ask, call)

    def _result(self, row: int, run: Run, state: _Open, call_id: str) -> None:
        event = self.records.json(row)
        content = results.text_of(event.get("content"))
        message_id = self._text(self.records.events.message, row) or ""
        result = Result(call_id, content, results.classify(content), "stream", run, At("event", row),
                        self.sequence, message_id, str(event.get("role") or "tool"))  # fmt: skip
        producers.by_result(run, call_id, message_id)
        known = self.by_id.get(call_id)
        if not known:
            self.orphans.setdefault(call_id, []).append(result)
            self.conversation.orphans.append(result)
            return
        call = known[-1]
        if call.approvals or call.synthetic_for is not None:
            result.decision = decisions.is_decision(content) or ""
        starts = state.calls.get(call_id)
        if starts and not starts[-1].chunked and not self.quiet:
            other = At("event", starts[-1].event)
            state.pending.append(
                (Slip("result-before-call-end", run, At("event", row), call_id, other=other), starts[-1])
            )
        call.results.append(result)
        self.desk.unseen(call, result)

    # -- messages -----------------------------------------------------------------------

    def _message_event(self, row: int, kind: Any, tail: str, run: Run) -> None:
        events, state = self.records.events, self.open[id(run)]
        lane = self._text(events.subagent, row) or ""
        message_id = self._text(events.message, row)
        if kind == "thinking":
            message_id = _NAMELESS
        if tail == "CHUNK":
            message_id = message_id if message_id is not None else state.chunked_message.get(f"{kind}{lane}")
        if message_id is None:
            return  # the schema rules report the missing key
        key = (kind, message_id)
        message = state.messages.get(key)
        if tail == "CHUNK":
            state.chunked_message[f"{kind}{lane}"] = message_id
            if message is None:
                message = self._message(row, kind, run, state, message_id, lane, chunked=True)
            _extend(message.deltas, row)
        elif tail == "START":
            if message is not None:
                self.slip("message-start-duplicated", run, row, ids=(message_id,), variant=kind,
                          other=At("event", message.start if message.start is not None else row))  # fmt: skip
            else:
                self._message(row, kind, run, state, message_id, lane)
            self._inside(row, run, state, kind, lane)
        elif (
            message is None
            and tail == "END"
            and self._late_end("message-not-closed", run, message_id=message_id)
        ):
            pass
        elif message is None:
            self.slip("message-not-open", run, row, ids=(message_id,), variant=kind, detail=tail)
        elif tail == "CONTENT":
            _extend(message.deltas, row)
            self._content(row, run, state, message)
            self._inside(row, run, state, kind, lane)
        else:
            message.end = row
            del state.messages[key]

    def _message(self, row: int, kind: Any, run: Run, state: _Open, message_id: str, lane: str, *,
                 chunked: bool = False) -> Message:  # fmt: skip
        role = self._text(self.records.events.role, row) or ("assistant" if kind == "text" else kind)
        message = Message(message_id, role, kind, run, self.sequence, lane, row, None, chunked)
        state.messages[kind, message_id] = message
        self.conversation.messages.append(message)
        producers.by_message(run, message_id)
        earlier = self.message_ids.get(message_id) if message_id and kind != "thinking" else None
        if earlier is not None and earlier.kind == kind and not (chunked and earlier.run is run):
            self.slip("message-id-reused", run, row, ids=(message_id,), variant=kind,
                      other=At("event", earlier.start if earlier.start is not None else row))  # fmt: skip
        self.message_ids[message_id] = message
        return message

    def _content(self, row: int, run: Run, state: _Open, message: Message) -> None:
        last = state.content.get(message.lane)
        state.content[message.lane] = message
        if last is None or last is message or len(message.deltas) < 2:
            return
        pair = (min(last.id, message.id), max(last.id, message.id))
        if (last.kind, last.id) in state.messages and pair not in state.interleaved:
            state.interleaved.add(pair)
            self.slip("messages-interleaved", run, row, ids=(last.id, message.id))

    def _inside(self, row: int, run: Run, state: _Open, kind: str, lane: str) -> None:
        if kind != "text" or not state.calls:
            return
        reported = {id(start) for slip, start in state.pending if slip.rule == "text-inside-call"}
        for call_id, starts in state.calls.items():
            start = starts[-1]
            if start.lane == lane and not start.chunked and id(start) not in reported and not self.quiet:
                slip = Slip(
                    "text-inside-call", run, At("event", row), call_id, other=At("event", start.event)
                )
                state.pending.append((slip, start))

    # -- the rest -----------------------------------------------------------------------

    def _custom(self, row: int, run: Run) -> None:
        event = self.records.json(row)
        name, value = str(event.get("name") or ""), event.get("value")
        producers.by_custom(run, name, value)
        ask = approvals.from_custom(name, value, run, At("event", row), self.sequence)
        if ask is not None:
            self._ask(ask)

    def _ask(self, ask: Ask) -> None:
        known = self.by_id.get(ask.call_id) if ask.call_id else None
        if known and known[-1].synthetic_for is not None:
            # The interrupt names the confirmation call (ADK); what waits is the call it points at.
            ask.call_id = known[-1].synthetic_for
            known = self.by_id.get(ask.call_id)
        self.desk.ask(ask, known[-1] if known else None)

    def _step(self, row: int, kind: str, run: Run) -> None:
        steps = self.open[id(run)].steps
        name = self._text(self.records.events.name, row) or ""
        if kind == "STEP_STARTED":
            if name in steps:
                other = At("event", steps[name])
                self.slip("step-unbalanced", run, row, ids=(name,), variant="started-twice", other=other)
            steps[name] = row
        elif steps.pop(name, None) is None:
            self.slip("step-unbalanced", run, row, ids=(name,), variant="never-started")

    def _end(self, row: int, run: Run) -> None:
        if run.end != row:
            return
        legacy = "outcome" not in self.records.json(row)
        for entry in run.interrupts:
            ask = approvals.from_interrupt(entry, run, At("event", row), self.sequence,
                                           "legacy-field" if legacy else "outcome")  # fmt: skip
            producers.by_interrupt(run, ask.id, ask.reason)
            if ask.channel == "legacy-field":
                producers.note(run, "agent-framework-py", "field RUN_FINISHED.interrupt")
            self._ask(ask)
        self._close(row, run)

    def _close(self, row: int, run: Run) -> None:
        """What is still open at the end of a run. After an error that is a consequence, not a fault."""
        state = self.open[id(run)]
        if run.outcome != "error":
            for call_id, starts in state.calls.items():
                if not starts[-1].chunked:
                    self.slip(
                        "call-not-closed", run, row, call_id=call_id, other=At("event", starts[-1].event)
                    )
            for (kind, message_id), message in state.messages.items():
                if not message.chunked and message.start is not None:
                    self.slip("message-not-closed", run, row, ids=(message_id,), variant=kind,
                              other=At("event", message.start))  # fmt: skip
            for name, started in state.steps.items():
                self.slip(
                    "step-unbalanced", run, row, ids=(name,), variant="left-open", other=At("event", started)
                )
        self.conversation.slips.extend(slip for slip, start in state.pending if start.end is not None)
        state.pending.clear()
        state.calls.clear()
        state.messages.clear()
        state.steps.clear()


def _extend(ranges: list[tuple[int, int]], row: int) -> None:
    if ranges and ranges[-1][1] == row - 1:
        ranges[-1] = (ranges[-1][0], row)
    else:
        ranges.append((row, row))


def _decoded(content: str) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return content
