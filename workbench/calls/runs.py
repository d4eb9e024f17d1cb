"""First pass: which event belongs to which run, stream by stream.

Only RUN_STARTED, RUN_FINISHED and RUN_ERROR carry ids; every other event belongs to the
run that is active in its stream. What departs from "one run after the other" is noted as
slips, which the rules of the run family report.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from workbench.calls import order
from workbench.calls.conversation import At, Run, Slip
from workbench.calls.opened import Cursor
from workbench.readers.records import Records

_TERMINAL = ("RUN_FINISHED", "RUN_ERROR")
_INTERLEAVING = ("TEXT_MESSAGE_", "TOOL_CALL_")


@dataclass(slots=True)
class Assigned:
    """Runs in order of appearance, the run of each event (index into `runs`), and the slips."""

    runs: list[Run] = field(default_factory=list)
    run_of: array[int] = field(default_factory=lambda: array("i"))
    slips: list[Slip] = field(default_factory=list)
    #: rows of events after the end of their run
    late: set[int] = field(default_factory=set)
    #: event rows by stream, streams in order of time where all have one, else as loaded
    streams: list[tuple[int, Iterable[int]]] = field(default_factory=list)

    #: said where the streams were put into another order than they were loaded in
    note: str = ""
    #: kind of event by pool code of its type: lower-case names are read as what they mean
    kinds: dict[int, str] = field(default_factory=dict)

    def order(self) -> Iterator[int]:
        """All event rows in the order of their streams."""
        return chain.from_iterable(rows for _, rows in self.streams)

    def in_order(self) -> list[Run]:
        """All runs in the order of their streams; those that are only requests come last."""
        place = {stream: n for n, (stream, _) in enumerate(self.streams)}
        last = len(place)
        return sorted(self.runs, key=lambda r: last if r.stream is None else place.get(r.stream, last))


def assign(records: Records) -> Assigned:
    """Walk every stream once; streams are independent of each other here."""
    out = Assigned(run_of=array("i", bytes(4 * len(records.events))))
    out.kinds = {code: records.pool.values[code].upper() for code in set(records.events.type)}
    out.streams, timed = order.rows_by_stream(records)
    for stream, rows in out.streams:
        _Walk(records, stream, out).walk(rows)
    _requests_without_stream(records, out)
    _name_threads(records, out)
    if not timed:
        out.streams, out.note = order.by_answers(records, out.streams, out.runs)
    _number_rows(out)
    return out


class _Walk:
    """One stream: its active runs, the run that ended last, and the owners of calls and messages."""

    def __init__(self, records: Records, stream: int, out: Assigned) -> None:
        self.records = records
        self.stream = stream
        self.out = out
        self.active: list[Run] = []
        self.alive: set[int] = set()
        self.by_name: dict[str, list[Run]] = {}
        self.current: Run | None = None
        self.ended: Run | None = None
        self.numbers: dict[int, int] = {}
        self.owners: dict[tuple[str, int], Run] = {}
        self.last_row: dict[int, int] = {}
        #: active runs of a thread in the order in which they last wrote
        self.recent: dict[str, dict[int, Run]] = {}
        #: rows up to which `remember` has looked
        self.remembered: dict[int, int] = {}
        self.interleaved: set[frozenset[int]] = set()
        self.nested: set[int] = set()
        opened = records.streams[stream]
        self.complete = opened.complete
        self.request = opened.request

    def walk(self, rows: Iterable[int]) -> None:
        """Give every event its run; what lies between two RUN_ events of a lone run is taken at once."""
        kinds = self.out.kinds
        types, run_of = self.records.events.type, self.out.run_of
        stop = rows.stop if isinstance(rows, range) else -1
        #: next row of each RUN_ type; a type that comes no more has its row at the end
        ahead = {code: -1 for code, kind in kinds.items() if kind.startswith("RUN_")}
        seen = False
        cursor = Cursor(rows)
        for row in cursor:
            seen = True
            run = self.place(row, kinds[types[row]])
            number = self.numbers[id(run)]
            run_of[row] = number
            run.events += 1
            run.first = row if run.first is None else run.first
            run.last = row
            if row + 1 < stop and len(self.active) == 1 and self.current is run:
                after = cursor.after = _next(types, ahead, row + 1, stop)
                run_of[row + 1 : after] = array("i", (number,)) * (after - row - 1)
                run.events += after - row - 1
                run.last = after - 1
        if not seen and self.request is not None:
            self.new_run(None)
        for run in self.active:
            if id(run) in self.nested or (run.start is None and not self.complete):
                continue
            at = At("event", run.last if run.last is not None else 0)
            self.out.slips.append(Slip("run-end-missing", run, at))

    def place(self, row: int, kind: str) -> Run:
        """The run of an event that is not plainly inside the only active run."""
        if kind == "RUN_STARTED":
            return self.start(row)
        if kind in _TERMINAL:
            return self.finish(row, kind)
        if self.current is None:
            if self.ended is not None:
                self.out.late.add(row)
                self.slip("event-after-run-end", self.ended, row, variant=kind)
                return self.ended
            run = self.new_run(row)
            self.enter(run)
            self.current = run
            self.slip("run-start-missing", run, row, variant=kind)
            return run
        if len(self.active) > 1:
            return self.owner(row, kind)
        return self.current

    def start(self, row: int) -> Run:
        events, pool = self.records.events, self.records.pool
        thread, name = pool.text(events.own_thread[row]), pool.text(events.own_run[row])
        implicit = self.current if self.current is not None and self.current.start is None else None
        if implicit is not None:
            # Loose events before the first start: they stay their own nameless run.
            self.leave(implicit)
            implicit.thread_id = implicit.thread_id or thread or ""
            self.current = self.active[-1] if self.active else None
        run = self.new_run(row, thread, name)
        run.start = row
        if self.current is not None:
            self.nest(run, row)
        self.enter(run)
        self.current = run
        return run

    def nest(self, run: Run, row: int) -> None:
        """A run starts inside another: a fault within one thread, a mixed log of several threads else."""
        outer = self.current
        assert outer is not None
        if len(self.active) == 1:
            self.remember(outer, row)
        if outer.thread_id != run.thread_id:
            return
        self.nested.add(id(outer))
        self.slip(
            "run-nested",
            run,
            row,
            ids=(outer.run_id,),
            other=None if outer.start is None else At("event", outer.start),
        )
        if outer.run_id == run.run_id:
            self.leave(outer)

    def enter(self, run: Run) -> None:
        """A run becomes active."""
        self.active.append(run)
        self.alive.add(id(run))
        self.by_name.setdefault(run.run_id, []).append(run)

    def leave(self, run: Run) -> None:
        """A run is active no more."""
        self.active.remove(run)
        self.alive.discard(id(run))
        self.by_name[run.run_id].remove(run)
        self.recent.get(run.thread_id, {}).pop(id(run), None)

    def wrote(self, run: Run, row: int) -> None:
        """A run wrote a message or call event: of its thread it is the latest that did."""
        self.last_row[id(run)] = row
        recent = self.recent.setdefault(run.thread_id, {})
        recent.pop(id(run), None)
        recent[id(run)] = run

    def remember(self, run: Run, end: int) -> None:
        """The calls and messages that a run opened while it was alone."""
        kinds, events = self.out.kinds, self.records.events
        number = self.numbers[id(run)]
        begin = self.remembered.get(id(run), run.first or 0)
        self.remembered[id(run)] = end
        for row in range(begin, end):
            kind = kinds[events.type[row]]
            if self.out.run_of[row] == number and kind.startswith(_INTERLEAVING):
                code = events.call[row] if kind.startswith("TOOL_CALL_") else events.message[row]
                self.owners[kind[:4], code] = run
                self.wrote(run, row)

    def finish(self, row: int, kind: str) -> Run:
        events, pool = self.records.events, self.records.pool
        thread, name = pool.text(events.own_thread[row]), pool.text(events.own_run[row])
        if not self.active:
            return self.finish_again(row, kind, thread, name)
        named = self.by_name.get(name) if name is not None else None
        run = named[-1] if named else self.current or self.active[-1]
        self.leave(run)
        # what the start left out is known from the end: a missing id (schema-field-missing) is no changed one
        run.thread_id = run.thread_id or thread or ""
        run.run_id = run.run_id or name or ""
        changed = [a for a, b in ((thread, run.thread_id), (name, run.run_id)) if a is not None and a != b]
        if changed and kind == "RUN_FINISHED":
            other = None if run.start is None else At("event", run.start)
            detail = f"started as {run.thread_id}/{run.run_id}, ended as {thread}/{name}"
            self.slip(
                "run-id-changed", run, row, ids=tuple(changed), variant="end", detail=detail, other=other
            )
        self.close(run, row, kind)
        self.current = self.active[-1] if self.active else None
        self.ended = run
        return run

    def finish_again(self, row: int, kind: str, thread: str | None, name: str | None) -> Run:
        """A terminal event without an active run: of a run never started, or the second of one."""
        ended = self.ended
        if ended is None or (name is not None and ended.run_id not in ("", name)):
            run = self.new_run(row, thread, name)
            if kind == "RUN_FINISHED":
                self.slip("run-start-missing", run, row, variant=kind)
            self.close(run, row, kind)
            self.ended = run
            return run
        self.out.late.add(row)
        hidden = ended.outcome == "error" and kind == "RUN_FINISHED" and self.succeeds(row)
        self.slip("run-error-hidden" if hidden else "run-ended-twice", ended, row, variant=kind,
                  other=None if ended.end is None else At("event", ended.end))  # fmt: skip
        return ended

    def succeeds(self, row: int) -> bool:
        outcome = self.records.json(row).get("outcome")
        return not isinstance(outcome, dict) or outcome.get("type", "success") == "success"

    def close(self, run: Run, row: int, kind: str) -> None:
        run.end = row
        event = self.records.json(row)
        if kind == "RUN_ERROR":
            run.outcome = "error"
            run.error_code, run.error = str(event.get("code") or ""), str(event.get("message") or "")
            return
        outcome = event.get("outcome")
        word = outcome.get("type") if isinstance(outcome, dict) else outcome
        run.outcome = word if word in ("interrupt", "cancelled") else "success"
        legacy = event.get("interrupt", event.get("interrupts"))
        entries = outcome.get("interrupts") if isinstance(outcome, dict) else None
        if entries is None and isinstance(legacy, list | dict):
            entries = legacy if isinstance(legacy, list) else [legacy]
            run.outcome = "interrupt" if entries else run.outcome
        run.interrupts = [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []

    def new_run(self, row: int | None, thread: str | None = None, name: str | None = None) -> Run:
        first = not any(run.stream == self.stream for run in self.out.runs[-1:])
        request = self.request if first else None
        if request is not None:
            body = self.records.requests[request].body
            asked_thread, asked_run = _id(body, "threadId", "thread_id"), _id(body, "runId", "run_id")
            thread = asked_thread if thread is None else thread
            name = asked_run if name is None else name
        run = Run(thread or "", name or "", self.stream, complete=self.complete, request=request)
        self.numbers[id(run)] = len(self.out.runs)
        self.out.runs.append(run)
        if request is not None and row is not None:
            named = (run.thread_id, run.run_id)
            changed = tuple(a for a, b in zip(named, (asked_thread, asked_run), strict=True) if b and a != b)
            if changed:
                detail = f"requested as {asked_thread}/{asked_run}, started as {run.thread_id}/{run.run_id}"
                other = At("request", request)
                self.slip(
                    "run-id-changed", run, row, ids=changed, variant="request", detail=detail, other=other
                )
        return run

    def owner(self, row: int, kind: str) -> Run:
        """With several active runs, a call or message event belongs to the run that opened its id."""
        assert self.current is not None
        if not kind.startswith(_INTERLEAVING):
            return self.current
        events = self.records.events
        code = events.call[row] if kind.startswith("TOOL_CALL_") else events.message[row]
        key = (kind[:4], code)
        run = self.owners.get(key, self.current)
        if kind.endswith("_START") or id(run) not in self.alive:
            run = self.current
            self.owners[key] = run
        before = self.last_row.get(id(run))
        other = next(reversed(self.recent.get(run.thread_id, {}).values()), None)
        if before is not None and other is not None and other is not run:
            pair = frozenset((id(run), id(other)))
            if pair not in self.interleaved:
                self.interleaved.add(pair)
                self.slip("runs-interleaved", run, row, ids=(other.run_id,))
        self.wrote(run, row)
        return run

    def slip(self, rule: str, run: Run, row: int, *, ids: tuple[str, ...] = (), variant: str = "",
             detail: str = "", other: At | None = None) -> None:  # fmt: skip
        self.out.slips.append(Slip(rule, run, At("event", row), None, ids, variant, detail, other))


def _next(types: array[int], ahead: dict[int, int], row: int, stop: int) -> int:
    """The next row from `row` on whose type is in `ahead`; what was found before is not looked for again."""
    for code, known in ahead.items():
        if known < row:
            try:
                ahead[code] = types.index(code, row, stop)
            except ValueError:
                ahead[code] = stop
    return min(ahead.values(), default=stop)


def _id(body: dict[str, object], *keys: str) -> str | None:
    return next((value for key in keys if isinstance(value := body.get(key), str)), None)


def _requests_without_stream(records: Records, out: Assigned) -> None:
    """Join loose requests with their runs by thread and run id; the rest become runs of their own."""
    by_id: dict[tuple[str, str], Run] = {}
    for run in out.runs:
        if run.request is None and run.start is not None:
            by_id.setdefault((run.thread_id, run.run_id), run)
    answered = {run.request for run in out.runs}
    starts = {run.start: run for run in out.runs if run.start is not None}
    for number, request in enumerate(records.requests):
        if number in answered:
            continue
        thread, name = _id(request.body, "threadId", "thread_id"), _id(request.body, "runId", "run_id")
        found = (
            starts.get(request.event) if request.event is not None else by_id.get((thread or "", name or ""))
        )
        if found is not None and found.request is None:
            found.request = number
        elif found is None:
            out.runs.append(Run(thread or "", name or "", request.stream, request=number))


def _name_threads(records: Records, out: Assigned) -> None:
    """Nameless runs have the thread of their source, where it has just one."""
    threads: dict[int, set[str]] = {}
    for run in out.runs:
        if run.thread_id:
            threads.setdefault(_source(records, run), set()).add(run.thread_id)
    for run in out.runs:
        if not run.thread_id:
            known = threads.get(_source(records, run), set())
            run.thread_id = next(iter(known)) if len(known) == 1 else ""


def _number_rows(out: Assigned) -> None:
    """Runs with a start or an end are rows of `trace.runs`, in the order of their streams."""
    for row, run in enumerate(r for r in out.in_order() if r.start is not None or r.end is not None):
        run.row = row


def _source(records: Records, run: Run) -> int:
    if run.stream is not None:
        return records.streams[run.stream].source
    return records.requests[run.request].source if run.request is not None else -1
