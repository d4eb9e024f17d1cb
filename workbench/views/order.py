"""The events of conversations in order, each with its run, and when they happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.calls import when
from workbench.readers.records import NO_TIME, Records

if TYPE_CHECKING:
    from workbench.calls.conversation import At, Conversation, Run
    from workbench.trace import Trace


def events(trace: Trace, conversations: Sequence[Conversation]) -> list[list[tuple[int, Run]]]:
    """For each conversation its event rows in order of sequence, each with its run."""
    owner = {id(run): number for number, talk in enumerate(conversations) for run in talk.runs}
    found: list[list[tuple[int, Run]]] = [[] for _ in conversations]
    for row in range(len(trace.records.events)):
        run = trace.run_of(row)
        number = owner.get(id(run))
        if number is not None:
            found[number].append((row, run))
    for pairs in found:
        pairs.sort(key=lambda pair: trace.sequence_of(pair[0]))
    return found


def time_of(records: Records, row: int) -> int | None:
    """When an event happened, UTC ns; None where nothing says so."""
    time = records.events.time[row]
    return None if time == NO_TIME else time


def time_at(records: Records, at: At) -> int | None:
    """When something happened, UTC ns, on the clock of its own source; None where nothing says so."""
    return when.time_of(records, at)[0]
