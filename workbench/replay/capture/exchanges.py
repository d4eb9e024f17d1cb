"""The exchanges of one conversation of a trace: each request with the events that answered it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from workbench.calls.conversation import Call, Conversation, Run
from workbench.replay.capture.shapes import dicts, shallow
from workbench.replay.engine.errors import ReplayError
from workbench.trace import Trace

#: what differs from run to run and says nothing
_PASSING = ("timestamp", "rawEvent")


@dataclass
class Exchange:
    """One request and its response. `rows` are the rows of `events` in `trace.events`."""

    request: dict[str, Any]
    status: int | None
    events: list[dict[str, Any]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """Its events of these types."""
        return [event for event in self.events if event.get("type") in kinds]


def agui_only(trace: Trace) -> Trace:
    """The AG-UI side of a trace, without telemetry and without what a provider was sent."""
    records = trace.records
    kept = records.subset(range(len(records.events)), range(len(records.requests)), [], [])
    kept.payloads = []
    return Trace(kept)


@dataclass
class Chosen:
    """What a client calls one thread. A release that renames it in the middle makes several conversations of it."""

    thread_id: str
    parts: list[Conversation]

    @property
    def runs(self) -> list[Run]:
        """Its runs, in order."""
        return [run for part in self.parts for run in part.runs]

    @property
    def calls(self) -> list[Call]:
        """Its calls."""
        return [call for part in self.parts for call in part.calls]

    @property
    def thread_ids(self) -> set[str]:
        """All ids that it has."""
        return {self.thread_id, *(one for part in self.parts for one in (part.thread_id, *part.thread_ids))}


def conversation(trace: Trace, thread: str | None = None) -> Chosen:
    """The conversation of a thread, or the only one; `ReplayError` where that is not one."""
    found: dict[str, Chosen] = {}
    for part in trace.conversations:
        sent = [trace.records.requests[run.request].body for run in part.runs if run.request is not None]
        if not sent:
            continue
        name = str(sent[0].get("threadId") or part.thread_id)
        found.setdefault(name, Chosen(name, [])).parts.append(part)
    kept = [c for c in found.values() if thread is None or thread in c.thread_ids]
    if len(kept) == 1:
        return kept[0]
    if not kept:
        about = f"of the thread {thread!r} " if thread is not None else ""
        raise ReplayError(
            f"no request {about}is in the capture; without what the client sent nothing can be replayed"
        )
    listed = ", ".join(c.thread_id for c in kept[:10])
    raise ReplayError(f"there are {len(kept)} threads in the capture; choose one: {listed}")


def exchanges(trace: Trace, chosen: Chosen) -> list[Exchange]:
    """The exchanges of a conversation, in order; `ReplayError` where a run has no request."""
    records = trace.records
    made: dict[int, Exchange] = {}
    for run in chosen.runs:
        if run.request is None:
            if run.row is None:
                continue
            raise ReplayError(f"the request of run {run.run_id!r} is not in the capture")
        if run.request not in made:
            request = records.requests[run.request]
            stream = None if request.stream is None else records.streams[request.stream]
            status = request.status if request.status is not None or stream is None else stream.status
            _sendable(request.body, run.run_id)
            # as JSON has it, and apart from the trace
            made[run.request] = Exchange(json.loads(json.dumps(request.body)), status)
    numbers = {id(run): run.request for run in chosen.runs}
    for row in range(len(records.events)):
        number = numbers.get(id(trace.run_of(row)))
        if number is not None:
            event = {key: value for key, value in trace.json(row).items() if key not in _PASSING}
            shallow(event, f"event {row}")
            made[number].events.append(event)
            made[number].rows.append(row)
    # requests stand in the order in which they were sent
    return [made[number] for number in sorted(made)] if len(chosen.parts) > 1 else list(made.values())


def _sendable(body: Any, run: str) -> None:
    """Raise `ReplayError` for a request that is none of AG-UI, or that nothing could be added to."""
    what = f"the request of run {run!r}"
    shallow(body, what)
    messages = body.get("messages") if isinstance(body, dict) else ()
    if messages is not None and len(dicts(messages)) != (len(messages) if isinstance(messages, list) else -1):
        raise ReplayError(f"{what} cannot be sent again: its messages are no list of objects")
