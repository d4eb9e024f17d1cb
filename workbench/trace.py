"""A trace: the tables of one investigation, where they came from, and the door back to the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from workbench import calls
from workbench.calls import tables
from workbench.calls.conversation import At, Conversation, Run
from workbench.calls.telemetry import tables as telemetry
from workbench.calls.telemetry.threads import Threads, threads
from workbench.findings import Evidence
from workbench.readers import Limits
from workbench.readers import load as read
from workbench.readers.records import NO_TIME, Records

if TYPE_CHECKING:
    import pandas as pd


def load(
    *sources: Any,
    strict: bool = False,
    limits: Limits | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Trace:
    """Read captures and make one investigation of them.

    `sources` are paths, folders, globs, bytes, file objects, `-` for standard input, or
    `sample:NAME` for a bundled capture; any mix, loaded together. What cannot be read
    becomes a row of `trace.problems`. With `strict=True` the first such problem raises
    `workbench.LoadError` instead. `limits` bounds what a hostile capture may cost
    (`workbench.readers.Limits`, see docs/limits.md). `progress(path, bytes_done, bytes_total)`
    is called on the way.
    """
    return Trace(read(sources, strict=strict, limits=limits, progress=progress))


class Trace:
    """The tables of one investigation, computed at first use.

    Loading decodes (`sources`, `problems`, `events`, `requests`); `runs`, `parts`, `calls`
    and `approvals` are derived from it. Every table is a pandas DataFrame as declared in
    `workbench.model`; `conversations` holds the same facts as objects, which is what the
    built-in rules and views read.
    """

    def __init__(self, records: Records) -> None:
        self.records = records
        #: the model provider that every message list is judged by, as if it were sent there
        self.provider = ""

    def __repr__(self) -> str:
        s = self.summary()
        counts = {
            "source": len(s["sources"]),
            "event": len(self.records.events),
            **{word: s[f"{word}s"] for word in ("thread", "run", "call", "approval")},
        }
        words = ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for word, n in counts.items())
        return f"<Trace: {words}>"

    @cached_property
    def _story(self) -> calls.Story:
        return calls.build(self.records)

    def sent_to(self, provider: str) -> Trace:
        """The same trace, whose message lists are all judged as if they were sent to this provider."""
        other = copy(self)
        other.provider = provider
        return other

    @property
    def conversations(self) -> list[Conversation]:
        """One object per thread, across its runs."""
        return self._story.conversations

    @cached_property
    def sources(self) -> pd.DataFrame:
        """One row per file, archive member or live stream; columns as in `workbench.model.SOURCES`."""
        return tables.sources(self.records)

    @cached_property
    def problems(self) -> pd.DataFrame:
        """One row per piece of input that could not be used; columns as in `workbench.model.PROBLEMS`."""
        return tables.problems(self.records)

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per AG-UI event; columns as in `workbench.model.EVENTS`."""
        return tables.events(self.records, self._story)

    @cached_property
    def requests(self) -> pd.DataFrame:
        """One row per request to an agent (RunAgentInput); columns as in `workbench.model.REQUESTS`."""
        return tables.requests(self.records, self._story)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run that has a start or an end in the capture; columns as in `workbench.model.RUNS`."""
        return tables.runs(self.records, self._story)

    @cached_property
    def parts(self) -> pd.DataFrame:
        """One row per content part of a message in a snapshot or request; columns as in `workbench.model.PARTS`."""
        return tables.parts(self.records, self._story)

    @cached_property
    def calls(self) -> pd.DataFrame:
        """One row per occurrence of a tool call; columns as in `workbench.model.CALLS`."""
        return tables.calls(self.records, self._story)

    @cached_property
    def approvals(self) -> pd.DataFrame:
        """One row per approval request, however many channels show it; columns as in `workbench.model.APPROVALS`."""
        return tables.approvals(self.records, self._story)

    @cached_property
    def spans(self) -> pd.DataFrame:
        """One row per span; columns as in `workbench.model.SPANS`."""
        # without an AG-UI side there is nothing to join, and telemetry alone is often large
        joined = self._story.spans if len(self.records.events) or self.records.requests else {}
        return telemetry.spans(self.records, self._threads, joined)

    @cached_property
    def logs(self) -> pd.DataFrame:
        """One row per log record; columns as in `workbench.model.LOGS`."""
        story = self._story
        named = {row: found for c in story.conversations for row, found in c.log_calls.items()}
        return telemetry.logs(self.records, self._threads, story.logs, named)

    @cached_property
    def _threads(self) -> Threads:
        return threads(self.records)

    def attributes(self, row: int | At) -> dict[str, Any]:
        """The attributes of a row of `spans` (or, with `At("log", row)`, of `logs`), flat, by key."""
        at = At("span", row) if isinstance(row, int) else row
        return (self.records.log(at.row) if at.kind == "log" else self.records.span(at.row)).attributes

    def select(
        self,
        *,
        thread: str | None = None,
        run: str | None = None,
        call_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
        signal: Literal["events", "requests", "spans", "logs"] | None = None,
    ) -> Trace:
        """The part of the trace that fits all that is given, as a trace of its own.

        `thread`, `run` and `call_id` are ids (a call brings its whole thread, because its
        fate is only seen there); `since` and `until` are UTC nanoseconds, inclusive, and
        leave out what has no time; `signal` keeps only that kind of record. Row numbers of
        the new trace are its own. Nothing that fits gives empty tables.
        """
        story, records = self._story, self.records
        threads = {thread} if thread is not None else None
        if call_id is not None:
            having = {c.thread_id for c in self.conversations if any(k.id == call_id for k in c.calls)}
            threads = having if threads is None else threads & having
        kept = [
            (threads is None or r.thread_id in threads) and (run is None or r.run_id == run)
            for r in story.runs
        ]
        low, high = NO_TIME + 1 if since is None else since, 2**63 - 1 if until is None else until
        timed = since is not None or until is not None
        rows = [
            row
            for row, number in enumerate(story.run_of)
            if signal in (None, "events")
            and kept[number]
            and (not timed or low <= records.events.time[row] <= high)
        ]
        of_run = {r.request: kept[number] for number, r in enumerate(story.runs) if r.request is not None}
        requests = [
            number
            for number, request in enumerate(records.requests)
            if signal in (None, "requests")
            and of_run.get(number, thread is None and run is None and call_id is None)
            and (not timed or (request.time is not None and low <= request.time <= high))
        ]
        free = thread is None and run is None and call_id is None
        told = [r for number, r in enumerate(story.runs) if kept[number]]
        of_told = {"spans": {n for r in told for n in r.spans}, "logs": {n for r in told for n in r.logs}}

        def of(word: Literal["spans", "logs"]) -> list[int]:
            columns = records.spans if word == "spans" else records.logs
            times = records.spans.start if word == "spans" else records.logs.time
            return [
                row
                for row in range(len(columns))
                if signal in (None, word)
                and (free or row in of_told[word])
                and (not timed or low <= times[row] <= high)
            ]

        return Trace(records.subset(rows, requests, of("spans"), of("logs")))

    def raw(self, row: SupportsIndex | At) -> bytes:
        """The bytes of one event or request as they stand in its decoded member.

        `row` is a row of `events` (also as it comes out of a DataFrame), or an `At` for a row of
        another table. Empty where the format keeps no bytes of its own. Raises `IndexError` for
        a row that is not there.
        """
        at = row if isinstance(row, At) else At("event", index(row))
        if at.row < 0:
            raise IndexError(f"no row {at.row}")
        if at.kind == "event":
            return self.records.raw(at.row)
        if at.kind in ("span", "log"):
            return self.records.signal_raw("span" if at.kind == "span" else "log", at.row)
        if at.kind == "payload":
            return self.records.body_raw(self.records.payloads[at.row])
        return self.records.request_raw(at.row)

    def json(self, row: int) -> dict[str, Any]:
        """The decoded event of a row of `events`."""
        return self.records.json(row)

    def run_of(self, row: int) -> Run:
        """The run of an event, by its row of `events`."""
        return self._story.runs[self._story.run_of[row]]

    def sequence_of(self, row: int) -> int:
        """The number of an event in its conversation, whatever file it came from."""
        return self._story.sequence[row]

    def evidence(self, *places: At | SupportsIndex | None) -> tuple[Evidence, ...]:
        """Where events and requests stand in the input, for a finding.

        Takes rows of `events` (also as they come out of a DataFrame) and `At`s; what is
        missing (None, NA) is left out.
        """
        found = []
        for place in places:
            if isinstance(place, At):
                found.append(self._evidence(place))
            elif isinstance(place, SupportsIndex):
                found.append(self._evidence(At("event", index(place))))
        return tuple(found)

    def _evidence(self, at: At) -> Evidence:
        records = self.records
        if at.kind in ("span", "log"):
            rows = records.spans if at.kind == "span" else records.logs
            return Evidence(
                records.sources[rows.source[at.row]].path,
                records.members[rows.member[at.row]].name,
                rows.record[at.row],
                _known(rows.line[at.row]),
                _known(rows.offset[at.row]),
            )
        if at.kind != "event":
            request = (records.requests if at.kind == "request" else records.payloads)[at.row]
            if request.event is not None:
                return self._evidence(At("event", request.event))
            member = records.members[request.member].name if request.member >= 0 else ""
            path = records.sources[request.source].path
            return Evidence(path, member, request.record, request.line, request.offset)
        events = records.events
        number = events.member[at.row]
        return Evidence(
            records.sources[events.source[at.row]].path,
            records.members[number].name if number >= 0 else "",
            events.record[at.row],
            _known(events.line[at.row]),
            _known(events.offset[at.row]),
        )

    def text(self, ranges: Iterable[tuple[int, int]]) -> str:
        """The deltas of inclusive ranges of event rows, joined (see `Message.deltas`)."""
        return calls.text_of(self.records, ranges)

    @property
    def empty(self) -> bool:
        """Nothing was found that could be judged: no event, no request, no span or log about an agent's work."""
        return not len(self.records.events) and not self.records.requests and not self.conversations

    def missing(self, need: str) -> str | None:
        """Why a rule that needs `need` cannot be asked; None where it can.

        `need` is the name of a table, or `snapshots`, `requests` (with messages or answers),
        or `runs`.
        """
        records = self.records
        if need == "events" and not len(records.events):
            return "no AG-UI events in the capture"
        if need == "requests" and not records.requests:
            return "no requests (RunAgentInput) in the capture"
        if need == "snapshots" and not any(c.has_snapshots for c in self.conversations):
            return "no MESSAGES_SNAPSHOT in the capture"
        if need == "lists" and not any(c.lists for c in self.conversations):
            return "no message list (snapshot or request) in the capture"
        if need == "payloads" and records.payloads:
            return None
        if need == "judged":
            lists = self.provider and any(c.lists or c.told for c in self.conversations)
            return (
                None
                if lists or records.payloads
                else "no payload in the capture, and no provider is asked for"
            )
        if (need == "spans" and len(records.spans)) or (need == "logs" and len(records.logs)):
            return None
        if need == "telemetry":
            seen = len(records.spans) or len(records.logs)
            return None if seen else "no telemetry (spans, logs) in the capture"
        if need in ("spans", "logs", "payloads"):
            return f"no {need} in the capture"
        if need == "approvals" and not any(c.approvals or c.strays for c in self.conversations):
            return "no approval in the capture"
        if need == "calls" and not any(c.calls or c.orphans for c in self.conversations):
            return "no tool call in the capture"
        return None

    def summary(self) -> dict[str, Any]:
        """Counts, sources and problems as plain data, without making a DataFrame."""
        records = self.records
        return {
            "sources": [
                {
                    "path": s.path,
                    "format": s.format,
                    "records": s.records,
                    "rows": s.rows,
                    "duplicates": s.duplicates,
                    "ignored": s.ignored.total(),
                    "problems": s.problems,
                    "complete": s.complete,
                    "note": s.note,
                }
                for s in records.sources
            ],
            "problems": [
                {
                    "path": records.sources[p.source].path,
                    "member": p.member,
                    "line": p.line,
                    "offset": p.offset,
                    "reason": p.reason,
                }
                for p in records.problems
            ],
            "threads": len(self.conversations),
            "runs": sum(run.row is not None for c in self.conversations for run in c.runs),
            "calls": sum(len(c.calls) for c in self.conversations),
            "approvals": sum(len(c.approvals) for c in self.conversations),
        }


def _known(value: int) -> int | None:
    return None if value < 0 else value
