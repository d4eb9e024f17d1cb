"""The conversation that each span and log record belongs to, also where only its parents name one."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
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
    found = array("i", own)
    of_trace = _agreed(set(zip(trace, own, strict=True)))
    of_parent: dict[tuple[int, str | None], int] | None = None
    rows = records.span_rows
    text = records.pool.text
    for row, thread in enumerate(own):
        if thread >= 0:
            continue
        chain = [row]
        code = -1
        while code < 0:
            last = chain[-1]
            parent = parents[last]
            above = rows.get(f"{text(trace[last]) or ''} {parent}") if parent else None
            if above is None or len(chain) > 1000 or above in chain[-50:]:
                break
            code = found[above]
            chain.append(above)
        if code < 0:
            if of_parent is None:
                named = (
                    (at, parent, code) for at, parent, code in zip(trace, parents, own, strict=True) if parent
                )
                of_parent = _agreed({((at, parent), code) for at, parent, code in named})
            siblings = next(
                (of_parent[key] for at in chain if (key := (trace[at], parents[at])) in of_parent), -1
            )
            code = siblings if siblings >= 0 else of_trace.get(trace[row], -1)
        if code >= 0:
            found[row] = code
    logs = records.logs
    of_log = array("i")
    for row, span in enumerate(logs.span):
        number = rows.get(f"{text(logs.trace[row]) or ''} {span}") if span else None
        code = found[number] if number is not None else -1
        of_log.append(code if code >= 0 else of_trace.get(logs.trace[row], -1))
    return Threads(found, of_log)


def _agreed(pairs: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """The one thread that all rows of a group name; groups with none or several are left out."""
    found: dict[Key, int] = {}
    for key, code in pairs:
        if code >= 0 and key != -1 and found.setdefault(key, code) != code:
            found[key] = -2
    return {key: code for key, code in found.items() if code >= 0}
