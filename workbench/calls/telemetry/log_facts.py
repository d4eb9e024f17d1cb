"""What lines of a framework's log add: which call they speak of, where only one fits.

Most lines name the tool and not the call. The span of the line tells the call; where there is none,
the only call of that tool in the run, and in the conversation, does. It is marked as inferred.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from workbench.calls.conversation import At, Call, Result, Run
from workbench.calls.sightings import Sightings
from workbench.calls.telemetry.execution import Execution
from workbench.calls.when import time_of
from workbench.readers.records import Records
from workbench.readers.telemetry.log_lines import LogFact

_DONE = {"succeeded": "ok", "failed": "error"}
#: kinds of lines that do not say whose arguments and results they show
_NAMELESS = frozenset({"arguments", "result", "duration", "failed"})


class _Line(NamedTuple):
    row: int
    fact: LogFact
    run: Run
    sequence: int
    #: trace and span id of the record, and the call id of that span
    span: str
    call: str


class LogFacts:
    """Collects the lines of one conversation."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._lines: list[_Line] = []

    def add(self, row: int, fact: LogFact, run: Run, sequence: int) -> None:
        """One line that says something about a tool."""
        records = self._records
        logs, text = records.logs, records.pool.text
        span = f"{text(logs.trace[row]) or ''} {logs.span[row]}" if logs.span[row] else ""
        number = records.span_rows.get(span) if span else None
        call = text(records.spans.call[number]) if number is not None else None
        self._lines.append(_Line(row, fact, run, sequence, span, call or ""))

    def finish(self, known: Sightings, *, alone: bool) -> None:
        """Name the calls, and count what ran where no span tells of it."""
        told = known.conversation.log_calls
        done: set[tuple[int, int]] = set()
        # the lines of one tool span: only the first names the tool
        tools = {
            line.span: line.fact.tool for line in self._lines if line.fact.kind == "invoking" and line.span
        }
        calls = _Calls(known.conversation.calls)
        for row, fact, run, sequence, span, of_span in self._lines:
            name = fact.call_id or of_span
            if name:
                told[row] = (name, "call id")
                continue
            tool = fact.tool or (tools.get(span) if fact.kind in _NAMELESS else None)
            call = calls.only(tool, run, done=fact.kind in _DONE)
            if call is None:
                continue
            told[row] = (call.id, "inferred")
            cls = _DONE.get(fact.kind)
            if cls is None or id(call) in calls.surely_executed or (id(call), id(run)) in done:
                continue
            # the same record may stand in several files: one run carries a call out once, as far as lines tell
            done.add((id(call), id(run)))
            when = time_of(self._records, At("log", row))[0]
            made = Execution(At("log", row), run, sequence, call.tool, call.id, start=when, end=when, cls=cls,
                             error=fact.text or "" if cls == "error" else "", joined="inferred")  # fmt: skip
            made.located = self._records.logs.trace[row] >= 0 or (
                when is not None and known.conversation.clock_offset is not None
            )
            call.executions.append(made)
            if alone and not call.results:
                content = fact.text or ""
                call.results.append(Result(call.id, content, cls, "telemetry", run, At("log", row), sequence))


class _Calls:
    """The calls of a conversation by tool, and by the runs in which a line may speak of them."""

    def __init__(self, calls: list[Call]) -> None:
        self._of_tool: dict[str, list[Call]] = {}
        self._of_run: dict[tuple[str, int], dict[int, Call]] = {}
        #: those among them that a person let run there
        self._allowed: dict[tuple[str, int], dict[int, Call]] = {}
        self.surely_executed = {id(c) for c in calls if any(e.joined == "call id" for e in c.executions)}
        for call in calls:
            if call.id and call.synthetic_for is None:
                self._of_tool.setdefault(call.tool, []).append(call)
                accepted = [answer.run for approval in call.approvals for answer in approval.accepted]
                for run in (call.run, *accepted):
                    self._of_run.setdefault((call.tool, id(run)), {})[id(call)] = call
                for run in accepted:
                    self._allowed.setdefault((call.tool, id(run)), {})[id(call)] = call

    def only(self, tool: str | None, run: Run, *, done: bool) -> Call | None:
        """The only call of a tool that the run can mean; `done`: it was carried out there."""
        calls = self._of_tool.get(tool or "", ()) if tool else ()
        if len(calls) > 1:
            key = (tool or "", id(run))
            meant = (self._allowed.get(key) if done else None) or self._of_run.get(key, {})
            calls = [*islice(meant.values(), 2)]
        return calls[0] if len(calls) == 1 else None
