"""Findings put on the steps of their evidence, and the cut around what is flagged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from workbench.calls.conversation import At
from workbench.findings import Evidence, Finding
from workbench.trace import Trace
from workbench.views.steps import Mark, Step

SEVERITY_RANK = {"error": 0, "warning": 1, "info": 2}


def place(trace: Trace, steps: Sequence[Step], findings: Iterable[Finding]) -> list[Finding]:
    """Put a mark on every step that a finding's evidence names; return the findings that have none here.

    The message of a finding is written at its last evidence within its run (the second of two
    starts, say); further places get the badge alone.
    """
    numbered = list(enumerate(findings, start=1))
    wanted = {item for _, finding in numbered for item in finding.evidence}
    where = {item: _Here(candidates) for item, candidates in _where(trace, steps, wanted).items()}
    outside: list[Finding] = []
    index = {id(step): number for number, step in enumerate(steps)}
    for number, finding in numbered:
        seen: dict[int, Step] = {}
        for item in finding.evidence:
            if item in where:
                step = where[item].step(finding)
                seen.setdefault(id(step), step)
        if not seen:
            outside.append(finding)
            continue
        first = next(iter(seen.values()))
        run_id = (
            finding.run_id if any(s.run.run_id == finding.run_id for s in seen.values()) else first.run.run_id
        )
        main = max((s for s in seen.values() if s.run.run_id == run_id), key=lambda s: index[id(s)])
        for step in seen.values():
            step.marks.append(Mark(number, finding, main=step is main))
    for step in steps:
        step.marks.sort(key=_rank)
    return outside


def _where(trace: Trace, steps: Sequence[Step], wanted: set[Evidence]) -> dict[Evidence, list[Step]]:
    where: dict[Evidence, list[Step]] = {}
    if not wanted:
        return where
    for step in steps:
        places: list[At] = [At("event", row) for row in step.rows]
        if step.request is not None:
            places.append(At("request", step.request))
        if step.payload is not None:
            places.append(At("payload", step.payload))
        if step.at is not None:
            places.append(step.at)
        for at in places:
            for item in trace.evidence(at):
                if item in wanted:
                    steps_here = where.setdefault(item, [])
                    if not steps_here or steps_here[-1] is not step:
                        steps_here.append(step)
    return where


class _Here:
    """The steps that stand at one place: a request and its answers, of which there may be thousands."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._first = next((s for s in steps if s.kind == "request"), steps[0])
        #: number of the first step of a call and of an approval
        self._calls: dict[str, int] = {}
        self._approvals: dict[str, int] = {}
        for number, step in enumerate(steps):
            if step.kind != "result" or step.rows:
                self._calls.setdefault(step.call_id, number)
                self._approvals.setdefault(step.approval_id, number)

    def step(self, finding: Finding) -> Step:
        """The first that is about a call or approval of the finding; else the request, or the first of all."""
        numbers = [self._calls[i] for i in finding.call_ids if i and i in self._calls]
        numbers += [self._approvals[i] for i in finding.approval_ids if i and i in self._approvals]
        return self._steps[min(numbers)] if numbers else self._first


def flagged(steps: Sequence[Step]) -> Callable[[Step], bool]:
    """A test for the steps that carry a mark or belong to a call or approval of a marked finding."""
    found = {mark.finding for step in steps for mark in step.marks}
    ids = {name for finding in found for name in (*finding.call_ids, *finding.approval_ids)} - {""}
    return lambda step: bool(step.marks) or step.call_id in ids or step.approval_id in ids


def of_call(call_id: str) -> Callable[[Step], bool]:
    """A test for the steps of one call: its events, its approval, its confirmation call and its answers."""

    def belongs(step: Step) -> bool:
        return call_id in (step.call_id, step.approval_id) or (
            step.call is not None and step.call.synthetic_for == call_id
        )

    return belongs


def cut(steps: Sequence[Step], keep: Callable[[Step], bool], neighbours: int) -> list[Step]:
    """The steps that `keep` wants and `neighbours` steps on both sides of each.

    Every kept stretch begins with the band of its run; `skipped` says how many steps and
    events are missing before a step. What is missing after the last one is for the caller to count.
    """
    wanted = bytearray(len(steps))
    for index, step in enumerate(steps):
        if keep(step):
            first = max(index - neighbours, 0)
            last = min(index + neighbours + 1, len(steps))
            wanted[first:last] = b"\1" * (last - first)
    kept: list[Step] = []
    band, missing, missing_events = "", 0, 0
    for index, step in enumerate(steps):
        band = step.band or band
        # an earlier cut may have left steps out already
        missing, missing_events = missing + step.skipped, missing_events + step.skipped_events
        if not wanted[index]:
            missing += 1
            missing_events += step.events
            continue
        step.band, band = band, ""
        step.skipped, step.skipped_events = missing, missing_events
        missing = missing_events = 0
        kept.append(step)
    return kept


def write_out(steps: Sequence[Step]) -> None:
    """After a cut, write each finding out at its last step that is left, where its own place is gone."""
    written = {mark.number for step in steps for mark in step.marks if mark.main}
    for step in reversed(steps):
        for index, mark in enumerate(step.marks):
            if mark.number not in written:
                written.add(mark.number)
                step.marks[index] = replace(mark, main=True)
        step.marks.sort(key=_rank)


def _rank(mark: Mark) -> tuple[bool, int, int]:
    return (not mark.main, SEVERITY_RANK.get(mark.finding.severity, 3), mark.number)
