"""Take all telemetry of an investigation in: find its conversations and runs, and feed them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from workbench.calls.conversation import Conversation, Run
from workbench.calls.sightings import Sightings
from workbench.calls.telemetry import join, loose, windows
from workbench.calls.telemetry.feed import Feed
from workbench.calls.telemetry.reading import Reading
from workbench.calls.telemetry.segments import Segment, segments
from workbench.calls.telemetry.threads import threads
from workbench.calls.turns import Turns
from workbench.readers.records import Records

#: Clocks that differ by less than this agree (ns)
_AGREE = 1_000_000_000


@dataclass(slots=True)
class Taken:
    """Conversations that only telemetry shows, and for each row its thread and how that is known."""

    conversations: list[Conversation] = field(default_factory=list)
    walked: list[Sightings] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    spans: dict[int, tuple[str, str]] = field(default_factory=dict)
    logs: dict[int, tuple[str, str]] = field(default_factory=dict)


def take_in(
    records: Records,
    conversations: list[Conversation],
    known_of: Callable[[Conversation], tuple[Sightings, Turns]],
    sequence: array[int],
) -> Taken:
    """Put spans and log records to the calls and approvals of their conversations."""
    taken = Taken()
    if not len(records.spans) and not len(records.logs):
        return taken
    reading = Reading(records)
    pieces = segments(records, threads(records))
    timed = [windows.windows(records, c) for c in conversations]
    for number, group in enumerate(join.group(records, pieces, conversations, timed, reading)):
        if not group.segments:
            continue
        if group.conversation is None:
            _alone(records, group, reading, taken)
        else:
            known, turns = known_of(group.conversation)
            _beside(group.conversation, group, timed[number], Feed(known, turns, reading, alone=False),
                    sequence, taken)  # fmt: skip
        conversation = group.conversation or taken.conversations[-1]
        for segment, sure in zip(group.segments, group.sure, strict=True):
            taken.spans.update(dict.fromkeys(segment.spans, (conversation.thread_id, sure)))
            taken.logs.update(dict.fromkeys(segment.logs, (conversation.thread_id, sure)))
    return taken


def _alone(records: Records, group: join.Group, reading: Reading, taken: Taken) -> None:
    """A conversation that nothing but telemetry shows: every piece is a run."""
    name = next((records.pool.text(s.thread) for s in group.segments if s.thread >= 0), None) or ""
    conversation = Conversation(name, [name])
    known = Sightings(records, conversation)
    turns = Turns(conversation)
    feed = Feed(known, turns, reading, alone=True)
    for segment, sure in zip(group.segments, group.sure, strict=True):
        run = _new_run(conversation, segment)
        feed.begin(segment, run)
        feed.segment(segment, run, sure)
    conversation.starts_late = False
    conversation.clock_offset = 0
    feed.finish()
    taken.conversations.append(conversation)
    taken.walked.append(known)
    taken.runs += conversation.runs


def _new_run(conversation: Conversation, segment: Segment) -> Run:
    run = Run(conversation.thread_id, "", None, number=len(conversation.runs))
    run.told_from, run.told_until = segment.start, segment.end
    conversation.runs.append(run)
    return run


def _beside(conversation: Conversation, group: join.Group, timed: list[windows.Window], feed: Feed,
            sequence: array[int], taken: Taken) -> None:  # fmt: skip
    """Telemetry of a conversation that the AG-UI side shows: every piece finds its run there."""
    placed = windows.place(conversation, group.segments, timed, feed.reading)
    conversation.clock_offset = placed.offset
    if placed.offset is not None and abs(placed.offset) > _AGREE:
        seconds = placed.offset / 1e9
        conversation.notes.append(
            f"the clock of the telemetry is about {abs(seconds):.1f} s {'behind' if seconds > 0 else 'ahead of'} "
            f"that of the events (told by {placed.compared} run{'' if placed.compared == 1 else 's'})"
        )
    last = feed.known.sequence
    for segment, found, sure in _pieces(conversation, group, placed, timed, feed.reading):
        run = found or _new_run(conversation, segment)
        if found is None:
            last += 1
            feed.known.sequence = last
            feed.begin(segment, run)
            taken.runs.append(run)
        else:
            feed.known.sequence = sequence[run.last] if run.last is not None else last
        run.joined = run.joined or sure
        feed.segment(segment, run, sure)
    feed.known.sequence = last
    feed.finish()


def _pieces(conversation: Conversation, group: join.Group, placed: windows.Placed, timed: list[windows.Window],
            reading: Reading) -> Iterator[tuple[Segment, Run | None, str]]:  # fmt: skip
    """Each segment with its run; log records outside of traces are of several runs."""
    known = list(conversation.runs)
    for segment, run, sure in zip(group.segments, placed.runs, group.sure, strict=True):
        if segment.spans or segment.trace or not known:
            yield segment, run, sure
            continue
        for piece, own in loose.in_runs(segment, conversation, timed, placed.offset, reading):
            yield piece, own, sure
