"""Second pass: one conversation, event by event, into calls, messages, lists and approvals.

The walk keeps what is open in each run and notes every step against the protocol as a slip.
Deltas are not decoded: runs of them are kept as ranges of rows.
"""

from __future__ import annotations

from workbench.calls import approvals, producers
from workbench.calls.call_events import CallEvents
from workbench.calls.conversation import At, Conversation, MessageList, Run
from workbench.calls.message_events import KINDS, NAMELESS, MessageEvents
from workbench.calls.opened import Open
from workbench.calls.sightings import Sightings
from workbench.calls.turns import Turns
from workbench.readers.protocol import BY_NAME
from workbench.readers.records import Records


class Walk:
    """The state of one conversation while its events pass by."""

    def __init__(self, records: Records, conversation: Conversation) -> None:
        self.known = Sightings(records, conversation)
        self.turns = Turns(conversation)
        self.calls = CallEvents(self.known)
        self.messages = MessageEvents(self.known)
        self.open: dict[int, Open] = {}
        self.begun = 0

    def begin_until(self, run: Run | None) -> None:
        """Begin all runs up to this one, in order; None: all that are left."""
        runs = self.known.conversation.runs
        while self.begun < len(runs):
            here = runs[self.begun]
            self.begun += 1
            self._begin(here)
            if here is run:
                return

    def _begin(self, run: Run) -> None:
        self.open[id(run)] = Open()
        items = None
        if run.request is not None:
            items = self._request(run, run.request)
        run.turn = self.turns.begin(run, items, self.known.by_id, self.known.records)
        if items is not None:
            self.known.answers(run, items)
            self.known.join(items)
            self.known.desk.adopt(run, items.at)
        if run.replay_of is None:
            self.known.desk.refuse(run, self._status(run))

    def _status(self, run: Run) -> int | None:
        if run.request is not None and self.known.records.requests[run.request].status is not None:
            return self.known.records.requests[run.request].status
        return None if run.stream is None else self.known.records.streams[run.stream].status

    def _request(self, run: Run, number: int) -> MessageList:
        body = self.known.records.requests[number].body
        tools = body.get("tools")
        run.client_tools = frozenset(
            str(t["name"])
            for t in (tools if isinstance(tools, list) else ())
            if isinstance(t, dict) and "name" in t
        )
        run.parent_run_id = str(body.get("parentRunId") or body.get("parent_run_id") or "")
        return self.known.list_of("request", run, At("request", number), body.get("messages"))

    def event(self, row: int, kind: str, run: Run, *, late: bool) -> None:
        """One event that is not a delta of the message or call that got the delta before it."""
        self.known.quiet = late
        if kind not in BY_NAME:
            return  # a type of nobody (schema-unknown-type) opens, fills and closes nothing
        head, _, tail = kind.rpartition("_")
        if head == "TOOL_CALL":
            self.calls.event(row, tail, run, self.open[id(run)])
        elif head in ("TEXT_MESSAGE", "REASONING_MESSAGE", "THINKING_TEXT_MESSAGE"):
            self.messages.event(row, KINDS[kind.partition("_")[0]], tail, run, self.open[id(run)])
        elif head in ("REASONING", "THINKING"):
            self.messages.phase(row, KINDS[head], tail, run, self.open[id(run)])
        elif kind == "MESSAGES_SNAPSHOT":
            items = self.known.list_of(
                "snapshot", run, At("event", row), self.known.records.json(row).get("messages")
            )
            self.turns.saw(items)
            self.known.join(items)
        elif kind == "CUSTOM":
            self._custom(row, run)
        elif kind in ("RUN_FINISHED", "RUN_ERROR"):
            self._end(row, run)
        elif kind == "RUN_STARTED":
            run.parent_run_id = str(self.known.records.json(row).get("parentRunId") or run.parent_run_id)
        elif kind in ("STEP_STARTED", "STEP_FINISHED"):
            self.messages.step(row, kind, run, self.open[id(run)])
        elif kind == "RAW":
            self.known.conversation.raws.append((run, row))
            producers.by_raw(run, self.known.records.json(row).get("event"))
        elif kind.startswith(("STATE_", "ACTIVITY_")):
            self.known.conversation.states.append((run, row))

    def deltas_of(self, row: int, kind: str, run: Run) -> list[tuple[int, int]] | None:
        """Where the delta just taken went, so that those which follow it can be added without a look."""
        state = self.open[id(run)]
        if kind == "TOOL_CALL_ARGS":
            starts = state.calls.get(self.known.text(self.known.records.events.call, row) or "")
            return starts[-1].deltas if starts else None
        name = (
            NAMELESS
            if kind.startswith("THINKING")
            else self.known.text(self.known.records.events.message, row)
        )
        message = state.messages.get((KINDS[kind.partition("_")[0]], name or ""))
        return message.deltas if message else None

    def _custom(self, row: int, run: Run) -> None:
        event = self.known.records.json(row)
        name, value = str(event.get("name") or ""), event.get("value")
        producers.by_custom(run, name, value)
        ask = approvals.from_custom(name, value, run, At("event", row), self.known.sequence)
        if ask is not None:
            self.known.ask(ask)

    def _end(self, row: int, run: Run) -> None:
        if run.end != row:
            return
        legacy = "outcome" not in self.known.records.json(row)
        for entry in run.interrupts:
            ask = approvals.from_interrupt(entry, run, At("event", row), self.known.sequence,
                                           "legacy-field" if legacy else "outcome")  # fmt: skip
            producers.by_interrupt(run, ask.id, ask.reason)
            if ask.channel == "legacy-field":
                producers.note(run, "agent-framework-py", "field RUN_FINISHED.interrupt")
            self.known.ask(ask)
        self._close(row, run)

    def _close(self, row: int, run: Run) -> None:
        """What is still open at the end of a run. After an error that is a consequence, not a fault."""
        state = self.open[id(run)]
        if run.outcome != "error":
            for call_id, starts in state.calls.items():
                if not starts[-1].chunked:
                    self.known.slip(
                        "call-not-closed", run, row, call_id=call_id, other=At("event", starts[-1].event)
                    )
            for (kind, message_id), message in state.messages.items():
                if not message.chunked and message.start is not None:
                    self.known.slip("message-not-closed", run, row, ids=(message_id,), variant=kind,
                              other=At("event", message.start))  # fmt: skip
            for (kind, message_id), started in state.phases.items():
                other = At("event", started)
                self.known.slip("message-not-closed", run, row, ids=(message_id,), variant=kind, other=other)
            for name, started in state.steps.items():
                self.known.slip(
                    "step-unbalanced", run, row, ids=(name,), variant="left-open", other=At("event", started)
                )
        self.known.conversation.slips.extend(slip for slip, start in state.pending if start.end is not None)
        state.pending.clear()
        state.calls.clear()
        state.messages.clear()
        state.phases.clear()
        state.steps.clear()
