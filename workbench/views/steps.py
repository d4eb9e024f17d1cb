"""A conversation as a list of steps: what a sequence diagram draws, whatever it draws it with.

One step is one arrow. It stands for one event, for a run of deltas of one message or call
(`rows` has all of them), or for something that a request carries: the request itself, a
decision about an approval, the result of a tool that the client ran. Where a new run begins,
its first step has a `band` with the words of the boundary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from workbench.calls.conversation import Answer, Ask, At, Call, Conversation, Result, Run
from workbench.findings import Finding
from workbench.trace import Trace
from workbench.views import labels, order
from workbench.views.text import MAX_TEXT, clean, short_id

CLIENT, AGENT, MODEL = "client", "agent", "model"


@dataclass(frozen=True, slots=True)
class Mark:
    """A finding on a step. `number` counts the findings of the view from 1.

    `main` is true on the one step where its message is written out; further places of its
    evidence only carry the badge.
    """

    number: int
    finding: Finding
    main: bool


@dataclass(slots=True, eq=False)
class Step:
    """One arrow from `source` to `target` (keys of participants), with the words on it.

    `kind` is one of `labels.KINDS`, `type` the event type as written (or what the request
    carries), `first` and `last` are the numbers of its events in the conversation, from 0;
    None where it stands for no event. `time` is UTC ns of the first event.
    """

    kind: str
    type: str
    source: str
    target: str
    run: Run
    conversation: Conversation
    label: str = ""
    rows: list[int] = field(default_factory=list)
    first: int | None = None
    last: int | None = None
    request: int | None = None
    payload: int | None = None
    #: the span or log record that it stands for, and when the span ended (UTC ns)
    at: At | None = None
    until: int | None = None
    call: Call | None = None
    call_id: str = ""
    message_id: str = ""
    approval_id: str = ""
    time: int | None = None
    #: not a plain one of its kind: a placeholder, a refused answer, an error as a result
    bad: bool = False
    #: opening or closing bracket of a message or call, drawn with less weight
    quiet: bool = False
    marks: list[Mark] = field(default_factory=list)
    band: str = ""
    #: steps left out just before this one, and the events they stand for
    skipped: int = 0
    skipped_events: int = 0

    @property
    def events(self) -> int:
        """How many events the arrow stands for."""
        return len(self.rows)


def of_conversation(
    trace: Trace, conversation: Conversation, events: Iterable[tuple[int, Run]], *, fold: bool = True
) -> list[Step]:
    """All steps of a conversation, without marks; with `fold` a run of deltas is one step.

    `events` are its event rows in order, with their runs (see `order.events`).
    """
    return list(_Walk(trace, conversation, fold=fold).steps(events))


class _Walk:
    def __init__(self, trace: Trace, conversation: Conversation, *, fold: bool) -> None:
        self.trace = trace
        self.fold = fold
        self.records = trace.records
        self.conversation = conversation
        self.call_of: dict[int, Call] = {}
        self.by_id: dict[str, Call] = {}
        self.result_of: dict[int, Result] = {}
        self.approval_of: dict[int, Ask] = {}
        self.approval_ids: dict[int, str] = {}
        self.carried: dict[int, list[Result]] = {}
        for call in conversation.calls:
            self.note_call(call)
        for orphan in conversation.orphans:
            if orphan.at.kind == "event":
                self.result_of[orphan.at.row] = orphan
        for approval in conversation.approvals:
            for ask in approval.asks:
                if ask.at.kind == "event":
                    self.approval_of.setdefault(ask.at.row, ask)
                    self.approval_ids.setdefault(ask.at.row, approval.id)

    def note_call(self, call: Call) -> None:
        self.by_id.setdefault(call.id, call)
        for start in call.starts:
            self.call_of[start.event] = call
            for first, last in start.deltas:
                self.call_of.update(dict.fromkeys(range(first, last + 1), call))
        self.call_of.update(dict.fromkeys(call.ends, call))
        for result in call.results:
            if result.place == "stream" and result.at.kind == "event":
                self.call_of[result.at.row] = call
                self.result_of[result.at.row] = result
        earliest = call.results[0] if call.results else None
        if (
            call.client_side
            and earliest is not None
            and not earliest.decision
            and earliest.at.kind == "request"
        ):
            self.carried.setdefault(earliest.at.row, []).append(earliest)

    def steps(self, events: Iterable[tuple[int, Run]]) -> Iterator[Step]:
        opened: set[int] = set()
        current: Run | None = None
        pending: list[Step] = []
        for row, run in events:
            position = self.trace.sequence_of(row)
            band: list[str] = []
            if run is not current:
                yield from map(self.said, pending)
                pending = []
                band = [self.band(run, again=id(run) in opened)]
                for step in () if id(run) in opened else self.opening(run):
                    step.band = band.pop() if band else ""
                    yield step
                opened.add(id(run))
                current = run
            known = self.fold_into(pending, row)
            if known is not None:
                known.rows.append(row)
                known.last = position
                if len(known.label) < MAX_TEXT:
                    known.label += _delta(self.trace.json(row))
                continue
            step = self.step(row, position, run)
            step.band = band.pop() if band else ""
            pending.append(step)
            if len(pending) > 2:
                yield self.said(pending.pop(0))
        yield from map(self.said, pending)
        for run in self.conversation.runs:
            if id(run) not in opened:
                band = [self.band(run, again=False)]
                for step in self.opening(run):
                    step.band = band.pop() if band else ""
                    yield step

    def fold_into(self, pending: list[Step], row: int) -> Step | None:
        """The step that a delta continues: the one before it, or the one before interleaved RAW events."""
        events, pool = self.records.events, self.records.pool
        written = pool.text(events.type[row]) or ""
        name = written.upper()
        if not self.fold or name not in labels.DELTAS:
            return None
        ids = {pool.text(events.message[row]), pool.text(events.call[row])} - {None, ""}
        for known in reversed(pending[-2:]):
            if known.type.upper() not in labels.DELTAS or known.bad:
                return None
            if known.type == written and (not ids or not ids.isdisjoint((known.message_id, known.call_id))):
                return known
            if "RAW" not in (known.type.upper(), name):
                return None
        return None

    def said(self, step: Step) -> Step:
        """The step with its label in its final form, once no more deltas can join it."""
        if step.type.upper() in labels.DELTAS and step.type.upper() != "RAW":
            text = clean(step.label)
            step.label = text if step.kind in ("call", "approval") else labels.quoted(text)
            step.label = step.label or short_id(step.call_id or step.message_id)
        return step

    def opening(self, run: Run) -> Iterator[Step]:
        """What the request of a run brings: results of the client's tools, the request, decisions."""
        if run.request is None:
            return
        request = self.records.requests[run.request]
        if run.replay_of is None:
            for result in self.carried.get(run.request, ()):
                call = self.by_id.get(result.call_id)
                yield Step(
                    "result", "tool message", self.tool(call), CLIENT, run, self.conversation,
                    label=labels.compact(result.content), request=run.request, call=call, call_id=result.call_id,
                    time=request.time, bad=result.cls != "ok",
                )  # fmt: skip
        body = request.body
        told = [labels.messages(body.get("messages"))]
        if request.status is not None and request.status >= 400:
            told.append(f"HTTP {request.status}")
        yield Step(
            "request", "request", CLIENT, AGENT, run, self.conversation,
            label=labels.joined(*told), request=run.request, time=request.time,
            bad=request.status is not None and request.status >= 400,
        )  # fmt: skip
        for answer in run.answers:
            if answer.form and answer.at.kind == "request":
                yield self.answer(answer, run, request.time)

    def answer(self, answer: Answer, run: Run, time: int | None) -> Step:
        approval = answer.approval
        words = [answer.decision, "refused" if answer.refused else "", approval.tool if approval else ""]
        words.append(short_id(answer.id))
        return Step(
            "answer", answer.form, CLIENT, AGENT, run, self.conversation, label=labels.joined(*words),
            request=run.request, call=approval.call if approval else None,
            call_id=approval.call_id if approval else "", approval_id=approval.id if approval else answer.id,
            time=time, bad=answer.refused or approval is None,
        )  # fmt: skip

    def band(self, run: Run, *, again: bool) -> str:
        """The words of a run boundary."""
        several = len(self.conversation.thread_ids) > 1
        parts = [
            # the number is what the words beside the picture call it
            f"run {run.number + 1}: {short_id(run.run_id) or 'without id'}",
            f"thread {run.thread_id}" if several and run.thread_id else "",
            "continued" if again else f"user turn {run.turn + 1}",
        ]
        if not again:
            parts.append(f"replay of run {run.replay_of.number + 1}" if run.replay_of is not None else "")
            said = [f"{short_id(a.id)}: {a.decision}" for a in run.answers if a.form]
            parts.append(f"resume {', '.join(said)}" if said else "")
            parts.append(f"outcome {run.outcome}" if run.outcome != "none" else "no end in the capture")
            parts.append("" if run.complete else "stream cut")
            parts.append(f"telemetry joined by {run.joined}" if run.joined else "")
        return labels.joined(*parts)

    def step(self, row: int, position: int, run: Run) -> Step:
        """The step of one event."""
        pool, events = self.records.pool, self.records.events
        written = pool.text(events.type[row]) or ""
        kind = labels.kind_of(written)
        call_id = pool.text(events.call[row]) or ""
        call = self.call_of.get(row)
        result = self.result_of.get(row)
        ask = self.approval_of.get(row)
        approval_id = self.approval_ids.get(row, "")
        if ask is not None:
            kind = "approval" if kind in ("other", "run") else kind
            call_id = call_id or ask.call_id
        if call is None and call_id:
            call = self.by_id.get(call_id)
        source, target = AGENT, CLIENT
        if kind == "call":
            if call is not None and call.synthetic_for is not None:
                kind = "approval"
            else:
                target = self.tool(call)
        elif kind == "result":
            source, target = self.tool(call), AGENT
        name = written.upper()
        event = self.trace.json(row)
        delta = name in labels.DELTAS and name != "RAW"
        label = _delta(event) if delta else labels.of_event(written, event)
        if name == "CUSTOM" and ask is not None:
            label = labels.approval(event.get("name"), ask.tool, ask.arguments, approval_id) or label
        bad = result is not None and result.cls not in ("ok", "") and not result.decision
        if bad and result is not None:
            label = labels.joined(result.cls if result.cls != "error" else "", label)
        return Step(
            kind, written, source, target, run, self.conversation, label, [row], position, position,
            call=call, call_id=call_id, message_id=pool.text(events.message[row]) or "", approval_id=approval_id, time=order.time_of(self.records, row),
            bad=bad, quiet=name.endswith("_END") or (name.endswith("_START") and kind in ("text", "reasoning")),
        )  # fmt: skip

    def tool(self, call: Call | None) -> str:
        """Key of the lifeline of a call's tool."""
        if call is None or not call.tool:
            return "tool:"
        return f"client-tool:{call.tool}" if call.client_side else f"tool:{call.tool}"


def _delta(event: dict[str, Any]) -> str:
    delta = event.get("delta")
    return delta[: MAX_TEXT + 1] if isinstance(delta, str) else labels.compact(delta)
