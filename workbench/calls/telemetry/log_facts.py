"""What lines of a framework's log add: which call they speak of, where only one fits.

Most lines name the tool and not the call. The span of the line tells the call; where there is none,
the only call of that tool in the run, and in the conversation, does. It is marked as inferred.
"""

from __future__ import annotations

from workbench.calls.conversation import At, Call, Result, Run
from workbench.calls.sightings import Sightings
from workbench.calls.telemetry.execution import Execution
from workbench.calls.when import time_of
from workbench.readers.records import Records
from workbench.readers.telemetry.log_lines import LogFact

_DONE = {"succeeded": "ok", "failed": "error"}


class LogFacts:
    """Collects the lines of one conversation."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, LogFact, Run, int, str]] = []
        self._records: Records | None = None

    def add(self, row: int, fact: LogFact, run: Run, sequence: int, records: Records) -> None:
        """One line that says something about a tool."""
        self._records = records
        logs, text = records.logs, records.pool.text
        span = logs.span[row]
        number = records.span_rows.get(f"{text(logs.trace[row]) or ''} {span}") if span else None
        call = text(records.spans.call[number]) if number is not None else None
        self._lines.append((row, fact, run, sequence, call or ""))

    def finish(self, known: Sightings, *, alone: bool) -> None:
        """Name the calls, and count what ran where no span tells of it."""
        told = known.conversation.log_calls
        done: set[tuple[int, int]] = set()
        for row, fact, run, sequence, of_span in self._lines:
            name = fact.call_id or of_span
            if name:
                told[row] = (name, "call id")
                continue
            call = _only(known, fact.tool, run, done=fact.kind in _DONE)
            if call is None:
                continue
            told[row] = (call.id, "inferred")
            cls = _DONE.get(fact.kind)
            if (
                cls is None
                or any(e.joined == "call id" for e in call.executions)
                or (id(call), id(run)) in done
            ):
                continue
            # the same record may stand in several files: one run carries a call out once, as far as lines tell
            done.add((id(call), id(run)))
            assert self._records is not None
            when = time_of(self._records, At("log", row))[0]
            made = Execution(At("log", row), run, sequence, call.tool, call.id, start=when, end=when, cls=cls,
                             error=fact.text or "" if cls == "error" else "", joined="inferred")  # fmt: skip
            call.executions.append(made)
            if alone and not call.results:
                content = fact.text or ""
                call.results.append(Result(call.id, content, cls, "telemetry", run, At("log", row), sequence))


def _only(known: Sightings, tool: str | None, run: Run, *, done: bool) -> Call | None:
    """The only call of a tool that the run can mean; `done`: it was carried out there."""
    if not tool:
        return None
    calls = [c for c in known.conversation.calls if c.tool == tool and c.id and c.synthetic_for is None]
    if len(calls) > 1:
        allowed = [c for c in calls if any(a.run is run for p in c.approvals for a in p.accepted)]
        calls = allowed if done and allowed else [c for c in calls if c.run is run or c in allowed]
    return calls[0] if len(calls) == 1 else None
