"""Build all conversations of an investigation, thread by thread.

A conversation depends on nothing but the records of its thread, so that threads can be
worked on apart from each other.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

from workbench.calls import payloads, producers, runs
from workbench.calls.arguments import canonical, glued
from workbench.calls.conversation import At, Call, Conversation, Run, Slip
from workbench.calls.decisions import resume_entries
from workbench.calls.opened import Cursor, alike
from workbench.calls.sightings import Sightings
from workbench.calls.telemetry.take_in import take_in
from workbench.calls.texts import text_of
from workbench.calls.turns import Turns
from workbench.calls.walk import Walk
from workbench.readers.records import Records

_DELTAS = frozenset(
    {"TEXT_MESSAGE_CONTENT", "TOOL_CALL_ARGS", "REASONING_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_CONTENT"}
)


@dataclass(slots=True)
class Story:
    """The conversations, all runs in order of appearance, and for each event its run and sequence."""

    conversations: list[Conversation] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    #: index into `runs`, by event row
    run_of: array[int] = field(default_factory=lambda: array("i"))
    #: number of the event in its conversation, by event row
    sequence: array[int] = field(default_factory=lambda: array("i"))
    #: thread of rows of `spans` and `logs`, and how it is known (`call id`, `conversation id`, `time`, "")
    spans: dict[int, tuple[str, str]] = field(default_factory=dict)
    logs: dict[int, tuple[str, str]] = field(default_factory=dict)


def build(records: Records) -> Story:
    """Derive every conversation of what was loaded."""
    assigned = runs.assign(records)
    conversations = _conversations(records, assigned.in_order(), assigned.note)
    walks = {
        id(run): walk
        for walk in (Walk(records, c) for c in conversations)
        for run in walk.known.conversation.runs
    }
    story = Story(conversations, assigned.runs, assigned.run_of, array("i", bytes(4 * len(records.events))))
    for conversation in conversations:
        _mark_replays(records, assigned, conversation)
    _walk(records, assigned, walks, story.sequence)
    slips: dict[int, list[Slip]] = {}
    for slip in assigned.slips:
        slips.setdefault(id(walks[id(slip.run)].known.conversation), []).append(slip)
    for walk in dict.fromkeys(walks.values()):
        walk.begin_until(None)
        own = walk.known.conversation
        own.slips[:0] = slips.get(id(own), [])
    joined, alone = payloads.join(records, conversations)
    for number, run in joined:
        after = story.sequence[run.last] if run.last is not None else 0
        walks[id(run)].known.payload(run, number, after)

    def known_of(conversation: Conversation) -> tuple[Sightings, Turns]:
        walk = walks[id(conversation.runs[0])]
        return walk.known, walk.turns

    taken = take_in(records, list(conversations), known_of, story.sequence)
    conversations += taken.conversations
    story.runs += taken.runs
    apart = payloads.stand_alone(records, alone)
    conversations += [known.conversation for known in apart]
    story.runs += [run for known in apart for run in known.conversation.runs]
    story.spans, story.logs = taken.spans, taken.logs
    for known in (*dict.fromkeys(walk.known for walk in walks.values()), *taken.walked, *apart):
        _finish(records, known)
    return story


def _conversations(records: Records, all_runs: list[Run], note: str) -> list[Conversation]:
    """One per thread id; threads are one conversation where only the scrubbed ids keep them apart."""
    by_thread: dict[str, Conversation] = {}
    for run in all_runs:
        conversation = by_thread.setdefault(run.thread_id, Conversation(run.thread_id, [run.thread_id]))
        conversation.runs.append(run)
    _merge_scrubbed(records, by_thread)
    kept = list(by_thread.values())
    for conversation in kept:
        for number, run in enumerate(conversation.runs):
            run.number = number
        if note and len({run.stream for run in conversation.runs}) > 1:
            conversation.notes.append(note)
        conversation.complete = all(run.complete for run in conversation.runs)
    return kept


def _merge_scrubbed(records: Records, by_thread: dict[str, Conversation]) -> None:
    """Reading rule 16: a resume whose interrupt was offered by exactly one other thread belongs there."""
    offers: dict[str, set[str]] = {}
    for thread, conversation in by_thread.items():
        for run in conversation.runs:
            for entry in run.interrupts:
                if isinstance(entry.get("id"), str) and entry["id"]:
                    offers.setdefault(entry["id"], set()).add(thread)
    for thread in list(by_thread):
        conversation = by_thread[thread]
        first = conversation.runs[0]
        if first.request is None:
            continue
        for given in resume_entries(records.requests[first.request].body):
            owners = offers.get(given.id, set()) - {thread}
            if len(owners) != 1 or thread in offers.get(given.id, set()):
                continue
            owner = by_thread.get(next(iter(owners)))
            if owner is None or _answered_at_home(records, owner, given.id):
                continue
            owner.runs.extend(conversation.runs)
            owner.thread_ids.extend(conversation.thread_ids)
            owner.notes.append(
                f"threads {owner.thread_id!r} and {thread!r} are read as one conversation: "
                f"the resume of {given.id!r} stands under the other thread id (scrubbed capture)"
            )
            del by_thread[thread]
            break


def _answered_at_home(records: Records, conversation: Conversation, interrupt_id: str) -> bool:
    return any(
        given.id == interrupt_id
        for run in conversation.runs
        if run.request is not None
        for given in resume_entries(records.requests[run.request].body)
    )


def _mark_replays(records: Records, assigned: runs.Assigned, conversation: Conversation) -> None:
    """A run started again under its id: note it, and pass over the copy where the events are equal."""
    first: dict[str, Run] = {}
    for run in conversation.runs:
        if run.start is None or not run.run_id:
            continue
        earlier = first.setdefault(run.run_id, run)
        if earlier is run:
            continue
        shorter = _replayed(records, assigned, earlier, run)
        if shorter is not None:
            shorter.replay_of = earlier if shorter is run else run
        if shorter is earlier:
            first[run.run_id] = run
        variant = "equal" if shorter is not None else "different"
        at = At("event", run.start)
        other = At("event", earlier.start or 0)
        assigned.slips.append(Slip("run-id-reused", run, at, None, (run.run_id,), variant, "", other))


def _replayed(records: Records, assigned: runs.Assigned, a: Run, b: Run) -> Run | None:
    """The run whose events are a beginning of the other's; None where they differ."""
    ours, theirs = (_events_of(records, assigned, run) for run in (a, b))
    short = a if len(ours) < len(theirs) else b
    if len(ours) != len(theirs) and short.end is not None:
        return None
    return short if all(x == y for x, y in zip(ours, theirs, strict=False)) else None


