"""What is open in a run while its events pass by."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from workbench.calls.conversation import Message, Slip, Start
from workbench.readers.records import Records


@dataclass(slots=True)
class Open:
    """What is open in one run: calls, messages, phases of thought and steps."""

    calls: dict[str, list[Start]] = field(default_factory=dict)
    #: open calls that no text was seen inside of yet, by lane: their last START
    bare: dict[str, dict[str, Start]] = field(default_factory=dict)
    #: ENDs still due for calls that were started again while open
    due: dict[str, int] = field(default_factory=dict)
    messages: dict[tuple[str, str], Message] = field(default_factory=dict)
    chunked_call: str | None = None
    chunked_message: dict[str, str] = field(default_factory=dict)
    #: START rows of REASONING_START and THINKING_START, by kind and id
    phases: dict[tuple[str, str], int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    #: last message that got content, by lane, and those already reported as interleaved
    content: dict[str, Message] = field(default_factory=dict)
    interleaved: set[tuple[str, str]] = field(default_factory=set)
    #: slips that only count if the call is ended after all: else `call-not-closed` says enough
    pending: list[tuple[Slip, Start]] = field(default_factory=list)


def extend(ranges: list[tuple[int, int]], row: int) -> None:
    """Add a row to inclusive ranges of rows."""
    if ranges and ranges[-1][1] == row - 1:
        ranges[-1] = (ranges[-1][0], row)
    else:
        ranges.append((row, row))


class Cursor:
    """Event rows in order, of which the one who walks may pass over those before `after`."""

    def __init__(self, rows: Iterable[int]) -> None:
        self.rows = rows
        self.after = -1

    def __iter__(self) -> Iterator[int]:
        if isinstance(self.rows, range):
            row = self.rows.start
            while row < self.rows.stop:
                yield row
                row = max(row + 1, self.after)
        else:
            yield from self.rows


def alike(records: Records, run_of: array[int], row: int, end: int) -> int:
    """The end of the events from `row` on that are deltas of the same message or call in the same run.

    Whole slices are compared, because runs of deltas are long and many.
    """
    events = records.events
    columns = (events.type, events.call, events.message, events.subagent, run_of)
    first = [array("i", (column[row],)) for column in columns]
    reach, step = row + 1, 8
    while reach < end:
        stop = min(reach + step, end)
        if all(
            column[reach:stop] == value * (stop - reach) for column, value in zip(columns, first, strict=True)
        ):
            reach = stop
            step *= 2
        elif step == 1 or stop - reach == 1:
            break
        else:
            step = max(1, (stop - reach) // 2)
    return reach
