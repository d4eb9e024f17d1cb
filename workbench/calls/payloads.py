"""Where requests to model providers and stored histories belong: to a run of a thread, or to themselves.

Told by the call ids they hold, else by time. What fits no thread makes conversations of its own:
requests that continue each other (the later one begins with what the earlier one held, or names
its answer) are one conversation, each a run of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.calls.conversation import Conversation, Run
from workbench.calls.sightings import Sightings
from workbench.readers.payloads.history import History, Turn
from workbench.readers.records import PayloadRecord, Records, RequestRecord

_NUMBER = re.compile(r"\d{1,12}")
#: conversations of payloads alone that a further one is compared with, the latest first
_COMPARED = 50


def join(records: Records, conversations: list[Conversation]) -> tuple[list[tuple[int, Run]], list[int]]:
    """Each payload with its run, and the numbers of those that belong to no thread."""
    by_call = {call.id: c for c in conversations for call in c.calls if call.id}
    joined: list[tuple[int, Run]] = []
    alone: list[int] = []
    for number, payload in enumerate(records.payloads):
        owner = next((by_call[i] for i in call_ids(payload.history) if i in by_call), None)
        if owner is None and len(conversations) == 1 and _may_belong(conversations[0], payload.history):
            owner = conversations[0]
        run = _run_at(records, owner, payload) if owner is not None else None
        if run is None:
            alone.append(number)
        else:
            joined.append((number, run))
    return joined, alone


def stand_alone(records: Records, numbers: list[int]) -> list[Sightings]:
    """Conversations of payloads that belong to no thread; every one is a run."""
    made: list[Sightings] = []
    last: list[list[PayloadRecord]] = []
    for number in numbers:
        record = records.payloads[number]
        at = next(
            (
                n
                for n in reversed(range(max(0, len(made) - _COMPARED), len(made)))
                if _follows(record, last[n])
            ),
            -1,
        )
        if at < 0:
            made.append(Sightings(records, Conversation("", [""])))
            last.append([])
            at = len(made) - 1
        known = made[at]
        last[at].append(record)
        run = Run("", "", None, number=len(known.conversation.runs))
        run.turn = max(sum(_speaks(t) for t in record.history.turns) - 1, 0)
        known.conversation.runs.append(run)
        known.payload(run, number, known.sequence + 1)
    return made


def _follows(record: PayloadRecord, before: list[PayloadRecord]) -> bool:
    """It continues one of these requests, or repeats it."""
    named = record.history.settings.get("previous_response_id")
    for earlier in reversed(before):
        if earlier.place != record.place or earlier.history.dialect != record.history.dialect:
            continue
        if named and earlier.answer is not None and earlier.answer.id == named:
            return True
        ours, theirs = _signs(record.history), _signs(earlier.history)
        if theirs and earlier.source == record.source and ours[: len(theirs)] == theirs:
            return True
    return False


def _signs(history: History) -> list[tuple[str, ...]]:
    """What tells the turns of a history from others: role, texts and call ids."""
    return [
        (turn.role, *(f"{b.kind} {b.call_id} {b.content if b.kind == 'text' else ''}" for b in turn.blocks))
        for turn in history.turns
        if turn.role != "system"
    ]


def _speaks(turn: Turn) -> bool:
    return turn.role == "user" and bool(turn.of("text", "data"))


def _may_belong(conversation: Conversation, history: History) -> bool:
    """Unless both sides are known to say something and none of it is the same: then it is another's."""
    said = {
        text for items in conversation.lists for m in items.messages if (text := _squeezed(m.get("content")))
    }
    ours = _squeezed(" ".join(str(b.content) for b in history.blocks("text")))
    return not said or not ours or any(text in ours for text in said)


def _squeezed(content: object) -> str:
    return " ".join(content.split()) if isinstance(content, str) else ""


def _run_at(records: Records, conversation: Conversation, payload: PayloadRecord) -> Run | None:
    """The last run that had begun by then; without times the last that stands before it in its file, else of all."""
    if not conversation.runs:
        return None
    asked = [(run, records.requests[run.request]) for run in conversation.runs if run.request is not None]
    time = payload.time
    begun = [run for run, r in asked if time is not None and r.time is not None and r.time <= time]
    if not begun:
        here = _place(records, payload)
        begun = [run for run, r in asked if r.source == payload.source and _place(records, r) <= here]
    return begun[-1] if begun else conversation.runs[-1]


def _place(records: Records, record: RequestRecord | PayloadRecord) -> tuple[int, int]:
    """Where a body stands in its file: the number of its HAR entry, else of its record."""
    entry = _NUMBER.search(records.members[record.member].name) if record.member >= 0 else None
    return (int(entry[0]) if entry else 0, record.record)


def call_ids(history: History) -> Iterator[str]:
    """The call ids of a history, latest first (early ones may be of another thread)."""
    for turn in reversed(history.turns):
        for block in turn.blocks:
            if block.kind in ("call", "result") and block.call_id:
                yield block.call_id