def _events_of(records: Records, assigned: runs.Assigned, run: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for row in range(run.first or 0, (run.last or 0) + 1):
        if assigned.runs[assigned.run_of[row]] is run and row not in assigned.late:
            event = dict(records.json(row))
            for key in ("timestamp", "rawEvent", "input"):
                event.pop(key, None)
            found.append(event)
    return found


def _walk(records: Records, assigned: runs.Assigned, walks: dict[int, Walk], sequence: array[int]) -> None:
    """Hand every event to its conversation; deltas that go on where the last one went are taken at once."""
    kinds, types = assigned.kinds, records.events.type
    deltas = {code for code, text in kinds.items() if text in _DELTAS}
    late = assigned.late
    number, walk, run = -1, None, None
    for _, rows in assigned.streams:
        stop = rows.stop if isinstance(rows, range) else -1
        cursor = Cursor(rows)
        for row in cursor:
            if assigned.run_of[row] != number:
                number = assigned.run_of[row]
                run = assigned.runs[number]
                walk = walks[id(run)]
            assert walk is not None
            assert run is not None
            kind = types[row]
            known = walk.known
            sequence[row] = known.sequence
            if run.first == row or id(run) not in walk.open:
                walk.begin_until(run)
            if run.replay_of is None:
                walk.event(row, kinds[kind], run, late=row in late)
            if kind in deltas and row + 1 < stop:
                after = cursor.after = alike(records, assigned.run_of, row, stop)
                more = after - row - 1
                if more:
                    sequence[row + 1 : after] = array(
                        "i", range(known.sequence + 1, known.sequence + 1 + more)
                    )
                    ranges = walk.deltas_of(row, kinds[kind], run) if run.replay_of is None else None
                    if ranges:
                        ranges[-1] = (ranges[-1][0], after - 1)
                    known.sequence += more
            known.sequence += 1


def _finish(records: Records, known: Sightings) -> None:
    conversation = known.conversation
    declared = frozenset().union(*(run.client_tools for run in conversation.runs))
    for call in conversation.calls:
        for start in call.starts:
            start.arguments = text_of(records, start.deltas)
        call.arguments = _arguments(call)
        requests_only = bool(call.results) and all(r.place == "request" for r in call.results)
        call.client_side = call.synthetic_for is None and (call.tool in declared or requests_only)
    producers.spread(conversation.runs)
    first: dict[str, Call] = {}
    for call in conversation.calls:
        if call.synthetic_for is None:
            first.setdefault(call.id, call)
    for approval in conversation.approvals:
        if approval.call is None and (named := first.get(approval.call_id)) is not None:
            approval.call = named
            named.approvals.append(approval)
    last = max((run.number for run in conversation.runs if run.events or run.spans), default=-1)
    known.settle(last)


def _arguments(call: Call) -> str | None:
    """What the call was asked with: the stream's, else a list's, else the approval's."""
    streamed = [s.arguments for s in call.starts if s.arguments.strip()]
    listed = [e.part.arguments for _, e in (*call.listed, *call.told) if e.part.arguments.strip()]
    listed += [e.arguments for e in call.executions if e.arguments]
    for text in (*streamed, *listed):
        pieces = glued(text)
        if pieces is None:
            return canonical(text)
        forms = list(dict.fromkeys(canonical(piece) for piece in pieces))
        # An initial `{}` before the real arguments is no document of its own.
        forms = [form for form in forms if form != "{}"] or forms
        return forms[0] if len(forms) == 1 else text
    shown = next((a.arguments for p in call.approvals for a in p.asks if a.arguments is not None), None)
    if shown is not None:
        return shown
    return "{}" if call.starts or call.listed or call.told else None
