"""The conversation that each span and log record belongs to, also where only its parents name one."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from workbench.readers.records import Records

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Threads:
    """Pool codes of the thread of each span and each log record; -1 for none."""

    spans: array[int]
    logs: array[int]


def threads(records: Records) -> Threads:
    """Own thread, else that of the nearest parent, of a sibling, or the only one of the trace.

    An interrupted run's root span may never be exported: then its children know only each other.
    """
    spans = records.spans
    own, trace, parents = spans.thread, spans.trace, spans.parent
    of_trace = _agreed(set(zip(trace, own, strict=True)))
    rows = records.span_rows
    text = records.pool.text

    def above(row: int) -> int | None:
        parent = parents[row]
        return rows.get(f"{text(trace[row]) or ''} {parent}") if parent else None

    own_or_above = _inherited(own, above, range(len(own)))
    without = [row for row, code in enumerate(own_or_above) if code < 0]
    if without:
        named = (
            (at, parent or "", code) for at, parent, code in zip(trace, parents, own, strict=True) if parent
        )
        of_parent = _agreed({((at, parent), code) for at, parent, code in named})
        siblings = array(
            "i", (of_parent.get((at, parent or ""), -1) for at, parent in zip(trace, parents, strict=True))
        )
        siblings = _inherited(siblings, above, without)
    found = array("i", own_or_above)
    for row in without:
        found[row] = siblings[row] if siblings[row] >= 0 else of_trace.get(trace[row], -1)
    logs = records.logs
    of_log = array("i")
    for row, span in enumerate(logs.span):
        number = rows.get(f"{text(logs.trace[row]) or ''} {span}") if span else None
        code = found[number] if number is not None else -1
        of_log.append(code if code >= 0 else of_trace.get(logs.trace[row], -1))
    return Threads(found, of_log)


def _inherited(own: array[int], above: Callable[[int], int | None], rows: Iterable[int]) -> array[int]:
    """Own code of each row, else that of the nearest row above it; -1 for none. Every row is looked at once."""
    found = array("i", own)
    done = bytearray(len(own))
    for row in rows:
        chain = []
        here: int | None = row
        while here is not None and found[here] < 0 and not done[here]:
            done[here] = 1  # also ends a walk around a circle
            chain.append(here)
            here = above(here)
        if here is not None and found[here] >= 0:
            for number in chain:
                found[number] = found[here]
    return found


def _agreed(pairs: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """The one thread that all rows of a group name; groups with none or several are left out."""
    found: dict[Key, int] = {}
    for key, code in pairs:
        if code >= 0 and key != -1 and found.setdefault(key, code) != code:
            found[key] = -2
    return {key: code for key, code in found.items() if code >= 0}
