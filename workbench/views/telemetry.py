"""Telemetry as steps: spans are activations, log lines are notes, put between the events of their run.

Where both sides have times, time decides the place. Where the stream has none, what a span did
decides: a tool's span stands before the result that it gave, a model's before the calls it asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.calls.conversation import At, Call, Conversation, Run
from workbench.calls.telemetry.execution import Execution
from workbench.calls.when import time_of
from workbench.readers.records import NO_TIME
from workbench.readers.telemetry import log_lines, values
from workbench.readers.telemetry.columns import STATUSES
from workbench.readers.telemetry.log_lines import LogFact
from workbench.trace import Trace
from workbench.views import labels
from workbench.views.steps import AGENT, CLIENT, MODEL, Step
from workbench.views.text import clean, short_id

_MODEL = frozenset({"chat", "text_completion", "generate_content", "call_llm"})
_AGENTS = frozenset({"invoke_agent", "invoke_workflow"})
#: log lines that tell a step of a call or approval; the others repeat what its span says
_TOLD = frozenset({
    "approval-needed", "succeeded", "failed", "lifecycle", "approval-refused", "approval-pending", "approval-skipped",
    "synthetic-result", "duplicate-result",
})  # fmt: skip


def insert(trace: Trace, conversation: Conversation, steps: list[Step]) -> None:
    """Add the telemetry of a conversation to its steps, in place."""
    made = _Steps(trace, conversation)
    for run in conversation.runs:
        if run.spans or run.logs:
            _into(steps, list(made.of(run)), conversation, run)


class _Steps:
    """Makes the steps of runs, in order of time."""

    def __init__(self, trace: Trace, conversation: Conversation) -> None:
        self.trace = trace
        self.records = trace.records
        self.conversation = conversation
        self.ran: dict[At, tuple[Call, Execution]] = {
            e.at: (call, e) for call in conversation.calls for e in call.executions
        }
        self.asks = {
            (id(ask.run), ask.at): (approval, ask)
            for approval in conversation.approvals
            for ask in approval.asks
            if ask.at.kind in ("span", "log")
        }

    def of(self, run: Run) -> Iterator[Step]:
        """The telemetry of one run."""
        made = [(1, self.span(row, run)) for row in run.spans] + [(3, self.log(row, run)) for row in run.logs]
        found = [(self.moment(step), rank, step) for rank, step in made if step is not None]
        for approval in self.conversation.approvals:
            for ask in approval.asks:
                if ask.run is run and ask.at.kind in ("span", "log"):
                    label = labels.approval("", ask.tool, ask.arguments, approval.id)
                    step = Step("approval", "approval request", AGENT, CLIENT, run, self.conversation, label, at=ask.at,
                                call=approval.call, call_id=approval.call_id, approval_id=approval.id,
                                time=self.end(ask.at))  # fmt: skip
                    found.append((self.moment(step), 4, step))
        for answer in run.answers:
            if answer.at.kind in ("span", "log"):
                known = answer.approval
                label = labels.joined(answer.decision, known.tool if known else "", short_id(answer.id))
                step = Step("answer", "approval response", CLIENT, AGENT, run, self.conversation, label, at=answer.at,
                            call=known.call if known else None, call_id=known.call_id if known else "",
                            approval_id=known.id if known else answer.id, time=self.time(answer.at))  # fmt: skip
                found.append((self.moment(step), 2, step))
        found.sort(key=lambda item: item[:2])
        for _, _, step in found:
            yield step

    @staticmethod
    def moment(step: Step) -> int:
        """For sorting: what has no time comes last, as read."""
        return 2**63 if step.time is None else step.time

    def time(self, at: At) -> int | None:
        """UTC ns on the clock of the AG-UI side, as far as it is known."""
        when = time_of(self.records, at)[0]
        return None if when is None else when + (self.conversation.clock_offset or 0)

    def end(self, at: At) -> int | None:
        """When a span ended; of a log record its time."""
        end = self.records.spans.end[at.row] if at.kind == "span" else NO_TIME
        return self.time(at) if end == NO_TIME else end + (self.conversation.clock_offset or 0)

    def span(self, row: int, run: Run) -> Step | None:
        """An agent, a model or a tool at work; None for spans of anything else."""
        spans, text = self.records.spans, self.records.pool.text
        operation = text(spans.operation[row]) or ""
        at = At("span", row)
        name = clean(text(spans.name[row]) or "", 120)
        words = name.removeprefix(operation).strip()
        failed = spans.status[row] == STATUSES.index("error")
        error = text(spans.error[row]) or "" if failed else ""
        call: Call | None = None
        ran: Execution | None = None
        if operation == "execute_tool":
            call, ran = self.ran.get(at, (None, None))
            tool = text(spans.tool[row]) or ""
            client = "client-tool" if call is not None and call.client_side else "tool"
            source, target = AGENT, f"{client}:{(call.tool if call else '') or tool}"
            words = labels.joined(tool or words, short_id(text(spans.call[row]) or ""))
        elif operation in _MODEL:
            source, target = AGENT, MODEL
        elif operation in _AGENTS:
            source, target = CLIENT, AGENT
        else:
            return None
        told = "inferred" if ran is not None and ran.joined == "inferred" else ""
        paused = f"paused: {ran.pause}" if ran is not None and ran.pause else ""
        twin = "same execution" if ran is not None and ran.nested is not None else ""
        # without a stream beside it, the span is the only one to say what came of it
        gave = (
            f"→ {labels.compact(ran.result, 80)}"
            if ran is not None and ran.result and run.row is None
            else ""
        )
        label = labels.joined(words, self.length(row), paused or error or gave, twin, told)
        return Step("work", operation, source, target, run, self.conversation, label, at=at, call=call,
                    call_id=call.id if call else "", time=self.time(at), until=self.end(at), bad=failed)  # fmt: skip

    def length(self, row: int) -> str:
        """How long a span took."""
        start, end = self.records.spans.start[row], self.records.spans.end[row]
        if NO_TIME in (start, end):
            return ""
        took = (end - start) / 1e6
        return f"{took:,.0f} ms" if took >= 10 else f"{took:.2g} ms"

    def log(self, row: int, run: Run) -> Step | None:
        """A line of the framework that tells a step of a call; None for all others."""
        record = self.records.log(row)
        fact = log_lines.fact_of(record)
        if fact is None or not _worth(fact):
            return None
        name, sure = self.conversation.log_calls.get(row, ("", ""))
        call = next((c for c in reversed(self.conversation.calls) if c.id == name), None) if name else None
        label = labels.joined(
            clean(values.as_text(record.body) or "", 160),
            f"{short_id(name)} (inferred)" if sure == "inferred" else "",
        )
        at = At("log", row)
        return Step("log", "log", AGENT, AGENT, run, self.conversation, label, at=at, call=call, call_id=name,
                    time=self.time(at), bad=fact.kind == "failed")  # fmt: skip


def _worth(fact: LogFact) -> bool:
    return fact.kind in _TOLD or (fact.kind == "checking" and bool(fact.gated))


def _into(steps: list[Step], mine: list[Step], conversation: Conversation, run: Run) -> None:
    """Put the telemetry of a run between its other steps; a run that has none becomes a block of its own."""
    if not mine:
        return
    here = [number for number, step in enumerate(steps) if step.run is run]
    if not here:
        mine[0].band = mine[0].band or _band(run, conversation)
        steps[_block(steps, run) : _block(steps, run)] = mine
        return
    first, end = here[0], here[-1] + 1
    cursor = first
    while cursor < end and steps[cursor].run is run and not steps[cursor].rows:
        cursor += 1  # the request and what it carries come first
    timed = conversation.clock_offset is not None and any(steps[n].time is not None for n in here)
    for step in mine:
        place = _place(steps, step, cursor, end, timed=timed)
        steps.insert(place, step)
        cursor, end = place + 1, end + 1
    if steps[first].band == "" and first < len(steps):
        _band_first(steps, first, run)


def _band_first(steps: list[Step], first: int, run: Run) -> None:
    """The words of the boundary stay with whatever stands first in the run."""
    later = next((s for s in steps[first:] if s.run is run and s.band), None)
    if later is not None:
        steps[first].band, later.band = later.band, ""


def _block(steps: list[Step], run: Run) -> int:
    """Where a run without steps of its own stands: before the next run in order."""
    return next((n for n, step in enumerate(steps) if step.run.number > run.number), len(steps))


def _place(steps: list[Step], new: Step, cursor: int, end: int, *, timed: bool) -> int:
    run = new.run
    if timed and new.time is not None:
        for number in range(cursor, end):
            step = steps[number]
            if step.run is run and step.time is not None and step.time > new.time:
                return number
        return end
    if new.kind == "work" and new.call_id:
        for number in range(cursor, end):
            step = steps[number]
            if step.run is run and step.kind == "result" and step.call_id == new.call_id:
                return number
    if new.target == MODEL:
        for number in range(cursor, end):
            step = steps[number]
            if step.run is run and step.kind in ("text", "reasoning", "call"):
                return number
    return cursor


def _band(run: Run, conversation: Conversation) -> str:
    several = len(conversation.runs) > 1
    return labels.joined(
        f"run {run.number + 1}: telemetry only", f"turn {run.turn + 1}" if several else "",
        f"outcome {run.outcome}" if run.outcome != "none" else "",
    )  # fmt: skip
