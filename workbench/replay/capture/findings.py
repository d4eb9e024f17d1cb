"""Findings without the ids of one run, so that those of two runs can be compared."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from workbench.findings import Finding
from workbench.replay.capture.exchanges import Chosen, conversation
from workbench.rules import check
from workbench.trace import Trace

Key = tuple[str, tuple[str, ...], int, int]

#: Rules about one request or run: another answer to the same call is another matter
_BY_STEP = re.compile(r"^(approval-(refused|answered)|run-|request-)")


@dataclass(frozen=True)
class Seen:
    """One finding: its rule, the model's calls that it is about, and the step it was found in (from 0).

    `nth` tells apart findings that agree in all that. A finding without calls, and one about a request or a
    run, is told by its step as well. `row` is the last row of `trace.events` that it rests on.
    """

    rule: str
    calls: tuple[str, ...]
    step: int
    nth: int
    severity: str
    message: str
    row: int = -1

    @property
    def key(self) -> Key:
        """What two runs have in common."""
        return (*_place(self.rule, self.calls, self.step), self.nth)

    def told(self) -> dict[str, Any]:
        """As data."""
        return {key: value for key, value in asdict(self).items() if key != "row"}


def seen(trace: Trace, thread: str | None = None) -> list[Seen]:
    """The findings about one conversation of a trace."""
    chosen = conversation(trace, thread)
    threads = chosen.thread_ids
    steps = _steps(chosen)
    names = _names(chosen)
    times: Counter[Any] = Counter()
    made = []
    places = _places(trace)
    for finding in check(trace):
        if finding.thread_id and finding.thread_id not in threads:
            continue
        ids = (*finding.call_ids, *finding.approval_ids)
        calls = tuple(dict.fromkeys(names.get(one, "") for one in ids if names.get(one)))
        rows = _rows(places, finding)
        step = steps.get(finding.run_id, _step_of(trace, steps, rows))
        place = _place(finding.rule, calls, step)
        made.append(
            Seen(
                finding.rule,
                calls,
                step,
                times[place],
                finding.severity,
                finding.message,
                max(rows, default=-1),
            )
        )
        times[place] += 1
    return made


def _place(rule: str, calls: tuple[str, ...], step: int) -> tuple[str, tuple[str, ...], int]:
    return (rule, calls, step if not calls or _BY_STEP.match(rule) else -1)


def _steps(chosen: Chosen) -> dict[str, int]:
    """The step of each run, by its id: runs of one request are one step."""
    requests = list(dict.fromkeys(run.request for run in chosen.runs if run.request is not None))
    if len(chosen.parts) > 1:
        requests.sort()
    numbers = {request: number for number, request in enumerate(requests)}
    return {run.run_id: numbers[run.request] for run in chosen.runs if run.request is not None}


def _names(chosen: Chosen) -> dict[str, str]:
    """The model's call for each id of a call, an approval or a confirmation."""
    names = {call.id: call.synthetic_for or call.id for call in chosen.calls}
    for approval in (approval for part in chosen.parts for approval in part.approvals):
        for one in (approval.id, *(ask.id for ask in approval.asks)):
            names.setdefault(one, names.get(approval.call_id, approval.call_id))
    return names


def _places(trace: Trace) -> dict[tuple[Any, ...], int]:
    """The row of each event by its place in the input."""
    records, events = trace.records, trace.records.events
    return {
        (records.sources[events.source[row]].path, events.record[row], events.offset[row]): row
        for row in range(len(events))
    }


def _rows(places: dict[tuple[Any, ...], int], finding: Finding) -> list[int]:
    """The rows of events that a finding rests on."""
    found = [
        places.get((item.path, item.record, -1 if item.offset is None else item.offset))
        for item in finding.evidence
    ]
    return [row for row in found if row is not None]


def _step_of(trace: Trace, steps: dict[str, int], rows: list[int]) -> int:
    return max((steps.get(trace.run_of(row).run_id, -1) for row in rows), default=-1)
