"""TOOL_CALL events of a run: START, ARGS, END, CHUNK and RESULT, and what departs from their order."""

from __future__ import annotations

from workbench.calls import decisions, producers, results
from workbench.calls.conversation import Ask, At, Call, Result, Run, Slip, Start
from workbench.calls.opened import Open, extend
from workbench.calls.sightings import Sightings
from workbench.calls.texts import text_of


class CallEvents:
    """Takes the TOOL_CALL events of one conversation in."""

    def __init__(self, known: Sightings) -> None:
        self.known = known

    def event(self, row: int, tail: str, run: Run, state: Open) -> None:
        """One TOOL_CALL event; `tail` is what stands behind the prefix."""
        events = self.known.records.events
        call_id = self.known.text(events.call, row)
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
                extend(starts[-1].deltas, row)
            else:
                self._not_open(row, run, call_id, "ARGS")
        elif tail == "END":
            self._call_end(row, run, state, call_id)
        elif tail == "RESULT":
            self._result(row, run, state, call_id)

    def _start(self, row: int, run: Run, state: Open, call_id: str, *, chunked: bool = False) -> None:
        events = self.known.records.events
        tool = self.known.text(events.name, row) or ""
        parent = self.known.text(events.parent, row) or ""
        start = Start(
            row, run, self.known.sequence, tool, parent, self.known.text(events.subagent, row) or "", chunked
        )
        known = self.known.by_id.get(call_id)
        call = known[-1] if known else None
        if call is not None and call.settled and call.turn < run.turn and not state.calls.get(call_id):
            call = None
        if call is None:
            call = self.known.new_call(call_id, run, At("event", row), run.turn)
        elif call.starts:
            self._again(row, run, state, call, start)
        call.tool = call.tool or tool
        call.parent = call.parent or parent
        call.lane = call.lane or start.lane
        call.starts.append(start)
        state.calls.setdefault(call_id, []).append(start)
        if not chunked:
            state.bare.setdefault(start.lane, {})[call_id] = start
        producers.by_call(run, call_id, tool)
        if tool in producers.CONFIRM_CALLS and call.synthetic_for is None:
            call.synthetic_for = ""

    def _again(self, row: int, run: Run, state: Open, call: Call, start: Start) -> None:
        before = call.starts[-1]
        other = At("event", before.event)
        if state.calls.get(call.id):
            state.due[call.id] = state.due.get(call.id, 0) + 1
            if before.tool and start.tool and before.tool != start.tool:
                detail = f"{before.tool} → {start.tool}"
                self.known.slip("call-name-changed", run, row, call_id=call.id, detail=detail, other=other)
                return
            variant = "open"
        else:
            variant = "ended" if before.run is run else "later-run"
        self.known.slip("call-start-duplicated", run, row, call_id=call.id, variant=variant, other=other)

    def _call_chunk(self, row: int, run: Run, state: Open, call_id: str | None) -> None:
        target = call_id if call_id is not None else state.chunked_call
        if target is None:
            return
        starts = state.calls.get(target)
        if not starts:
            known = self.known.by_id.get(target)
            mine = [s for s in known[-1].starts if s.run is run and s.chunked] if known else []
            if mine:
                state.calls[target] = starts = [mine[-1]]
            else:
                self._start(row, run, state, target, chunked=True)
                starts = state.calls[target]
        state.chunked_call = target
        extend(starts[-1].deltas, row)

    def _not_open(self, row: int, run: Run, call_id: str, what: str) -> None:
        known = self.known.by_id.get(call_id)
        variant = "never"
        if known and known[-1].starts:
            variant = "ended" if known[-1].starts[-1].run is run else "earlier-run"
        other = At("event", known[-1].ends[-1]) if known and known[-1].ends else None
        self.known.slip("call-not-open", run, row, call_id=call_id, variant=variant, detail=what, other=other)

    def _call_end(self, row: int, run: Run, state: Open, call_id: str) -> None:
        starts = state.calls.pop(call_id, None)
        if starts is None:
            if state.due.get(call_id):
                state.due[call_id] -= 1
                self.known.by_id[call_id][-1].ends.append(row)
            elif not self.known.late_end("call-not-closed", run, call_id=call_id):
                self._not_open(row, run, call_id, "END")
            return
        for start in starts:
            start.end = row
        call = self.known.by_id[call_id][-1]
        call.ends.append(row)
        if call.tool in producers.CONFIRM_CALLS:
            self.known.confirmation(
                call, text_of(self.known.records, starts[-1].deltas), At("event", starts[0].event)
            )
        elif call.tool in producers.CONFIRM_TOOLS and not call.approvals:
            ask = Ask("client-tool", call.id, call.id, run, call.at, call.sequence, tool=call.tool,
                      arguments=text_of(self.known.records, starts[-1].deltas) or None, reason="client tool")  # fmt: skip
            self.known.desk.ask(ask, call)

    def _result(self, row: int, run: Run, state: Open, call_id: str) -> None:
        event = self.known.records.json(row)
        content = results.text_of(event.get("content"))
        message_id = self.known.text(self.known.records.events.message, row) or ""
        result = Result(call_id, content, results.classify(content), "stream", run, At("event", row),
                        self.known.sequence, message_id, str(event.get("role") or "tool"))  # fmt: skip
        producers.by_result(run, call_id, message_id)
        known = self.known.by_id.get(call_id)
        if not known:
            self.known.orphans.setdefault(call_id, []).append(result)
            self.known.conversation.orphans.append(result)
            return
        call = known[-1]
        if call.approvals or call.synthetic_for is not None:
            result.decision = decisions.is_decision(content) or ""
        starts = state.calls.get(call_id)
        if starts and not starts[-1].chunked and not self.known.quiet:
            other = At("event", starts[-1].event)
            state.pending.append(
                (Slip("result-before-call-end", run, At("event", row), call_id, other=other), starts[-1])
            )
        call.results.append(result)
        self.known.desk.unseen(call, result)
